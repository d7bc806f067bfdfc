"""The figures of one candidate: means over turns, users, scenarios and blocks, and the share of satisfied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dialogauge.bench.replay.items import ReplayItem
from dialogauge.bench.replay.table import Floats, UserDraws, group_means
from dialogauge.core import ONE_TO_FIVE
from dialogauge.metrics import BootstrapInterval

__all__ = ["Aggregate", "aggregate", "interval_json"]

_SATISFIED = 4


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What a candidate got on the items, in one view. A mean over nothing is None."""

    requested: int
    n: int
    failed: int
    """Items without a score: the candidate or the evaluator failed."""
    users: int
    scenarios: int
    blocks: int
    micro: float | None
    user_macro: float | None
    """The primary figure: the mean over users of each user's mean."""
    interval: BootstrapInterval
    """95 %, of the user macro mean, by users."""
    bounds: tuple[float, float] | None
    """The user macro mean if every failure had been a 1, and a 5."""
    task_macro: float | None
    block_macro: float | None
    sat: float | None
    """Share of scores of 4 and more."""
    dsat: float | None
    """Share of scores of 3 and less."""
    counts: tuple[int, ...]
    """How often each of 1 to 5 was given."""
    scenario_means: Mapping[str, float]
    fraction_macro: float | None
    """The user macro mean of the scores with their fractions."""
    fraction_interval: BootstrapInterval
    gold_error: float | None
    """Mean distance to what the user gave the original: a diagnosis, not a quality."""

    def to_json(self) -> dict[str, Any]:
        """Write the figures."""
        return {
            "requested": self.requested,
            "n": self.n,
            "failed": self.failed,
            "users": self.users,
            "scenarios": self.scenarios,
            "blocks": self.blocks,
            "micro": self.micro,
            "user_macro": self.user_macro,
            "user_macro_interval": interval_json(self.interval),
            "user_macro_bounds": None if self.bounds is None else list(self.bounds),
            "task_macro": self.task_macro,
            "block_macro": self.block_macro,
            "sat": self.sat,
            "dsat": self.dsat,
            "counts": {str(s): n for s, n in enumerate(self.counts, 1)},
            "scenario_means": dict(self.scenario_means),
            "fraction_user_macro": self.fraction_macro,
            "fraction_user_macro_interval": interval_json(self.fraction_interval),
            "mean_distance_to_gold": self.gold_error,
        }


def interval_json(found: BootstrapInterval) -> list[float] | None:
    """Write the ends of an interval; null where it is undefined."""
    return None if found.low is None or found.high is None else [found.low, found.high]


def aggregate(
    items: Sequence[ReplayItem], whole: Floats, draws: UserDraws, *, fractions: Floats | None = None
) -> Aggregate:
    """Compute the figures of one candidate.

    Source: PersTurnBench, section 5.1 and appendix G.1.

    Args:
        items: The items asked for.
        whole: Its whole scores, shape (items,); NaN where there is none.
        draws: Of users.
        fractions: The same with fractions; the whole scores when None.
    """
    users = [i.user for i in items]
    scored = whole[~np.isnan(whole)]
    held = [i for i, score in zip(items, whole, strict=True) if not np.isnan(score)]
    by_user = group_means(whole, users)
    by_scenario = group_means(whole, [i.scenario for i in items])
    exact = group_means(whole if fractions is None else fractions, users)
    gold = np.array([i.gold for i in held])
    n = int(scored.size)
    return Aggregate(
        requested=len(items),
        n=n,
        failed=len(items) - n,
        users=len(by_user),
        scenarios=len(by_scenario),
        blocks=len({i.block for i in held}),
        micro=float(scored.mean()) if n else None,
        user_macro=_mean(by_user),
        interval=draws.interval(by_user),
        bounds=_bounds(whole, users),
        task_macro=_mean(by_scenario),
        block_macro=_mean(group_means(whole, [i.block for i in items])),
        sat=float((scored >= _SATISFIED).mean()) if n else None,
        dsat=float((scored < _SATISFIED).mean()) if n else None,
        counts=tuple(int((np.rint(scored) == s).sum()) for s in range(1, 6)),
        scenario_means=by_scenario,
        fraction_macro=_mean(exact),
        fraction_interval=draws.interval(exact),
        gold_error=float(np.abs(scored - gold).mean()) if n else None,
    )


def _mean(groups: Mapping[str, float]) -> float | None:
    return sum(groups.values()) / len(groups) if groups else None


def _bounds(whole: Floats, users: Sequence[str]) -> tuple[float, float] | None:
    if not np.isnan(whole).any():
        return None
    ends = [
        _mean(group_means(np.nan_to_num(whole, nan=end), users))
        for end in (ONE_TO_FIVE.worst, ONE_TO_FIVE.best)
    ]
    low, high = ends
    return None if low is None or high is None else (low, high)
