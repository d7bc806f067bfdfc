"""One set of bootstrap draws for a judge and all its controls, so that differences are paired."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from dialogauge.bench.meta.columns import Column, People
from dialogauge.bench.meta.measures import Measure
from dialogauge.bench.meta.result import Estimate, MetaSettings
from dialogauge.metrics import cluster_weights, interval_of_draws

__all__ = ["Draws", "Several", "draw_all", "estimates_of", "point_of"]

Floats = npt.NDArray[np.float64]
Several = Sequence[Column]
"""Versions of one reader, of which each takes a share of the draws: one judge, or many shuffles."""


class Draws:
    """Draws of every measure of every reader under one clustering; `found[reader][measure]`."""

    def __init__(self, found: Mapping[str, Mapping[str, Floats]], clusters: int) -> None:
        self.found = found
        self.clusters = clusters


def draw_all(
    readers: Mapping[str, Several],
    people: People,
    measures: Sequence[Measure],
    clusters: Sequence[Hashable],
    settings: MetaSettings,
) -> Draws:
    """Draw clusters and compute every measure of every reader on the same draws."""
    rng = np.random.default_rng(settings.seed)
    parts: dict[str, dict[str, list[Floats]]] = {r: {m.name: [] for m in measures} for r in readers}
    blocks = cluster_weights(clusters, rng=rng, draws=settings.draws, chunks=settings.shuffles)
    for number, weights in enumerate(blocks):
        for reader, versions in readers.items():
            column = versions[number % len(versions)]
            for measure in measures:
                parts[reader][measure.name].append(measure.draws(column, people, weights))
    joined = {r: {m: _joined(p) for m, p in by.items()} for r, by in parts.items()}
    return Draws(joined, len(set(clusters)))


def _joined(parts: Sequence[Floats]) -> Floats:
    return np.concatenate(parts) if parts else np.empty(0)


def point_of(versions: Several, people: People, measure: Measure) -> float | None:
    """Return the measure on the targets as they are; the mean over the versions of a reader."""
    n = versions[0].value.size
    if not n:
        return None
    ones = np.ones((1, n))
    found = np.array([measure.draws(column, people, ones)[0] for column in versions])
    held = found[np.isfinite(found)]
    return float(held.mean()) if held.size else None


def estimates_of(
    value: float | None,
    by_conversation: tuple[Floats, int],
    by_user: tuple[Floats, int] | None,
    settings: MetaSettings,
) -> Estimate:
    """Put a figure together with its intervals, each from draws and the number of clusters."""
    draws, clusters = by_conversation
    return Estimate(
        value,
        interval_of_draws(draws, clusters=clusters, level=settings.level),
        None if by_user is None else interval_of_draws(by_user[0], clusters=by_user[1], level=settings.level),
    )
