"""One paired comparison, one multiplicity rule, and one answer to whether anything could be told at all.

The difference of two figures is taken draw by draw, on the same draws of clusters. Its p-value is two-sided
and has a floor: B draws cannot give less than 2 / (B + 1), nor G clusters less than 2 / 2^G, which is what
flipping the signs of whole clusters could give at best. P-values are adjusted by Holm over the comparisons
of one measure that are made together. Where even the floor, adjusted, is above `ALPHA`, the answer is "too
few to tell" and never "not distinguishable".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from dialogauge.stats.agreement import Figures
from dialogauge.stats.estimate import Basis, ClusterDraws, Estimate
from dialogauge.stats.measures import MEASURES, signed_gain
from dialogauge.stats.table import Floats

ALPHA: Final = 0.05
_DRAWS_PER_COMPARISON: Final = round(8 / ALPHA)
"""So many draws that the floor, adjusted, is at most a quarter of `ALPHA`."""
_CHEAP: Final = 200_000_000
"""Draws times targets up to which draws are added: seconds for each measure of a source."""

Side = Literal["above", "below", "not distinguishable", "too few to tell", "undefined"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sources, one measure, the same draws of clusters for both."""

    a: str
    b: str
    measure: str
    unit: str
    """What a cluster is, as messages say it."""
    figure_a: float | None
    figure_b: float | None
    difference: Estimate
    """How much better a is than b; above 0 is better, also where a lower figure is."""
    p: float | None
    """Two-sided; None with fewer than two clusters, or without draws."""
    least_p: float | None
    """The lowest `p_holm` that so few clusters and draws can give so many comparisons."""
    p_holm: float | None = None
    """Adjusted over all comparisons of this measure that were made together."""

    @property
    def side(self) -> Side:
        """Where a stands against b, by the adjusted p."""
        if self.difference.value is None or self.p_holm is None or self.least_p is None:
            return "undefined"
        if self.least_p > ALPHA:
            return "too few to tell"
        if self.p_holm > ALPHA:
            return "not distinguishable"
        return "above" if self.difference.value > 0 else "below"

    @property
    def words(self) -> str:
        """The same as a sentence."""
        side = self.side
        if side in ("above", "below"):
            return f"{self.a if side == 'above' else self.b} agrees better with people"
        if side == "too few to tell":
            return f"too few {self.unit} or draws to tell {self.a} from {self.b}"
        how = "not distinguishable" if side == "not distinguishable" else "not comparable"
        return f"{self.a} and {self.b} are {how}"

    def to_json(self) -> dict[str, Any]:
        """Write the comparison."""
        return {
            "a": self.a,
            "b": self.b,
            "measure": self.measure,
            "figure_a": self.figure_a,
            "figure_b": self.figure_b,
            "a_better_by": self.difference.to_json(),
            "p": self.p,
            "p_holm": self.p_holm,
            "least_p": self.least_p,
            "side": self.side,
            "words": self.words,
        }


def draws_for(draws: ClusterDraws, comparisons: int, targets: int) -> ClusterDraws:
    """Return the draws with enough of them for the p-values of so many comparisons, where they are cheap.

    Intervals go on reading the first `draws.draws`, so no figure moves.

    Args:
        draws: As they were asked for; without any, none are added.
        comparisons: Of one measure, made together.
        targets: That each draw weighs.
    """
    most = max(draws.draws, _CHEAP // max(targets, 1))
    return replace(draws, for_p=min(most, comparisons * _DRAWS_PER_COMPARISON))


def compare_pairs(
    figures: Mapping[str, Figures], pairs: Iterable[tuple[str, str]], measures: Sequence[str]
) -> tuple[Comparison, ...]:
    """Compare sources pair by pair; p-values are adjusted by Holm over all pairs of one measure.

    Args:
        figures: By source, all of one call of `figures_of`.
        pairs: Names of two each.
        measures: Which of the figures to compare by: few, for each test costs power.
    """
    return adjusted([compare(a, figures[a], b, figures[b], m) for a, b in pairs for m in measures])


def compare(a: str, of_a: Figures, b: str, of_b: Figures, measure: str) -> Comparison:
    """Compare two sources by one measure, the p-value not adjusted; see `compare_pairs`."""
    kind = MEASURES[measure]
    values = of_a.values[measure], of_b.values[measure]
    point = signed_gain(kind, *(np.array([np.nan if v is None else v]) for v in values))
    drawn = of_a.replicates[measure], of_b.replicates[measure]
    paired = drawn[0].size == drawn[1].size
    return compare_replicates(
        (a, b),
        measure,
        values,
        float(point[0]) if np.isfinite(point[0]) else None,
        signed_gain(kind, *drawn) if paired else np.empty(0),
        of_a.basis,
    )


def compare_replicates(
    names: tuple[str, str],
    measure: str,
    values: tuple[float | None, float | None],
    gain: float | None,
    gains: Floats,
    basis: Basis,
) -> Comparison:
    """Compare two sources from the replicates of their difference.

    Args:
        names: Of the two.
        measure: What the figures are.
        values: Both figures.
        gain: How much better the first is; None where undefined.
        gains: Its replicates, shape (total draws,).
        basis: What they stand on.
    """
    floor = sign_flip_p(basis.clusters)
    p = draw_p(gains) if gain is not None and basis.clusters > 1 else None
    least = max(2 / (int(np.isfinite(gains).sum()) + 1), floor)
    return Comparison(
        *names,
        measure,
        basis.unit,
        *values,
        basis.estimate(gain, gains),
        p=None if p is None else max(p, floor),
        least_p=None if p is None else least,
    )


def adjusted(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Adjust the p-values by Holm over the comparisons of each measure."""
    out = list(comparisons)
    for measure in dict.fromkeys(c.measure for c in out):
        of = [i for i, c in enumerate(out) if c.measure == measure]
        tested = sum(out[i].p is not None for i in of)
        for i, p in zip(of, holm([out[i].p for i in of]), strict=True):
            least = out[i].least_p
            out[i] = replace(out[i], p_holm=p, least_p=None if least is None else min(1.0, tested * least))
    return tuple(out)


def sign_flip_p(clusters: int) -> float:
    """Return the least two-sided p-value that flipping the signs of whole clusters' differences can give."""
    return float(2.0 ** (1 - clusters))


def draw_p(draws: Floats) -> float | None:
    """Two-sided p-value of bootstrap draws of a difference against 0.

    Twice the smaller share of draws on either side of 0, counting 0 itself and one draw
    more to both, so that it is never 0 (Davison and Hinkley, 1997, section 4.2.3). Draws that are not
    finite are left out; None when fewer than half are left.
    """
    values = np.asarray(draws, dtype=np.float64)
    defined = values[np.isfinite(values)]
    if defined.size * 2 < values.size or not defined.size:
        return None
    below, above = int((defined <= 0).sum()), int((defined >= 0).sum())
    return min(1.0, 2 * (min(below, above) + 1) / (defined.size + 1))


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust p-values by Holm's step-down method (1979); None takes no part and stays None.

    An adjusted value at or below alpha rejects with a family-wise error of at most alpha.
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    out: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, i) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        out[i] = highest
    return tuple(out)
