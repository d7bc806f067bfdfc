"""What the page shows of the checks of the judge, as plain frozen values."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CalibrationLine", "TrustCaseView", "TrustCheckView", "TrustFigureView", "TrustView"]


@dataclass(frozen=True, slots=True)
class TrustFigureView:
    """One figure of a check."""

    name: str
    value: float | None
    interval: tuple[float, float] | None
    n: int
    share: bool


@dataclass(frozen=True, slots=True)
class TrustCaseView:
    """A place that a check points at."""

    conversation_id: str
    turn: int | None
    text: str


@dataclass(frozen=True, slots=True)
class TrustCheckView:
    """One check."""

    title: str
    status: str
    """`ok`, `flagged` or `cannot tell`."""
    sentence: str
    threshold: str | None
    """As it is written in the `[trust]` table."""
    figures: tuple[TrustFigureView, ...]
    cases: tuple[TrustCaseView, ...]
    cases_left_out: int


@dataclass(frozen=True, slots=True)
class CalibrationLine:
    """One dimension against people."""

    dimension: str
    status: str
    """`ready`, `not ready` or `cannot tell`."""
    kappa: float | None
    interval: tuple[float, float] | None
    n: int
    dialogues: int
    controls: tuple[tuple[str, float | None], ...]
    reason: str | None = None
    """Why there is no kappa; a sentence."""


@dataclass(frozen=True, slots=True)
class TrustView:
    """All checks, and the judge against people."""

    checks: tuple[TrustCheckView, ...]
    calibration: str | None
    """One sentence; None without ratings."""
    lines: tuple[CalibrationLine, ...]
    kappa: float
    """Below it a dimension is not ready."""

    @property
    def controls(self) -> tuple[str, ...]:
        """The controls of any dimension, in their order: a dimension without a kappa has none."""
        return tuple(dict.fromkeys(name for line in self.lines for name, _ in line.controls))

    @property
    def not_ready(self) -> tuple[str, ...]:
        """The dimensions that are marked."""
        return tuple(line.dimension for line in self.lines if line.status == "not ready")
