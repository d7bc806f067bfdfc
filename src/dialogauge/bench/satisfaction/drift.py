"""Whether the histories are like what is judged: a drift of scores, and scenarios that stand apart.

A user's level is nearly all that a history tells. Where users rate the targets otherwise than their
histories, or one scenario is rated otherwise than the others of the same users, a judge that leans on the
history, and every calibration that does, puts the scores in the wrong place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dialogauge.bench.satisfaction.shares import Share, mean_by_user
from dialogauge.judge.personal import Population, RatedBlock

__all__ = ["Drift", "drift_of"]

LEAST_SHIFT = 0.1
"""Points on 1-5 below which a shift is not worth a warning."""
LEAST_SHARE = 0.25
"""The part of the blocks from which on moved levels are worth one."""
BLOCK_SHIFT = 0.5
MIN_TURNS = 5


@dataclass(frozen=True, slots=True)
class Drift:
    """Targets against histories."""

    shift: Share
    """Mean of a target's rating less the mean of its user's history."""
    by_scenario: Mapping[str, Share]
    """The same in each target scenario: how it is rated against the same users' other scenarios."""
    moved: tuple[int, int]
    """Blocks whose mean lies half a point or more from their history's; of how many with 5 turns in both."""
    level_pearson: float | None
    """Of history mean and target mean over the blocks: how far a user's level carries over."""
    unknown: tuple[str, ...]
    """Scenarios that no training user rated, where there are training users at all."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader has to know before they trust a history; a sentence each."""
        out = []
        if _notable(self.shift):
            out.append(f"Score drift: users rate what is judged {_told(self.shift)} than their histories.")
        for name, share in self.by_scenario.items():
            if _notable(share):
                out.append(
                    f"Scenario family: {name!r} is rated {_told(share)} than the same users' other "
                    "scenarios; a history of those misplaces its level."
                )
        moved, of = self.moved
        if of and moved / of >= LEAST_SHARE:
            out.append(
                f"Score drift: in {moved} of {of} blocks (those with {MIN_TURNS} rated turns or more, and as "
                f"many in the history) the user's mean lies {BLOCK_SHIFT:g} or more from that of their "
                "history."
            )
        if self.unknown:
            names = ", ".join(repr(name) for name in self.unknown[:5])
            more = f" and {len(self.unknown) - 5} more" if len(self.unknown) > 5 else ""
            out.append(f"Scenario family: no training user rated {names}{more}.")
        return tuple(out)

    def to_json(self) -> dict[str, object]:
        """Write the figures and the warnings."""
        return {
            "shift": self.shift.to_json(),
            "by_scenario": {name: s.to_json() for name, s in self.by_scenario.items()},
            "blocks_moved": self.moved[0],
            "blocks_compared": self.moved[1],
            "level_pearson": self.level_pearson,
            "unknown_scenarios": list(self.unknown),
            "warnings": list(self.warnings),
        }


def drift_of(
    blocks: Iterable[RatedBlock], population: Population, *, draws: int = 1000, seed: int = 0
) -> Drift:
    """Hold the ratings of the targets against the histories.

    Args:
        blocks: Of the users judged; those without a history take no part.
        population: The training users' blocks.
        draws: Bootstrap draws of users; without any nothing is called a shift.
        seed: Of the draws.
    """
    known = [b for b in blocks if b.view.history]
    cases: list[tuple[str, float]] = []
    by: dict[str, list[tuple[str, float]]] = defaultdict(list)
    moved: list[bool] = []
    levels: list[tuple[float, float]] = []
    for block in known:
        view, gold = block.view, [r.score for r in block.ratings]
        mean = sum(view.scores) / len(view.scores)
        mine = [(view.user, g - mean) for g in gold]
        cases += mine
        by[view.scenario] += mine
        levels.append((mean, sum(gold) / len(gold)))
        if min(len(gold), len(view.scores)) >= MIN_TURNS:
            moved.append(abs(levels[-1][1] - mean) >= BLOCK_SHIFT)
    rated = {b.view.scenario for b in population.blocks}
    return Drift(
        mean_by_user(cases, draws=draws, seed=seed),
        {name: mean_by_user(by[name], draws=draws, seed=seed) for name in sorted(by)},
        (sum(moved), len(moved)),
        _correlation(levels),
        tuple(sorted(by.keys() - rated)) if rated else (),
    )


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    if len(pairs) < 3:
        return None
    x, y = np.array(pairs).T
    return float(np.corrcoef(x, y)[0, 1]) if x.std() > 1e-9 and y.std() > 1e-9 else None


def _notable(share: Share) -> bool:
    if share.value is None or share.interval is None:
        return False
    low, high = share.interval
    return abs(share.value) >= LEAST_SHIFT and (low > 0 or high < 0)


def _told(share: Share) -> str:
    value, (low, high) = share.value or 0.0, share.interval or (0.0, 0.0)
    ends = sorted((abs(low), abs(high)))
    return f"{abs(value):.2f} [{ends[0]:.2f}, {ends[1]:.2f}] {'higher' if value > 0 else 'lower'}"
