import numpy as np
import pytest

from dialogauge.stats import auc
from dialogauge.studies.fit import CONTROLS, FIGURES, Said, controls_of, figures_of


def test_figures_by_hand_with_intervals_by_conversation():
    gold = np.array([2, 3, 3, 3, 2, 3, 3, 4])
    called = np.array([2, 3, 3, 2, 3, 3, 3, 3])
    found = figures_of(gold, Said(called), ["a"] * 4 + ["b"] * 4, draws=200)
    assert found["uar"] == pytest.approx((1 / 2 + 4 / 5 + 0) / 5)
    assert found["f1_below3"] == pytest.approx(1 / 2)
    assert (found["n"], found["clusters"]) == (8, 2)
    assert (found["gold"], found["called"]) == ([0, 2, 5, 1, 0], [0, 2, 6, 0, 0])
    low, high = found["intervals"]["f1_below3"]
    assert low <= 0.5 <= high
    assert figures_of(gold, Said(called), ["a"] * 4 + ["b"] * 4, draws=200) == found


def test_ranking_figures_have_intervals_by_conversation():
    gold = np.array([2, 3, 4, 2, 3, 4])
    # Below 3: the positives 0.9 and 0.4 against 0.5, 0.1, 0.2, 0.4: 4 of 4, and 2.5 of 4.
    below = np.array([0.9, 0.5, 0.1, 0.4, 0.2, 0.4])
    found = figures_of(gold, Said(gold, below, np.zeros(6)), ["a"] * 3 + ["b"] * 3, draws=400)
    assert found["auc_below3"] == pytest.approx(6.5 / 8)
    # Drawn are a twice (2 of 2), b twice (0.4 against 0.2 and 0.4: 1.5 of 2), or both.
    assert found["intervals"]["auc_below3"] == [0.75, 1.0]
    assert found["auc_above3"] == 0.5
    assert found["intervals"]["auc_above3"] == [0.5, 0.5]
    assert set(found["intervals"]) == set(FIGURES)
    alone = figures_of(gold, Said(gold, below, np.zeros(6)), ["a"] * 6, draws=50)
    assert alone["intervals"]["auc_below3"] == [None, None]


def test_ranking_intervals_are_those_of_repeated_conversations():
    rng = np.random.default_rng(5)
    gold, shares = rng.integers(1, 6, 60), rng.integers(0, 9, 60) / 8
    clusters = rng.integers(0, 9, 60).tolist()
    found = figures_of(gold, Said(gold, shares, shares), clusters, draws=300, seed=7)
    names = list(dict.fromkeys(clusters))
    drawn = np.random.default_rng(7).multinomial(len(names), np.full(len(names), 1 / len(names)), size=300)
    values = []
    for times in drawn:
        kept = np.repeat(np.arange(60), [times[names.index(c)] for c in clusters])
        values.append(auc(shares[kept], gold[kept] > 3).value)
    defined = [v for v in values if v is not None]
    assert found["intervals"]["auc_above3"] == pytest.approx(np.quantile(defined, [0.025, 0.975]), abs=1e-6)


def test_what_is_undefined_is_none():
    gold = np.full(4, 3)
    found = figures_of(gold, Said(gold, np.zeros(4), np.zeros(4)), list("abcd"), draws=0)
    undefined = ("kappa", "f1_below3", "auc_below3", "auc_above3")
    assert [found[name] for name in undefined] == [None] * 4


def test_controls_read_nothing_but_how_often_each_rating_is_given():
    gold = np.array([3, 2, 4, 3])
    said = Said(np.array([3, 3, 2, 4]), np.array([0.2, 0.3, 0.9, 0.1]), np.array([0.4, 0.3, 0.0, 0.8]))
    found = controls_of(gold, said, [10, 40, 20, 30], [1, 2, 3, 4])
    assert list(found) == list(CONTROLS)
    assert found["constant"].called.tolist() == [3] * 4
    assert found["reply length"].called.tolist() == [2, 4, 3, 3]
    assert found["reply length, reversed"].called.tolist() == [4, 2, 3, 3]
    examples = list(zip(said.called, said.below, said.above, strict=True))
    shuffled = found["shuffled"]
    assert sorted(zip(shuffled.called, shuffled.below, shuffled.above, strict=True)) == sorted(examples)


def test_controls_rank_by_what_they_read():
    gold = np.array([2, 3, 4, 3])
    found = controls_of(gold, Said(gold), [10, 20, 40, 30], [4, 3, 2, 1])
    ranked = {
        name: (figures["auc_below3"], figures["auc_above3"])
        for name, said in found.items()
        for figures in [figures_of(gold, said, "abcd", draws=0)]
    }
    assert ranked == {
        "constant": (0.5, 0.5),
        "reply length": (1.0, 1.0),
        "reply length, reversed": (0.0, 0.0),
        "turn position": (0.0, pytest.approx(1 / 3)),
        "shuffled": (None, None),
    }


def test_a_boundary_without_a_model_has_no_ranking_figure() -> None:
    gold = np.array([1, 2, 4, 5])
    found = figures_of(gold, Said(gold, None, np.array([0.1, 0.2, 0.8, 0.9])), "abcd", draws=50)
    assert (found["auc_below3"], found["auc_above3"]) == (None, 1.0)
    assert found["intervals"]["auc_below3"] == [None, None]
