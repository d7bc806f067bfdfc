"""The model's arithmetic against values worked out by hand, and against the plain Gaussian process."""

from __future__ import annotations

import numpy as np
import pytest

from dialogauge.judges.local_user.process import (
    LEVEL,
    NOISE,
    READING,
    SCENARIO,
    SESSION,
    Belief,
    RatedRows,
    Rows,
    WeightInformation,
    information_of,
    own_covariance,
    predict,
)


def rows(shared, form, scenarios, sessions) -> Rows:
    return Rows(
        np.array(shared, dtype=float).reshape(len(scenarios), -1),
        np.array(form, dtype=float).reshape(len(scenarios), -1),
        np.array(list(scenarios)),
        np.array(sessions),
    )


def some_rows(rng, count, columns=4, features=3) -> Rows:
    sessions = rng.integers(0, max(1, count // 2), count)
    scenarios = np.array(["a", "b", "c"])[sessions % 3]
    shared, form = rng.normal(size=(count, columns)), rng.normal(size=(count, features))
    return Rows(shared, form, scenarios, sessions.astype(str))


def test_the_covariance_of_two_replies() -> None:
    one = rows([0], [[0.0, 0.0]], "a", ["s1"])
    assert own_covariance(one, one)[0, 0] == pytest.approx(LEVEL + READING + SCENARIO + SESSION)
    elsewhere = rows([0], [[0.0, 2.0]], "b", ["s2"])
    # mean squared difference (0 + 4) / 2 = 2, so exp(-1)
    assert own_covariance(one, elsewhere)[0, 0] == pytest.approx(LEVEL + READING * np.exp(-1))
    same_scenario = rows([0], [[0.0, 0.0]], "a", ["s3"])
    assert own_covariance(one, same_scenario)[0, 0] == pytest.approx(LEVEL + READING + SCENARIO)


def test_one_rating_moves_a_like_reply_by_the_share_of_what_is_no_noise() -> None:
    past, target = rows([0], [[1.0]], "a", ["s1"]), rows([0], [[1.0]], "b", ["s2"])
    found = predict(Belief.of(WeightInformation.together([], 1)), RatedRows(past, np.array([2.0])), target)
    share = (LEVEL + READING) / (LEVEL + READING + SCENARIO + SESSION + NOISE)
    assert found == pytest.approx([2 * share])


def test_two_equal_ratings_by_hand() -> None:
    past = rows([0, 0], [[1.0], [1.0]], "aa", ["s1", "s2"])
    target = rows([0], [[1.0]], "b", ["s3"])
    found = predict(
        Belief.of(WeightInformation.together([], 1)), RatedRows(past, np.array([1.0, 1.0])), target
    )
    own, shared = LEVEL + READING + SCENARIO + SESSION + NOISE, LEVEL + READING + SCENARIO
    assert found == pytest.approx([2 * (LEVEL + READING) / (own + shared)])


def test_without_history_the_shared_part_is_left() -> None:
    user = rows([[1.0]], [[0.0]], "a", ["s"])
    belief = Belief.of(information_of(RatedRows(user, np.array([1.0]))))
    among = LEVEL + READING + SCENARIO + SESSION + NOISE
    # w ~ N(0, 1), one observation of w with variance `among`
    assert belief.mean == pytest.approx([1 / (1 + among)])
    assert belief.covariance == pytest.approx(np.array([[among / (1 + among)]]))
    target = rows([[2.0]], [[0.0]], "b", ["t"])
    found = predict(belief, RatedRows(user, np.array([1.0])).take(np.empty(0, np.intp)), target)
    assert found == pytest.approx([2 / (1 + among)])


def test_user_by_user_equals_all_rows_at_once() -> None:
    rng = np.random.default_rng(3)
    users = [some_rows(rng, count) for count in (7, 1, 12)]
    values = [rng.normal(size=u.scenarios.size) for u in users]
    past, target = some_rows(rng, 9), some_rows(rng, 5)
    told = rng.normal(size=9)
    told_by = [information_of(RatedRows(u, v)) for u, v in zip(users, values, strict=True)]
    belief = Belief.of(WeightInformation.together(told_by, 4))
    found = predict(belief, RatedRows(past, told), target)

    known = [*users, past]
    shared = np.vstack([u.shared for u in known])
    gram = shared @ shared.T + NOISE * np.eye(len(shared))
    start = 0
    for user in known:
        part = slice(start, start := start + user.scenarios.size)
        gram[part, part] += own_covariance(user, user)
    across = target.shared @ shared.T
    across[:, -9:] += own_covariance(target, past)
    plain = across @ np.linalg.solve(gram, np.concatenate([*values, told]))
    assert found == pytest.approx(plain, abs=1e-10)


def test_each_target_as_if_it_stood_alone() -> None:
    rng = np.random.default_rng(4)
    past, targets, told = some_rows(rng, 8), some_rows(rng, 4), rng.normal(size=8)
    belief = Belief.of(information_of(RatedRows(some_rows(rng, 6), rng.normal(size=6))))
    together = predict(belief, RatedRows(past, told), targets)
    alone = [predict(belief, RatedRows(past, told), targets.take(np.array([i])))[0] for i in range(4)]
    assert together == pytest.approx(alone, abs=1e-12)


def test_a_user_is_taken_out_again() -> None:
    rng = np.random.default_rng(5)
    parts = [information_of(RatedRows(some_rows(rng, n), rng.normal(size=n))) for n in (4, 6, 9)]
    left = Belief.of(WeightInformation.together(parts, 4).without(parts[1]))
    never = Belief.of(WeightInformation.together([parts[0], parts[2]], 4))
    assert left.mean == pytest.approx(never.mean, abs=1e-12)
    assert left.covariance == pytest.approx(never.covariance, abs=1e-12)
