"""No raw match and no raw id reaches anything that a run stores, sends, caches, writes or prints."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing, suppress

import pytest

from dialogauge.core.packing import unsqueeze
from dialogauge.runs import RunDirectory
from flows.conftest import rows_of
from servers.verdicts import ideal

PHONE, MAIL, CARD, IDENTITY = "13800138000", "zhang@example.com", "4111 1111 1111 1111", "11010519491231002X"
DIGITS = CARD.replace(" ", "")
SECRETS = (
    PHONE,
    "138 0013 8000",
    MAIL,
    CARD,
    DIGITS,
    IDENTITY,
    "07700900123",
    "rater@example.org",
    "555-0123",
)
NAMES = ("support-4711", "customer_0815")


def record(name=NAMES[0], user=NAMES[1]):
    tool = {"id": "call_1", "type": "function", "function": {"name": "look_up"}}
    tool["function"]["arguments"] = json.dumps({"phone": int(PHONE), "user": user, "mail": MAIL})
    return {
        "conversation_id": name,
        "user_id": user,
        "scenario": f"support for {MAIL}",
        "scenario_description": f"{user} calls from {PHONE}.",
        "profile": {"phone": 2125550123, "mails": [MAIL], MAIL: "key"},
        "session": name,
        "better": f"Please call {PHONE} again about {name}.",
        "messages": [
            {"role": "system", "content": f"The customer {user} is reached at {MAIL}."},
            {"role": "user", "content": f"I am {user}. My phone is {PHONE}, card {CARD}."},
            {"role": "assistant", "content": None, "tool_calls": [tool]},
            {
                "role": "tool",
                "tool_call_id": "call_1",
                "content": json.dumps({"id": IDENTITY, "n": int(PHONE)}),
            },
            {"role": "assistant", "content": f"I cannot find {MAIL}. Is your phone 138 0013 8000?"},
            {"role": "user", "content": [{"type": "text", "text": f"No, I said {PHONE}! Call 555-0123."}]},
            {
                "role": "assistant",
                "content": f"Could you tell me your phone number, please? Not {IDENTITY}.",
                "trace": {"mail": MAIL},
            },
        ],
    }


RATINGS = (
    "conversation_id,turn,dimension,rater,score,note\n"
    f"{NAMES[0]},1,helpfulness,rater@example.org,2,call {PHONE}\n"
    f"{NAMES[0]},2,helpfulness,{NAMES[1]},9,\n"
    f"{PHONE},1,helpfulness,{NAMES[1]},2,\n"
)
BROKEN = {"conversation_id": "broken", "messages": [{"role": f"phone {PHONE}", "content": MAIL}]}


def stored(path):
    """Everything in an SQLite file, blobs unpacked where they are packed."""
    with closing(sqlite3.connect(path)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if "units" in tables:
            packed = db.execute("SELECT rows, dictionary FROM units JOIN judges ON judge = id").fetchall()
            assert db.execute("SELECT COUNT(*) FROM units").fetchone() == (len(packed),)
            yield from (unsqueeze(rows, dictionary).decode() for rows, dictionary in packed)
        for table in tables:
            for row in db.execute(f"SELECT * FROM {table}"):
                for value in row:
                    data = value if isinstance(value, bytes) else str(value).encode()
                    with suppress(zlib.error):
                        data = zlib.decompress(data)
                    yield data.decode("utf-8", "replace")


def everything(folder, *more):
    texts = [str(m) for m in more]
    for path in folder.rglob("*"):
        texts.append(path.name)
        if path.is_file():
            data = path.read_bytes()
            texts.append(data.decode("utf-8", "replace"))
            if data.startswith(b"SQLite format 3"):
                texts += stored(path)
    return "\n".join(texts)


def assert_none(text, words):
    assert [w for w in words if w in text or json.dumps(w)[1:-1] in text] == []


@pytest.mark.parametrize("judge", ["local", "llm"])
def test_nothing_raw_is_stored_sent_cached_or_shown(dialogauge, serve, log, tmp_path, judge):
    stub = serve(ideal)
    path = log(record(), record(MAIL, "mail user 1"), BROKEN)
    (tmp_path / "ratings.csv").write_text(RATINGS, encoding="utf-8")
    words = [
        "judge",
        path,
        "--ratings",
        "ratings.csv",
        "--redact",
        "--hash-ids",
        "-o",
        "run",
        "--mode",
        "hindsight",
    ]
    if judge == "llm":
        words += ["--model", "stub-model", "--base-url", stub.url]
    first = dialogauge(*words)
    again = dialogauge(*words, "--dry-run")
    report = dialogauge("report", "run", "-o", "page.html")
    export = dialogauge("export", "run", "-o", "out.csv")
    pairs = dialogauge("pairs", "run", "--kind", "kto", "-o", "kto.jsonl", "--unchecked")
    words = ("--chosen-field", "better", "--unchecked")
    dpo = dialogauge("pairs", "run", "--kind", "dpo", *words, "-o", "dpo.jsonl")
    assert [d.code for d in (first, again, report, export, pairs, dpo)] == [1, 1, 0, 0, 0, 0]
    assert "0 done" not in again.out
    (tmp_path / "log.jsonl").unlink()
    (tmp_path / "ratings.csv").unlink()
    printed = [d.out + d.err for d in (first, again, report, export, pairs, dpo)]
    seen = everything(tmp_path, *printed, json.dumps(stub.requests))
    assert_none(seen, (*SECRETS, *NAMES, "mail user 1"))
    assert "[phone]" in seen
    assert len({r["conversation_id"] for r in rows_of(tmp_path / "run")}) == 2
    if judge == "llm":
        assert "[card]" in json.dumps(stub.asked)


def test_only_what_is_asked_for_is_hidden(dialogauge, log, tmp_path):
    path = log(record())
    assert dialogauge("judge", path, "--redact", "-o", "a").code == 0
    text = everything(tmp_path / "a")
    assert_none(text, SECRETS)
    assert all(name in text for name in NAMES)
    assert dialogauge("judge", path, "--hash-ids", "-o", "b").code == 0
    text = everything(tmp_path / "b")
    assert PHONE in text
    assert_none(text, NAMES)


def test_an_id_that_is_an_address_is_hashed_and_stays_unique(dialogauge, log, tmp_path):
    people = [f"person{i}@example.com" for i in range(3)]
    path = log(*(record(mail, mail) for mail in people))
    assert dialogauge("judge", path, "--redact", "-o", "run").code == 0
    assert len({r["conversation_id"] for r in rows_of(tmp_path / "run")}) == 3
    assert_none(everything(tmp_path / "run"), people)


def test_ids_join_within_a_run_and_differ_between_runs(dialogauge, log, tmp_path):
    path = log(record("first-1"), record("second-2"))
    for run in ("a", "b"):
        assert dialogauge("judge", path, "--hash-ids", "-o", run).code == 0
    a, b = rows_of(tmp_path / "a"), rows_of(tmp_path / "b")
    assert len({r["user_id"] for r in a}) == 1
    assert len({r["conversation_id"] for r in a}) == 2
    assert {r["user_id"] for r in a}.isdisjoint({r["user_id"] for r in b})
    again = dialogauge("judge", path, "--hash-ids", "-o", "a", "--json")
    assert again.code == 0
    assert rows_of(tmp_path / "a") == a
    with closing(RunDirectory(tmp_path / "a").open_for_reading()) as database:
        assert len(list(database.conversations())) == 2


def test_an_open_run_is_masked_where_it_is_written(dialogauge, log, tmp_path):
    broken = {"id": NAMES[0], "messages": [{"role": SECRETS[0], "content": "x"}]}
    path = log(record(), broken)
    assert dialogauge("judge", path, "-o", "run").code == 1
    assert "unknown role" in (tmp_path / "run/report.html").read_text()
    ids = set()
    for number in range(2):
        dialogauge("report", "run", "--redact", "--hash-ids", "-o", f"out/{number}.html")
        dialogauge("export", "run", "--redact", "--hash-ids", "-o", f"out/{number}.jsonl")
        dialogauge("export", "run", "--redact", "--hash-ids", "-o", f"out/{number}.csv")
        dialogauge(
            "pairs",
            "run",
            "--redact",
            "--hash-ids",
            "--kind",
            "kto",
            "--unchecked",
            "-o",
            f"out/{number}.k.jsonl",
        )
        rows = [json.loads(r) for r in (tmp_path / f"out/{number}.jsonl").read_text().splitlines()]
        ids |= {(r["conversation_id"], r["user_id"]) for r in rows}
    assert len(ids) == 1
    text = everything(tmp_path / "out")
    assert_none(text, (*SECRETS, *NAMES))
    assert "[phone]" in (tmp_path / "out/0.html").read_text()
    assert next(iter(ids))[0] in (tmp_path / "out/0.html").read_text()


def test_an_open_run_is_masked_before_a_model_repairs_it(dialogauge, serve, log, tmp_path):
    stub = serve('{"reply": "Please wait."}', schema="ignore")
    looping = record()
    again = f"Our colleagues look into the matter of {MAIL} and will be in touch with you about it."
    for asked in ("What happens now?", "And when will that be?", "You repeat yourself! I asked when."):
        looping["messages"].append({"role": "user", "content": asked})
        looping["messages"].append({"role": "assistant", "content": again if asked[0] != "Y" else "Today."})
    assert dialogauge("judge", log(looping), "-o", "run").code == 0
    words = ("--model", "stub-model", "--base-url", stub.url, "--unchecked")
    dialogauge("pairs", "run", *words, "--redact", "--hash-ids", "-o", "out/dpo.jsonl")
    assert stub.asked
    seen = everything(tmp_path / "out", json.dumps(stub.requests)) + everything(tmp_path / "cache")
    assert_none(seen, (*SECRETS, *NAMES))


@pytest.mark.parametrize(
    ("first", "second"), [((), ("--redact",)), (("--redact", "--hash-ids"), ("--redact",))]
)
def test_open_and_masked_never_share_a_run(dialogauge, log, first, second):
    path = log(record())
    assert dialogauge("judge", path, *first, "-o", "run").code == 0
    refused = dialogauge("judge", path, *second, "-o", "run")
    assert refused.code == 2
    assert "--fresh" in refused.err
    assert dialogauge("judge", path, *second, "-o", "run", "--fresh").code == 0


def test_a_masked_run_can_be_judged_again(dialogauge, log, tmp_path):
    assert dialogauge("judge", log(record()), "--redact", "--hash-ids", "-o", "run").code == 0
    done = dialogauge("judge", "run", "--mode", "foresight", "-o", "second")
    assert done.code == 0
    assert rows_of(tmp_path / "second")[0]["user_id"] == rows_of(tmp_path / "run")[0]["user_id"]


def test_strict_faults_are_masked_too(dialogauge, log, tmp_path):
    done = dialogauge("judge", log(BROKEN), "--strict", "--redact", "-o", "run")
    assert done.code == 1
    assert_none(everything(tmp_path / "run", done.out, done.err), SECRETS)
    assert "log.jsonl:1" in done.err


def test_the_settings_can_stand_in_the_configuration(dialogauge, log, tmp_path):
    (tmp_path / "dialogauge.toml").write_text("[judge]\nredact = true\nhash_ids = true\n")
    assert dialogauge("judge", log(record()), "-o", "run").code == 0
    assert_none(everything(tmp_path / "run"), (*SECRETS, *NAMES))
    settings = json.loads((tmp_path / "run" / "manifest.json").read_text())["settings"]
    assert (settings["redact"], settings["hash_ids"]) == (True, True)


def test_check_counts_and_never_prints(dialogauge, log, tmp_path):
    (tmp_path / "ratings.csv").write_text(RATINGS, encoding="utf-8")
    path = log(
        record(), record(MAIL, "u2"), {"conversation_id": "none", "messages": record()["messages"][:0]}
    )
    plain = dialogauge("check", path, "--pii", "--ratings", "ratings.csv")
    found = dialogauge("check", path, "--pii", "--ratings", "ratings.csv", "--json")
    assert_none(plain.out + plain.err + found.out + found.err, SECRETS)
    personal = found.json["personal"]
    assert set(personal["kinds"]) == {"phone", "email", "card", "id"}
    assert personal["conversations"] == 2
    top = {entry["conversation_id"]: entry for entry in personal["top"]}
    assert set(top) == {NAMES[0], "[email]"}
    # Turn 1 by hand: phone, card; in the arguments phone, e-mail; in the result id, phone; e-mail, phone.
    assert top[NAMES[0]]["turns"]["1"] == {"phone": 4, "card": 1, "email": 2, "id": 1}
    assert top[NAMES[0]]["turns"]["2"] == {"phone": 2, "id": 1, "email": 1}
    assert NAMES[0] in plain.out
    assert "turn 1: " in plain.out
    assert dialogauge("check", path, "--json").json["personal"] is None
