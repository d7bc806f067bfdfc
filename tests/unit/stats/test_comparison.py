"""Paired comparisons: by hand, what few clusters can show, and Holm over what is compared together."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from dialogauge.core.json_keys import as_json
from dialogauge.stats.agreement import figures_of, signed_gain
from dialogauge.stats.comparison import (
    adjusted,
    compare,
    compare_gain,
    compare_pairs,
    corrected_together,
    holm,
)
from dialogauge.stats.estimate import Basis, Gain
from dialogauge.stats.measures import MEASURES
from dialogauge.stats.table import ScoreTable, parse_rule, scores_of

NAMES = ("pearson", "qwk", "f1_dsat", "mae", "auc", "bias")


def judged(judges, users="abcdefghijkl", gold=(5, 4, 2, 1, 3, 5)):
    people = [g for _ in users for g in gold]
    sources = {name: scores_of([s for _ in users for s in said]) for name, said in judges.items()}
    labels = tuple(u for u in users for _ in gold)
    table = ScoreTable({**sources, "people": scores_of(people)}, labels, "users", labels)
    return figures_of(table, sources, "people", NAMES, rule=parse_rule("<4"))


GOOD, BAD, FLAT = [5, 4, 2, 2, 3, 5], [2, 4, 4, 5, 3, 1], [4] * 6


def test_the_better_judge_is_told_and_the_same_is_not():
    found = compare_pairs(
        judged({"good": GOOD, "bad": BAD, "flat": FLAT}),
        [("good", "bad"), ("good", "flat"), ("bad", "flat")],
        NAMES,
    )
    by = {(c.a, c.b, c.measure): c for c in found}
    assert len(found) == 3 * len(NAMES)
    first = by["good", "bad", "pearson"]
    assert (first.side, first.difference.n, first.difference.clusters) == ("above", 72, 12)
    assert first.words == "good agrees better with people"
    assert first.difference.low > 0
    assert by["good", "bad", "mae"].difference.value > 0  # lower is better
    # a correlation that does not exist counts as none, an AUC as chance
    assert by["good", "flat", "pearson"].difference.value == by["good", "flat", "pearson"].figure_a
    assert by["bad", "flat", "pearson"].side == "below"
    same = compare_pairs(judged({"a": GOOD, "b": GOOD}), [("a", "b")], NAMES)
    assert {c.side for c in same} == {"not distinguishable"}
    assert {c.p for c in same} == {1.0}
    assert same[0].words == "a and b are not distinguishable"


def test_a_difference_that_rounding_alone_makes_is_none():
    of = judged({"a": GOOD})["a"]
    value = float(np.nextafter(of.values["pearson"], 0))
    nearly = replace(of, values={**of.values, "pearson": value})
    found = compare_pairs({"a": of, "b": nearly}, [("a", "b"), ("b", "a")], ["pearson"])
    assert [(c.difference.value, c.agrees, c.side) for c in found] == [(0.0, None, "not distinguishable")] * 2


def test_the_difference_is_that_of_the_two_figures_with_the_same_clusters_left_out():
    rng = np.random.default_rng(1)
    people, users = rng.integers(1, 6, 60), tuple(sorted("abcdefghij" * 6))
    sources = {n: scores_of(np.clip(people + rng.integers(-1, 2, 60), 1, 5)) for n in "ab"}
    of = figures_of(
        ScoreTable({**sources, "people": scores_of(people)}, users, "users"), sources, "people", ["qwk"]
    )
    found = compare("a", of["a"], "b", of["b"], "qwk")
    moved = of["a"].moved["qwk"] - of["b"].moved["qwk"]
    gain = of["a"].values["qwk"] - of["b"].values["qwk"]
    assert found.difference.value == pytest.approx(gain)
    low, high = found.difference.interval
    assert (low + high) / 2 == pytest.approx(gain)
    assert (high - low) / 2 > np.sqrt(((moved - gain) ** 2).sum()) * 1.96
    assert (found.p < 0.05) == (low > 0 or high < 0)


def test_gains_are_antisymmetric_and_point_to_the_better():
    one, none = np.array([0.3]), np.array([np.nan])
    for measure in MEASURES.values():
        assert signed_gain(measure, one, one + 0.1) == -signed_gain(measure, one + 0.1, one)
        better = signed_gain(measure, one + 0.1, one)
        assert (better > 0) == (measure.better == "high")
        assert np.isnan(signed_gain(measure, none, none))
        lone = signed_gain(measure, none, one)
        assert np.isnan(lone) if measure.null is None else np.isfinite(lone)


def test_too_few_clusters_show_nothing_however_clear_they_are():
    six = compare_pairs(judged({"good": GOOD, "bad": BAD}, "abcdef"), [("good", "bad")], ["pearson"] * 2)[0]
    assert (six.p, six.p_holm, six.least_p) == (2 / 2**6, 2 * 2 / 2**6, 2 * 2 / 2**6)
    assert six.at_floor
    assert six.side == "too few to tell"
    assert six.words == "too few users to tell good from bad"
    for users in ("abc", "a"):
        few = compare_pairs(judged({"good": GOOD, "bad": BAD}, users), [("good", "bad")], ["pearson"])[0]
        assert (few.p, few.p_holm, few.side) == (None, None, "too few to tell")
        assert few.difference.value is not None
    nothing = compare_pairs(judged({"a": FLAT, "b": FLAT}), [("a", "b")], ["pearson"])[0]
    assert (nothing.side, nothing.words) == ("undefined", "a and b are not comparable")


def test_eight_runs_can_be_told_apart():
    judges = {f"j{i}": GOOD if i % 2 else BAD for i in range(8)}
    pairs = list(combinations(judges, 2))
    few = compare_pairs(judged(judges, "abcdefghij"), pairs, ["pearson"])
    assert {c.side for c in few} == {"too few to tell"}
    assert few[0].least_p == 28 * 2 / 2**10
    by = {(c.a, c.b): c for c in compare_pairs(judged(judges, "abcdefghijkl"), pairs, ["pearson"])}
    assert by["j0", "j1"].side == "below"
    assert by["j0", "j2"].side == "not distinguishable"


def test_only_who_agrees_at_all_agrees_better():
    rng = np.random.default_rng(4)
    people, users = rng.integers(1, 6, 400), tuple(f"u{i}" for i in range(20) for _ in range(20))
    sources = {
        "good": scores_of(np.clip(people + rng.integers(-1, 2, 400), 1, 5)),
        "blind": scores_of(rng.integers(1, 6, 400)),
        "turned": scores_of(6 - people),
    }
    table = ScoreTable({**sources, "people": scores_of(people)}, users, "users")
    of = figures_of(table, sources, "people", ["pearson", "mae"])

    def words(a, b, measure):
        return compare_pairs(of, [(a, b)], [measure])[0].words

    assert words("good", "blind", "pearson") == "good agrees better with people"
    assert words("blind", "good", "pearson") == "good agrees better with people"
    assert words("turned", "blind", "pearson") == "blind is above turned, but not above chance"
    assert words("blind", "good", "mae") == "good is closer to people"


def test_a_difference_that_four_users_make_shows_nothing_however_many_there_are():
    users = tuple(sorted("abcdefghijkl" * 5))
    people = [1, 2, 3, 4, 5] * 4 + [4] * 40
    sources = {"good": scores_of([1, 2, 3, 4, 5] * 12), "poor": scores_of([1, 3, 2, 5, 4] * 12)}
    table = ScoreTable({**sources, "people": scores_of(people)}, users, "users", users)
    of = figures_of(table, sources, "people", ["per_user_pearson"])
    (found,) = compare_pairs(of, [("good", "poor")], ["per_user_pearson"])
    assert found.difference.value == pytest.approx(0.2)
    assert (found.difference.interval, found.side) == (None, "too few to tell")
    assert found.difference.reason == "too few users: 4, and the interval of a difference takes 6"


def test_holm_is_over_all_comparisons_that_can_be_tested():
    basis = Basis(40, 20, "users")
    even = np.array([0.2, -0.2] * 10)

    def made(measure, gain, moves):
        return compare_gain(("a", "b"), measure, (1.0, 0.0), Gain(gain, 1.0 + moves, 4.0), basis)

    found = adjusted(
        [
            made("mae", 1.0, even * 0.1),
            made("mae", 1.0, even),
            made("mae", None, even),
            made("qwk", 1.0, even),
        ]
    )
    # a t of 1 / sqrt(20 * .04) = 1.118 with 19 degrees of freedom; the first is at the floor of a p
    stats = pytest.importorskip("scipy.stats")
    p = 2 * stats.t.sf(1 / np.sqrt(20 * 0.04), 19)
    assert [c.p for c in found] == [pytest.approx(v) for v in (2 / 2**20, p)] + [None, pytest.approx(p)]
    assert [c.p_holm for c in found] == [pytest.approx(v) for v in (3 * 2 / 2**20, 2 * p)] + [
        None,
        pytest.approx(2 * p),
    ]
    assert {c.least_p for c in found} == {3 * 2 / 2**20, None}
    sides = ["above", "not distinguishable", "undefined", "not distinguishable"]
    assert [c.side for c in found] == sides
    assert as_json(found[0])["a_better_by"]["value"] == 1.0


def test_two_equal_judges_are_rarely_told_apart():
    """Under the null at most about 5 % of comparisons may call one better."""
    rng = np.random.default_rng(11)
    users = tuple(f"u{i}" for i in range(20) for _ in range(5))
    told = 0
    for _ in range(100):
        gold = rng.integers(1, 6, 100)
        sources = {n: scores_of(np.clip(gold + rng.integers(-1, 2, 100), 1, 5)) for n in "ab"}
        table = ScoreTable({**sources, "people": scores_of(gold)}, users, "users")
        of = figures_of(table, sources, "people", ["mae"])
        told += compare_pairs(of, [("a", "b")], ["mae"])[0].side != "not distinguishable"
    assert told <= 13


def test_holm_by_hand():
    # sorted .01 .03 .04 times 3 2 1: .03 .06 .06
    assert holm([0.04, 0.01, 0.03]) == pytest.approx((0.06, 0.03, 0.06))


def test_what_has_no_p_takes_no_part():
    assert holm([None, 0.02, None]) == (None, 0.02, None)
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_lowers_and_keeps_the_order(values):
    found = holm(values)
    assert all(f >= min(v, 1) for f, v in zip(found, values, strict=True))
    order = np.argsort(values)
    assert list(np.array(found)[order]) == sorted(found)


def test_figures_that_move_alike_are_corrected_as_one():
    # Five clusters: of the 32 flips two leave all on one side, six (with one flipped: 10) reach 3 of 5.
    parts = np.ones((5, 1)) / 5
    rng = np.random.default_rng(0)
    corrected, alpha = corrected_together([0.1, 0.1], np.hstack([parts, parts]), rng)
    assert corrected == pytest.approx((0.1, 0.1))  # 2 of 32 flips have so low a p: less than each by itself
    assert alpha == 0.025  # and none is significant: .0625 is the lowest p that there is
    assert corrected_together([0.3], parts, rng) == ((0.3,), 0.05)


def test_figures_that_have_nothing_in_common_are_corrected_as_by_holm():
    # Each figure stands on 20 clusters of its own: both signs are free of each other.
    parts = np.zeros((40, 2))
    parts[:20, 0] = parts[20:, 1] = np.random.default_rng(2).normal(0, 1, 20)
    corrected, alpha = corrected_together([0.01, 0.2], parts, np.random.default_rng(0))
    assert corrected[0] == pytest.approx(1 - 0.99**2, abs=0.006)
    assert corrected[1] == pytest.approx(0.2, abs=0.01)  # the last of a step-down method stands by itself
    assert alpha == pytest.approx(1 - math.sqrt(0.95), abs=0.004)


def test_a_figure_that_cannot_move_costs_nothing():
    parts = np.zeros((20, 2))
    parts[:, 0] = np.random.default_rng(3).normal(0, 1, 20)
    corrected, alpha = corrected_together([0.03, 1.0], parts, np.random.default_rng(0))
    assert corrected[0] == pytest.approx(0.03, abs=0.003)
    assert corrected[1] == 1.0
    assert alpha > 0.045


def test_the_family_is_wrong_in_one_of_twenty_studies_of_nothing():
    draw = np.random.default_rng(7)
    wrong = 0
    for _ in range(400):
        moved = draw.normal(size=(12, 1)) + 0.5 * draw.normal(size=(12, 5))
        p_values = oracle.ttest_1samp(moved, 0).pvalue.tolist()
        wrong += min(corrected_together(p_values, moved / 12, draw)[0]) <= 0.05
    assert 8 <= wrong <= 32
