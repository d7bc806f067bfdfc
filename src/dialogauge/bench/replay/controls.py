"""What a leaderboard is worth: the scale's ceiling, reply length as the evaluator, and scores dealt anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dialogauge.bench.replay.aggregate import Aggregate, aggregate
from dialogauge.bench.replay.items import ReplayItem
from dialogauge.bench.replay.pairwise import Pairing, compare_pairs
from dialogauge.bench.replay.table import ORIGINAL, Floats, ScoreTable, UserDraws
from dialogauge.bench.replay.views import Given, View, Viewer

__all__ = ["LADDER", "LengthControl", "Shuffled", "ladder", "length_control", "shuffled"]

LADDER: Final = (5, 4, 3)
"""The constant candidates: what one gets whose every reply is given a 5, a 4, a 3."""


def ladder(viewer: Viewer, draws: UserDraws) -> dict[View, dict[int, Aggregate]]:
    """Return the figures of the constant candidates in each view; that of 5 is the ceiling.

    On a scale of ranks even a candidate whose every reply gets a 5 stays below 5, and candidates whose
    interval holds that ceiling cannot be told from it.
    """
    columns = {
        str(level): {i.id: Given(i.id, i.block, i.position, level, float(level)) for i in viewer.items}
        for level in LADDER
    }
    tables = viewer.tables(columns, original=False)
    return {
        view: {
            level: aggregate(
                viewer.items, table.row(str(level)), draws, fractions=table.fractions(str(level))
            )
            for level in LADDER
        }
        for view, table in tables.items()
    }


@dataclass(frozen=True, slots=True)
class LengthControl:
    """The leaderboard that reply length alone would make."""

    aggregates: Mapping[str, Aggregate]
    pairs: tuple[Pairing, ...]
    """Every candidate against the original replies."""

    def to_json(self) -> dict[str, Any]:
        """Write the figures."""
        return {
            "candidates": {name: found.to_json() for name, found in self.aggregates.items()},
            "pairs": [pair.to_json() for pair in self.pairs],
        }


def length_control(
    viewer: Viewer,
    reference: Mapping[str, int],
    lengths: Mapping[str, Mapping[str, int]],
    draws: UserDraws,
) -> dict[View, LengthControl]:
    """Score every reply by its length alone: 3, 4 or 5 by the thirds of the original replies' lengths.

    Args:
        viewer: Of the evaluator; its scores are replaced.
        reference: Characters of the original replies of the touched blocks, by turn.
        lengths: Characters of the candidates' replies, by candidate and item.
        draws: Of users.
    """
    low, high = np.quantile(list(reference.values()), [1 / 3, 2 / 3]) if reference else (0.0, 0.0)

    def scored(given: Given, length: int) -> Given:
        level = 3 + int(length > low) + int(length > high)
        return replace(given, whole=level, value=float(level))

    blind = replace(viewer, reference=[scored(g, reference[g.id]) for g in viewer.reference])
    held = {i.id: Given(i.id, i.block, i.position, 0, 0.0) for i in viewer.items}
    columns = {
        name: {item: scored(held[item], n) for item, n in found.items() if item in held}
        for name, found in lengths.items()
    }
    out: dict[View, LengthControl] = {}
    for view, table in blind.tables(columns).items():
        figures = {name: aggregate(table.items, table.row(name), draws) for name in table.names}
        pairs = tuple(p for p in compare_pairs(table, draws) if p.b == ORIGINAL)
        out[view] = LengthControl(figures, pairs)
    return out


@dataclass(frozen=True, slots=True)
class Shuffled:
    """What a difference is when, item by item, chance decides whose score is whose."""

    name: str
    low: float | None
    """2.5 % quantile of the user macro difference over the deals."""
    high: float | None
    p: float | None
    """Share of deals that are at least as far from zero, the given one counted in."""
    deals: int

    def to_json(self) -> dict[str, Any]:
        """Write the range of the deals."""
        ends = None if self.low is None else [self.low, self.high]
        return {"candidate": self.name, "range": ends, "p": self.p, "deals": self.deals}


def shuffled(table: ScoreTable, *, deals: int = 200, seed: int = 0) -> tuple[Shuffled, ...]:
    """Deal the scores of each candidate and of the original replies anew, item by item."""
    if ORIGINAL not in table.names:
        return ()
    rng = np.random.default_rng([seed, 2])
    pairs = [table.shared((name, ORIGINAL)) for name in table.names if name != ORIGINAL]
    return tuple(_dealt(t.names[0], t.items, t.whole[0] - t.whole[1], rng, deals) for t in pairs)


def _dealt(
    name: str, items: Sequence[ReplayItem], delta: Floats, rng: np.random.Generator, deals: int
) -> Shuffled:
    known = ~np.isnan(delta)
    if not known.any():
        return Shuffled(name, None, None, None, deals)
    users = [i.user for i, k in zip(items, known, strict=True) if k]
    sizes = Counter(users)
    weights = np.array([1 / sizes[user] / len(sizes) for user in users])
    # Swapping a pair changes the sign of its difference.
    signs = rng.integers(0, 2, size=(deals, weights.size)) * 2 - 1
    found = signs @ (delta[known] * weights)
    given = float(delta[known] @ weights)
    low, high = np.quantile(found, [0.025, 0.975])
    far = int((np.abs(found) >= abs(given) - 1e-12).sum())
    return Shuffled(name, float(low), float(high), (far + 1) / (deals + 1), deals)
