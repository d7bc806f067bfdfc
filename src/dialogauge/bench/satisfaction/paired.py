"""Two judges of the same turns: which one is nearer to the users, if that can be told at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from dialogauge.bench.satisfaction.figures import Scored, figures_of, measure_draws
from dialogauge.metrics import draw_p, holm, interval_of_draws

__all__ = ["COMPARED", "PairedComparison", "compare_pairs"]

Floats = npt.NDArray[np.float64]

COMPARED: Final = ("pearson", "qwk", "f1_dsat", "mae", "within_user_pearson")
"""The figures by which two judges are held against each other: few, for each test costs power."""
LOWER_IS_BETTER: Final = frozenset({"mae"})
_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Two judges, one figure, the same draws of users for both."""

    a: str
    b: str
    measure: str
    n: int
    users: int
    figure_a: float | None
    figure_b: float | None
    difference: float | None
    """How much better a is than b; above 0 is better, also where a lower figure is."""
    interval: tuple[float, float] | None
    p: float | None
    p_holm: float | None
    """Adjusted over all comparisons of this figure that were made together."""
    least_p: float | None = None
    """The lowest `p_holm` that so few draws can give so many comparisons; over .05 they show nothing."""

    @property
    def side(self) -> str:
        """`above`, `below`, `not distinguishable`, or `undefined`: a against b, by the adjusted p."""
        if self.difference is None or self.p_holm is None or (self.least_p or 0) > _ALPHA:
            return "undefined"
        if self.p_holm > _ALPHA:
            return "not distinguishable"
        return "above" if self.difference > 0 else "below"

    @property
    def words(self) -> str:
        """The same as a sentence."""
        if self.side in ("above", "below"):
            return f"{self.a if self.side == 'above' else self.b} agrees better with the users"
        if self.p_holm is not None and self.side == "undefined":
            return f"too few draws to tell {self.a} from {self.b}"
        return f"{self.a} and {self.b} are {'not distinguishable' if self.p_holm else 'not comparable'}"

    def to_json(self) -> dict[str, object]:
        """Write the comparison."""
        return {
            "a": self.a,
            "b": self.b,
            "measure": self.measure,
            "n": self.n,
            "n_users": self.users,
            "figure_a": self.figure_a,
            "figure_b": self.figure_b,
            "a_better_by": self.difference,
            "interval": None if self.interval is None else list(self.interval),
            "p": self.p,
            "p_holm": self.p_holm,
            "least_p": self.least_p,
            "side": self.side,
            "words": self.words,
        }


def compare_pairs(
    judges: Mapping[str, Sequence[Scored]],
    pairs: Iterable[tuple[str, str]],
    *,
    draws: int = 1000,
    seed: int = 0,
    measures: Sequence[str] = COMPARED,
) -> tuple[PairedComparison, ...]:
    """Compare judges pair by pair; p-values are adjusted by Holm over all pairs of one figure.

    Args:
        judges: By name; all have the same targets in the same order.
        pairs: Names of two each.
        draws: Bootstrap draws of users; without any there is no p.
        seed: Of the draws.
        measures: Names of figures.
    """
    found = {name: _drawn(scored, measures, draws, seed) for name, scored in judges.items()}
    out = [_compared(a, b, m, judges[a], found, draws) for a, b in pairs for m in measures]
    for measure in measures:
        of = [i for i, c in enumerate(out) if c.measure == measure]
        for i, p in zip(of, holm([out[i].p for i in of]), strict=True):
            out[i] = replace(out[i], p_holm=p, least_p=min(1.0, 2 * len(of) / (draws + 1)))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class _Drawn:
    values: Mapping[str, float | None]
    draws: Mapping[str, Floats]


def _drawn(scored: Sequence[Scored], measures: Sequence[str], draws: int, seed: int) -> _Drawn:
    values = figures_of(scored, draws=0).values
    drawn = measure_draws(scored, measures, draws=draws, seed=seed) if draws and scored else {}
    return _Drawn({m: values[m] for m in measures}, drawn)


def _compared(
    a: str, b: str, measure: str, scored: Sequence[Scored], found: Mapping[str, _Drawn], draws: int
) -> PairedComparison:
    users = len({s.user for s in scored})
    values = [found[name].values[measure] for name in (a, b)]
    point = _gain(measure, *(np.array([np.nan if v is None else v]) for v in values))
    difference = float(point[0]) if np.isfinite(point[0]) and values != [None, None] else None
    interval = p = None
    if draws and users > 1 and difference is not None:
        gains = _gain(measure, found[a].draws[measure], found[b].draws[measure])
        held = interval_of_draws(gains, clusters=users)
        interval = None if held.low is None or held.high is None else (held.low, held.high)
        p = draw_p(gains)
    return PairedComparison(
        a, b, measure, len(scored), users, values[0], values[1], difference, interval, p, None
    )


def _gain(measure: str, mine: Floats, other: Floats) -> Floats:
    """Subtract; a correlation that does not exist, and a class never named, count as 0."""
    if measure in LOWER_IS_BETTER:
        return other - mine
    return np.nan_to_num(mine, nan=0.0) - np.nan_to_num(other, nan=0.0)
