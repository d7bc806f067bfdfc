"""All signals of a dialogue, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from dialogauge.signals.answering import find_drift, find_non_answers
from dialogauge.signals.asking import find_needless_questions
from dialogauge.signals.contradiction import find_contradictions
from dialogauge.signals.not_knowing import find_not_knowing
from dialogauge.signals.reactions import find_reactions
from dialogauge.signals.reading import Dialogue
from dialogauge.signals.refusal import find_refusals
from dialogauge.signals.repair import find_ignored_corrections
from dialogauge.signals.repetition import find_repetition
from dialogauge.signals.replaced import find_replaced_values
from dialogauge.signals.signal import Signal
from dialogauge.signals.tool_use import find_tool_faults
from dialogauge.signals.wishes import find_broken_wishes

__all__ = ["Mode", "find_signals"]

Mode = Literal["hindsight", "foresight"]

_FAMILIES: tuple[Callable[[Dialogue], Iterator[Signal]], ...] = (
    find_repetition,
    find_refusals,
    find_non_answers,
    find_not_knowing,
    find_drift,
    find_needless_questions,
    find_broken_wishes,
    find_contradictions,
    find_tool_faults,
    find_ignored_corrections,
    find_replaced_values,
)
"""Read what precedes a reply and the reply, never what follows."""


def find_signals(dialogue: Dialogue, mode: Mode = "hindsight") -> tuple[Signal, ...]:
    """Return every finding, by turn and then by strength, the strongest first.

    In `foresight` nothing after a turn's reply has a part in the signals of that turn; `hindsight` also
    reads the user message that follows it.
    """
    found = [s for family in _FAMILIES for s in family(dialogue)]
    if mode == "hindsight":
        found.extend(find_reactions(dialogue))
    return tuple(sorted(found, key=lambda s: (s.turn, -s.strength, s.name)))
