"""Behaviour along conversations, charts' data, drift, and paired comparisons: values derived by hand."""

from __future__ import annotations

import pytest

from dialogauge.core.protocols import Population
from dialogauge.studies.satisfaction.answers import Answer
from dialogauge.studies.satisfaction.behaviour import behaviour_of, drift_of, pictures_of
from dialogauge.studies.satisfaction.blocks import collect_blocks
from dialogauge.studies.satisfaction.comparison import COMPARED, compare_pairs
from dialogauge.studies.satisfaction.figures import Scored, mean_by_user
from rated import rated_talk


def turn(session, position, gold, *, user="u"):
    return Answer(
        id=f"{session}__turn_{position}",
        block=f"{user}__s",
        user=user,
        scenario="s",
        position=position,
        length=10,
        gold=gold,
        reason=None,
        history=True,
        score=4,
        value=4.0,
    )


def test_stability_and_recovery() -> None:
    golds = {"a": [5, 3, 4, 2], "b": [4, 5], "c": [2, 2, 5]}
    said = {"a": [5, 4, 4, 2], "b": [3, 4], "c": [4, 4, 4]}
    answers = [turn(s, i, g) for s, given in golds.items() for i, g in enumerate(given)]
    found = behaviour_of(answers, [x for given in said.values() for x in given], draws=0)
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
    found = behaviour_of(answers, [2, 4], draws=0)
    assert found.recovery["people"].value is None
    assert found.recovery["people"].n == 0
    assert found.after_dissatisfaction.n == 0


def test_order_of_the_rows_makes_no_difference() -> None:
    answers = [turn("a", i, g) for i, g in enumerate([2, 5, 3, 4])]
    there = behaviour_of(answers, [2, 5, 4, 4], draws=0)
    back = behaviour_of(answers[::-1], [4, 4, 5, 2], draws=0)
    assert there == back


def test_share_has_an_interval_by_users() -> None:
    cases = [(user, float(v)) for user, values in (("a", [1, 1]), ("b", [0, 0])) for v in values]
    found = mean_by_user(cases, draws=200)
    assert (found.value, found.n, found.users, found.interval) == (0.5, 4, 2, (0, 1))
    assert mean_by_user(cases[:2], draws=200).interval is None
    assert mean_by_user([], draws=200).value is None


def test_confusion_reliability_and_users() -> None:
    answers = [turn("a", i, g, user="ab"[i % 2]) for i, g in enumerate([5, 4, 2, 4.5, 1, 3])]
    scores = [4, 4, 2, 5, 4, 3]
    found = pictures_of(answers, scores, [float(s) for s in scores], {"a__s": 3.5}, draws=0)
    assert found.confusion[3] == (1, 0, 0, 1, 1)  # judge 4: people 1, 4, 5
    assert found.confusion[4] == (0, 0, 0, 1, 0)  # 4.5 rounds to 4
    assert [b.said for b in found.reliability] == [2, 3, 4, 5]
    assert found.reliability[2].people.value == pytest.approx(10 / 3)
    first, second = found.users
    assert (first.user, first.n, first.history, second.history) == ("a", 3, 3.5, None)
    assert first.gold == pytest.approx(8 / 3)
    assert first.said == pytest.approx(10 / 3)
    assert first.mae == pytest.approx((1 + 0 + 3) / 3)


def test_many_values_come_in_ten_parts_and_equal_ones_together() -> None:
    values = [1 + i / 25 for i in range(90)] + [4.6] * 10
    answers = [turn("a", i, 4) for i in range(100)]
    bins = pictures_of(answers, [4] * 100, values, {}, draws=0).reliability
    assert [b.people.n for b in bins] == [10] * 10
    assert bins[-1].said == pytest.approx(4.6)
    assert [b.said for b in bins] == sorted(b.said for b in bins)


def users_of(shift, users=6):
    """Users who rate the trip `shift` below everything else."""
    talks = []
    for u in range(users):
        for scenario in ("cook", "gift", "trip"):
            high = 5 - (u % 2)
            level = high - (shift if scenario == "trip" else 0)
            talks.append(rated_talk(f"user{u}", scenario, 0, [level] * 6))
    blocks, _, _ = collect_blocks(talks)
    return blocks


def test_a_scenario_that_is_rated_otherwise_is_told() -> None:
    blocks = users_of(2)
    found = drift_of(blocks, Population(blocks), draws=200)
    assert found.by_scenario["trip"].value == -2
    assert found.by_scenario["cook"].value == 1
    assert found.moved == (18, 18)
    assert found.shift.value == 0
    told = " ".join(found.warnings)
    assert "Scenario family: 'trip' is rated 2.00 [2.00, 2.00] lower" in told
    assert "in 18 of 18 blocks" in told
    assert "users rate what is judged" not in told


def test_a_drift_of_all_scores_and_an_unknown_scenario_are_told() -> None:
    trips = [b for b in users_of(1) if b.view.scenario == "trip"]
    others = tuple(b for b in users_of(1) if b.view.scenario != "trip")
    found = drift_of(trips, Population(others), draws=200)
    assert found.shift.value == -1
    assert found.unknown == ("trip",)
    assert any(w.startswith("Score drift: users rate what is judged 1.00") for w in found.warnings)
    assert "no training user rated 'trip'" in found.warnings[-1]


def test_like_histories_give_no_warning() -> None:
    blocks = users_of(0)
    found = drift_of(blocks, Population(blocks), draws=200)
    assert found.warnings == ()
    assert found.level_pearson == pytest.approx(1)
    assert drift_of([], Population(()), draws=10).warnings == ()


def judged(said, gold=(5, 4, 2, 1, 3, 5)):
    return [Scored(user, user, g, s) for user in "abcdefgh" for g, s in zip(gold, said, strict=True)]


def test_paired_comparison_finds_the_better_judge_and_says_when_it_cannot_tell() -> None:
    judges = {"good": judged([5, 4, 2, 2, 3, 5]), "bad": judged([2, 4, 4, 5, 3, 1]), "flat": judged([4] * 6)}
    found = compare_pairs(judges, [("good", "bad"), ("good", "flat"), ("bad", "flat")], draws=200)
    by = {(c.a, c.b, c.measure): c for c in found}
    assert len(found) == 3 * len(COMPARED)
    first = by["good", "bad", "pearson"]
    assert (first.side, first.n, first.users) == ("above", 48, 8)
    assert first.words == "good agrees better with the users"
    assert first.interval[0] > 0
    # a correlation that does not exist counts as none
    assert by["good", "flat", "pearson"].difference == pytest.approx(by["good", "flat", "pearson"].figure_a)
    assert by["bad", "flat", "pearson"].side == "below"
    assert by["good", "bad", "mae"].difference > 0
    same = compare_pairs({"a": judges["good"], "b": judges["good"]}, [("a", "b")], draws=200)
    assert {c.side for c in same} == {"not distinguishable"}
    assert same[0].words == "a and b are not distinguishable"
    assert {c.p for c in same} == {1.0}


def test_holm_is_over_the_pairs_of_one_figure() -> None:
    judges = {n: judged(s) for n, s in (("a", [5, 4, 2, 2, 3, 5]), ("b", [4, 4, 2, 1, 3, 4]), ("c", [4] * 6))}
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    found = [c for c in compare_pairs(judges, pairs, draws=100) if c.measure == "qwk"]
    smallest = min(c.p for c in found)
    assert min(c.p_holm for c in found) == pytest.approx(min(1, 3 * smallest))


def test_without_draws_nothing_is_called_better() -> None:
    found = compare_pairs({"a": judged([5] * 6), "b": judged([4] * 6)}, [("a", "b")], draws=0)
    assert {c.side for c in found} == {"undefined"}
    assert found[3].words == "a and b are not comparable"


def test_so_few_draws_that_no_difference_could_be_shown_show_none() -> None:
    judges = {"good": judged([5, 4, 2, 2, 3, 5]), "bad": judged([2, 4, 4, 5, 3, 1])}
    found = compare_pairs(judges, [("good", "bad")], draws=19, measures=["pearson"])[0]
    assert (found.least_p, found.side) == (pytest.approx(0.1), "undefined")  # 2 / (19 + 1)
    assert found.words == "too few draws to tell good from bad"
    assert compare_pairs(judges, [("good", "bad")], draws=39, measures=["pearson"])[0].side == "above"
