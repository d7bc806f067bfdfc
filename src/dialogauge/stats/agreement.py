"""Agreement: the figures of sources against a reference, all with the same clusters left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from dialogauge.stats.estimate import Basis, Estimate, LeftOut, Range, freedom_of, left_out, parts_of
from dialogauge.stats.measures import MEASURES, Measure, Prepared
from dialogauge.stats.pairs import Pairs, Weights, pair_up
from dialogauge.stats.table import Directions, DissatisfiedRule, Floats, Scores, ScoreTable

_NONE: Final = np.empty(0)


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """The figures of one source, with all that their intervals and comparisons are made of."""

    basis: Basis
    values: Mapping[str, float | None]
    """By measure; None where undefined."""
    moved: Mapping[str, Floats]
    """By measure the figure with each part of the clusters left out, shape (parts,), NaN where undefined;
    empty where no interval was asked for."""
    limits: Mapping[str, Range]
    """By measure the lowest and the highest figure that there can be."""
    support: Mapping[str, int | None]
    """By measure the clusters that the figure stands on, where not all of them tell something of it."""

    def estimate(self, measure: str) -> Estimate:
        """Return one figure with its interval."""
        limits, support = self.limits[measure], self.support[measure]
        return self.basis.estimate(self.values[measure], self.moved[measure], limits, support=support)

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Every figure with its interval."""
        return {name: self.estimate(name) for name in self.values}


def measures_for(
    table: ScoreTable, source: str, reference: str, *, rule: DissatisfiedRule | None = None
) -> tuple[str, ...]:
    """Return the names of the measures that table, source and reference allow, in the registry's order."""
    pairs = pair_up(table, table.sources[source], table.sources[reference], rule)
    return tuple(name for name, m in MEASURES.items() if m.needs <= pairs.can)


def figures_of(
    table: ScoreTable,
    sources: Mapping[str, Scores | Sequence[Scores]],
    reference: str,
    measures: Sequence[str],
    *,
    rule: DissatisfiedRule | None = None,
    intervals: bool = True,
) -> dict[str, Figures]:
    """Compute measures of several sources on the same targets, with the same clusters left out.

    Args:
        table: Of the targets.
        sources: By name: a column, or several versions of a column that was dealt by chance. A figure of
            several is the mean over them, undefined where it is in one. Where there are many clusters each is
            left out of some of the versions alone, so that the interval holds the chance of the deals too. Of
            `Directions`, the better one.
        reference: The source of the table that the others are held against.
        measures: Names of `MEASURES`. One that a source does not allow is undefined.
        rule: What counts as dissatisfied.
        intervals: Whether intervals and comparisons are wanted; figures alone are quicker.
    """
    gold = table.sources[reference]
    sizes = np.bincount(table.cluster_codes[0], weights=table.weights).astype(np.float64)
    basis = Basis(table.n, sizes.size, table.unit, freedom_of(sizes))

    def versions(of: Scores | Sequence[Scores]) -> list[_Version]:
        several = [of] if isinstance(of, Scores) else of
        return [_Version(pair_up(table, version, gold, rule), measures) for version in several]

    def of_source(of: Scores | Sequence[Scores]) -> Figures:
        if isinstance(of, Directions):
            sides = (_figures(basis, [v], measures, intervals=intervals) for v in versions(of))
            return _better(*sides)
        return _figures(basis, versions(of), measures, intervals=intervals)

    return {name: of_source(of) for name, of in sources.items()}


def signed_gain(measure: Measure, mine: Floats, other: Floats) -> Floats:
    """Return how much better `mine` is than `other`: above 0 is better, whichever way the measure points.

    Where one of the two is undefined (a constant ranks nothing), the measure's null stands for it; where both
    are, so is the gain.
    """
    if measure.null is not None:
        lone = np.isfinite(mine) ^ np.isfinite(other)
        mine, other = (np.where(lone & ~np.isfinite(of), measure.null, of) for of in (mine, other))
    if measure.better == "high":
        return mine - other
    if measure.better == "low":
        return other - mine
    return np.abs(other) - np.abs(mine)


def _better(one: Figures, other: Figures) -> Figures:
    """Return for each measure the better of two, with its moved figures."""

    def is_better(name: str) -> bool:
        mine, its = (np.array([np.nan if v is None else v]) for v in (one.values[name], other.values[name]))
        return bool(signed_gain(MEASURES[name], its, mine)[0] > 0)

    of = {name: other if is_better(name) else one for name in one.values}
    return Figures(
        one.basis,
        {name: figures.values[name] for name, figures in of.items()},
        {name: figures.moved[name] for name, figures in of.items()},
        one.limits,
        {name: figures.support[name] for name, figures in of.items()},
    )


def _figures(
    basis: Basis, versions: Sequence[_Version], measures: Sequence[str], *, intervals: bool
) -> Figures:
    once = np.ones((1, basis.clusters))
    points = [v.figures(once) for v in versions]
    values = _means(points, measures)
    moves = dict.fromkeys(measures, _NONE)
    if intervals and basis.clusters > 1:
        moves = _moves(basis.clusters, versions, points, measures)
    prepared = versions[0].prepared
    return Figures(
        basis,
        values,
        {m: move + np.float64(np.nan if (v := values[m]) is None else v) for m, move in moves.items()},
        {m: MEASURES[m].limits(versions[0].pairs.scale) for m in measures},
        {m: prepared[m].support if m in prepared else None for m in measures},
    )


def _moves(
    clusters: int,
    versions: Sequence[_Version],
    points: Sequence[Mapping[str, Floats]],
    measures: Sequence[str],
) -> dict[str, Floats]:
    """Return by measure how far the figure moves with each part left out: the mean over its versions."""
    parts = int(parts_of(clusters).max()) + 1
    totals, counts = {m: np.full(parts, np.nan) for m in measures}, np.zeros(parts)
    for name in points[0]:
        totals[name] = np.zeros(parts)
    widest = max(v.pairs.width for v in versions)
    for block in left_out(clusters, widest, len(versions)):
        counts[block.parts] += 1
        for name, moved in versions[block.version].without(block).items():
            totals[name][block.parts] += moved - points[block.version][name]
    return {m: total / counts for m, total in totals.items()}


class _Version:
    """One column against the reference, its measures prepared."""

    def __init__(self, pairs: Pairs, measures: Sequence[str]) -> None:
        self.pairs = pairs
        able = [m for m in measures if MEASURES[m].needs <= pairs.can]
        self.prepared: dict[str, Prepared] = {m: MEASURES[m].prepare(pairs) for m in able} if pairs.n else {}

    def figures(self, clusters: Floats) -> dict[str, Floats]:
        weights = Weights(self.pairs, clusters)
        return {name: of.figure(weights) for name, of in self.prepared.items()}

    def without(self, block: LeftOut) -> dict[str, Floats]:
        """Return the figures with each part of a block left out."""
        weights, known = Weights(self.pairs, block.weights), self._without
        return {
            name: known[name][block.parts] if name in known else of.figure(weights)
            for name, of in self.prepared.items()
        }

    @cached_property
    def _without(self) -> dict[str, Floats]:
        part = parts_of(self.pairs.clusters)
        return {name: of.without(part) for name, of in self.prepared.items() if of.without is not None}


def _means(versions: Sequence[Mapping[str, Floats]], measures: Sequence[str]) -> dict[str, float | None]:
    out: dict[str, float | None] = {}
    for name in measures:
        values = [float(of[name][0]) for of in versions if name in of]
        known = bool(values) and bool(np.isfinite(values).all())
        out[name] = float(np.mean(values)) if known else None
    return out
