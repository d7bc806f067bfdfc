"""Weights of criteria that are fitted to people: by hand, against scipy, and what must hold of any fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from dialogauge.core import Scale
from dialogauge.rubrics import load_rubric
from dialogauge.studies.fit.weights import RIDGES, RatedCriteria, prior_of
from sets import examples

SCALE = Scale(1, 5, integer=False)
ROLEPLAY = load_rubric("roleplay").items[0]


def rated(named, people, weights=(-0.5, 0.5), base=3.0, personas=None):
    """Return sessions that were judged once or, with three axes, several times."""
    named = np.array(named, dtype=np.float64)
    named = named[:, None, :] if named.ndim == 2 else named
    w = np.array(weights)
    prior = np.array(
        [[base, *w], [2, *np.where(w < 0, -2, 0)], [4, *np.where(w > 0, 2, 0)]], dtype=np.float64
    )
    personas = np.arange(len(people)) if personas is None else np.array(personas)
    return RatedCriteria(named, np.array(people, dtype=np.float64), personas, prior, SCALE)


def drawn(seed, n=30, criteria=6, repeats=3):
    rng = np.random.default_rng(seed)
    named = (rng.random((n, repeats, criteria)) < rng.uniform(0.05, 0.6, criteria)).astype(float)
    weights = np.where(np.arange(criteria) % 2, 0.5, -0.5)
    people = np.clip(rng.uniform(1, 5) + named.mean(axis=1) @ (weights * rng.uniform(0, 6)), 1, 5)
    return rated(named, people + 0, weights, personas=rng.integers(0, 5, n))


def test_the_bounds_are_those_of_the_signs():
    """On 1 to 5: base 2 to 4, deductions -2 to 0, bonuses 0 to 2; on 0 to 10 the same parts of its length."""
    prior = prior_of(ROLEPLAY, SCALE)
    assert prior.tolist() == [
        [3, *[-0.5] * 4, *[0.5] * 4],
        [2, *[-2] * 4, *[0] * 4],
        [4, *[0] * 4, *[2] * 4],
    ]
    far = replace(ROLEPLAY.options[0], weight=-7.0), replace(ROLEPLAY.options[1], weight=None)
    other = prior_of(replace(ROLEPLAY, options=far, base=9), Scale(0, 10, integer=False))
    assert other.tolist() == [[9, -7, 0], [2.5, -7, 0], [9, 0, 0]]


def test_one_criterion_by_hand():
    """Three sessions with a bonus and three without, lambda 3; people say 4 and 3.

    b and w solve 6 (b - 3) + 3 (w - 1) + 3 (b - 3) = 0 and 3 (b - 3) + 3 (w - 1) + 3 (w - .5) = 0:
    with b = 3 + c and w = 1 + d, 9 c + 3 d = 0 and 3 c + 6 d + 1.5 = 0, so c = .1 and d = -.3.
    """
    sessions = rated([[1], [1], [1], [0], [0], [0]], [4, 4, 4, 3, 3, 3], weights=[0.5])
    assert sessions.fits([3.0])[0] == pytest.approx([3.1, 0.7])


def test_a_bound_holds_and_the_rest_fits_around_it():
    """People like what the rubric holds for a fault: its weight ends at 0, and the base is the ridge mean.

    6 (b - 3) - 3 + 3 (b - 3) = 0: b = 3 + 1/3.
    """
    sessions = rated([[1], [1], [1], [0], [0], [0]], [4, 4, 4, 3, 3, 3], weights=[-0.5])
    assert sessions.fits([3.0])[0] == pytest.approx([3 + 1 / 3, 0])


def test_beyond_the_scale_nothing_pulls_further_out_but_back():
    """Four bonuses reach 5 from 3; two thirds more of them would, and are cut: nothing is wrong with that.

    People who say 4 to the same pull back from beyond the end, by the distance from 5.
    """
    named = [[1] * 4, [1] * 4, [1] * 4, [0] * 4, [0] * 4, [0] * 4]
    high = rated(named, [5, 5, 5, 3, 3, 3], weights=[1.0] * 4)
    assert high.fits([0.1])[0] == pytest.approx([3, 1, 1, 1, 1])
    back = rated(named, [4, 4, 4, 3, 3, 3], weights=[1.0] * 4)
    assert back.fits([0.1])[0][1:].sum() == pytest.approx(1, abs=0.1)


def test_what_was_named_in_fewer_than_three_sessions_keeps_its_weight():
    """The merit is worth .5, so people start from 4 and take 2 for the fault, but for a lambda of .1.

    With b = 4 - c and w = e - 2: 3 (e - c) - 2 c + .1 (1 - c) = 0 and 3 (e - c) + .1 (e - 1.5) = 0.
    """
    named, people = [[1, 1], [1, 1], [1, 0], [0, 0], [0, 0]], [2.5, 2.5, 2, 4, 4]
    sessions = rated(named, people)
    assert sessions.fits([0.1])[0] == pytest.approx([3.8884, -1.8436, 0.5], abs=1e-4)
    assert (sessions.support.tolist(), sessions.moves.tolist()) == ([3, 2], [True, True, False])
    assert rated(named, people, weights=(0.0, -0.5)).moves.tolist() == [True, False, False]


def test_a_score_is_cut_in_each_repeat_and_a_repeat_without_judgement_is_left_out():
    """Of 3 + 4 and 3 it is (5 + 3) / 2 = 4, and not the 5 of how often it was named."""
    once = [[[1, 1], [0, 0]], [[1, 1], [np.nan, np.nan]]]
    assert rated(once, [3, 3], weights=(2.0, 2.0)).scores(np.array([3.0, 2, 2])).tolist() == [4, 5]


def convex(sessions, weights, ridge):
    """The function of which the fit takes the gradient, written plainly."""
    value = ridge * ((weights - sessions.prior[0]) ** 2).sum()
    for x, y in zip(np.nanmean(sessions.named, axis=1), sessions.people, strict=True):
        z = weights[0] + x @ weights[1:]
        end = min(max(z, 1.0), 5.0)
        value += (end - y) ** 2 + 2 * (end - y) * (z - end)
    return value


@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_weights_are_those_of_scipy(seed, ridge):
    sessions = drawn(seed)
    bounds = np.where(sessions.moves, sessions.prior, sessions.prior[0])
    best = minimize(
        lambda w: convex(sessions, w, ridge),
        sessions.prior[0],
        method="L-BFGS-B",
        bounds=list(zip(*bounds[1:], strict=True)),
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    )
    own = sessions.fits([ridge])[0]
    assert own == pytest.approx(best.x, abs=2e-4)
    assert convex(sessions, own, ridge) <= best.fun + 1e-9


@examples(40)
@given(st.integers(0, 10_000))
def test_any_fit_keeps_its_bounds_and_comes_to_rest(seed):
    sessions = drawn(seed, n=3 + seed % 20, criteria=1 + seed % 5)
    low, high = np.where(sessions.moves, sessions.prior, sessions.prior[0])[1:]
    order = np.random.default_rng(seed).permutation(len(sessions.people))
    shuffled = replace(
        sessions,
        named=sessions.named[order],
        people=sessions.people[order],
        personas=sessions.personas[order],
    )
    away = []
    for weights, again in zip(sessions.fits(), shuffled.fits(), strict=True):
        assert ((low <= weights) & (weights <= high)).all()
        assert weights == pytest.approx(again, abs=1e-7)
        away.append(np.abs(weights - sessions.prior[0]).sum())
    assert away[-1] <= away[0] + 1e-9, "a greater lambda stays nearer to the rubric"


def test_people_who_count_as_the_rubric_does_change_nothing():
    """The greatest lambda is chosen, and on personas left out the scores are people's."""
    sessions = drawn(3)
    exact = replace(sessions, people=sessions.scores(sessions.prior[0]), named=sessions.named.round()[:, :1])
    exact = replace(exact, people=exact.scores(exact.prior[0]))
    assert exact.choose() == RIDGES[-1]
    assert all(fit == pytest.approx(exact.prior[0], abs=1e-9) for fit in exact.fits())
    fitted, constant = exact.left_out()
    assert fitted == pytest.approx(exact.people)
    assert np.abs(constant - exact.people).mean() > 0.1


def test_a_persona_left_out_says_nothing_of_its_own_scores():
    """What people say of one persona changes the scores of all others, and none of its own."""
    sessions = drawn(4)
    one = sessions.personas == 0
    other = replace(sessions, people=np.where(one, 6 - sessions.people, sessions.people))
    for before, after in zip(sessions.left_out(), other.left_out(), strict=True):
        assert (before[one] == after[one]).all()
        assert (before[~one] != after[~one]).any()


def test_very_many_personas_are_left_out_together():
    named = np.random.default_rng(0).random((120, 1, 2)) < 0.5
    many = rated(named, np.full(120, 3.0) + named[:, 0, 1])
    assert len(list(many._left_out(50))) == 50
    assert len(list(rated([[1, 0]] * 2, [3, 3], personas=[7, 7])._left_out(50))) == 0
