"""A share of what users gave, with an interval that draws whole users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dialogauge.bench.satisfaction.cells import divided
from dialogauge.metrics import cluster_weights, interval_of_draws

__all__ = ["Share", "mean_by_user"]


@dataclass(frozen=True, slots=True)
class Share:
    """A mean over cases that come in clusters: the users."""

    value: float | None
    """None without a case."""
    n: int
    """Cases."""
    users: int
    interval: tuple[float, float] | None
    """95 % by users; None without draws or with one user."""

    def to_json(self) -> dict[str, object]:
        """Write the share."""
        ends = None if self.interval is None else list(self.interval)
        return {"value": self.value, "n": self.n, "n_users": self.users, "interval": ends}


def mean_by_user(cases: Sequence[tuple[str, float]], *, draws: int = 1000, seed: int = 0) -> Share:
    """Return the mean of (user, value) cases, with an interval of a bootstrap that draws users.

    Args:
        cases: Any number; a share takes the values 0 and 1.
        draws: Bootstrap draws; 0 leaves the interval out.
        seed: Of the draws.
    """
    users = {user: i for i, user in enumerate(dict.fromkeys(user for user, _ in cases))}
    if not cases:
        return Share(None, 0, 0, None)
    sums, sizes = np.zeros(len(users)), np.zeros(len(users))
    for user, value in cases:
        sums[users[user]] += value
        sizes[users[user]] += 1
    interval = None
    if draws:
        rng = np.random.default_rng(seed)
        weights = np.concatenate(list(cluster_weights(range(len(users)), rng=rng, draws=draws)))
        found = interval_of_draws(divided(weights @ sums, weights @ sizes), clusters=len(users))
        interval = None if found.low is None or found.high is None else (found.low, found.high)
    return Share(float(sums.sum() / sizes.sum()), len(cases), len(users), interval)
