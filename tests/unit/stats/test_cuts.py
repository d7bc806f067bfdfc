from __future__ import annotations

import numpy as np
import pytest

from dialogauge.stats.calibration import ROUNDING, cuts_of, shares_of


def test_a_quarter_more_threes_and_a_fifth_more_fives() -> None:
    scores = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], [5, 5, 20, 40, 30])
    assert shares_of(scores) == pytest.approx([0.05, 0.05, 0.25, 0.29, 0.36])


def test_fours_keep_half() -> None:
    scores = np.repeat([3.0, 4.0, 5.0], [20, 10, 70])
    # wanted 0.05 + 0.14 more, 0.05 is to be had: both in the same proportion
    assert shares_of(scores) == pytest.approx([0, 0, 0.2 + 0.05 * 5 / 19, 0.05, 0.7 + 0.05 * 14 / 19])
    assert shares_of(np.repeat([3.0, 5.0], [20, 80])) == pytest.approx([0, 0, 0.2, 0, 0.8])


def test_a_half_counts_upward() -> None:
    assert shares_of(np.array([2.5, 2.5]))[2] == 1


def test_scores_are_said_as_often_as_wanted() -> None:
    scores = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], [50, 50, 200, 400, 300])
    predicted = np.random.default_rng(0).normal(size=1000)
    cuts = cuts_of(predicted, scores)
    said = 1 + (predicted[:, None] > np.array(cuts)).sum(axis=1)
    assert np.bincount(said, minlength=6)[1:] == pytest.approx([50, 50, 250, 290, 360], abs=1)


def test_rounding_where_too_little_is_known() -> None:
    assert cuts_of(np.zeros(49), np.arange(49) % 5 + 1.0) == ROUNDING
    assert cuts_of(np.zeros(50), np.arange(50) % 5 + 1.0) == (0, 0, 0, 0)
    assert cuts_of(np.zeros(80), np.full(80, 4.0)) == ROUNDING
