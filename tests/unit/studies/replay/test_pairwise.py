"""Three users, two candidates and one failure, derived by hand; and what so few users can show."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.studies.replay import ORIGINAL, ScoreTable, UserDraws, aggregate, compare_pairs
from dialogauge.studies.replay.items import ReplayItem

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
    return ScoreTable(items, names, np.array(rows), np.array(rows))


def drawn(by_user, draws=1000, seed=42):
    """The interval draw by draw: whole users, Python's generator, order statistics 25 and 975."""
    rng = random.Random(seed)
    values = [by_user[name] for name in sorted(by_user)]
    means = sorted(sum(rng.choice(values) for _ in values) / len(values) for _ in range(draws))
    return means[25], means[975]


def test_figures_of_one_candidate() -> None:
    a = aggregate(ITEMS, np.array(OTHER), UserDraws())
    assert (a.requested, a.n, a.failed, a.users) == (6, 5, 1, 3)
    assert a.micro == pytest.approx(19 / 5)
    assert a.user_macro == pytest.approx((5 + 3 + 11 / 3) / 3)
    assert a.bounds == pytest.approx(((3 + 3 + 11 / 3) / 3, (5 + 3 + 11 / 3) / 3))
    assert (a.sat, a.dsat, a.counts) == (3 / 5, 2 / 5, (0, 0, 2, 2, 1))
    assert (a.interval.low, a.interval.high) == pytest.approx(drawn({"a": 5, "b": 3, "c": 11 / 3}))


def test_a_pair_with_a_failure() -> None:
    (pair,) = compare_pairs(table(FIRST, OTHER), UserDraws())
    assert (pair.items.n, pair.items.wins, pair.items.ties, pair.items.losses) == (5, 1, 3, 1)
    assert (pair.users.n, pair.users.wins, pair.users.ties, pair.users.losses) == (3, 1, 1, 1)
    assert (pair.only_a, pair.only_b) == (0, 1)
    assert pair.items.mean_delta == 0
    assert pair.delta == pytest.approx((1 + 0 - 1 / 3) / 3)
    assert (pair.interval.low, pair.interval.high) == pytest.approx(drawn({"a": 1, "b": 0, "c": -1 / 3}))
    # a's second turn, a 4 for the original, would have been a 1 or a 5: (1 - 3) / 2 or (1 + 1) / 2
    assert pair.bounds == pytest.approx(((-1 + 0 - 1 / 3) / 3, (1 + 0 - 1 / 3) / 3))
    assert pair.to_json()["user_macro_delta_bounds"] == list(pair.bounds or ())


def test_bounds_where_both_failed_and_where_nobody_did() -> None:
    one = (ITEMS[2],)
    (pair,) = compare_pairs(table([NAN], [NAN], items=one), UserDraws())
    assert (pair.bounds, pair.delta, pair.p, pair.words) == ((-4.0, 4.0), None, None, "undefined")
    (whole,) = compare_pairs(table(FIRST, FIRST), UserDraws())
    assert (whole.bounds, whole.delta, whole.interval.low, whole.interval.high) == (None, 0.0, 0.0, 0.0)


def test_few_users_show_nothing_however_clear_their_draws_are() -> None:
    """All draws of three users who all gain are above 0; signs of three users give p = 2 / 2^3 at best."""
    (pair,) = compare_pairs(table(FIRST, [s - 1 for s in FIRST]), UserDraws())
    assert pair.interval.high == -1.0
    assert (pair.p, pair.p_holm, pair.least_p) == (0.25, 0.25, 0.25)
    assert pair.words == "too few users or draws to tell"
    one = ITEMS[:2]
    (alone,) = compare_pairs(table(FIRST[:2], [3.0, 3.0], items=one), UserDraws())
    assert (alone.delta, alone.interval.low, alone.p_holm, alone.words) == (-1.0, None, None, "undefined")


def many(users, *shifts):
    items = tuple(replace(ITEMS[0], id=f"u{u:02}", user=f"u{u:02}") for u in range(users))
    return table(*([4.0 + shift] * users for shift in (0, *shifts)), items=items)


def test_many_pairs_need_many_draws() -> None:
    # 7 candidates: 7 pairs with the original and 21 among them; 2 * 28 / 1001 is over .05
    shifts = [-0.1 * n for n in range(1, 8)]
    few = compare_pairs(many(20, *shifts), UserDraws(1000))
    assert len(few) == 28
    assert few[0].least_p == pytest.approx(56 / 1001)
    assert {p.words for p in few} == {"too few users or draws to tell"}
    assert compare_pairs(many(20, *shifts), UserDraws(2000))[0].words == "below"


def test_words_follow_the_adjusted_p() -> None:
    """One of nine users is against: the interval leaves 0 out, and over three pairs it shows nothing."""
    scores = [[4.0] * 9, [5.0] * 8 + [1.0], [4.0] * 9]
    items = many(9).items
    pair = compare_pairs(table(*scores, items=items), UserDraws())[0]
    assert pair.p_holm is not None
    assert pair.p_holm > 0.05
    assert pair.words == "not distinguishable"
