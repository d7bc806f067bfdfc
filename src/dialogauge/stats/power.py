"""How many targets and raters tell two judges apart: studies simulated from the data at hand.

A study of some size draws whole clusters of the data with replacement, and with fewer raters than there are
some of them, the same for all its targets; of a target that they did not rate others stand in. People are the
mean of these ratings. Then the two judges are compared as everywhere (`comparison`): a paired difference, its
standard error by leaving out drawn clusters, Student's t. The power is the share of studies with p below
`ALPHA`.

What such a simulation cannot know:

- It takes the difference in the data for the true one; with fewer raters the mean over draws of them, so that
  what some of them happened to say of these targets is noise, and no difference. Where the data do not tell
  the judges apart, the size of their difference is not known, and no more is the power.
- It takes the clusters of the data for all kinds that there are.
- It has no more raters than a target has. To draw the same ones several times would not make up for others:
  three draws of two raters are a noisier mean than the two. So nothing is said of more.

How far the difference moves without a cluster is taken from the data, once for all studies, and made as large
as in a study of that size. `tests` hold this against studies in which each cluster is left out anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dialogauge.core import Scale, UsageError
from dialogauge.core.json_keys import keys
from dialogauge.core.values import Value
from dialogauge.stats.agreement import figures_of, signed_gain
from dialogauge.stats.coefficients import divided
from dialogauge.stats.comparison import ALPHA, Comparison, adjusted, compare, sign_flip_p
from dialogauge.stats.estimate import MIN_CLUSTERS, Estimate, Moves
from dialogauge.stats.means import mean_estimate
from dialogauge.stats.measures import MEASURES
from dialogauge.stats.pairs import Weights, pair_up, sample_of
from dialogauge.stats.table import Codes, DissatisfiedRule, Floats, Scores, ScoreTable, scores_of

ENOUGH: Final = 0.8
"""The share of studies that is asked for."""
STUDIES: Final = 1000
"""Simulated for each size: the share is known to about 3 points."""
_LARGEST: Final = 16
"""Times the data, which no study is larger than."""
_SMALLEST: Final = 8
"""Clusters of a study at least, where the data have so many."""
_SURE: Final = 0.95
_UNSURE: Final = 0.3
"""Shares beyond which no larger and no smaller studies are simulated."""
_RATERS: Final = (1, 2, 3, 5, 10)
"""For each target, where the data have more."""
_MOST: Final = 0.8
"""Share of the targets that must have so many ratings."""
_DRAWS: Final = 60
"""Of raters, for each number of them."""
_CLUSTERS: Final = 1000
"""Of the data, drawn by chance where there are more."""
_WORK: Final = 10_000_000
"""Numbers that are made to leave clusters out, for each number of raters: it bounds draws and clusters."""
_BLOCK: Final = 1_000_000
"""Weights held at once: 8 MB."""
_NOTHING: Final = 1e-9
_A, _B, _PEOPLE = "a", "b", "people"


class PowerPoint(Value):
    """Studies of one size."""

    clusters: int
    targets: int
    """On average."""
    raters: float
    """For each target, on average."""
    apart: Estimate
    """Share of the studies that tell the judges apart."""
    wrong: float
    """Share of the studies that tell them apart the other way round than the data."""


class Needed(Value):
    """How many targets a study needs."""

    raters: float
    """For each target."""
    targets: float | None
    """None where more than were simulated."""


@keys(sizes="needed", share="share")
class Power(Value):
    """How surely studies of several sizes tell two judges apart."""

    observed: Comparison
    """The two in the data."""
    points: tuple[PowerPoint, ...]
    """By raters, and of each by size; none where the judges do not differ in the data."""
    here: PowerPoint | None
    """Studies as large as the data."""
    studies: int
    """Simulated for each size."""
    why_not: str | None = None
    """Why nothing was simulated."""

    @property
    def raters(self) -> tuple[float, ...]:
        """The numbers of raters that were simulated; the last is that of the data."""
        return tuple(dict.fromkeys(p.raters for p in self.points))

    @property
    def sizes(self) -> tuple[Needed, ...]:
        """From how many targets on studies tell the judges apart, by raters."""
        return tuple(Needed(k, self.needed(k)) for k in self.raters)

    @property
    def share(self) -> float:
        """Of studies that shall tell them apart."""
        return ENOUGH

    def needed(self, raters: float, share: float = ENOUGH) -> float | None:
        """Return the targets from which studies with so many raters tell the judges apart that often.

        Between the sizes that were simulated, on a line in the logarithm of the targets, the shares made
        never to fall; 0 where the smallest size does, None where the largest does not.
        """
        mine = [p for p in self.points if p.raters == raters]
        shares = np.maximum.accumulate([0.0, *(p.apart.value or 0.0 for p in mine)])[1:]
        if not mine or shares[-1] < share:
            return None
        if shares[0] >= share:
            return 0.0
        at = int(np.argmax(shares >= share))
        low, high = math.log(mine[at - 1].targets), math.log(mine[at].targets)
        part = (share - shares[at - 1]) / (shares[at] - shares[at - 1])
        return math.exp(low + float(part) * (high - low))


def power_of(  # noqa: PLR0913  # what is simulated, and how
    table: ScoreTable,
    judges: tuple[str, str | None],
    ratings: Floats,
    measure: str,
    *,
    rule: DissatisfiedRule | None = None,
    studies: int = STUDIES,
    seed: int = 0,
) -> Power:
    """Simulate studies of several sizes, and how often they tell two judges apart.

    Args:
        table: Of n targets, with the judges among its sources.
        judges: Names of two sources; None for the second takes the constant judge that does best here.
        ratings: Shape (n, s), what each of s people gave each target; NaN: not rated. Each target has one
            rating at least.
        measure: Of `MEASURES`; not one by user.
        rule: What counts as dissatisfied.
        studies: Of each size.
        seed: Of all draws.

    Raises:
        UsageError: The measure is none, or one by user, or the ratings do not allow it.
        ValueError: A target has no rating, or the shapes differ.
    """
    counts = (~np.isnan(ratings)).sum(axis=1)
    if ratings.shape[:1] != (table.n,) or not counts.all():
        msg = f"ratings of the shape {ratings.shape} for {table.n} targets, each with one at least"
        raise ValueError(msg)
    simulation = _Simulation(table, judges, ratings, measure, rule, seed)
    result = Power(simulation.observed, (), None, studies)
    if why := _why_not(simulation.observed, simulation.clusters):
        return replace(result, why_not=why)
    points = tuple(
        point
        for k in (*(k for k in _RATERS if _fewer(counts, k)), None)
        for point in simulation.points(k, studies, np.random.default_rng([seed, k or 0]))
    )
    here = next(p for p in reversed(points) if p.clusters == simulation.here)
    return replace(result, points=points, here=here)


def _fewer(counts: Codes, raters: int) -> bool:
    """Say whether most targets have so many ratings, and more."""
    return bool((counts >= raters).mean() >= _MOST and counts.mean() > raters + 0.05)


def _why_not(observed: Comparison, clusters: int) -> str | None:
    value = observed.difference.value
    if value is None:
        return "the figures of the two are undefined here, so nothing says how they differ"
    if abs(value) < _NOTHING:
        return "they do not differ in the data, so no number of targets would tell them apart"
    if clusters < MIN_CLUSTERS:
        return f"too few {observed.unit} to draw from: {clusters}"
    return None


class _Simulation:
    """What the studies are drawn from."""

    def __init__(
        self,
        table: ScoreTable,
        judges: tuple[str, str | None],
        ratings: Floats,
        measure: str,
        rule: DissatisfiedRule | None,
        seed: int,
    ) -> None:
        if measure not in MEASURES or MEASURES[measure].needs & {"users", "blocks"}:
            msg = f"no power is simulated for {measure!r}"
            raise UsageError(msg, hint="name a measure over all targets, such as spearman")
        self.measure, self._rule = MEASURES[measure], rule
        self._scale = table.sources[judges[0]].scale
        people = _people(_means(ratings), self._scale)
        first, second = judges
        b, name = (table.sources[second], second) if second else _best_constant(table, people, measure, rule)
        sources = {_A: table.sources[first], _B: b, _PEOPLE: people}
        whole = replace(table, sources=sources, users=None, blocks=None)
        if not self.measure.needs <= sample_of(whole, sources[_A], people, rule).can:
            msg = f"the ratings do not allow {self.measure.title}"
            raise UsageError(msg, hint="name another measure")
        figures = figures_of(whole, {_A: sources[_A], _B: b}, _PEOPLE, [measure], rule=rule)
        self.observed = adjusted([compare(first, figures[_A], name, figures[_B], measure)])[0]
        self.here = whole.cluster_codes[1]
        """Clusters in the data."""
        self._targets = table.n / self.here
        most = max(MIN_CLUSTERS, min(_CLUSTERS, math.isqrt(round(_WORK / 5 / self._targets))))
        order = np.random.default_rng([seed, 1 << 20]).permutation(self.here)
        kept = (order < most)[whole.cluster_codes[0]]
        self._table, self._ratings = whole.only(kept), ratings[kept]
        self._cluster, self.clusters = self._table.cluster_codes
        self._sizes = np.bincount(self._cluster).astype(np.float64)
        every = self._drawn(self._table.sources[_PEOPLE])
        self._shift = 0.0
        if self.observed.difference.value is not None and self.clusters < self.here:
            self._shift = self.observed.difference.value - every.value

    def points(self, raters: int | None, studies: int, rng: np.random.Generator) -> Iterator[PowerPoint]:
        """Yield a point for each size, of studies with so many raters; None: with all ratings as they are."""
        counts = (~np.isnan(self._ratings)).sum(axis=1)
        mean = float((counts if raters is None else np.minimum(counts, raters)).mean())
        if raters is None:
            drawn = [self._drawn(self._table.sources[_PEOPLE])]
        else:
            draws = min(_DRAWS, max(5, _WORK // (self.clusters * self._table.n)))
            drawn = [self._drawn(self._fewer_people(raters, rng)) for _ in range(draws)]
            known = [of.value for of in drawn if np.isfinite(of.value)]
            drawn = [replace(of, shift=float(np.mean(known)) - of.value) for of in drawn]

        def point(size: int) -> PowerPoint:
            return self._point(size, mean, drawn, studies, rng)

        points = [point(self.here)]
        while points[0].clusters // 2 >= _SMALLEST and (points[0].apart.value or 0) > _UNSURE:
            points.insert(0, point(points[0].clusters // 2))
        while points[-1].clusters < _LARGEST * self.here and (points[-1].apart.value or 0) < _SURE:
            points.append(point(points[-1].clusters * 2))
        yield from points

    def _point(
        self, size: int, raters: float, drawn: Sequence[_Drawn], studies: int, rng: np.random.Generator
    ) -> PowerPoint:
        direction = np.sign(self.observed.difference.value or 0.0)
        each = -(-studies // len(drawn))
        step = max(1, _BLOCK // max(self.clusters, *(of.cells for of in drawn)))
        blocks = [min(step, each - start) for start in range(0, each, step)]
        signs = np.concatenate([self._signs(of, size, n, rng) for of in drawn for n in blocks])
        which = np.repeat(np.arange(len(drawn)), each) if len(drawn) > 1 else np.arange(signs.size)
        unit = "draws of raters" if len(drawn) > 1 else "studies"
        share = mean_estimate(np.abs(signs), which.tolist(), unit=unit)
        wrong = float((signs == -direction).mean())
        return PowerPoint(size, round(size * self._targets), raters, share, wrong)

    def _signs(self, of: _Drawn, size: int, studies: int, rng: np.random.Generator) -> Floats:
        """Return what each study says: 1 where a is better, -1 where b is, 0 where it cannot tell."""
        counts = rng.multinomial(size, np.full(self.clusters, 1 / self.clusters), studies).astype(np.float64)
        values = of.figure(counts) + (of.shift + self._shift)
        defined = np.isfinite(values) & (counts @ ~np.isfinite(of.moves) == 0)
        moves = np.nan_to_num(of.moves) * (self.clusters - 1) / (size - 1)
        first, second, third, fourth = (counts @ moves**k / size for k in (1, 2, 3, 4))
        squares = np.maximum(second - first**2, 0.0) * size
        fourths = (fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4) * size
        # The freedom of the sizes of the clusters that each study counts, shape (studies,).
        largest = np.where(counts > 0, self._sizes, 0.0).max(axis=1)
        targets, squared = counts @ self._sizes, counts @ self._sizes**2
        others = divided((targets - largest) ** 2, squared - largest**2, otherwise=1.0)
        freedoms = np.minimum(divided(targets**2, squared), others)
        columns = np.column_stack([np.nan_to_num(values), squares, fourths, freedoms])
        p = [Moves.of_sums(two, four, size, most).p(value) for value, two, four, most in columns.tolist()]
        return np.where(defined & (np.maximum(p, sign_flip_p(size)) < ALPHA), np.sign(values), 0.0)

    def _fewer_people(self, raters: int, rng: np.random.Generator) -> Scores:
        """Return people as so many raters make them: of each target the first in an order by chance."""
        order = rng.permutation(self._ratings.shape[1])
        known = ~np.isnan(self._ratings[:, order])
        taken = known & (np.cumsum(known, axis=1) <= raters)
        return _people(_means(np.where(taken, self._ratings[:, order], np.nan)), self._scale)

    def _drawn(self, people: Scores) -> _Drawn:
        """Prepare the difference against such people, and how far it moves without each cluster."""
        sides = []
        for name in (_A, _B):
            pairs = pair_up(self._table, self._table.sources[name], people, self._rule)
            sides.append((self.measure.prepare(pairs), pairs))

        def figure(weights: Floats) -> Floats:
            return signed_gain(self.measure, *(of.figure(Weights(pairs, weights)) for of, pairs in sides))

        step = max(1, _BLOCK // max(self.clusters, *(pairs.size for _, pairs in sides)))
        places = np.arange(self.clusters)
        without = [
            figure(np.where(places == places[start : start + step, None], 0.0, 1.0))
            for start in range(0, self.clusters, step)
        ]
        value = float(figure(np.ones((1, self.clusters)))[0])
        cells = max(pairs.size for _, pairs in sides)
        return _Drawn(figure, cells, value, np.concatenate(without) - value)


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """How much better a is than b, against people as some raters make them."""

    figure: Callable[[Floats], Floats]
    """Of how often each cluster counts, shape (studies, clusters) -> (studies,)."""
    cells: int
    """Columns of the widest array that a row of weights takes."""
    value: float
    """In the data, each cluster once."""
    moves: Floats
    """Shape (clusters,), how far it moves without each of them."""
    shift: float = 0.0
    """What is added to make it the mean over draws of raters."""


def _means(ratings: Floats) -> Floats:
    known = ~np.isnan(ratings)
    means: Floats = np.where(known, ratings, 0.0).sum(axis=1) / known.sum(axis=1)
    return means


def _people(values: Floats, scale: Scale) -> Scores:
    # Ratings may lie off the judge's scale, so they are not cut to it.
    return scores_of(values, whole=np.floor(values + 0.5), scale=scale)


def _best_constant(
    table: ScoreTable, people: Scores, measure: str, rule: DissatisfiedRule | None
) -> tuple[Scores, str]:
    """Return the constant judge that does best, and its name; the lowest of several."""
    scale = people.scale
    levels = np.arange(scale.low, scale.high + 1)
    constants = {f"always {v:g}": scores_of(np.full(table.n, v), scale=scale) for v in levels}
    with_people = table.adding({_PEOPLE: people})
    figures = figures_of(with_people, constants, _PEOPLE, [measure], rule=rule, intervals=False)

    def beats(one: str, other: str) -> bool:
        mine, its = (
            np.array([np.nan if (v := figures[of].values[measure]) is None else v]) for of in (one, other)
        )
        return bool(signed_gain(MEASURES[measure], mine, its)[0] > 0)

    best = next(iter(constants))
    for name in constants:
        best = name if beats(name, best) else best
    alike = not any(beats(best, name) for name in constants)
    return constants[best], "any constant" if alike else best
