"""What counts as a score and as a turn number."""

import math

import pytest

from dialogauge.data.ratings import as_score, as_turn


@pytest.mark.parametrize(
    ("given", "score"),
    [
        (4, 4),
        (4.5, 4.5),
        ("4", 4),
        (" 4.0 ", 4),
        ("4.5", 4.5),
        ("-1", -1),
        ("five", "five"),
        ("5 stars", "5 stars"),
        (True, "true"),
        (False, "false"),
    ],
)
def test_scores(given, score):
    assert as_score(given) == score
    assert type(as_score(given)) is type(score)


@pytest.mark.parametrize("given", [None, "", " ", math.nan, math.inf, "nan", "NaN", [], {}])
def test_no_scores(given):
    with pytest.raises(ValueError, match="the score is"):
        as_score(given)


def test_turns():
    assert [as_turn(t) for t in (1, "2", 3.0, "0", None, "")] == [1, 2, 3, 0, None, None]
    for bad in ("1.5", 2.5, "x", -1, True, [], "nan"):
        with pytest.raises(ValueError, match="the turn is"):
            as_turn(bad)


@pytest.mark.parametrize("given", [2**63, -(2**63), 10**400, "9" * 19, "9" * 400, 1e300])
def test_numbers_that_nothing_could_store(given):
    with pytest.raises(ValueError, match="too large"):
        as_score(given)
