"""All findings about an agent that uses tools."""

from __future__ import annotations

from collections.abc import Mapping

from dialogauge.signals.dialogue import Dialogue
from dialogauge.signals.grounding.backend import find_ungrounded
from dialogauge.signals.grounding.duties import Duty, find_neglected
from dialogauge.signals.grounding.history import find_forgotten
from dialogauge.signals.signal import Signal


def find_tool_signals(dialogue: Dialogue, duties: Mapping[int, Duty]) -> tuple[Signal, ...]:
    """Return by turn what replies state against the results, what the agent owes, and what it forgot.

    None of it reads a message after the reply.

    Args:
        dialogue: The dialogue.
        duties: By turn what the policy asks for; a turn that is missing owes nothing.
    """
    result = [*find_ungrounded(dialogue), *find_neglected(dialogue, duties), *find_forgotten(dialogue)]
    return tuple(sorted(result, key=lambda s: (s.turn, -s.strength, s.name)))
