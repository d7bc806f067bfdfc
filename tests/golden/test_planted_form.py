"""The form of the planted dialogues: invented talks of agents with tools, faulty in one turn or in none."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialogauge.data import read_conversations

PLANTED = [Path(__file__).parent / "planted" / name for name in ("blind.jsonl", "second.jsonl")]
SETS: list[list[dict[str, Any]]] = [
    [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] for path in PLANTED
]
DIALOGUES = [dialogue for planted in SETS for dialogue in planted]
KINDS = {"unsupported", "contradicted", "empty_ignored", "missing_slot", "count_rule", "history"}

each_set = pytest.mark.parametrize("dialogues", SETS, ids=[path.stem for path in PLANTED])


def turns_of(messages: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Cut `messages` into turns: what the user writes, then what the agent does up to their next word."""
    turns: list[list[dict[str, Any]]] = []
    before = "system"
    for message in messages:
        if message["role"] == "user" and before != "user":
            turns.append([])
        if message["role"] != "system":
            turns[-1].append(message)
        before = message["role"]
    return turns


def expect_form(dialogue: dict[str, Any]) -> None:
    """Every turn ends with a reply, every call has its result, and an expected fault lies in a turn."""
    assert set(dialogue) == {"id", "language", "domain", "messages", "expected", "note"}
    assert all(m["role"] != "system" for m in dialogue["messages"][1:])
    turns = turns_of(dialogue["messages"])
    for turn in turns:
        assert turn[0]["role"] == "user"
        assert turn[-1]["role"] == "assistant"
        assert turn[-1]["content"]
        assert "tool_calls" not in turn[-1]
    calls: list[str] = []
    results: list[str] = []
    for message in dialogue["messages"]:
        if message["role"] != "tool":
            assert calls == results  # all calls of a step are answered before anybody speaks again
        for call in message.get("tool_calls", ()):
            assert call["type"] == "function"
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            calls.append(call["id"])
        if message["role"] == "tool":
            results.append(message["tool_call_id"])
    assert calls == results
    assert len(set(calls)) == len(calls)
    assert len(dialogue["expected"]) <= 1
    for fault in dialogue["expected"]:
        assert set(fault) == {"turn", "fault"}
        assert fault["fault"] in KINDS
        assert 1 <= fault["turn"] <= len(turns)
    assert dialogue["note"]


def test_every_dialogue_has_the_form() -> None:
    for dialogue in DIALOGUES:
        try:
            expect_form(dialogue)
        except AssertionError as fault:
            fault.add_note(f"in the dialogue {dialogue['id']}")
            raise


@each_set
def test_there_is_enough_of_each_kind_in_both_languages(dialogues: list[dict[str, Any]]) -> None:
    faulty = [d for d in dialogues if d["expected"]]
    clean = [d for d in dialogues if not d["expected"]]
    kinds = Counter(d["expected"][0]["fault"] for d in faulty)
    assert {d["language"] for d in dialogues} == {"en", "zh"}
    assert len({d["domain"] for d in dialogues}) >= 10
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 5
    assert len(faulty) >= 36
    assert len(clean) >= 36
    assert sum(d["language"] == "zh" for d in faulty) >= 12
    assert sum(d["language"] == "zh" for d in clean) >= 12
    assert any(d["expected"][0]["turn"] < len(turns_of(d["messages"])) for d in faulty)


def test_the_dialogues_read_as_conversations() -> None:
    conversations = read_conversations([str(path) for path in PLANTED])
    assert [c.id for c in conversations] == [d["id"] for d in DIALOGUES]
    assert len({d["id"] for d in DIALOGUES}) == len(DIALOGUES)
