import numpy as np
import pytest

from dialogauge.bench.fitting import CONTROLS, controls_of, figures_of
from dialogauge.bench.fitting.figures import ranking_of


def test_figures_by_hand_with_intervals_by_conversation():
    gold = np.array([2, 3, 3, 3, 2, 3, 3, 4])
    called = np.array([2, 3, 3, 2, 3, 3, 3, 3])
    found = figures_of(gold, called, ["a"] * 4 + ["b"] * 4, draws=200)
    assert found["uar"] == pytest.approx((1 / 2 + 4 / 5 + 0) / 5)
    assert found["f1_below3"] == pytest.approx(1 / 2)
    assert (found["n"], found["clusters"]) == (8, 2)
    assert (found["gold"], found["called"]) == ([0, 2, 5, 1, 0], [0, 2, 6, 0, 0])
    low, high = found["intervals"]["f1_below3"]
    assert low <= 0.5 <= high
    assert figures_of(gold, called, ["a"] * 4 + ["b"] * 4, draws=200) == found


def test_what_is_undefined_is_none():
    gold = np.full(4, 3)
    found = figures_of(gold, gold, list("abcd"), draws=0)
    assert (found["kappa"], found["f1_below3"]) == (None, None)
    assert ranking_of(gold, np.zeros(4), np.zeros(4)) == {"auc_below3": None, "auc_above3": None}


def test_controls_read_nothing_but_how_often_each_rating_is_given():
    gold = np.array([3, 2, 4, 3])
    called = np.array([3, 3, 2, 4])
    found = controls_of(gold, called, [10, 40, 20, 30], [1, 2, 3, 4])
    assert list(found) == list(CONTROLS)
    assert found["constant"].tolist() == [3] * 4
    assert found["reply length"].tolist() == [2, 4, 3, 3]
    assert found["reply length, reversed"].tolist() == [4, 2, 3, 3]
    assert sorted(found["shuffled"]) == sorted(called)


def test_a_boundary_without_a_model_has_no_ranking_figure() -> None:
    gold = np.array([1, 2, 4, 5])
    found = ranking_of(gold, None, np.array([0.1, 0.2, 0.8, 0.9]))
    assert found == {"auc_below3": None, "auc_above3": 1.0}
