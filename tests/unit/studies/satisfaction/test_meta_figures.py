"""Behaviour along conversations, charts' data, drift, and paired comparisons: values derived by hand."""

from __future__ import annotations

import pytest

from dialogauge.core.protocols import Population
from dialogauge.stats import Estimate, scores_of
from dialogauge.studies.satisfaction.behaviour import Drift, behaviour_of, drift_of, pictures_of
from dialogauge.studies.satisfaction.blocks import collect_blocks
from dialogauge.studies.satisfaction.figures import mean_by_user, rated_table
from rated import rated_answer, rated_talk


def turn(session, position, gold, *, user="u"):
    return rated_answer(user, gold, 4, session=session, position=position)


def behaviour(answers, scores):
    return behaviour_of(answers, rated_table(answers), scores_of(scores))


def test_stability_and_recovery() -> None:
    golds = {"a": [5, 3, 4, 2], "b": [4, 5], "c": [2, 2, 5]}
    said = {"a": [5, 4, 4, 2], "b": [3, 4], "c": [4, 4, 4]}
    answers = [turn(s, i, g) for s, given in golds.items() for i, g in enumerate(given)]
    found = behaviour(answers, [x for given in said.values() for x in given])
    assert (found.stability["people"].value, found.stability["people"].n) == (pytest.approx(1 / 3), 3)
    assert found.stability["judge"].value == pytest.approx(1 / 3)
    # after people's 3 in a comes 4; after the 2s of c come 2 and 5
    assert (found.recovery["people"].value, found.recovery["people"].n) == (pytest.approx(2 / 3), 3)
    assert found.recovery["judge_there"].value == 1
    assert (found.recovery["judge"].value, found.recovery["judge"].n) == (1, 1)
    assert found.after_dissatisfaction.n == 3
    assert found.after_dissatisfaction.values["over_rated"] == pytest.approx(1 / 3)


def test_a_turn_between_that_nobody_rated_is_not_right_after() -> None:
    answers = [turn("a", 0, 2), turn("a", 2, 5)]
    found = behaviour(answers, [2, 4])
    assert found.recovery["people"].value is None
    assert found.recovery["people"].n == 0
    assert found.after_dissatisfaction.n == 0


def test_order_of_the_rows_makes_no_difference() -> None:
    answers = [turn("a", i, g) for i, g in enumerate([2, 5, 3, 4])]
    there = behaviour(answers, [2, 5, 4, 4])
    back = behaviour(answers[::-1], [4, 4, 5, 2])
    assert there == back


def test_a_mean_has_an_interval_by_users() -> None:
    found = mean_by_user([1, 1, 0, 0, 1, 0], "aabbcd", "uvwxyz")
    assert (found.value, found.n, found.clusters) == (0.5, 6, 4)
    assert found.reason == "too few users: 4, and an interval takes 5"
    alone = mean_by_user([1, 0, 1, 0, 1], "aaaaa", "vwxyz")
    assert alone.method == "jackknife by conversations"
    assert mean_by_user([], [], []).value is None


def test_confusion_reliability_and_users() -> None:
    answers = [turn("a", i, g, user="ab"[i % 2]) for i, g in enumerate([5, 4, 2, 4.5, 1, 3])]
    scores = [4, 4, 2, 5, 4, 3]
    found = pictures_of(answers, scores_of(scores), {"a__s": 3.5})
    assert found.confusion[3] == (1, 0, 0, 1, 1)  # judge 4: people 1, 4, 5
    assert found.confusion[4] == (0, 0, 0, 0, 1)  # 4.5 rounds to 5
    assert [b.judge for b in found.reliability] == [2, 3, 4, 5]
    assert found.reliability[2].people.value == pytest.approx(10 / 3)
    first, second = found.users
    assert (first.user, first.n, first.history, second.history) == ("a", 3, 3.5, None)
    assert first.gold == pytest.approx(8 / 3)
    assert first.judge == pytest.approx(10 / 3)
    assert first.mae == pytest.approx((1 + 0 + 3) / 3)


def test_many_values_come_in_ten_parts_and_equal_ones_together() -> None:
    values = [1 + i / 25 for i in range(90)] + [4.6] * 10
    answers = [turn("a", i, 4) for i in range(100)]
    bins = pictures_of(answers, scores_of(values, whole=[4] * 100), {}).reliability
    assert [b.people.n for b in bins] == [10] * 10
    assert bins[-1].judge == pytest.approx(4.6)
    assert [b.judge for b in bins] == sorted(b.judge for b in bins)


def users_of(shift, users=6):
    """Users who rate the trip `shift` below everything else, a third of them one turn of it less so."""
    talks = []
    for u in range(users):
        for scenario in ("cook", "gift", "trip"):
            high = 5 - (u % 2)
            level = high - (shift if scenario == "trip" else 0)
            last = level + (scenario == "trip" and u % 3 == 0)
            talks.append(rated_talk(f"user{u}", scenario, 0, [level] * 5 + [last]))
    blocks, _, _ = collect_blocks(talks)
    return blocks


def test_a_scenario_that_is_rated_otherwise_is_told() -> None:
    blocks = users_of(2)
    found = drift_of(blocks, Population(blocks))
    assert found.by_scenario["trip"].value == pytest.approx(-2 + 1 / 18)
    assert found.by_scenario["cook"].value == pytest.approx(1 - 1 / 36)
    assert (found.blocks_moved, found.blocks_compared) == (18, 18)
    assert found.shift.value == pytest.approx(0)
    told = " ".join(found.warnings)
    assert "Scenario family: 'trip' is rated 1.94 [" in told
    assert "in 18 of 18 blocks" in told
    assert "users rate these replies" not in told


def test_a_drift_of_all_scores_and_an_unknown_scenario_are_told() -> None:
    trips = [b for b in users_of(1) if b.view.scenario == "trip"]
    others = tuple(b for b in users_of(1) if b.view.scenario != "trip")
    found = drift_of(trips, Population(others))
    assert found.shift.value == pytest.approx(-1 + 1 / 18)
    assert found.unknown_scenarios == ("trip",)
    assert any(w.startswith("Score drift: users rate these replies 0.94") for w in found.warnings)
    assert "no training user rated 'trip'" in found.warnings[-1]


def test_a_shift_whose_interval_ends_at_zero_is_no_warning() -> None:
    """An end that is shown as 0.00 lies at 0 for whoever reads it."""

    def warned(low, high):
        shift = Estimate((low + high) / 2, low, high, 0.95, 60, 6, "jackknife by users")
        return Drift(shift, {"trip": shift}, 0, 6, None, ()).warnings

    assert warned(0.004, 0.6) == warned(-0.6, -0.004) == warned(-0.1, 0.6) == ()
    assert [w.split(":")[0] for w in warned(0.006, 0.6)] == ["Score drift", "Scenario family"]


def test_like_histories_give_no_warning() -> None:
    blocks = users_of(0)
    found = drift_of(blocks, Population(blocks))
    assert found.warnings == ()
    assert found.level_pearson == pytest.approx(0.995, abs=1e-3)
    assert drift_of([], Population(())).warnings == ()
