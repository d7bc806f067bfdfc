"""What goes into a calibration, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Calibrated", "RawScore"]


@dataclass(frozen=True, slots=True)
class RawScore:
    """One score as a judge gave it."""

    id: str
    """Breaks ties where `sample-id` is asked for."""
    value: float
    """On the scale, with fractions where the judge gives them."""
    turn: int = 0
    """Breaks ties where `turn-index` is asked for; the conversation does not count, as in the paper."""
    block: str = ""
    """Scores of one block are calibrated together: one user, one scenario."""
    candidate: str | None = None
    """Scores of different candidates are never ranked against each other."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """One calibrated score."""

    value: float
    """On the scale, with fractions."""
    rounded: int
    """The whole score."""
