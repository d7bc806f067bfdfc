from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import ONE_TO_FIVE, Scale, round_score
from dialogauge.core.scores import Score, as_scores, score_of, whole_score

SHARE = Scale(0, 1, integer=False, higher_is_better=False)


@pytest.mark.parametrize("value", [1, 2, 3, 4, 5])
def test_scores_on_one_to_five(value: int) -> None:
    assert ONE_TO_FIVE.admits(value)


@pytest.mark.parametrize(
    "value",
    [0, 6, -1, 3.0, 4.5, True, False, "4", "five", "n/a", None, [4], {}, math.nan, math.inf, 10**400],
    ids=lambda value: repr(value)[:9],
)
def test_no_scores_on_one_to_five(value: object) -> None:
    assert not ONE_TO_FIVE.admits(value)


@pytest.mark.parametrize("value", [0, 1, 0.0, 0.5, 1.0])
def test_scores_on_a_scale_that_is_not_whole(value: float) -> None:
    assert SHARE.admits(value)


@pytest.mark.parametrize(
    "value", [-0.1, 1.0001, True, "0.5", None, math.nan, -math.inf, 10**400], ids=lambda v: repr(v)[:9]
)
def test_no_scores_on_a_scale_that_is_not_whole(value: object) -> None:
    assert not SHARE.admits(value)


def test_best_and_worst_follow_the_direction() -> None:
    assert (ONE_TO_FIVE.worst, ONE_TO_FIVE.best) == (1, 5)
    assert (SHARE.worst, SHARE.best) == (1, 0)


def test_a_scale_is_written_by_its_ends() -> None:
    assert str(ONE_TO_FIVE) == "1-5"
    assert str(Scale(0, 0.5, integer=False)) == "0-0.5"


@given(st.integers(-20, 20), st.integers(0, 20), st.integers() | st.floats())
def test_what_is_admitted_lies_between_the_ends(low: int, width: int, value: float) -> None:
    scale = Scale(low, low + width)
    if scale.admits(value):
        assert scale.low <= value <= scale.high
        assert isinstance(value, int)
    elif isinstance(value, int):
        assert not scale.low <= value <= scale.high


def test_one_rule_makes_whole_scores() -> None:
    assert [whole_score(v) for v in (1.5, 2.5, 4.4999, 0.2, 5.7)] == [2, 3, 4, 1, 5]
    assert whole_score(0.5, Scale(0, 1)) == 1
    with pytest.raises(ValueError, match="NaN"):
        whole_score(float("nan"))


def test_a_score_has_a_value_and_perhaps_a_whole_one() -> None:
    assert (score_of(4), score_of(4.5)) == (Score(4, 4), Score(4.5))
    assert score_of(4) is score_of(4)
    assert (Score(3.9, 3).own, Score(3.9).own) == (3, 3.9)
    assert (Score(3.9, 3).rounded(), Score(3.9).rounded()) == (3, 4)
    assert as_scores({"a": 4, "b": "n/a"}) == {"a": Score(4, 4), "b": "n/a"}


def test_a_half_is_a_half_however_it_was_summed() -> None:
    below = math.nextafter(3.5, 0)  # as a sum from the left may be
    assert below < round_score(below) == 3.5
    assert whole_score(below) == whole_score(3.5) == 4
    assert whole_score(3.499999) == 3
