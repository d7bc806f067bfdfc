"""What was given to single replies, before any figure is made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ReplyScore:
    """What an evaluator, or a control, gave one reply."""

    id: str
    block: str
    position: int
    whole: float
    """On a scale of fractions the value."""
    value: float


@dataclass(slots=True)
class ScoredReplies:
    """What an evaluator gave one candidate's replies, or the original ones; all by the id of the turn."""

    scores: dict[str, ReplyScore] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    """Characters of every reply that the evaluator was asked about."""
    missing: dict[str, str] = field(default_factory=dict)
    """Why an item has no score."""
    skipped: set[str] = field(default_factory=set)
    """Items to whose reply the dimension does not apply."""
    cut_short: frozenset[str] | None = None
    """Replies that ended early; None where this is not known."""
    about: dict[str, Any] = field(default_factory=dict)
    """What the candidate is."""
