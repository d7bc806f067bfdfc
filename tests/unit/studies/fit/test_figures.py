import numpy as np
import pytest

from dialogauge.stats import (
    CONTROLS,
)
from dialogauge.stats.estimate import Basis
from dialogauge.studies.fit.figures import FIGURES, PredictedRatings, figures_with_controls


def predicted(gold, called=None, clusters=None, *, below=None, above=None, lengths=None, positions=None):
    n = len(gold)
    return PredictedRatings(
        np.array(gold),
        np.array(gold if called is None else called),
        None if below is None else np.array(below),
        None if above is None else np.array(above),
        lengths or [10] * n,
        positions or [1] * n,
        [None] * n,
        list(clusters or range(n)),
    )


def model_of(*args, seed=0, **more):
    return figures_with_controls(predicted(*args, **more), seed=seed, shuffles=3)["metrics"]


def test_figures_by_hand_with_intervals_by_conversation():
    gold, called = [2, 3, 3, 3, 2, 3, 3, 4], [2, 3, 3, 2, 3, 3, 3, 3]
    found = model_of(gold, called, "aabbccde")
    assert found["uar"] == pytest.approx((1 / 2 + 4 / 5 + 0) / 5)
    assert found["f1_below3"] == pytest.approx(1 / 2)
    assert (found["n"], found["clusters"]) == (8, 5)
    assert (found["gold"], found["called"]) == ([0, 2, 5, 1, 0], [0, 2, 6, 0, 0])
    low, high = found["intervals"]["f1_below3"]
    assert low <= 0.5 <= high
    assert model_of(gold, called, "aabbccde") == found


def test_ranking_figures_have_intervals_by_conversation():
    gold = [2, 3, 4, 2, 3, 4]
    # Below 3: the positives 0.9 and 0.4 against 0.5, 0.1, 0.2, 0.4: 4 of 4, and 2.5 of 4.
    ranks = {"below": [0.9, 0.5, 0.1, 0.4, 0.2, 0.4], "above": [0.0] * 6}
    found = model_of(gold * 3, gold * 3, "aabbccddeeffgghhii", **{k: v * 3 for k, v in ranks.items()})
    assert found["auc_below3"] == pytest.approx(6.5 / 8)
    low, high = found["intervals"]["auc_below3"]
    assert low < 6.5 / 8 < high
    assert found["auc_above3"] == 0.5
    assert set(found["intervals"]) == set(FIGURES)
    few = model_of(gold, gold, "aaabbb", **ranks)
    assert few["intervals"]["auc_below3"] == [None, None]


def test_ranking_intervals_are_those_of_conversations_left_out():
    rng = np.random.default_rng(5)
    gold, shares = rng.integers(1, 6, 60), rng.integers(0, 9, 60) / 8
    clusters = rng.integers(0, 9, 60)
    found = model_of(gold, gold, clusters.tolist(), below=shares, above=shares)

    def auc(stays):
        over, under = shares[stays & (gold > 3)], shares[stays & (gold <= 3)]
        return np.mean([(a > b) + (a == b) / 2 for a in over for b in under])

    moved = np.array([auc(clusters != c) for c in range(9)])
    basis = Basis.of(np.bincount(clusters).astype(float))
    expected = basis.estimate(auc(clusters >= 0), moved, (0.0, 1.0)).interval
    assert found["intervals"]["auc_above3"] == pytest.approx(expected, abs=1e-6)


def test_what_is_undefined_is_none():
    found = model_of([3] * 4, below=[0.0] * 4, above=[0.0] * 4)
    undefined = ("kappa", "f1_below3", "auc_below3", "auc_above3")
    assert [found[name] for name in undefined] == [None] * 4


def test_controls_rank_by_what_they_read_in_the_direction_that_fits_better():
    of = predicted([2, 3, 4, 3], lengths=[10, 20, 40, 30], positions=[4, 3, 2, 1])
    found = figures_with_controls(of)["controls"]
    assert list(found) == list(CONTROLS)
    ranked = {name: (f["auc_below3"], f["auc_above3"]) for name, f in found.items()}
    assert ranked == {
        "constant": (0.5, 0.5),
        "always dissatisfied": (0.5, 0.5),
        "reply length": (1.0, 1.0),
        "position": (1.0, pytest.approx(2 / 3, abs=1e-6)),  # the earlier the better
        "shuffled": (None, None),
    }
    assert found["constant"]["called"] == [0, 0, 4, 0, 0]
    assert found["reply length"]["called"] == [0, 1, 2, 1, 0]


def test_a_boundary_without_a_model_has_no_ranking_figure():
    found = model_of([1, 2, 4, 5], above=[0.1, 0.2, 0.8, 0.9])
    assert (found["auc_below3"], found["auc_above3"]) == (None, 1.0)
    assert found["intervals"]["auc_below3"] == [None, None]


def test_intervals_are_by_users_where_they_are_known():
    of = predicted([2, 3, 4, 3])
    known = PredictedRatings(
        of.gold, of.called, None, None, of.lengths, of.positions, list("aabb"), of.conversations
    )
    assert figures_with_controls(known)["metrics"]["clusters"] == 2
