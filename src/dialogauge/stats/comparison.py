"""One comparison, one multiplicity rule, and one answer to whether anything could be told at all.

The difference of two figures is taken with the same clusters left out of both. Its p-value is two-sided and
has a floor: G clusters cannot give less than 2 / 2^G, which is what flipping the signs of whole clusters
could give at best; of two samples it is what dealing the clusters anew could give. P-values are adjusted by
Holm over all comparisons that are made, and shown, together.
Where there are too few clusters for an interval, or even the floor, adjusted, is above `ALPHA`, the answer is
"too few to tell" and never "not distinguishable".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from dialogauge.core.json_keys import keys
from dialogauge.core.values import Value
from dialogauge.stats.agreement import Figures, signed_gain
from dialogauge.stats.estimate import Basis, Estimate, Gain
from dialogauge.stats.measures import MEASURES
from dialogauge.stats.table import Floats

ALPHA: Final = 0.05
_FLIPS: Final = 4999
"""Of signs: a corrected p near `ALPHA` is sure to about 0.003."""
_ALL_FLIPS: Final = 12
"""Clusters up to which every flip is made."""
_MOST_PARTS: Final = 500
"""Clusters that are flipped each by itself."""
_NOTHING: Final = 1e-12

Side = Literal["above", "below", "not distinguishable", "too few to tell", "undefined"]


@keys(unit=None, at_floor=None, difference="a_better_by", side="side", words="words")
class Comparison(Value):
    """Two sources, one measure, the same targets."""

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
    """Two-sided; None where the difference has no interval."""
    least_p: float | None
    """The lowest `p_holm` that so few clusters can give so many comparisons."""
    p_holm: float | None = None
    """Adjusted over all comparisons that were made together."""
    at_floor: bool = False
    """Whether p is the lowest that so few clusters can give."""
    agrees: bool | None = None
    """Whether the better one agrees with people at all: its own interval lies above what chance gives. None
    where the measure has no such level, or neither is better."""

    @property
    def side(self) -> Side:
        """Where a stands against b, by the adjusted p."""
        if self.difference.value is None:
            return "undefined"
        if self.p_holm is None or self.least_p is None:
            return "undefined" if self.difference.reason is None else "too few to tell"
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
            better, worse = (self.a, self.b) if side == "above" else (self.b, self.a)
            if self.agrees:
                return f"{better} agrees better with people"
            if self.agrees is None:
                return f"{better} is closer to people"
            return f"{better} is above {worse}, but not above chance"
        if side == "too few to tell":
            return f"too few {self.unit} to tell {self.a} from {self.b}"
        how = "not distinguishable" if side == "not distinguishable" else "not comparable"
        return f"{self.a} and {self.b} are {how}"


def compare_pairs(
    figures: Mapping[str, Figures], pairs: Iterable[tuple[str, str]], measures: Sequence[str]
) -> tuple[Comparison, ...]:
    """Compare sources pair by pair; p-values are adjusted by Holm over all pairs and measures.

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
    gain = signed_gain(kind, *(np.array([np.nan if v is None else v]) for v in values))
    supports = [s for s in (of_a.support[measure], of_b.support[measure]) if s]
    reach = max(high - low for low, high in (of_a.limits[measure], of_b.limits[measure]))
    value = float(gain[0]) if np.isfinite(gain[0]) else None
    if value is not None and abs(value) <= _NOTHING:
        value = 0.0  # the same scores differ by how sums are rounded
    moved = signed_gain(kind, of_a.moved[measure], of_b.moved[measure])
    made = Gain(value, moved, reach, min(supports, default=None))
    comparison = compare_gain((a, b), measure, values, made, of_a.basis)
    if kind.chance is None or not value:
        return comparison
    low = (of_a if value > 0 else of_b).estimate(measure).low
    return replace(comparison, agrees=low is not None and low > kind.chance)


def compare_gain(
    names: tuple[str, str],
    measure: str,
    values: tuple[float | None, float | None],
    gain: Gain,
    basis: Basis,
) -> Comparison:
    """Compare two sources by how much better the first is.

    Args:
        names: Of the two.
        measure: What the figures are.
        values: Both figures.
        gain: Their difference.
        basis: What they stand on.
    """
    difference, p = basis.difference(gain)
    least = sign_flip_p(basis.clusters if gain.support is None else gain.support)
    if gain.sides is not None:
        least = gain.sides.least_p
    return Comparison(
        *names,
        measure,
        basis.unit,
        *values,
        difference,
        p=None if p is None else max(p, least),
        least_p=None if p is None else least,
        at_floor=p is not None and p <= least,
    )


def adjusted(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Adjust the p-values by Holm over all comparisons."""
    tested = sum(c.p is not None for c in comparisons)
    return tuple(
        replace(c, p_holm=p, least_p=None if c.least_p is None else min(1.0, tested * c.least_p))
        for c, p in zip(comparisons, holm([c.p for c in comparisons]), strict=True)
    )


def sign_flip_p(clusters: int) -> float:
    """Return the least two-sided p-value that flipping the signs of whole clusters' differences can give."""
    return float(2.0 ** (1 - clusters))


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


def corrected_together(
    p_values: Sequence[float], parts: Floats, rng: np.random.Generator
) -> tuple[tuple[float, ...], float]:
    """Correct p-values of figures that move by the same clusters for being tested together.

    The sign of each cluster's part is flipped in all figures at once: the share of flips of which any figure
    has as low a p-value is the corrected one. Figures that move together cost little, unlike with Holm.
    Step-down method of Westfall and Young (1993, section 2.6); with up to 12 clusters every flip is made.

    Args:
        p_values: Of each figure, two-sided.
        parts: What each cluster adds to each figure, if nothing differs; shape (clusters, figures).
        rng: Draws the flips.

    Returns:
        The corrected p-values; and the p-value below which one of the figures alone is significant at
        `ALPHA`, which lies between `ALPHA` divided by the number of figures and `ALPHA`.
    """
    count = len(p_values)
    if count < 2:
        return tuple(p_values), ALPHA
    # Add up clusters where there are very many: groups of them are flipped.
    groups = np.arange(len(parts)) % _MOST_PARTS
    flips = _flips(np.stack([np.bincount(groups, column) for column in parts.T], axis=1), rng)
    alone = np.empty_like(flips)
    for column, moved in enumerate(flips.T):
        order = np.sort(moved)
        alone[:, column] = 1 - np.searchsorted(order, moved - _NOTHING * (1 + moved)) / moved.size
    least, times = np.unique(alone.min(axis=1), return_counts=True)
    alpha = float(least[times.cumsum() <= ALPHA * len(alone)].max(initial=ALPHA / count))
    ranked = np.argsort(p_values, kind="stable")
    corrected, highest = np.empty(count), 0.0
    lowest = np.minimum.accumulate(alone[:, ranked[::-1]], axis=1)[:, ::-1]
    for place, figure in enumerate(ranked):
        below = int(np.count_nonzero(lowest[:, place] <= p_values[figure] + _NOTHING))
        highest = max(highest, p_values[figure], max(1, below) / len(lowest))
        corrected[figure] = min(1.0, highest)
    return tuple(corrected.tolist()), min(ALPHA, alpha)


def _flips(parts: Floats, rng: np.random.Generator) -> Floats:
    """Return how far each figure lies from 0 with signs of clusters flipped, shape (flips, figures)."""
    clusters = len(parts)
    if clusters <= _ALL_FLIPS:
        bits = (np.arange(2**clusters)[:, None] >> np.arange(clusters)) & 1
    else:
        bits = rng.integers(0, 2, size=(_FLIPS, clusters))
        bits[0] = 1  # what was observed is one of them
    scale = np.sqrt((parts**2).sum(axis=0))
    moved: Floats = np.abs((2.0 * bits - 1.0) @ (parts / np.where(scale > 0, scale, 1.0)))
    return moved
