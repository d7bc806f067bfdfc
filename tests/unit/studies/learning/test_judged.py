"""Accuracy by a judge whose own error is known from planted answers."""

from __future__ import annotations

import pytest

from dialogauge.stats import mean_estimate
from dialogauge.studies.learning.judged import JudgedCase, corrected_share


def cases(*scores, clusters=None, category=None):
    names = clusters or range(len(scores))
    return [JudgedCase(score, str(name), category) for score, name in zip(scores, names, strict=True)]


def planted(right, wrong, vague):
    return cases(*right), cases(*wrong), cases(*vague)


ONES, ZEROS = [1.0] * 10, [0.0] * 10
SIX = [1.0] * 6 + [0.0] * 4
VAGUE = planted(ONES, ZEROS, ONES)
"""A judge that takes every vague answer: t = 1, f = 10 of 20."""


def test_six_of_ten_by_a_judge_that_takes_every_vague_answer_are_two_of_ten():
    one = corrected_share(cases(*SIX), *VAGUE)
    assert one.value == pytest.approx(0.2)  # (.6 - .5) / (1 - .5)
    assert (one.n, one.clusters) == (10, 10)
    # Nothing planted moves when a question is left out, so the interval is that of the raw share, mapped.
    low, high = mean_estimate(SIX).interval
    assert one.interval == pytest.approx((max(0.0, (low - 0.5) / 0.5), (high - 0.5) / 0.5))


def test_a_judge_that_errs_never_leaves_the_share_as_it_is():
    one, raw = corrected_share(cases(*SIX), *planted(ONES, ZEROS, ZEROS)), mean_estimate(SIX)
    assert (one.value, one.interval) == (pytest.approx(0.6), pytest.approx(raw.interval))


def test_a_judge_whose_error_is_not_sure_makes_a_wider_interval():
    # t = .8 and f = 4 / 20 = .2 on other questions: (.6 - .2) / .6 = .667, as of an error known for certain.
    right, wrong = [1.0] * 8 + [0.0] * 2, [1.0] * 4 + [0.0] * 6
    shaky = [cases(*scores, clusters="abcdefghij") for scores in (right, wrong, ZEROS)]
    one = corrected_share(cases(*SIX), *shaky)
    assert one.value == pytest.approx(2 / 3)
    low = mean_estimate(SIX).low
    assert one.low < (low - 0.2) / 0.6


def test_a_judge_that_errs_where_the_system_does_is_taken_out_with_it():
    # Every cluster: all four figures alike. Leaving any one out moves p, t and f together.
    even = planted(SIX, ZEROS, ZEROS)
    one = corrected_share(cases(*SIX), *even)
    assert one.value == 1.0  # .6 / .6


@pytest.mark.parametrize(("scores", "value"), [(ZEROS, 0.0), (ONES, 1.0)])
def test_what_lies_beyond_the_ends_is_cut_and_still_has_an_interval(scores, value):
    one = corrected_share(
        cases(*scores), *planted([1.0] * 8 + [0.0] * 2, [0.0] * 9 + [1.0], [0.0] * 8 + [1.0] * 2)
    )
    assert one.value == value
    assert 0.0 <= one.low < one.high <= 1.0


def test_a_judge_that_takes_the_others_as_often_tells_nothing():
    one = corrected_share(cases(*SIX), *planted(SIX, ONES, SIX))
    assert one.value is None
    assert one.interval is None
    assert one.reason == "the judge accepts 60% of the right answers and 80% of the others"


def test_without_planted_answers_or_judged_ones_there_is_no_figure():
    assert "no planted answer" in corrected_share(cases(*SIX), *planted([], [], [])).reason
    assert corrected_share(cases(None, None), *VAGUE).reason == "no answer was judged"
    assert corrected_share([], *VAGUE).value is None


def test_what_was_not_judged_counts_nowhere():
    assert corrected_share(cases(*SIX, None, None), *VAGUE).n == 10


def test_few_clusters_give_the_value_alone():
    one = corrected_share(
        cases(1.0, 1.0, 0.0, 1.0, clusters="aabb"), *planted([1.0] * 4, [0.0] * 4, [0.0] * 4)
    )
    assert one.value == pytest.approx(0.75)
    assert one.interval is None
    assert "too few conversations: 2" in one.reason
