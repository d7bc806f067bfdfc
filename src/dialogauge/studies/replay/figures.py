"""What a candidate got on the items of a board, and how it stands against another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from dialogauge.core.json_keys import keys
from dialogauge.stats import (
    Basis,
    Comparison,
    Estimate,
    Floats,
    adjusted,
    compare_gain,
    group_means,
    macro_estimate,
    macro_gain,
    macro_mean,
)
from dialogauge.studies.replay.board import Board
from dialogauge.studies.replay.items import ORIGINAL

_SATISFIED: Final = 4


@keys(
    primary=None,
    bounds="user_macro_bounds",
    fraction=None,
    gold_error="mean_distance_to_gold",
    **{
        "primary.value": "user_macro",
        "primary.interval": "user_macro_interval",
        "fraction.value": "fraction_user_macro",
        "fraction.interval": "fraction_user_macro_interval",
    },
)
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
    primary: Estimate
    """The user macro mean: the mean over users of each user's mean. Its interval is 95 % by users."""
    bounds: tuple[float, float] | None
    """The user macro mean if every failure had been a 1, and a 5."""
    task_macro: float | None
    block_macro: float | None
    sat: float | None
    """Share of scores of 4 and more."""
    dsat: float | None
    """Share of scores of 3 and less."""
    counts: Mapping[str, int]
    """How often each whole score was given."""
    scenario_means: Mapping[str, float]
    fraction: Estimate
    """The user macro mean of the scores with their fractions."""
    gold_error: float | None
    """Mean distance to what the user gave the original: a diagnosis, not a quality."""

    @property
    def user_macro(self) -> float | None:
        """Mean over users of each user's mean: the primary figure."""
        return self.primary.value


def aggregate(board: Board, name: str) -> Aggregate:
    """Compute the figures of one candidate; items to which the dimension does not apply take no part.

    Source: PersTurnBench, section 5.1 and appendix G.1.
    """
    applicable = board.take((name,)).applicable()
    items, on, (whole,), (exact,) = applicable.items, board.on, applicable.whole, applicable.value
    scored, users = ~np.isnan(whole), applicable.groups("user")
    n, scores = int(scored.sum()), whole[scored]
    by_user, by_scenario = group_means(whole, users), group_means(whole, applicable.groups("scenario"))
    gold = np.array([np.nan if item.gold is None else item.gold for item in items])[scored]
    bounds = None
    if n < len(items):
        ends = (np.nan_to_num(whole, nan=end) for end in on.limits)
        low, high = (macro_mean(group_means(filled, users)) for filled in ends)
        bounds = None if low is None or high is None else (low, high)
    fractions = group_means(exact, users)
    return Aggregate(
        requested=len(items),
        n=n,
        failed=len(items) - n,
        users=len(by_user),
        scenarios=len(by_scenario),
        blocks=len({item.block for item, there in zip(items, scored, strict=True) if there}),
        micro=float(scores.mean()) if n else None,
        primary=macro_estimate(by_user, n=n, limits=on.limits, unit=on.unit),
        bounds=bounds,
        task_macro=macro_mean(by_scenario),
        block_macro=macro_mean(group_means(whole, applicable.groups("block"))),
        sat=float((scores >= _SATISFIED).mean()) if n else None,
        dsat=float((scores < _SATISFIED).mean()) if n else None,
        counts={str(s): int((np.rint(scores) == s).sum()) for s in on.levels},
        scenario_means=by_scenario,
        fraction=macro_estimate(fractions, n=n, limits=on.limits, unit=on.unit),
        gold_error=float(np.abs(scores - gold).mean()) if n and not np.isnan(gold).any() else None,
    )


@keys(win_rate="win_rate", tie_rate="tie_rate", lose_rate="lose_rate", non_tie_win_rate="non_tie_win_rate")
@dataclass(frozen=True, slots=True)
class Outcomes:
    """Wins, ties and losses of a candidate against another, over items or over groups of them."""

    n: int
    wins: int
    ties: int
    losses: int
    mean_delta: float | None

    @property
    def win_rate(self) -> float | None:
        """Null over nothing, like the other rates."""
        return self.wins / self.n if self.n else None

    @property
    def tie_rate(self) -> float | None:
        """Share of ties."""
        return self.ties / self.n if self.n else None

    @property
    def lose_rate(self) -> float | None:
        """Share of losses."""
        return self.losses / self.n if self.n else None

    @property
    def non_tie_win_rate(self) -> float | None:
        """Share of wins in what is no tie."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else None


@keys(
    a="candidate",
    b="against",
    only_a="only_candidate",
    only_b="only_against",
    comparison=None,
    bounds="user_macro_delta_bounds",
    fraction=None,
    ranked=None,
    side="side",
    **{
        "comparison.p": "p",
        "comparison.p_holm": "p_holm",
        "comparison.least_p": "least_p",
        "difference.value": "user_macro_delta",
        "difference.interval": "user_macro_delta_interval",
        "fraction.value": "fraction_user_macro_delta",
        "fraction.interval": "fraction_user_macro_delta_interval",
    },
)
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
    comparison: Comparison
    """By the mean over users of the mean difference: the primary figure. p adjusted by Holm over all pairs of
    the view."""
    bounds: tuple[float, float] | None
    """The difference over all items if every missing score had been a 1 for the first and a 5 for the
    second, and the other way round; None where none is missing."""
    fraction: Estimate | None = None
    """The same difference of the scores with their fractions."""
    ranked: bool = True
    """Whether the evaluator is checked, or asked all the same: else it does not say which is above."""

    @property
    def side(self) -> str:
        """Where the first stands against the second; not said by an evaluator that is not checked."""
        return self.comparison.side if self.ranked else "not ranked"

    @property
    def difference(self) -> Estimate:
        """How much more the first gets, with its paired interval by users."""
        return self.comparison.difference

    @property
    def gain(self) -> Estimate | None:
        """The difference that lies above 0 by its interval, with fractions where only that one does."""
        both = (self.difference, self.fraction)
        return next((d for d in both if d is not None and d.low is not None and d.low > 0), None)


def compare_candidates(board: Board, margin: float = 0.0) -> tuple[Pairing, ...]:
    """Compare every candidate with the original replies, and with every other candidate.

    p-values are adjusted by Holm over all pairs together.
    """
    others = [name for name in board.names if name != ORIGINAL]
    against = [(name, ORIGINAL) for name in others if ORIGINAL in board.names]
    return corrected([pair_of(board, a, b, margin) for a, b in (*against, *combinations(others, 2))])


def corrected(pairs: Sequence[Pairing]) -> tuple[Pairing, ...]:
    """Adjust the p-values of pairs by Holm over all of them."""
    over_all = adjusted([pair.comparison for pair in pairs])
    return tuple(replace(pair, comparison=of) for pair, of in zip(pairs, over_all, strict=True))


def pair_of(board: Board, a: str, b: str, margin: float = 0.0) -> Pairing:
    """Compare two candidates item by item, where the dimension applies for both.

    Source: PersTurnBench, appendix G.2; the paired interval is ours.

    Args:
        board: One view. Differences say how much better the first is, also where a lower score is.
        a: The first.
        b: The second.
        margin: A difference of no more than this is a tie.
    """
    two, on = board.shared((a, b)).applicable(), board.on
    known = ~np.isnan(two.whole)
    both, users = known[0] & known[1], two.groups("user")
    delta = np.where(both, on.better(*two.whole), np.nan)
    by_user, n = group_means(delta, users), int(both.sum())
    basis = Basis(n, len(by_user), on.unit)
    fraction, bounds = None, None
    if by_user:
        exact = group_means(np.where(both, on.better(*two.value), np.nan), users)
        fraction, _ = Basis(n, len(exact), on.unit).difference(macro_gain(exact, on.width))
    if not both.all():
        ends = (on.scale.worst, on.scale.best)
        filled = (
            on.better(*(np.nan_to_num(row, nan=end) for row, end in zip(two.whole, order, strict=True)))
            for order in (ends, ends[::-1])
        )
        low, high = (macro_mean(group_means(difference, users)) for difference in filled)
        bounds = None if low is None or high is None else (low, high)
    macros = [macro_mean(group_means(np.where(both, row, np.nan), users)) for row in two.whole]

    def outcomes(of: str) -> Outcomes:
        return _outcomes(np.array(list(group_means(delta, two.groups(of)).values())), margin)

    return Pairing(
        a,
        b,
        int((known[0] & ~known[1]).sum()),
        int((~known[0] & known[1]).sum()),
        items=_outcomes(delta[both], margin),
        users=outcomes("user"),
        scenarios=outcomes("scenario"),
        blocks=outcomes("block"),
        comparison=compare_gain(
            (a, b), "user_macro", (macros[0], macros[1]), macro_gain(by_user, on.width), basis
        ),
        bounds=bounds,
        fraction=fraction,
    )


def _outcomes(delta: Floats, margin: float) -> Outcomes:
    # Means of groups differ by rounding alone where the scores are equal.
    wins, losses = int((delta > margin + 1e-12).sum()), int((delta < -margin - 1e-12).sum())
    n = int(delta.size)
    return Outcomes(n, wins, n - wins - losses, losses, float(delta.mean()) if n else None)
