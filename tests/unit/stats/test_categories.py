"""What a rating can be: read from words, from a scale, and what is no rating."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Scale, UsageError
from dialogauge.stats import Categories, whole_scores

NAN = float("nan")


@pytest.mark.parametrize(
    ("text", "names", "values"),
    [
        ("1-5", ("1", "2", "3", "4", "5"), (1, 2, 3, 4, 5)),
        (" 1..3 ", ("1", "2", "3"), (1, 2, 3)),
        ("-1-1", ("-1", "0", "1"), (-1, 0, 1)),
        ("0,1", ("0", "1"), (0, 1)),
        ("5, 3,2,1", ("1", "2", "3", "5"), (1, 2, 3, 5)),
        ("0,0.5,1", ("0", "0.5", "1"), (0, 0.5, 1)),
        ("good,bad", ("good", "bad"), None),
        ("1,two", ("1", "two"), None),
    ],
)
def test_categories_are_read(text, names, values):
    assert Categories.parse(text) == Categories(names, values)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "says no categories"),
        ("1,", "says no categories"),
        ("good", "one category"),
        ("3", "one category"),
        ("5-1", "ends before it starts"),
        ("0-1000", "more than 101"),
        ("1,1,2", "named twice"),
        ("good,good", "named twice"),
    ],
)
def test_what_says_no_categories_is_refused_with_a_hint(text, why):
    with pytest.raises(UsageError, match=why) as refused:
        Categories.parse(text)
    assert "1-5" in (refused.value.hint or "")


def test_numbers_are_in_rising_order():
    with pytest.raises(UsageError, match="rising order"):
        Categories(("2", "1"), (2, 1))


@pytest.mark.parametrize(
    ("scale", "names"),
    [
        (Scale(1, 5), "1, 2, 3, 4, 5"),
        (Scale(0, 1, integer=False), "0, 1"),
        (Scale(0, 2.5, False), "0, 1, 2, 2.5"),
    ],
)
def test_the_categories_of_a_scale_are_its_whole_scores(scale, names):
    assert str(Categories.of_scale(scale)) == names


@given(st.lists(st.floats(1, 5), min_size=1))
def test_a_fraction_counts_as_the_whole_score_of_the_house(values):
    codes = Categories.of_scale(Scale(1, 5)).codes(np.array(values))
    assert (codes + 1 == whole_scores(values)).all()


def test_a_fraction_counts_as_the_nearest_category_halves_upward():
    few = Categories.parse("1,2,5")
    assert few.codes(np.array([[1.4, 1.5], [3.4, 3.5], [NAN, 5]])).tolist() == [[0, 1], [1, 2], [-1, 2]]
    assert Categories.parse("no,yes").codes(np.array([1, NAN, 0])).tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("text", "value", "why"),
    [
        ("1-5", 6, "6 is none of the categories 1, 2, 3, 4, 5"),
        ("1-5", 0.9, "0.9 is none of"),
        ("1-5", float("inf"), "inf is none of"),
        ("1,2,5", 4, "4 is none of the categories 1, 2, 5"),
        ("no,yes", 2, "no category with the number 2"),
        ("no,yes", 0.5, "no category with the number 0.5"),
        ("1-5", 3.2, None),
        ("no,yes", 1, None),
    ],
)
def test_what_is_no_rating(text, value, why):
    fault = Categories.parse(text).fault(value)
    assert fault is None if why is None else why in fault
