import pytest

from dialogauge.stats import mean_bounds


def test_failures_as_the_worst_and_as_the_best_score():
    found = mean_bounds(16, 4, 1, worst=1, best=5)
    assert (found.worst, found.best) == (17 / 5, 21 / 5)


def test_without_failures_both_bounds_are_the_mean():
    found = mean_bounds(9, 3, 0, worst=1, best=5)
    assert found.worst == found.best == 3


def test_only_failures_span_the_scale_and_nothing_is_undefined():
    found = mean_bounds(0, 0, 3, worst=5, best=1)
    assert (found.worst, found.best) == (5, 1)
    nothing = mean_bounds(0, 0, 0, worst=1, best=5)
    assert (nothing.worst, nothing.best) == (None, None)


def test_refuses_negative_counts():
    with pytest.raises(ValueError, match="negative"):
        mean_bounds(0, -1, 0, worst=1, best=5)
