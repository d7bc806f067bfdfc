"""Three users, two candidates and one failure, derived by hand; and what so few users can show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench_samples import NAN, board_of
from dialogauge.core.json_keys import as_json
from dialogauge.studies.replay.figures import aggregate, compare_candidates
from dialogauge.studies.replay.items import ORIGINAL, ReplayItem

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
    return board_of(items, dict(zip(names, rows, strict=True)), rounded=False)


def test_figures_of_one_candidate() -> None:
    a = aggregate(table(FIRST, OTHER), "c1")
    assert (a.requested, a.n, a.failed, a.users) == (6, 5, 1, 3)
    assert a.micro == pytest.approx(19 / 5)
    assert a.user_macro == pytest.approx((5 + 3 + 11 / 3) / 3)
    assert a.bounds == pytest.approx(((3 + 3 + 11 / 3) / 3, (5 + 3 + 11 / 3) / 3))
    assert (a.sat, a.dsat, a.counts) == (3 / 5, 2 / 5, {"1": 0, "2": 0, "3": 2, "4": 2, "5": 1})
    assert a.primary.reason == "too few users: 3, and an interval takes 5"


def test_a_pair_with_a_failure() -> None:
    (pair,) = compare_candidates(table(FIRST, OTHER))
    assert (pair.items.n, pair.items.wins, pair.items.ties, pair.items.losses) == (5, 1, 3, 1)
    assert (pair.users.n, pair.users.wins, pair.users.ties, pair.users.losses) == (3, 1, 1, 1)
    assert (pair.only_a, pair.only_b) == (0, 1)
    assert pair.items.mean_delta == 0
    assert pair.difference.value == pytest.approx((1 + 0 - 1 / 3) / 3)
    assert pair.difference.interval is None
    # a's second turn, a 4 for the original, would have been a 1 or a 5: (1 - 3) / 2 or (1 + 1) / 2
    assert pair.bounds == pytest.approx(((-1 + 0 - 1 / 3) / 3, (1 + 0 - 1 / 3) / 3))
    assert as_json(pair)["user_macro_delta_bounds"] == list(pair.bounds or ())


def test_bounds_where_both_failed_and_where_nobody_did() -> None:
    one = (ITEMS[2],)
    (pair,) = compare_candidates(table([NAN], [NAN], items=one))
    assert (pair.bounds, pair.difference.value) == ((-4.0, 4.0), None)
    assert (pair.comparison.p, pair.comparison.side) == (None, "undefined")
    (whole,) = compare_candidates(table(FIRST, FIRST))
    assert (whole.bounds, whole.difference.value, whole.difference.interval) == (None, 0.0, None)


def many(users, *shifts):
    items = tuple(replace(ITEMS[0], id=f"u{u:02}", user=f"u{u:02}") for u in range(users))
    return table(*([4.0 + shift] * users for shift in (0, *shifts)), items=items)


def test_few_users_show_nothing_however_clear_they_are() -> None:
    """Six users who all gain the same: their signs give p = 2 / 2^6 at best, three times that here."""
    first, second = compare_candidates(many(6, -1, -0.5))[:2]
    assert (first.difference.value, first.difference.low, first.difference.high) == (
        -1,
        pytest.approx(-2.3778, abs=1e-4),
        pytest.approx(-0.0815, abs=1e-4),  # alone it leaves 0 out, as 2 / 2^6 does; of three pairs none does
    )
    assert (first.comparison.p, first.comparison.p_holm) == (2 / 2**6, 3 * 2 / 2**6)
    assert first.comparison.side == second.comparison.side == "too few to tell"
    (few,) = compare_candidates(many(4, -1))
    assert (few.difference.value, few.difference.interval, few.comparison.p) == (-1, None, None)
    assert few.comparison.side == "too few to tell"


def test_many_pairs_are_told_apart_by_as_many_users() -> None:
    found = compare_candidates(many(20, *(-0.1 * n for n in range(1, 8))))
    assert len(found) == 28
    assert found[0].comparison.least_p == pytest.approx(28 * 2 / 2**20)
    assert found[0].comparison.side == "below"
    noisy = many(9)
    scores = table([4.0] * 9, [5.0] * 7 + [2.0, 1.0], items=noisy.items)
    pair = compare_candidates(scores)[0]
    assert pair.difference.interval is not None
    assert pair.difference.interval[0] < pair.difference.value == pytest.approx(2 / 9)


def test_words_follow_the_adjusted_p() -> None:
    """One of nine users is against: over three pairs it shows nothing."""
    scores = [[4.0] * 9, [5.0] * 8 + [1.0], [4.0] * 9]
    items = many(9).items
    pair = compare_candidates(table(*scores, items=items))[0]
    assert pair.comparison.p_holm is not None
    assert pair.comparison.p_holm > 0.05
    assert pair.comparison.side == "not distinguishable"
