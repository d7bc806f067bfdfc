"""Files as people bring them: `check` says what they are, and `judge` judges what is in them."""

import json
import zipfile

import pytest

ASKED = ["Do you deliver to Leith?", "On Sundays too?"]
REPLIES = ["Yes, on weekdays, from 20 euros on.", "No, on Sundays we are closed."]
PAIRS = list(zip(ASKED, REPLIES, strict=True))
CHAT = [{"role": r, "content": t} for pair in PAIRS for r, t in zip(("user", "assistant"), pair, strict=True)]


def _zip(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("export/log.json", json.dumps([{"id": "a", "messages": CHAT}]))


def _parquet(path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist([{"id": "a", "messages": CHAT}]), path)


def _rows(path):
    rows = [{"session_id": "a", "timestamp": n, **message} for n, message in enumerate(CHAT)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[::-1]))


def _exchanges(path):
    path.write_text(json.dumps({"turns": [{"user": q, "bot": a} for q, a in PAIRS]}) + "\n")


def _table(path):
    path.write_text("session,question,answer\n" + "".join(f'a,{q},"{a}"\n' for q, a in PAIRS))


def _chat(path):
    path.write_text("".join(f"User: {q}\nAssistant: {a}\n" for q, a in PAIRS))


def _wrapped(path):
    path.write_text(json.dumps({"data": [{"id": "a", "messages": CHAT}]}, indent=1))


FILES = {
    "log.zip": _zip,
    "log.parquet": _parquet,
    "rows.jsonl": _rows,
    "exchanges.jsonl": _exchanges,
    "table.csv": _table,
    "chat.txt": _chat,
    "wrapped.json": _wrapped,
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_brought_is_checked_and_judged(dialogauge, tmp_path, name):
    FILES[name](tmp_path / name)
    checked = dialogauge("check", name, "--json")
    assert checked.code == 0, checked.err
    assert (checked.json["conversations"], checked.json["turns"], checked.json["replies"]) == (1, 2, 2)
    judged = dialogauge("judge", name, "-o", "run")
    assert judged.code == 0, judged.err
    rows = [json.loads(line) for line in (tmp_path / "run/judgements.jsonl").read_text().splitlines()]
    assert len([row for row in rows if row.get("turn") is not None]) == 2


def test_what_is_not_recognised_is_read_by_the_map_that_check_names(dialogauge, tmp_path):
    records = [{"chat": 1, "at": n, "frage": q, "antwort": a} for n, (q, a) in enumerate(PAIRS)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    refused = dialogauge("check", "log.jsonl")
    assert refused.code == 1
    assert "it is JSON, and its first record has 'chat' (number)" in refused.err
    named = refused.err.split("--map '")[1].split("'")[0]
    assert named == "session=chat,prompt=frage,reply=antwort,order_by=at"
    checked = dialogauge("check", "log.jsonl", "--map", named, "--json")
    assert (checked.code, checked.json["conversations"], checked.json["turns"]) == (0, 1, 2)
    assert dialogauge("judge", "log.jsonl", "--map", named, "-o", "run").code == 0
