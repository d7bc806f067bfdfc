"""A finding: what was noticed, where, how grave, and the words it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["FAULT_KINDS", "QUOTE_LENGTH", "FaultKind", "Signal", "cut"]

FaultKind = Literal[
    "forgotten_fact",
    "contradiction",
    "loop",
    "refusal",
    "ignored_correction",
    "non_answer",
    "tool_error",
    "drift",
]
FAULT_KINDS: tuple[FaultKind, ...] = (
    "forgotten_fact",
    "contradiction",
    "loop",
    "refusal",
    "ignored_correction",
    "non_answer",
    "tool_error",
    "drift",
)

QUOTE_LENGTH = 160
"""Characters to which a quote is cut."""

Dimension = Literal["context_use", "helpfulness"]


@dataclass(frozen=True, slots=True)
class Signal:
    """One finding about one assistant turn."""

    name: str
    turn: int
    """The assistant turn it speaks about, 1-based."""
    strength: float
    """0..1: below 0.4 a hint, from 0.6 a fault, from 0.85 a grave one."""
    quote: str
    """The words it stands on, verbatim, at most 160 characters."""
    note: str
    """What is wrong, in plain words of the conversation's language."""
    about: Dimension
    """The turn dimension it lowers."""
    kind: FaultKind | None = None
    quote_turn: int | None = None
    """The turn that the quote is from, where it is another one."""
    hindsight: bool = False
    """Whether it was read off the user message that follows the turn."""


def cut(text: str, length: int = QUOTE_LENGTH) -> str:
    """Return the text, or its first `length` characters: a verbatim part of it either way."""
    text = text.strip()
    return text if len(text) <= length else text[:length].rstrip()
