"""What people said of each target together."""

from __future__ import annotations

import pytest

from dialogauge.core import ONE_TO_FIVE, Rating
from dialogauge.studies.rated import SeenRatings, agreed, latest_of_each, ratings_by_turn
from talks import talk


@pytest.mark.parametrize(
    ("scores", "together"),
    [
        ([4], 4),
        ([4, 4.0], 4),
        ([2, 3, 4, 5], 3.5),
        (["bad", "good", "bad"], "bad"),
        (["bad", "good"], None),
        (["bad", "good", "so"], None),
        (["bad", 2, "bad", 3], 2.5),
    ],
)
def test_raters_are_averaged_or_voted_on(scores, together):
    assert agreed(scores) == together


def test_ratings_of_another_candidate_are_not_this_ones():
    ratings = [
        Rating("c", "fun", score, 1, candidate=name) for score, name in ((1, "a"), (3, "b"), (5, None))
    ]
    rated = talk("u: a", "a: b", id="c", candidate="b", ratings=(*ratings, Rating("c", "rating", 2, 1)))
    first, second = ratings_by_turn(rated, {})[1]
    assert (first.dimension, first.score) == ("rating", 2)
    assert (second.dimension, second.score, second.raters) == ("fun", 4, 2)


def test_ratings_that_do_not_count_are_named_once():
    seen = SeenRatings({("turn", "help"): ONE_TO_FIVE})
    two_scales = [3, 4, 5] * 6 + [85, 90, 80] * 6
    given = {"help": [4, 5, 9] + [3] * 20, "percent": two_scales}
    for name, scores in given.items():
        ratings = tuple(Rating("c", name, score, 1) for score in scores)
        seen.add(talk("u: a", "a: b", id="c", ratings=ratings))
    assert list(seen.remarks())[:1] == ["1 rating of help (turn) not used: off the scale 1-5 (9)"]
    assert seen.unusable.startswith("Ratings of percent (turn) are on two scales (18 from 3 to 5, 18 from 80")
    faults = list(seen.faults(Rating("c", "percent", score, 1) for score in two_scales))
    assert len(faults) == 1


def test_of_what_one_rater_rates_twice_the_latest_counts_and_it_is_said():
    scores = ((4, "ann"), (2, "bo"), (1, "ann"), (5, None), (3, None))
    ratings = tuple(Rating("c", "fun", score, 1, name) for score, name in scores)
    rated = talk("u: a", "a: b", id="c", ratings=ratings)
    kept, faults = latest_of_each(rated, ratings)
    assert [r.score for r in kept] == [2, 1, 5, 3]
    (fault,) = faults
    assert "turn 1 was rated 4, and 1 later by the same rater (the latest counts)" in str(fault)
    assert ratings_by_turn(rated, {})[1][0].score == 2.75
    seen = SeenRatings({})
    seen.add(rated)
    assert seen.counts["turn", "fun"].total() == 4
    assert next(seen.remarks()) == "1 rating given anew later by the same rater: the latest counts"


def test_one_rater_may_rate_each_of_several_replies_of_a_turn():
    ratings = tuple(Rating("c", "fun", score, 1, "ann") for score in (1, 2, 5))
    kept, faults = latest_of_each(talk("u: a", "a: b", "a: c", id="c", ratings=ratings), ratings)
    assert ([r.score for r in kept], len(faults)) == ([2, 5], 1)
