from __future__ import annotations

import pytest

from dialogauge.core import Judged, JudgeFailure, Judgement, Score, Target, UsageError
from dialogauge.studies.judging.condition import is_condition, parse_condition

LEVELS = {"helpfulness": "turn", "coherence": "conversation"}
NAMES = ("good", "borderline", "poor")


def turn(number, outcome):
    return Judged(Target("talk", "turn", number), outcome)


def scored(number, value, **details):
    return turn(number, Judgement({"helpfulness": value}, details=details))


def checked(expression, *judged):
    return parse_condition(expression, LEVELS, NAMES, "conversation").check(judged)


def test_every_score_is_asked():
    result = checked("helpfulness >= 4", scored(1, Score(5)), scored(2, Score(3)), scored(3, Score(4)))
    assert not result.met
    assert result.sentence == "helpfulness>=4: met by 2 of 3 turns"
    ((miss),) = result.misses
    assert (miss.target.turn, miss.reason) == (2, "helpfulness 3")


def test_not_applicable_meets_a_condition_and_a_failure_does_not():
    failure = JudgeFailure("timeout", "no answer in 60 s")
    result = checked("helpfulness>=1", scored(1, "n/a"), scored(2, Score(1)), turn(3, failure))
    assert result.sentence == "helpfulness>=1: met by 1 of 2 turns (1 n/a); 1 not judged"
    assert [m.reason for m in result.misses] == ["not judged: no answer in 60 s"]


def test_where_nothing_was_scored_a_condition_is_not_met():
    result = checked("helpfulness>=1", scored(1, "n/a"), turn(2, JudgeFailure("absent", "no message")))
    assert not result.met
    assert result.sentence == "helpfulness>=1: nothing was scored (2 n/a)"
    assert not checked("helpfulness>=1").met


def test_only_targets_of_its_level_are_asked():
    whole = Judged(Target("talk", "conversation"), JudgeFailure("timeout", "no answer"))
    assert checked("helpfulness>=4", scored(1, Score(4)), whole).met
    assert checked("coherence>=4", scored(1, Score(1)), whole).asked == 1


def test_findings_are_counted_turn_by_turn():
    named = {"signals": [{"name": "repeats"}, {"name": "asks_again"}]}
    result = checked("findings==0", scored(1, Score(4)), scored(2, Score(4), **named))
    assert [m.reason for m in result.misses] == ["findings 2"]


def test_verdicts_are_ordered_as_the_rubric_orders_them():
    judged = [
        Judged(Target(name, "conversation"), Judgement({}, verdict=name))
        for name in ("poor", "good", "borderline")
    ]
    assert [m.reason for m in checked("verdict>=borderline", *judged).misses] == ["verdict poor"]
    assert [m.reason for m in checked("verdict==good", *judged).misses] == [
        "verdict poor",
        "verdict borderline",
    ]
    classes = [
        turn(1, Judgement({}, details={"class": "DSAT"})),
        turn(2, Judgement({}, details={"class": "SAT"})),
    ]
    of_turns = parse_condition("verdict>=SAT", {}, ("SAT", "DSAT"), "turn").check(classes)
    assert [m.target.turn for m in of_turns.misses] == [1]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("helpfulnes>=4", "did you mean 'helpfulness'"),
        ("verdict>=fine", "verdicts: good, borderline, poor"),
        ("helpfulness>=high", "'high' is no number"),
        ("helpfulness is good", "cannot read the condition"),
    ],
)
def test_what_cannot_be_asked_is_refused(expression, words):
    with pytest.raises(UsageError, match=words):
        parse_condition(expression, LEVELS, NAMES, "conversation")


@pytest.mark.parametrize("gate", ["helpfulness.mean>=4", "verdict>=good:0.9", "failed<=0.02", "failed<0.1"])
def test_a_gate_is_no_condition(gate):
    assert not is_condition(gate)
