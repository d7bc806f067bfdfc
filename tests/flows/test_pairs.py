"""Training rows from a judged log, in the form that TRL's trainers read."""

from __future__ import annotations

import json

import pytest

from servers.faults import FaultPlan


@pytest.fixture
def judged(dialogauge, log, talk, tmp_path):
    """A run over one good conversation and one whose second reply repeats the first."""
    again = "It opens at nine on every day but Monday, and the cafe opens an hour later."
    bad = talk("bad", again, again, "Sorry for the loop: on Sundays museum bad opens at ten.")
    bad["messages"][3]["corrected"] = "On Sundays it opens at ten."
    dialogauge("judge", log(talk("good", "Museum good opens at nine in the morning."), bad), "-o", "run")
    return tmp_path / "run"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_dpo_with_the_users_own_column(dialogauge, judged, tmp_path):
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl", "--chosen-field", "corrected")
    assert done.code == 0, done.err
    (row,) = lines(tmp_path / "dpo.jsonl")
    assert set(row) == {"prompt", "chosen", "rejected"}
    assert [m["role"] for m in row["prompt"]] == ["user", "assistant", "user"]
    assert row["chosen"] == [{"role": "assistant", "content": "On Sundays it opens at ten."}]
    assert row["rejected"][0]["content"].startswith("It opens at nine")
    (source,) = lines(tmp_path / "dpo.provenance.jsonl")
    assert (source["conversation_id"], source["turn"], source["judge"]) == ("bad", 2, "local")
    assert source["issues"]
    assert "1 left out: no weakest turn" in done.out


def test_dpo_with_a_reply_repaired_over_http(dialogauge, judged, serve, tmp_path):
    stub = serve('{"reply": "On Sundays it opens at ten."}')
    words = ("--model", "m", "--base-url", stub.url)
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl", *words)
    assert done.code == 0, done.err
    (row,) = lines(tmp_path / "dpo.jsonl")
    assert row["chosen"][0]["content"] == "On Sundays it opens at ten."
    asked = json.dumps(stub.asked[-1]["messages"])
    assert "repeat" in asked.lower()  # the judge's findings are shown
    assert "Sorry for the loop" not in asked  # nothing after the fork is


def test_a_repair_that_fails_leaves_its_pair_out(dialogauge, judged, serve, tmp_path):
    stub = serve("no json", schema="ignore", faults=FaultPlan(always="prose"))
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl", "--model", "m", "--base-url", stub.url)
    assert lines(tmp_path / "dpo.jsonl") == []
    assert "no better reply" in done.out
    assert done.code == 3


def test_dpo_needs_a_better_reply(dialogauge, judged):
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl")
    assert done.code == 2
    assert "--chosen-field" in done.err


def test_kto_labels_each_clear_turn(dialogauge, judged, tmp_path):
    assert dialogauge("pairs", "run", "-o", "kto.jsonl", "--kind", "kto").code == 0
    rows = lines(tmp_path / "kto.jsonl")
    assert all(set(row) == {"prompt", "completion", "label"} for row in rows)
    labels = {row["prompt"][-1]["content"]: row["label"] for row in rows}
    assert labels["Question 2: when does museum bad open?"] is False
    assert labels["Question 1: when does museum good open?"] is True


def test_sft_takes_conversations_above_a_verdict(dialogauge, judged, tmp_path):
    assert dialogauge("pairs", "run", "-o", "sft.jsonl", "--kind", "sft").code == 0
    (row,) = lines(tmp_path / "sft.jsonl")
    assert set(row) == {"messages"}
    assert "good" in row["messages"][0]["content"]


def test_active_names_the_lowest_first(dialogauge, judged, tmp_path):
    words = ("pairs", "run", "-o", "active.jsonl", "--kind", "active", "--limit", 1)
    assert dialogauge(*words).code == 0
    (row,) = lines(tmp_path / "active.jsonl")
    assert (row["conversation_id"], row["reason"], row["weakest_turn"]) == ("bad", "lowest", 2)


@pytest.mark.parametrize("words", [("--kind", "ppo"), ("--to", "verl"), ("--min-verdict", "superb")])
def test_unknown_choices(dialogauge, judged, words):
    assert dialogauge("pairs", "run", "-o", "x.jsonl", *words).code == 2


def test_rows_with_tools_are_as_chat_templates_take_them(dialogauge, log, tmp_path):
    calls = [
        {"id": str(n), "type": "function", "function": {"name": "find", "arguments": arguments}}
        for n, arguments in enumerate(('{"day": "Sunday"}', ""))
    ]
    tool = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
    record = {
        "conversation_id": "a",
        "tools": [tool],
        "messages": [
            {"role": "user", "content": "When does the museum open on Sunday?"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            *({"role": "tool", "tool_call_id": str(n), "content": "ten"} for n in range(2)),
            {"role": "assistant", "content": "On Sunday the museum opens at ten."},
            {"role": "user", "content": "Thanks, that is what I needed!"},
        ],
    }
    dialogauge("judge", log(record), "-o", "run")
    done = dialogauge("pairs", "run", "--kind", "sft", "--min-verdict", "poor", "-o", "sft.jsonl")
    (row,) = lines(tmp_path / "sft.jsonl")
    assert row["tools"] == [tool]
    found = [call["function"]["arguments"] for call in row["messages"][1]["tool_calls"]]
    assert found == [{"day": "Sunday"}, {}]
    assert done.code == 0


def test_a_file_of_rows_has_one_type_in_each_column(dialogauge, log, talk, tmp_path):
    call = {"id": "1", "type": "function", "function": {"name": "find", "arguments": "day=Sunday"}}
    again = "It opens at nine on every day but Monday, and the cafe opens an hour later."
    odd, media, texts = (talk(name, again, again, better="At ten.") for name in ("odd", "media", "texts"))
    odd["messages"][1:1] = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    odd["messages"][2:2] = [{"role": "tool", "tool_call_id": "1", "content": "ten"}]
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    for record, more in ((media, image), (texts, {"type": "text", "text": "more"})):
        record["messages"][1]["content"] = [{"type": "text", "text": again}, more]
    assert dialogauge("judge", log(odd, media, texts), "-o", "run").code == 0
    for words in (("dpo", "--chosen-field", "better"), ("kto",), ("sft", "--min-verdict", "poor")):
        done = dialogauge("pairs", "run", "--kind", *words, "-o", "rows.jsonl")
        rows = lines(tmp_path / "rows.jsonl")
        assert rows, words
        assert len(rows) == len(lines(tmp_path / "rows.provenance.jsonl"))
        assert "left out: images or other parts that are no text" in done.out
        assert "left out: a tool call with arguments that are no JSON object" in done.out
        messages = [m for row in rows for column in row.values() if isinstance(column, list) for m in column]
        assert all(isinstance(m["content"], str) for m in messages)
