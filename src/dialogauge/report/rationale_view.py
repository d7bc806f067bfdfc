"""What the page shows of a judge's reasons and rationales, as plain frozen values."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RationaleExample", "RationaleKindView", "RationaleView"]

Interval = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class RationaleExample:
    """One turn that user and judge are dissatisfied with."""

    turn_id: str
    user_score: str
    user_reason: str
    judge_score: str
    judge_reason: str
    rationale: str
    of_sources: tuple[str, ...]
    """Words of it that belong to the user's other scenarios."""


@dataclass(frozen=True, slots=True)
class RationaleKindView:
    """One kind of rationale, with examples."""

    name: str
    meaning: str
    n: int
    examples: tuple[RationaleExample, ...]


@dataclass(frozen=True, slots=True)
class RationaleView:
    """Reasons against the users' own, and where rationales take their words from."""

    columns: tuple[str, ...]
    """The judge's reasons."""
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    """By the user's reason: how often the judge gave each."""
    n: int
    """Turns with a reason of both."""
    agreed: float | None
    interval: Interval
    kappa: float | None
    controls: tuple[tuple[str, float | None], ...]
    rationales: int
    without_rationale: int
    not_comparable: int
    contamination: tuple[float | None, float | None]
    """Share of terms that occur in the user's other scenarios alone; and by chance."""
    at_home: tuple[float | None, float | None]
    """Of these, the ones at home there; and by chance."""
    off_task: tuple[int, int | None]
    """Rationales that are off-task; and by chance."""
    missed: int
    kinds: tuple[RationaleKindView, ...]
