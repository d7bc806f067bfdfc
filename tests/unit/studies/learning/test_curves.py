"""Curves of learning: by hand, and on data of which it is known whether anything was learnt or forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from dialogauge.studies.learning.curves import CaseScores, learning_curves

STEPS = 8


def curve_of(rows, clusters=None):
    """Return the curve of a system; a row is a case, None a failure."""
    return learning_curves({"a": ()}, {"a": cases_of(rows, clusters)}, "tasks")["a"]


def cases_of(rows, clusters=None):
    return {
        n: CaseScores(
            n if clusters is None else clusters[n], {t: v for t, v in enumerate(row) if v is not None}
        )
        for n, row in enumerate(rows)
    }


def simulated(seed, chances, cases=60):
    """Return right and wrong answers, of which each case is more or less likely to be right."""
    rng = np.random.default_rng(seed)
    ease = rng.uniform(-0.2, 0.2, (cases, 1))
    return (rng.random((cases, STEPS)) < np.clip(chances + ease, 0, 1)).astype(float).tolist()


def test_a_slope_is_that_of_least_squares_and_a_case_without_a_step_is_held_against_itself():
    rows = [[0.1, 0.2, 0.3], [0.5, 0.5, 0.5], [0.0, None, 0.4], *[[0.0, 0.1, 0.2]] * 5]
    slope = curve_of(rows).slope
    # (sum of centred step times score) by (sum of squares): (.2 + 0 + .4 + 5 x .2) / (8 x 2)
    assert slope.difference.value == pytest.approx(1.6 / 16)
    assert slope.difference.n == 8
    oracle = np.polyfit(np.tile(np.arange(STEPS), 60), np.ravel(simulated(1, 0.4)), 1)[0]
    assert curve_of(simulated(1, 0.4)).slope.difference.value == pytest.approx(oracle)


def test_a_system_rises_more_than_its_twin_by_the_slope_of_their_difference():
    system, twin = [[0.0, 0.2, 0.4]] * 8, [[0.1, None, 0.2]] * 7  # one case of the twin failed altogether
    cases = {"a": cases_of(system), "a (echo)": cases_of(twin), "b": cases_of(twin)}
    curves = learning_curves(dict.fromkeys(cases, ()), cases, "tasks", twins=[("a", "a (echo)")])
    (beside,) = curves["a"].beside_twins
    # .4 less .1 over two steps, over the seven cases of both, at the two steps of both
    assert (beside.b, beside.difference.n) == ("a (echo)", 7)
    assert beside.difference.value == pytest.approx(0.3 / 2)
    assert curves["a (echo)"].beside_twins == curves["b"].beside_twins == ()


def test_a_twin_that_rises_alike_is_told_apart_as_seldom_as_by_chance():
    sides = []
    for seed in range(200):
        both = simulated(seed, np.linspace(0.2, 0.7, STEPS), 120)  # both learn, and alike
        cases = {"a": cases_of(both[:60]), "a (last)": cases_of(both[60:])}
        curves = learning_curves(dict.fromkeys(cases, ()), cases, "tasks", twins=[("a", "a (last)")])
        assert curves["a"].slope.side == "above"
        sides.append(curves["a"].beside_twins[0].side)
    assert sides.count("not distinguishable") / 200 >= 0.93


def test_steps_that_fluctuate_have_no_slope_and_learning_has_one():
    seeds = range(100)
    level = [curve_of(simulated(seed, 0.5)).slope for seed in seeds]
    assert 0.01 <= np.mean([one.p_holm <= 0.05 for one in level]) <= 0.09
    rising = [curve_of(simulated(seed, np.linspace(0.3, 0.6, STEPS))).slope.side for seed in seeds]
    assert rising.count("above") / 100 > 0.95


def test_cases_of_one_conversation_are_one_cluster():
    rng = np.random.default_rng(3)
    own = rng.normal(0, 0.02, 12)  # each conversation has a slope of its own: the mean is 0
    rows = [[0.5 + own[n // 10] * (t - 3.5) for t in range(STEPS)] for n in range(120)]
    alone, together = curve_of(rows).slope, curve_of(rows, [n // 10 for n in range(120)]).slope
    wide, narrow = (one.difference.high - one.difference.low for one in (together, alone))
    assert wide > 2.5 * narrow
    assert together.difference.clusters == 12
    assert curve_of([[1, 0]] * 12, [n // 3 for n in range(12)]).forgetting.lost.clusters == 4


def test_forgetting_by_hand():
    rows = [
        [1, 1, 0, 0],  # lost; after the first right step 2 of 3 are wrong
        [0, 1, 0, 1],  # kept; 1 of 2
        [0, 0, 0, 1],  # no earlier step had it right
        [0, 0.4, 0, 0],  # never right
        [0, 0.5, 1, 0.5],  # kept, for a half is right; 0 of 2
        [1, 0, 0, None],  # failed at the last step: nobody knows
    ]
    lost = curve_of(rows).forgetting
    assert (lost.lost.value, lost.lost.n) == (pytest.approx(1 / 3), 3)
    assert lost.by_chance == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert lost.above.value == pytest.approx(1 / 3 - 7 / 18)
    nothing = curve_of([[0.1, 0.2]] * 9).forgetting
    assert (nothing.lost.value, nothing.by_chance, nothing.above.value) == (None, None, None)


def test_forgetting_is_told_from_fluctuation_also_where_much_is_learnt():
    def signs(chances):
        ends = [curve_of(simulated(seed, chances)).forgetting.above for seed in range(100)]
        return [0 if e.low <= 0 <= e.high else np.sign(e.low) for e in ends]

    level, steep = signs(0.5), signs(np.linspace(0.1, 0.9, STEPS))
    assert 0.9 <= level.count(0) / 100 <= 1
    assert steep.count(1) / 100 <= 0.03  # learning is never taken for forgetting
    falls = signs(np.array([0.8] * 5 + [0.3] * 3))
    assert falls.count(1) / 100 > 0.9


def test_the_best_step_is_the_first_of_equals():
    from dialogauge.stats import mean_estimate

    along = [(step, mean_estimate([value] * 6, range(6))) for step, value in ((0, 0.1), (1, 0.4), (2, 0.4))]
    curve = learning_curves({"a": along, "none": along[:1]}, {"a": {}}, "tasks")
    assert (curve["a"].best, curve["none"].best) == (1, 0)
    assert curve["none"].slope is None
    assert curve["none"].forgetting is None
