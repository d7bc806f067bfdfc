"""One estimate with one clustered interval, for every figure of every command.

Scores of one user or one conversation go together, so whole clusters are left out, one after the other: how
far the figure moves each time says how sure it is (the delete-one jackknife; of very many clusters a group at
a time). Two figures on the same targets are left the same clusters out, so their difference is paired.

- The variance is the sum of the squared moves, without the factor (G - 1) / G: with few clusters the
  intervals are too narrow with it.
- Student's t has the degrees of freedom of Satterthwaite (1946), at least 4 and at most the clusters
  less one: where few clusters make up the figure (rare faults), it is less sure.
- Where few clusters hold most targets, what the others say counts for little. So many clusters of one size
  would tell as much: n squared by the sum of the squared sizes (Kish, 1965). There are no more degrees of
  freedom than that, nor than that of all clusters but the largest: of even ones it is the clusters less one.
- A figure lies on a range, and so does its interval: it is made on the logit of the figure's place on the
  range, where it is the wider the nearer an end is. A difference has the symmetric one, cut to its range.
- Of few events the logit reaches too far: 1 of 100 would be up to 14 %. So the far end is at most that of
  Clopper and Pearson (1934) for a share of single trials that is as sure: no more trials than clusters, and
  by (z / t)^2 fewer for what the standard error leaves open (Korn and Graubard, 1998). That is up to 9 %.
- No interval has width 0. Where every cluster says the same, 2.5 % of such samples come from data in which
  so many clusters say otherwise: the interval goes as far as these could bring the figure (a difference
  towards 0 as far as they could if they said the opposite).
- With fewer than `MIN_CLUSTERS` clusters there is none, and the estimate says why. A paired difference takes
  `MIN_PAIRS`: flipping the signs of fewer whole clusters cannot give a p-value of .05.
- The difference of two samples is made of the ends of both figures' own intervals (MOVER: Zou and Donner,
  2008), so that a sample in which all are alike is as unsure as its own interval says. Its p-value is the
  level at which that interval ends at 0. Clusters that are in both samples count by their correlation.

`python -m benchmarks coverage` simulates how often the intervals hold the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from dialogauge.stats.distributions import beta_quantile, t_quantile, t_tail, zero_between
from dialogauge.stats.table import Codes, Floats

LEVEL: Final = 0.95
"""Of every interval."""
MIN_CLUSTERS: Final = 5
"""Clusters below which a sample shows nothing of others."""
MIN_PAIRS: Final = 6
"""Clusters below which a paired difference cannot be told from 0 at the level of the interval."""
METHOD: Final = "jackknife"

_TAIL: Final = 0.5 - LEVEL / 2
_MOST_PARTS: Final = 500
"""So often something is left out at most: the standard error is then sure to about 3 %."""
_DEALS: Final = 1000
"""So many figures of what was dealt by chance are computed at most, where there are fewer clusters."""
_NOTHING: Final = 1e-12
"""A move that rounding alone may make."""
_LEAST_TAIL: Final = 1e-10
_MOST_TAIL: Final = 0.4999
"""Tails that a p-value of two samples is sought between."""

Range = tuple[float, float]
"""The lowest and the highest value that a figure can have."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval; what is undefined is None."""

    value: float | None
    """None where the figure is undefined, for example over nothing: then n is 0."""
    low: float | None
    """None where there is no interval; `reason` says why."""
    high: float | None
    level: float
    """Of the interval, in (0, 1)."""
    n: int
    """Targets that it stands on."""
    clusters: int
    """Clusters that hold at least one of them."""
    method: str
    """How the interval is made, and by what it is clustered: `jackknife by users`."""
    reason: str | None = None
    """Why there is no interval, in words."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True, eq=False)
class Gain:
    """How much better one of two figures is."""

    value: float | None
    """None where it is undefined."""
    moved: Floats
    """The same with each part of the clusters left out, shape (parts,)."""
    reach: float
    """The greatest difference that there can be."""
    support: int | None = None
    """Clusters that the figures stand on, where others tell nothing of them."""
    sides: Sides | None = None
    """Both figures, where they are of two samples; None where each cluster is in both."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What figures stand on."""

    n: int
    """Targets."""
    clusters: int
    unit: str = "conversations"
    """What a cluster is, as messages say it: `users`."""
    most: float | None = None
    """Degrees of freedom at most, by the sizes of the clusters; None where each counts alike."""

    @classmethod
    def of(cls, sizes: Floats, unit: str = "conversations") -> Basis:
        """Return the basis of figures that count each cluster by its targets, shape (clusters,)."""
        return cls(int(sizes.sum()), sizes.size, unit, freedom_of(sizes))

    def estimate(
        self, value: float | None, moved: Floats, limits: Range, *, support: int | None = None
    ) -> Estimate:
        """Put a figure together with its interval.

        Args:
            value: The figure, None where it is undefined.
            moved: The figure with a part of the clusters left out, one for each part; empty where no interval
                is asked for.
            limits: The range of the figure.
            support: Clusters that the figure stands on, where others hold targets but tell nothing of it.
        """
        spread = self._spread(value, moved, support)
        if value is None or not isinstance(spread, Moves):
            return self._without(value, spread)
        return self._with(value, spread.within(value, limits))

    def difference(self, gain: Gain) -> tuple[Estimate, float | None]:
        """Put a difference together with its interval and its two-sided p-value against 0."""
        spread = self._spread_of(gain)
        if gain.value is None or spread is None or isinstance(spread, str):
            return self._without(gain.value, spread), None
        return self._with(gain.value, spread.around(gain.value, gain.reach)), spread.p(gain.value)

    def detectable(self, gain: Gain, *, power: float, alpha: float = 1 - LEVEL) -> float | None:
        """Return the least true difference that such samples tell from 0 in a share `power` of the cases.

        Args:
            gain: A difference of such a sample; its value does not count, how far it moves does.
            power: In (0.5, 1).
            alpha: The two-sided level at which a difference is told from 0.

        Returns:
            None where there is no interval, and where an even difference shows nothing of how they spread.
            Where there is no difference at all, the end of its interval.
        """
        spread = self._spread_of(gain)
        if spread is None or isinstance(spread, str):
            return None
        if isinstance(spread, Moves) and gain.value and not spread.variance:
            return None
        return spread.detectable(power, alpha, gain.reach)

    def _spread_of(self, gain: Gain) -> Moves | Sides | str | None:
        """Return the spread of a difference, or why there is none; None where nothing is asked for."""
        if gain.sides is None:
            return self._spread(gain.value, gain.moved, gain.support, MIN_PAIRS)
        clusters = min(gain.sides.a.clusters, gain.sides.b.clusters)
        least = MIN_CLUSTERS if gain.sides.least_p <= 1 - LEVEL else max(MIN_PAIRS, clusters + 1)
        return None if gain.value is None else too_few(clusters, self.unit, least) or gain.sides

    def _spread(
        self, value: float | None, moved: Floats, support: int | None, least: int = MIN_CLUSTERS
    ) -> Moves | str | None:
        """Return the spread, or why there is none; None where nothing is asked for."""
        if value is None:
            return None
        known = self.clusters if support is None else support
        if why := too_few(known, self.unit, least):
            return why
        if not moved.size:
            return None
        if not np.isfinite(moved).all():
            return f"undefined without some of the {self.unit}"
        return Moves.of(moved - value, min(known, moved.size), self.most)

    def _with(self, value: float, ends: Range) -> Estimate:
        return Estimate(value, *ends, LEVEL, self.n, self.clusters, f"{METHOD} by {self.unit}")

    def _without(self, value: float | None, spread: Moves | Sides | str | None) -> Estimate:
        why = spread if isinstance(spread, str) else None
        return Estimate(value, None, None, LEVEL, self.n, self.clusters, "none", why)


def freedom_of(sizes: Floats) -> float:
    """Return the degrees of freedom that clusters of these sizes have at most, shape (clusters,)."""

    def even(of: Floats) -> float:
        return float(of.sum() ** 2 / np.square(of).sum()) if of.any() else 1.0

    return min(even(sizes), even(np.sort(sizes)[:-1]))


def too_few(clusters: int, unit: str, least: int = MIN_CLUSTERS) -> str | None:
    """Say why so few clusters give no interval; None where there are at least `least`."""
    if clusters >= least:
        return None
    if not clusters:
        return f"none of the {unit} tells anything of it"
    what = "an interval" if least == MIN_CLUSTERS else "the interval of a difference"
    return f"too few {unit}: {clusters}, and {what} takes {least}"


@dataclass(frozen=True, slots=True)
class Moves:
    """How far a figure moves when clusters are left out, taken together."""

    variance: float
    freedom: float
    """Degrees of freedom of Student's t."""
    clusters: int

    @classmethod
    def of(cls, moves: Floats, clusters: int, most: float | None = None) -> Moves:
        """Return the spread of moves, shape (parts,), of a figure that stands on so many clusters.

        Args:
            moves: How far the figure moves with each part left out.
            clusters: That it stands on.
            most: Degrees of freedom at most, by the sizes of the clusters; None where each counts alike.
        """
        squares = np.where(np.abs(moves) > _NOTHING, moves, 0.0) ** 2
        return cls.of_sums(float(squares.sum()), float(np.square(squares).sum()), clusters, most)

    @classmethod
    def of_sums(cls, total: float, fourth: float, clusters: int, most: float | None = None) -> Moves:
        """Return the same of the sums of the squares and of the fourth powers of the moves."""
        most = clusters - 1.0 if most is None else min(most, clusters - 1.0)
        uneven = fourth - total**2 / clusters
        freedom = most if uneven <= 0 else max(MIN_CLUSTERS - 1.0, 2 * total**2 / uneven)
        return cls(total, min(freedom, most), clusters)

    def _t(self, tail: float) -> float:
        quantile: float = t_quantile(1 - tail, round(self.freedom, 3))
        return quantile

    def _unseen(self, tail: float = _TAIL) -> float:
        """The share of clusters that may be otherwise where all that were seen are alike."""
        return 1 - float(tail ** (1 / self.clusters))

    def within(self, value: float, limits: Range, tail: float = _TAIL) -> Range:
        """Return the interval of a figure on its range, which leaves out `tail` at each end."""
        low, high = limits
        width = high - low
        share = (value - low) / width
        if not self.variance or not 0 < share < 1:
            unseen = self._unseen(tail)
            return value - unseen * max(value - low, 0), value + unseen * max(high - value, 0)
        deviation = math.sqrt(self.variance) / width
        if share <= 0.5:
            near, far = self._ends(share, deviation, tail)
            return low + width * near, low + width * far
        near, far = self._ends(1 - share, deviation, tail)
        return high - width * far, high - width * near

    def _ends(self, share: float, deviation: float, tail: float) -> Range:
        """Return the interval of a figure's place on the range 0 to 1, which is at most a half."""
        spread, t = share * (1 - share), self._t(tail)
        logit, half = math.log(share / (1 - share)), t * deviation / spread
        trials = min(spread / deviation**2, self.clusters) * (NormalDist().inv_cdf(1 - tail) / t) ** 2
        exact: float = beta_quantile(1 - tail, trials * share + 1, trials * (1 - share))
        return _expit(logit - half), min(_expit(logit + half), exact)

    def around(self, value: float, reach: float) -> Range:
        """Return the interval of a difference that is at most `reach` either way.

        An even one, not 0, leaves 0 out where flipping the signs of whole clusters does: towards 0 it goes
        as far as clusters that say the opposite could bring it.
        """
        if not self.variance:
            size, unseen = abs(value), self._unseen()
            back, on = (2 * size if size > _NOTHING else reach), reach - size
            below, above = (back, on) if value > 0 else (on, back)
            return value - unseen * below, value + unseen * above
        half = self._t(_TAIL) * math.sqrt(self.variance)
        return max(value - half, -reach), min(value + half, reach)

    def detectable(self, power: float, alpha: float, reach: float) -> float:
        """Return the least true difference that is told from 0 at level `alpha` in a share of the cases."""
        if not self.variance:
            return self._unseen() * reach
        ends = sum(t_quantile(share, round(self.freedom, 3)) for share in (1 - alpha / 2, power))
        return min(reach, float(ends) * math.sqrt(self.variance))

    def p(self, value: float) -> float:
        """Return the two-sided p-value of a figure against 0; 1 where nothing moves it from there."""
        if not self.variance:
            return 1.0 if abs(value) <= _NOTHING else 0.0
        return 2 * t_tail(abs(value) / math.sqrt(self.variance), round(self.freedom, 3))


@dataclass(frozen=True, slots=True)
class Sides:
    """Two figures of two samples on one range: what their difference, b less a, is made of."""

    value_a: float
    value_b: float
    a: Moves
    b: Moves
    limits: Range
    """Of both figures."""
    correlation: float = 0.0
    """Of the two, by the clusters that are in both samples; 0 where none is."""
    both: int = 0
    """Clusters that are in both samples."""

    @property
    def least_p(self) -> float:
        """The least two-sided p-value that dealing whole clusters anew can give."""
        first, second = self.a.clusters - self.both, self.b.clusters - self.both
        deals = math.lgamma(first + second + 1) - math.lgamma(first + 1) - math.lgamma(second + 1)
        return min(1.0, 2 * math.exp(-deals - self.both * math.log(2)))

    def around(self, value: float, reach: float, tail: float = _TAIL) -> Range:
        """Return the interval of their difference `value`, which leaves out `tail` at each end."""
        (low_a, high_a), (low_b, high_b) = self._ends(tail)
        below = self._together(self.value_b - low_b, high_a - self.value_a)
        above = self._together(high_b - self.value_b, self.value_a - low_a)
        return max(value - below, -reach), min(value + above, reach)

    def _ends(self, tail: float) -> tuple[Range, Range]:
        return self.a.within(self.value_a, self.limits, tail), self.b.within(self.value_b, self.limits, tail)

    def _together(self, one: float, other: float) -> float:
        return math.sqrt(max(one**2 + other**2 - 2 * self.correlation * one * other, 0.0))

    def p(self, value: float) -> float:
        """Return the two-sided p-value of their difference: the level whose interval ends at 0."""

        def end(log_tail: float) -> float:
            low, high = self.around(value, math.inf, math.exp(log_tail))
            return low if value > 0 else -high

        middle = end(math.log(_TAIL))
        far = math.log(_LEAST_TAIL if middle > 0 else _MOST_TAIL)
        if abs(value) <= _NOTHING or end(far) * middle > 0:
            return 2 * _LEAST_TAIL if abs(value) > _NOTHING and middle > 0 else 1.0
        return 2 * math.exp(zero_between(end, math.log(_TAIL), far))

    def detectable(self, power: float, alpha: float, reach: float) -> float:
        """Return the least true difference that is told from 0 at level `alpha` in a share of the cases."""
        ends = (self.around(0.0, math.inf, tail) for tail in (alpha / 2, 1 - power))
        return min(reach, sum(max(-low, high) for low, high in ends))


def _expit(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def parts_of(clusters: int, seed: int = 0) -> Codes:
    """Return which part each cluster is left out with, shape (clusters,): few clusters each by itself.

    Args:
        clusters: How many there are.
        seed: Of the parts, where there are more clusters than parts.
    """
    order = np.arange(clusters)
    if clusters > _MOST_PARTS:
        order = np.random.default_rng(seed).permutation(clusters)
    return order % _MOST_PARTS


def parts_left_out(clusters: int, version: int = 0, versions: int = 1) -> Codes:
    """Return the parts that are left out of a version; of several each part of as many as are cheap.

    Args:
        clusters: How many there are.
        version: Of a source that was dealt by chance: which deal.
        versions: How many deals there are.
    """
    parts = np.arange(min(clusters, _MOST_PARTS))
    deals = min(versions, max(1, _DEALS // max(parts.size, 1)))
    return parts[(parts - version) % versions < deals]
