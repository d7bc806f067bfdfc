from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import ONE_TO_FIVE, Scale

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
