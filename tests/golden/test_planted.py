"""Planted faults in dialogues of our own: found at their turn, and sound turns are left alone.

In English and Chinese, over a dozen domains; a fault is one change of a sound dialogue. Rules were written
on `open.jsonl` and mended on `blind.jsonl`, which was read after it had served as a blind test. Of
`second.jsonl` only figures of runs were seen. The rules that were wrong too often there are gone:
docs/development/results/task_oriented.md has the figures before and after.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dialogauge.core import Conversation, Judgement, Message, ToolCall
from dialogauge.data import read_conversations
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.judges.success.multiwoz import MultiwozSuccess
from dialogauge.judges.success.multiwoz_data import read_venues
from dialogauge.rubrics import load_policies

PLANTED = Path(__file__).parent / "planted"


def judged(conversation: Conversation) -> dict[int, Judgement]:
    """Return the judgement of each replied turn."""
    judge = LocalJudge(rubric_id="td-turn", policies=load_policies())
    rows = judge.judge_now(conversation)
    return {row.target.turn: row.outcome for row in rows if isinstance(row.outcome, Judgement)}


def turns(half: str) -> Iterator[tuple[bool, bool]]:
    """Yield of every replied turn whether a fault is planted, and whether one is found."""
    for conversation in read_conversations([str(PLANTED / f"{half}.jsonl")]):
        planted = {fault["turn"] for fault in conversation.metadata["expected"]}
        for number, judgement in judged(conversation).items():
            yield number in planted, bool(judgement.issues)


@pytest.mark.parametrize(("half", "least", "most"), [("open", 13, 0), ("blind", 27, 0), ("second", 15, 3)])
def test_planted_faults_are_found_and_sound_turns_left_alone(half, least, most):
    rows = list(turns(half))
    faults = [found for planted, found in rows if planted]
    sound = [found for planted, found in rows if not planted]
    assert sum(faults) >= least
    assert sum(sound) <= most


def dialogue(*parts: tuple[str, Sequence[tuple[str, Any, Any]], str], **more: Any) -> Conversation:
    """Build a dialogue of (user, [(tool, arguments, result)], reply)."""
    messages = []
    for user, calls, reply in parts:
        messages.append(Message("user", user))
        for name, arguments, result in calls:
            call = ToolCall(f"c{len(messages)}", name, json.dumps(arguments))
            messages.append(Message("assistant", None, (call,)))
            messages.append(Message("tool", json.dumps(result), tool_call_id=call.id))
        messages.append(Message("assistant", reply))
    return Conversation("d", tuple(messages), **more)


VENUE = {
    "name": "mill pond kitchen",
    "food": "portuguese",
    "area": "south",
    "pricerange": "moderate",
    "phone": "01223555018",
}


def test_a_restaurant_out_of_an_empty_result_is_found_where_inform_and_success_pass(tmp_path):
    """Figure 1 of TD-Eval in our words: the offer of the first turn is overwritten by the end."""
    rows = {"restaurant": [{"id": "1", **VENUE}], "hotel": [{"id": "2", "name": "x y"}]}
    rows |= {"attraction": [{"id": "3", "name": "y z"}], "train": [{"trainID": "TR0001"}]}
    for domain, table in rows.items():
        (tmp_path / f"{domain}_db.json").write_text(json.dumps(table))
    goal = {"restaurant": {"info": {"food": "portuguese", "area": "south"}, "reqt": ["phone"]}}
    cheap, any_price = (
        {"food": "portuguese", "area": "south", "pricerange": "cheap"},
        {"food": "portuguese", "area": "south"},
    )
    talk = dialogue(
        (
            "A cheap Portuguese restaurant in the south, please.",
            [("query_restaurants", cheap, [])],
            "There is a cheap Portuguese restaurant in the south called Lisbon Lantern. Shall I book it?",
        ),
        (
            "What is its phone number?",
            [("query_restaurants", {**any_price, "pricerange": "any"}, [VENUE])],
            "I can offer Mill Pond Kitchen, which is moderate. Its phone number is 01223555018.",
        ),
        metadata={"goal": goal},
    )
    success = MultiwozSuccess(read_venues(str(tmp_path))).judge_now(talk).outcome
    assert (success.numbers["inform"], success.numbers["success"]) == (1, 1)
    first, second = judged(talk).values()
    assert (first.numbers["backend"], second.numbers["backend"]) == (1, 5)
    assert first.evidence[0].source == "out_of_nothing"
