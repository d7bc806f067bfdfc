"""Three users, two candidates and one failure, derived by hand; and what so few users can show."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.studies.replay.items import ORIGINAL, ReplayItem
from dialogauge.studies.replay.table import (
    CandidateScores,
    aggregate,
    compare_candidates,
    user_draws,
)

NAN = float("nan")
ITEMS = tuple(
    ReplayItem(f"{user}{n}", user, f"{user}__s", user, "s", n, 4.0, "")
    for user, turns in (("a", 2), ("b", 1), ("c", 3))
    for n in range(turns)
)
#           a    a    b    c    c    c
FIRST = [4.0, 4.0, 3.0, 5.0, 4.0, 3.0]
OTHER = [5.0, NAN, 3.0, 4.0, 4.0, 3.0]


def table(*rows, items=ITEMS):
    names = (ORIGINAL, *(f"c{i}" for i in range(1, len(rows))))
    return CandidateScores(items, names, np.array(rows), np.array(rows))


def drawn(by_user, draws=1000, seed=42):
    """The interval draw by draw: whole users, Python's generator, order statistics 25 and 975."""
    rng = random.Random(seed)
    values = [by_user[name] for name in sorted(by_user)]
    means = sorted(sum(rng.choice(values) for _ in values) / len(values) for _ in range(draws))
    return means[25], means[975]


def test_figures_of_one_candidate() -> None:
    a = aggregate(ITEMS, np.array(OTHER), user_draws())
    assert (a.requested, a.n, a.failed, a.users) == (6, 5, 1, 3)
    assert a.micro == pytest.approx(19 / 5)
    assert a.user_macro == pytest.approx((5 + 3 + 11 / 3) / 3)
    assert a.bounds == pytest.approx(((3 + 3 + 11 / 3) / 3, (5 + 3 + 11 / 3) / 3))
    assert (a.sat, a.dsat, a.counts) == (3 / 5, 2 / 5, (0, 0, 2, 2, 1))
    assert (a.primary.low, a.primary.high) == pytest.approx(drawn({"a": 5, "b": 3, "c": 11 / 3}))


def test_a_pair_with_a_failure() -> None:
    (pair,) = compare_candidates(table(FIRST, OTHER), user_draws())
    assert (pair.items.n, pair.items.wins, pair.items.ties, pair.items.losses) == (5, 1, 3, 1)
    assert (pair.users.n, pair.users.wins, pair.users.ties, pair.users.losses) == (3, 1, 1, 1)
    assert (pair.only_a, pair.only_b) == (0, 1)
    assert pair.items.mean_delta == 0
    assert pair.difference.value == pytest.approx((1 + 0 - 1 / 3) / 3)
    assert (pair.difference.low, pair.difference.high) == pytest.approx(drawn({"a": 1, "b": 0, "c": -1 / 3}))
    # a's second turn, a 4 for the original, would have been a 1 or a 5: (1 - 3) / 2 or (1 + 1) / 2
    assert pair.bounds == pytest.approx(((-1 + 0 - 1 / 3) / 3, (1 + 0 - 1 / 3) / 3))
    assert pair.to_json()["user_macro_delta_bounds"] == list(pair.bounds or ())


def test_bounds_where_both_failed_and_where_nobody_did() -> None:
    one = (ITEMS[2],)
    (pair,) = compare_candidates(table([NAN], [NAN], items=one), user_draws())
    assert (pair.bounds, pair.difference.value) == ((-4.0, 4.0), None)
    assert (pair.comparison.p, pair.comparison.side) == (None, "undefined")
    (whole,) = compare_candidates(table(FIRST, FIRST), user_draws())
    assert (whole.bounds, whole.difference.value, whole.difference.interval) == (None, 0.0, (0.0, 0.0))


def test_few_users_show_nothing_however_clear_their_draws_are() -> None:
    """All draws of three users who all gain are above 0; signs of three users give p = 2 / 2^3 at best."""
    (pair,) = compare_candidates(table(FIRST, [s - 1 for s in FIRST]), user_draws())
    assert pair.difference.high == -1.0
    assert (pair.comparison.p, pair.comparison.p_holm, pair.comparison.least_p) == (0.25, 0.25, 0.25)
    assert pair.comparison.side == "too few to tell"
    one = ITEMS[:2]
    (alone,) = compare_candidates(table(FIRST[:2], [3.0, 3.0], items=one), user_draws())
    assert (alone.difference.value, alone.difference.low, alone.comparison.p_holm, alone.comparison.side) == (
        -1.0,
        None,
        None,
        "undefined",
    )


def many(users, *shifts):
    items = tuple(replace(ITEMS[0], id=f"u{u:02}", user=f"u{u:02}") for u in range(users))
    return table(*([4.0 + shift] * users for shift in (0, *shifts)), items=items)


def test_many_pairs_take_more_draws_for_their_p_and_no_others_for_their_intervals() -> None:
    """7 candidates: 7 pairs with the original and 21 among them; 2 * 28 / 1001 is over .05."""
    shifts = [-0.1 * n for n in range(1, 8)]
    found = compare_candidates(many(20, *shifts), user_draws(1000))
    assert len(found) == 28
    assert found[0].comparison.least_p == pytest.approx(56 / (28 * 160 + 1))
    assert found[0].comparison.side == "below"
    noisy = many(9)
    scores = table([4.0] * 9, [5.0] * 7 + [2.0, 1.0], *([4.0 + s] * 9 for s in shifts), items=noisy.items)
    pair = compare_candidates(scores, user_draws(1000))[0]
    by_user = dict(zip((i.user for i in noisy.items), [1.0] * 7 + [-2.0, -3.0], strict=True))
    assert pair.difference.interval == pytest.approx(drawn(by_user))


def test_words_follow_the_adjusted_p() -> None:
    """One of nine users is against: the interval leaves 0 out, and over three pairs it shows nothing."""
    scores = [[4.0] * 9, [5.0] * 8 + [1.0], [4.0] * 9]
    items = many(9).items
    pair = compare_candidates(table(*scores, items=items), user_draws())[0]
    assert pair.comparison.p_holm is not None
    assert pair.comparison.p_holm > 0.05
    assert pair.comparison.side == "not distinguishable"
