"""Agreement: the figures of sources against a reference, all from the same draws of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dialogauge.stats.estimate import Basis, ClusterDraws, Estimate
from dialogauge.stats.measures import (
    MEASURES,
    MIN_USERS,
    Pairs,
    Prepared,
    Weights,
    pair_up,
    signed_gain,
)
from dialogauge.stats.table import Directions, DissatisfiedRule, Floats, Scores, ScoreTable

_NO_DRAWS: Final = ClusterDraws(0)


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """The figures of one source, with the replicates that their intervals and comparisons are made of."""

    basis: Basis
    values: Mapping[str, float | None]
    """By measure; None where undefined."""
    replicates: Mapping[str, Floats]
    """By measure, shape (total draws,), NaN where undefined; empty where there is no interval."""

    def estimate(self, measure: str) -> Estimate:
        """Return one figure with its interval."""
        return self.basis.estimate(self.values[measure], self.replicates[measure])

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
    draws: ClusterDraws = _NO_DRAWS,
) -> dict[str, Figures]:
    """Compute measures of several sources on the same targets and the same draws.

    Args:
        table: Of the targets.
        sources: By name: a column, or several versions of a column that was dealt by chance. A figure of
            several is the mean over them, undefined where it is in one; each version has its share of the
            draws, so that the interval holds the chance of the deals too. Of `Directions`, the better one.
        reference: The source of the table that the others are held against.
        measures: Names of `MEASURES`. One that a source does not allow is undefined.
        rule: What counts as dissatisfied.
        draws: How clusters are drawn; without any there is no interval.
    """
    gold = table.sources[reference]
    basis = Basis(table.n, table.cluster_codes[1], table.unit, draws)

    def versions(of: Scores | Sequence[Scores]) -> list[_Version]:
        several = [of] if isinstance(of, Scores) else of
        return [_Version(pair_up(table, version, gold, rule), measures) for version in several]

    def of_source(of: Scores | Sequence[Scores]) -> Figures:
        if isinstance(of, Directions):
            return _better(*(_figures(basis, [version], measures) for version in versions(of)))
        return _figures(basis, versions(of), measures)

    return {name: of_source(of) for name, of in sources.items()}


def _better(one: Figures, other: Figures) -> Figures:
    """Return for each measure the better of two, with its replicates."""

    def is_better(name: str) -> bool:
        mine, its = (np.array([np.nan if v is None else v]) for v in (one.values[name], other.values[name]))
        return bool(signed_gain(MEASURES[name], its, mine)[0] > 0)

    of = {name: other if is_better(name) else one for name in one.values}
    return Figures(
        one.basis,
        {name: figures.values[name] for name, figures in of.items()},
        {name: figures.replicates[name] for name, figures in of.items()},
    )


def _figures(basis: Basis, versions: Sequence[_Version], measures: Sequence[str]) -> Figures:
    """Compute the measures of one source; its draws are those of every other, in however many blocks."""
    parts: dict[str, list[Floats]] = {m: [] for m in measures}
    if basis.clusters > 1:
        widest = max(v.pairs.size for v in versions)
        for number, block in enumerate(basis.draws.blocks(basis.clusters, widest, len(versions))):
            for m, replicates in versions[number % len(versions)].figures(block).items():
                parts[m].append(replicates)
    once = np.ones((1, basis.clusters))
    return Figures(
        basis,
        _means([v.figures(once) for v in versions], measures),
        {m: _joined(parts[m], versions[0].prepared.get(m)) for m in measures},
    )


class _Version:
    """One column against the reference, its measures prepared."""

    def __init__(self, pairs: Pairs, measures: Sequence[str]) -> None:
        self.pairs = pairs
        able = [m for m in measures if MEASURES[m].needs <= pairs.can]
        self.prepared: dict[str, Prepared] = {m: MEASURES[m].prepare(pairs) for m in able} if pairs.n else {}

    def figures(self, clusters: Floats) -> dict[str, Floats]:
        weights = Weights(self.pairs, clusters)
        return {name: of.figure(weights) for name, of in self.prepared.items()}


def _means(versions: Sequence[Mapping[str, Floats]], measures: Sequence[str]) -> dict[str, float | None]:
    out: dict[str, float | None] = {}
    for name in measures:
        values = [float(of[name][0]) for of in versions if name in of]
        known = bool(values) and bool(np.isfinite(values).all())
        out[name] = float(np.mean(values)) if known else None
    return out


def _joined(parts: Sequence[Floats], prepared: Prepared | None) -> Floats:
    """Join the replicates; a mean over too few users has none."""
    few = prepared is not None and prepared.support is not None and prepared.support < MIN_USERS
    return np.empty(0) if few or not parts else np.concatenate(parts)
