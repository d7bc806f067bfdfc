"""Figures that several commands print with `--json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from dialogauge.stats import Estimate
from dialogauge.stats.comparison import Side
from dialogauge.studies.satisfaction.figures import FIGURES


class ComparisonJson(TypedDict):
    """One paired comparison of a with b."""

    a: str
    b: str
    measure: str
    figure_a: float | None
    figure_b: float | None
    a_better_by: Estimate
    p: float | None
    """Two-sided; null where the difference has no interval."""
    p_holm: float | None
    """Adjusted over all comparisons that were made together."""
    least_p: float | None
    """The lowest p that so few clusters can give so many comparisons."""
    agrees: bool | None
    """Whether the better one agrees with people more than chance."""
    side: Side
    """Where a stands against b, by the adjusted p."""
    words: str


MeasuresJson = TypedDict(  # type: ignore[misc] # the names stand there
    "MeasuresJson", dict.fromkeys(FIGURES, float | None)
)


class MetricsJson(MeasuresJson):
    """The figures of one judge or control of satisfaction; one that is undefined is null."""

    n: int
    n_failed: int
    n_users: int
    users_used: Mapping[str, int]
    """Users that the per-user figures stand on."""
    intervals: Mapping[str, tuple[float, float] | None]
    """95 %, clustered by user."""
