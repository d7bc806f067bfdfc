"""Memories, and the turns that a judgement stands on, are hidden like everything else of a run."""

from __future__ import annotations

import json
import re

import pytest

from dialogauge.runs import RunDirectory
from rated import rated_users
from servers.contented import contented, shown_to
from talks import conversation_record


def telling(body):
    """A model that writes into a memory, and into a rationale, all that it was shown."""
    text = contented(3)(body)
    if not text.startswith("{"):
        return text  # to a probe of the endpoint
    value = json.loads(text)
    if "scoring_style" in value:
        value |= {"scoring_style": shown_to(body), "requirements": [shown_to(body)]}
    else:
        value["note"] = shown_to(body)
    return json.dumps(value)


@pytest.mark.long
@pytest.mark.parametrize("ids", ["ann-user{}", "k{}"])
def test_memories_are_hidden_like_rows(dialogauge, serve, log, tmp_path, ids) -> None:
    talks = []
    for c in rated_users(6):
        record = conversation_record(c)
        record["messages"][1]["content"] = "Write to ann.lee@example.org"
        record["profile"] = {"phone": "13812345678"}
        record["ratings"] = [{**r, "note": "call 13812345678"} for r in record["ratings"]]
        record["user_id"] = ids.format(c.user_id[-1])
        talks.append(record)
    stub = serve(telling)
    data = log(*talks)
    words = ("--judge", "memory", "--model", "m", "--base-url", stub.url, "--split", "all")
    done = dialogauge("satisfaction", data, *words, "--redact", "--hash-ids", "-o", "hidden")
    assert done.code == 0, done.err
    kept = (tmp_path / "hidden" / "kept.jsonl").read_text("utf-8")
    memories = [json.loads(line)["value"] for line in kept.splitlines()]
    assert len(memories) == 18
    assert all(re.fullmatch(r"u_[0-9a-f]{16}__(cook|gift|trip)", m["block"]) for m in memories)
    assert all("[email]" in m["memory"]["findings"]["scoring_style"] for m in memories)
    told = "".join(shown_to(body) for body in stub.asked)
    database = RunDirectory(tmp_path / "hidden").open_for_reading()
    held = json.dumps(database.all_meta(""))
    database.close()
    secrets = ("ann.lee@example.org", "13812345678", f"{ids.format(3)}__", "user3__cook__0")
    for secret in secrets:
        assert secret not in kept
        assert secret not in told
        assert secret not in held
    assert "[email]" in held
    # a run judged openly keeps its memories as they are; what is written from it does not show them
    assert dialogauge("satisfaction", data, *words, "-o", "open").code == 0
    assert "ann.lee@example.org" in (tmp_path / "open" / "kept.jsonl").read_text("utf-8")
    assert dialogauge("report", "open", "--redact", "--hash-ids", "-o", "page.html").code == 0
    assert dialogauge("export", "open", "--redact", "--hash-ids", "-o", "rows.jsonl").code == 0
    for name in ("page.html", "rows.jsonl"):
        shown = (tmp_path / name).read_text("utf-8")
        assert not [secret for secret in secrets if secret in shown]


def test_the_turns_that_a_row_stands_on_are_hidden(dialogauge, log, tmp_path) -> None:
    """Ids too short to be looked for in texts; the sources are turns of other conversations."""
    talks = []
    for number, c in enumerate(rated_users(6)):
        record = {**conversation_record(c), "conversation_id": f"t{number}x", "user_id": f"k{c.user_id[-1]}"}
        talks.append(record)
    words = ("--judge", "nearest-3", "--split", "all", "-o", "open")
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    assert dialogauge("export", "open", "--hash-ids", "-o", "rows.jsonl").code == 0
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    for row in rows:
        turns = [row["details"]["turn_id"], *(s["turn_id"] for s in row["details"]["sources"])]
        assert all(re.fullmatch(r"c_[0-9a-f]{16}__turn_[0-9]", name) for name in turns)
        assert turns[0].startswith(row["conversation_id"])
