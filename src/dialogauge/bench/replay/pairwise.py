"""Two candidates on the items that both have a score for: who wins, how often, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from dialogauge.bench.replay.aggregate import interval_json
from dialogauge.bench.replay.items import ReplayItem
from dialogauge.bench.replay.table import ORIGINAL, Floats, ScoreTable, UserDraws, group_means
from dialogauge.core import ONE_TO_FIVE
from dialogauge.metrics import BootstrapInterval, draw_p, holm, order_interval

__all__ = ["Outcomes", "Pairing", "compare_pair", "compare_pairs"]

_ALPHA: Final = 0.05


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Wins, ties and losses of a candidate against another, over items or over groups of them."""

    n: int
    wins: int
    ties: int
    losses: int
    mean_delta: float | None

    @property
    def non_tie_win_rate(self) -> float | None:
        """Share of wins among what is no tie; None when all are ties."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else None

    def to_json(self) -> dict[str, Any]:
        """Write counts and rates."""
        rates = {
            f"{name}_rate": count / self.n if self.n else None
            for name, count in (("win", self.wins), ("tie", self.ties), ("lose", self.losses))
        }
        return {
            "n": self.n,
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            **rates,
            "non_tie_win_rate": self.non_tie_win_rate,
            "mean_delta": self.mean_delta,
        }


@dataclass(frozen=True, slots=True)
class Pairing:
    """A candidate against another."""

    a: str
    b: str
    only_a: int
    """Items that only the first has a score for; they take no part."""
    only_b: int
    items: Outcomes
    users: Outcomes
    scenarios: Outcomes
    blocks: Outcomes
    delta: float | None
    """Mean over users of the mean difference: the primary figure."""
    interval: BootstrapInterval
    """95 %, of that difference, paired: users are drawn with all their items."""
    bounds: tuple[float, float] | None
    """The difference over all items if every missing score had been a 1 for the first and a 5 for the
    second, and the other way round; None where none is missing."""
    p: float | None
    """Of the draws, two-sided; never below 2 / 2^users, the least that flipping the signs of whole users
    can give."""
    p_holm: float | None = None
    """Adjusted over all pairs of the view."""
    least_p: float | None = None
    """The lowest `p_holm` that so few users and draws can give so many pairs; over .05 they show nothing."""
    fraction_delta: float | None = None
    """The same of the scores with their fractions."""
    fraction_interval: BootstrapInterval | None = None

    @property
    def words(self) -> str:
        """Say what the adjusted p says."""
        if self.delta is None or self.p_holm is None:
            return "undefined"
        if (self.least_p or 0.0) > _ALPHA:
            return "too few users or draws to tell"
        if self.p_holm > _ALPHA:
            return "not distinguishable"
        return "above" if self.delta > 0 else "below"

    def to_json(self) -> dict[str, Any]:
        """Write the comparison."""
        return {
            "candidate": self.a,
            "against": self.b,
            "only_candidate": self.only_a,
            "only_against": self.only_b,
            "items": self.items.to_json(),
            "users": self.users.to_json(),
            "scenarios": self.scenarios.to_json(),
            "blocks": self.blocks.to_json(),
            "user_macro_delta": self.delta,
            "user_macro_delta_interval": interval_json(self.interval),
            "user_macro_delta_bounds": None if self.bounds is None else list(self.bounds),
            "p": self.p,
            "p_holm": self.p_holm,
            "least_p": self.least_p,
            "in_words": self.words,
            "fraction_user_macro_delta": self.fraction_delta,
            "fraction_user_macro_delta_interval": None
            if self.fraction_interval is None
            else interval_json(self.fraction_interval),
        }


def compare_pairs(table: ScoreTable, draws: UserDraws, *, margin: float = 0.0) -> tuple[Pairing, ...]:
    """Compare every candidate with the original replies, and with every other candidate.

    p-values are adjusted by Holm over all pairs together.
    """
    others = [name for name in table.names if name != ORIGINAL]
    named = [(name, ORIGINAL) for name in others if ORIGINAL in table.names] + list(combinations(others, 2))
    found = []
    for a, b in named:
        two = table.shared((a, b))
        whole, exact = (two.row(a), two.row(b)), (two.fractions(a), two.fractions(b))
        found.append(compare_pair((a, b), table.items, whole, draws, margin, exact))
    adjusted = holm([f.p for f in found])
    tested = sum(f.p is not None for f in found)
    return tuple(
        replace(f, p_holm=p, least_p=None if p is None else min(1.0, tested * _least_p(f, draws)))
        for f, p in zip(found, adjusted, strict=True)
    )


def _least_p(found: Pairing, draws: UserDraws) -> float:
    return max(2 / (draws.draws + 1), _flipped(found.users.n))


def _flipped(users: int) -> float:
    """Return the least two-sided p of flipping the signs of whole users' differences."""
    return float(2.0 ** (1 - users))


def compare_pair(
    names: tuple[str, str],
    items: Sequence[ReplayItem],
    scores: tuple[Floats, Floats],
    draws: UserDraws,
    margin: float = 0.0,
    fractions: tuple[Floats, Floats] | None = None,
) -> Pairing:
    """Compare two candidates item by item.

    Source: PersTurnBench, appendix G.2; the paired interval is ours.

    Args:
        names: Of the two.
        items: The items asked for.
        scores: Whole scores of both, each of shape (items,); NaN where there is none.
        draws: Of users.
        margin: A difference of no more than this is a tie.
        fractions: The same with fractions.
    """
    a, b = scores
    both = ~np.isnan(a) & ~np.isnan(b)
    delta = np.where(both, a - b, np.nan)
    by_user = group_means(delta, [i.user for i in items])
    drawn = draws.means(by_user)
    exact = None if fractions is None else np.where(both, fractions[0] - fractions[1], np.nan)
    exact_users = {} if exact is None else group_means(exact, [i.user for i in items])
    p = draw_p(drawn) if len(by_user) > 1 else None
    return Pairing(
        names[0],
        names[1],
        int((~np.isnan(a) & np.isnan(b)).sum()),
        int((np.isnan(a) & ~np.isnan(b)).sum()),
        items=_outcomes(delta[both], margin),
        users=_outcomes(_differences(items, a, b, both, "user"), margin),
        scenarios=_outcomes(_differences(items, a, b, both, "scenario"), margin),
        blocks=_outcomes(_differences(items, a, b, both, "block"), margin),
        delta=_mean(by_user),
        interval=order_interval(drawn, clusters=len(by_user)),
        bounds=None if both.all() else _bounds(a, b, [i.user for i in items]),
        p=None if p is None else max(p, _flipped(len(by_user))),
        fraction_delta=_mean(exact_users),
        fraction_interval=draws.interval(exact_users) if exact_users else None,
    )


def _differences(
    items: Sequence[ReplayItem], a: Floats, b: Floats, both: np.typing.NDArray[np.bool_], group: str
) -> Floats:
    """Return the difference of the two means in each group."""
    names = [str(getattr(i, group)) for i in items]
    first = group_means(np.where(both, a, np.nan), names)
    second = group_means(np.where(both, b, np.nan), names)
    return np.array([first[name] - second[name] for name in first], dtype=np.float64)


def _outcomes(delta: Floats, margin: float) -> Outcomes:
    # Means of groups differ by rounding alone where the scores are equal.
    wins, losses = int((delta > margin + 1e-12).sum()), int((delta < -margin - 1e-12).sum())
    n = int(delta.size)
    return Outcomes(n, wins, n - wins - losses, losses, float(delta.mean()) if n else None)


def _bounds(a: Floats, b: Floats, users: Sequence[str]) -> tuple[float, float] | None:
    worst, best = ONE_TO_FIVE.worst, ONE_TO_FIVE.best
    low, high = (
        _mean(group_means(np.nan_to_num(a, nan=mine) - np.nan_to_num(b, nan=other), users))
        for mine, other in ((worst, best), (best, worst))
    )
    return None if low is None or high is None else (low, high)


def _mean(groups: Mapping[str, float]) -> float | None:
    return sum(groups.values()) / len(groups) if groups else None
