"""Agreement: the figures of sources against a reference, all with the same clusters left out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dialogauge.stats.estimate import Basis, Estimate, Range, freedom_of, parts_left_out, parts_of
from dialogauge.stats.measures import MEASURES, Measure
from dialogauge.stats.pairs import Pairs, ScoreSample, Weights, sample_of
from dialogauge.stats.table import Codes, Directions, DissatisfiedRule, Floats, Scores, ScoreTable

_NO_PARTS: Final = np.empty(0, dtype=np.intp)
_TOGETHER: Final = 100_000
"""Rows of weights times targets up to which small samples are computed at once: numpy is then no slower."""
_BLOCK_CELLS: Final = 250_000
"""Weights held at once: 2 MB, whatever the number of targets."""


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
    can = sample_of(table, table.sources[source], table.sources[reference], rule).can
    return tuple(name for name, m in MEASURES.items() if m.needs <= can)


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
    tables = dict.fromkeys(sources, table)
    return figures_of_tables(tables, sources, reference, measures, rule=rule, intervals=intervals)


def figures_of_tables(
    tables: Mapping[str, ScoreTable],
    sources: Mapping[str, Scores | Sequence[Scores]],
    reference: str,
    measures: Sequence[str],
    *,
    rule: DissatisfiedRule | None = None,
    intervals: bool = True,
) -> dict[str, Figures]:
    """Compute measures of several sources, each on a table of its own.

    Args:
        tables: By source, of its targets.
        sources: As of `figures_of`.
        reference: The source of every table that the others are held against.
        measures: Names of `MEASURES`.
        rule: What counts as dissatisfied.
        intervals: Whether intervals and comparisons are wanted.
    """
    bases = {name: _basis(tables[name]) for name in sources}
    versions: dict[str, list[_Version]] = {}
    for name, of in sources.items():
        table, clusters = tables[name], bases[name].clusters if intervals else 0
        several = [of] if isinstance(of, Scores) else of
        deals = 1 if isinstance(of, Directions) else len(several)
        versions[name] = [
            _Version(
                name,
                sample_of(table, column, table.sources[reference], rule),
                parts_left_out(clusters, number % deals, deals) if clusters > 1 else _NO_PARTS,
            )
            for number, column in enumerate(several)
        ]
    for batch in _batches([v for several in versions.values() for v in several]):
        _compute(batch, measures)

    def of_source(name: str) -> Figures:
        if isinstance(sources[name], Directions):
            return _better(*(_figures(bases[name], [v], measures) for v in versions[name]))
        return _figures(bases[name], versions[name], measures)

    return {name: of_source(name) for name in sources}


def _basis(table: ScoreTable) -> Basis:
    sizes = np.bincount(table.cluster_codes[0], weights=table.weights).astype(np.float64)
    return Basis(table.n, sizes.size, table.unit, freedom_of(sizes))


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


@dataclass(slots=True, eq=False)
class _Version:
    """One column of a source."""

    name: str
    """Of the source."""
    sample: ScoreSample
    parts: Codes
    """The parts of the clusters that are left out of it."""
    figures: Floats = field(default_factory=lambda: np.empty((0, 0)))
    """Shape (measures, 1 + parts), first of all clusters; NaN where undefined."""
    support: dict[str, int] = field(default_factory=dict)
    """By measure, where not all clusters tell something of it."""


def _batches(versions: Sequence[_Version]) -> Iterator[list[_Version]]:
    """Yield what is computed at once: of small samples several of one kind, which takes as long as one.

    What ranks by more than its values stays apart: which ranks are ties depends on the largest value.
    """
    kinds: dict[Hashable, list[_Version]] = {}
    for v in versions:
        of = v.sample
        kind = of.source.scale, of.can, of.low_is_bad, of.table.n > 0, v.name if of.ranks_apart else None
        kinds.setdefault(kind, []).append(v)
    for alike in kinds.values():
        batch: list[_Version] = []
        rows = targets = 0
        for v in alike:
            rows, targets = rows + 1 + v.parts.size, targets + v.sample.table.n
            if batch and rows * targets > _TOGETHER:
                yield batch
                batch, rows, targets = [], 1 + v.parts.size, v.sample.table.n
            batch.append(v)
        yield batch


def _compute(batch: Sequence[_Version], measures: Sequence[str]) -> None:
    """Compute the figures of some versions, and those without each of their parts."""
    pairs = Pairs([v.sample for v in batch])
    able = [m for m in measures if MEASURES[m].needs <= pairs.can] if pairs.n else []
    prepared = {m: MEASURES[m].prepare(pairs) for m in able}
    part = np.concatenate([parts_of(n) for n in np.bincount(pairs.sample, minlength=len(batch)).tolist()])
    by_weights = [m for m in able if prepared[m].without is None]
    # Each row counts the clusters of one version, but for one of its parts.
    version = np.repeat(np.arange(len(batch)), [1 + v.parts.size for v in batch])
    without = np.concatenate([np.append(-1, v.parts) for v in batch])
    figures = np.full((len(measures), version.size), np.nan)
    row_of = dict(zip(measures, figures, strict=True))
    step = max(1, _BLOCK_CELLS // max(pairs.clusters, pairs.width))
    for start in range(0, version.size, step):
        here = slice(start, start + step)
        counted = (pairs.sample == version[here, None]) & (part != without[here, None])
        weights = Weights(pairs, counted.astype(np.float64))
        for m in by_weights:
            row_of[m][here] = prepared[m].figure(weights)
    for m, of in prepared.items():
        if of.without is not None:
            row_of[m][:1] = of.figure(Weights(pairs, np.ones((1, pairs.clusters))))
            row_of[m][1:] = of.without(part)[without[1:]]
    for at, v in enumerate(batch):
        v.figures = figures[:, version == at]
        v.support = {m: int(of.support[at]) for m, of in prepared.items() if of.support is not None}


def _figures(basis: Basis, versions: Sequence[_Version], measures: Sequence[str]) -> Figures:
    """Take the versions of a source together."""
    points = np.array([v.figures[:, 0] for v in versions])
    values = np.where(np.isfinite(points).all(axis=0), points.mean(axis=0), np.nan)
    parts = 1 + max(int(v.parts.max(initial=-1)) for v in versions)
    totals, counts = np.zeros((len(measures), parts)), np.zeros(parts)
    for v in versions:
        totals[:, v.parts] += v.figures[:, 1:] - v.figures[:, :1]
        counts[v.parts] += 1
    moved = values[:, None] + totals / counts
    scale, support = versions[0].sample.source.scale, versions[0].support
    return Figures(
        basis,
        {m: v if np.isfinite(v) else None for m, v in zip(measures, values.tolist(), strict=True)},
        dict(zip(measures, moved, strict=True)),
        {m: MEASURES[m].limits(scale) for m in measures},
        {m: support.get(m) for m in measures},
    )
