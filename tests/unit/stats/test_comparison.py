"""Paired comparisons: by hand, what few clusters and draws can show, and Holm over the pairs of a measure."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.stats.agreement import figures_of
from dialogauge.stats.comparison import (
    adjusted,
    compare,
    compare_pairs,
    compare_replicates,
    draw_p,
    draws_for,
    holm,
)
from dialogauge.stats.estimate import Basis, ClusterDraws
from dialogauge.stats.measures import MEASURES, signed_gain
from dialogauge.stats.table import ScoreTable, parse_rule, scores_of

NAMES = ("pearson", "qwk", "f1_dsat", "mae", "auc", "bias")


def judged(judges, users="abcdefgh", gold=(5, 4, 2, 1, 3, 5), *, draws=200, for_p=0):
    people = [g for _ in users for g in gold]
    sources = {name: scores_of([s for _ in users for s in said]) for name, said in judges.items()}
    labels = tuple(u for u in users for _ in gold)
    table = ScoreTable({**sources, "people": scores_of(people)}, labels, "users", labels)
    settings = ClusterDraws(draws, for_p=for_p)
    return figures_of(table, sources, "people", NAMES, rule=parse_rule("<4"), draws=settings)


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
    assert (first.side, first.difference.n, first.difference.clusters) == ("above", 48, 8)
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


def test_the_difference_is_that_of_the_two_figures_draw_by_draw():
    rng = np.random.default_rng(1)
    of = judged({"a": rng.integers(1, 6, 6).tolist(), "b": GOOD}, draws=300)
    found = compare("a", of["a"], "b", of["b"], "qwk")
    gains = of["a"].replicates["qwk"] - of["b"].replicates["qwk"]
    assert found.difference.value == pytest.approx(of["a"].values["qwk"] - of["b"].values["qwk"])
    assert found.difference.interval == pytest.approx(tuple(np.quantile(gains, [0.025, 0.975])))
    assert found.p == max(draw_p(gains), 2 / 2**8)


def test_gains_are_antisymmetric_and_point_to_the_better():
    one, none = np.array([0.3]), np.array([np.nan])
    for measure in MEASURES.values():
        assert signed_gain(measure, one, one + 0.1) == -signed_gain(measure, one + 0.1, one)
        better = signed_gain(measure, one + 0.1, one)
        assert (better > 0) == (measure.better == "high")
        assert np.isnan(signed_gain(measure, none, none))
        lone = signed_gain(measure, none, one)
        assert np.isnan(lone) if measure.null is None else np.isfinite(lone)


def test_too_few_draws_show_nothing():
    found = compare_pairs(judged({"good": GOOD, "bad": BAD}, draws=19), [("good", "bad")], ["pearson"])[0]
    assert (found.least_p, found.side) == (pytest.approx(0.1), "too few to tell")  # 2 / (19 + 1)
    assert found.words == "too few users or draws to tell good from bad"
    enough = judged({"good": GOOD, "bad": BAD}, draws=39)
    assert compare_pairs(enough, [("good", "bad")], ["pearson"])[0].side == "above"


def test_too_few_clusters_show_nothing_however_clear_their_draws_are():
    few = compare_pairs(judged({"good": GOOD, "bad": BAD}, "abc"), [("good", "bad")], ["pearson"])[0]
    assert (few.p, few.p_holm, few.least_p) == (0.25, 0.25, 0.25)  # 2 / 2^3
    assert few.side == "too few to tell"
    one = compare_pairs(judged({"good": GOOD, "bad": BAD}, "a"), [("good", "bad")], ["pearson"])[0]
    assert (one.p, one.p_holm, one.side) == (None, None, "undefined")
    assert one.words == "good and bad are not comparable"


def test_without_draws_nothing_is_called_better():
    found = compare_pairs(judged({"a": GOOD, "b": BAD}, draws=0), [("a", "b")], NAMES)
    assert {c.side for c in found} == {"undefined"}


def test_eight_runs_can_be_told_apart_with_the_draws_that_their_pairs_need():
    """At 1,000 draws 28 pairs have a floor of 28 * 2 / 1001 > .05."""
    judges = {f"j{i}": GOOD if i % 2 else BAD for i in range(8)}
    pairs = list(combinations(judges, 2))
    users = "abcdefghijkl"  # 28 pairs need 28 * 2 / 2^users <= .05
    few = compare_pairs(judged(judges, users, draws=1000), pairs, ["pearson"])
    assert {c.side for c in few} == {"too few to tell"}
    assert few[0].least_p == pytest.approx(28 * 2 / 1001)
    more = draws_for(ClusterDraws(1000), len(pairs), 48)
    assert more.for_p == 28 * 160
    enough = compare_pairs(judged(judges, users, draws=1000, for_p=more.for_p), pairs, ["pearson"])
    by = {(c.a, c.b): c for c in enough}
    assert by["j0", "j1"].side == "below"
    assert by["j0", "j2"].side == "not distinguishable"
    fewer = judged(judges, users, draws=1000)
    assert by["j0", "j1"].difference == compare("j0", fewer["j0"], "j1", fewer["j1"], "pearson").difference


def test_draws_are_added_only_where_they_are_cheap_and_asked_for():
    assert draws_for(ClusterDraws(0), 28, 100).total == 0
    assert draws_for(ClusterDraws(1000), 3, 100).total == 1000
    assert draws_for(ClusterDraws(1000), 28, 100_000).total == 2000
    assert draws_for(ClusterDraws(1000), 28, 10_000_000).total == 1000


def test_holm_is_over_the_comparisons_of_one_measure_that_can_be_tested():
    basis = Basis(40, 20, "users", ClusterDraws(99))
    up, mixed = np.ones(99), np.concatenate([np.ones(96), -np.ones(3)])

    def made(measure, gain, gains):
        return compare_replicates(("a", "b"), measure, (1.0, 0.0), gain, gains, basis)

    found = adjusted(
        [made("mae", 1.0, up), made("mae", 1.0, mixed), made("mae", None, up), made("qwk", 1.0, up)]
    )
    assert [c.p for c in found] == [pytest.approx(0.02), pytest.approx(0.08), None, pytest.approx(0.02)]
    assert [c.p_holm for c in found] == [
        pytest.approx(0.04),
        pytest.approx(0.08),
        None,
        pytest.approx(0.02),
    ]
    assert [c.least_p for c in found] == [
        pytest.approx(0.04),
        pytest.approx(0.04),
        None,
        pytest.approx(0.02),
    ]
    assert [c.side for c in found] == ["above", "not distinguishable", "undefined", "above"]
    assert found[0].to_json()["a_better_by"]["value"] == 1.0


def test_two_equal_judges_are_rarely_told_apart():
    """Under the null at most about 5 % of comparisons may call one better."""
    rng = np.random.default_rng(11)
    users = tuple(f"u{i}" for i in range(20) for _ in range(5))
    told = 0
    for seed in range(100):
        gold = rng.integers(1, 6, 100)
        sources = {n: scores_of(np.clip(gold + rng.integers(-1, 2, 100), 1, 5)) for n in "ab"}
        table = ScoreTable({**sources, "people": scores_of(gold)}, users, "users")
        of = figures_of(table, sources, "people", ["mae"], draws=ClusterDraws(200, seed))
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


def test_p_of_draws_by_hand():
    # 1 of 19 draws at or below 0: 2 * (1 + 1) / 20
    assert draw_p(np.array([-0.1] + [0.2] * 18)) == pytest.approx(0.2)
    assert draw_p(np.zeros(9)) == 1.0
    assert draw_p(np.array([np.nan, np.nan, 1.0])) is None
    assert draw_p(np.array([])) is None
