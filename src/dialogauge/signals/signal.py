"""A finding: what was noticed, where, how grave, and the words it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["ADMISSION", "FAULT_KINDS", "QUOTE_LENGTH", "Dimension", "FaultKind", "Signal", "cut"]

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

ADMISSION = "conceded"
"""The name of the finding that the assistant itself makes."""

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
    """0..1, read as a chance: from 0.7 a fault by itself, below only together with another source."""
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
    """Whether it was read off what follows the turn."""

    @property
    def source(self) -> Literal["reply", "user", "admission"]:
        """Where it was read: in the reply, in the next user message, or in what the assistant owns to."""
        if not self.hindsight:
            return "reply"
        return "admission" if self.name == ADMISSION else "user"


def cut(text: str, length: int = QUOTE_LENGTH) -> str:
    """Return the text, or its first `length` characters: a verbatim part of it either way."""
    text = text.strip()
    return text if len(text) <= length else text[:length].rstrip()
