"""Planted faults in dialogues of our own: found at their turn, and sound turns are left alone.

In English and Chinese, over a dozen domains; a fault is one change of a sound dialogue. The rules were
written on `open.jsonl`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dialogauge.core import Conversation
from dialogauge.data import read_conversations
from dialogauge.signals import read_dialogue
from dialogauge.signals.grounding.duties import Duty
from dialogauge.signals.grounding.families import find_tool_signals

PLANTED = Path(__file__).parent / "planted"


def flagged(conversation: Conversation) -> set[int]:
    """Return the turns of a conversation with a finding."""
    duties = {turn.number: Duty(10) for turn in conversation.turns}
    return {s.turn for s in find_tool_signals(read_dialogue(conversation), duties)}


def turns(half: str) -> Iterator[tuple[str, int, bool, bool]]:
    """Yield of every replied turn: conversation, number, whether a fault is planted, whether one is found."""
    for conversation in read_conversations([str(PLANTED / f"{half}.jsonl")]):
        planted = {fault["turn"] for fault in conversation.metadata["expected"]}
        found = flagged(conversation)
        for turn in conversation.replied_turns:
            yield conversation.id, turn.number, turn.number in planted, turn.number in found


@pytest.mark.parametrize("half", ["open"])
def test_planted_faults_are_found_and_sound_turns_left_alone(half):
    rows = list(turns(half))
    faults = [found for *_, planted, found in rows if planted]
    sound = [found for *_, planted, found in rows if not planted]
    assert len(faults) >= 30
    assert sum(faults) >= 0.8 * len(faults)
    assert sum(sound) <= 0.05 * len(sound)
