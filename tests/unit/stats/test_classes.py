import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score, recall_score

from dialogauge.stats import average_recall, cohen_kappa, confusion, f1_below, published_f1_below


def columns(seed, n=400):
    rng = np.random.default_rng(seed)
    gold = rng.choice(5, n, p=[0.02, 0.1, 0.7, 0.15, 0.03])
    return gold, np.where(rng.random(n) < 0.5, gold, rng.choice(5, n))


@pytest.mark.parametrize("seed", range(5))
def test_figures_agree_with_scikit_learn(seed):
    gold, called = columns(seed)
    table = confusion(gold, called, 5)
    assert average_recall(table) == pytest.approx(recall_score(gold, called, average="macro"))
    assert cohen_kappa(table) == pytest.approx(cohen_kappa_score(gold, called))
    assert f1_below(table, 2) == pytest.approx(f1_score(gold < 2, called < 2))


def test_the_published_f1_by_hand():
    # two of four low ones are found, by three calls: P = 2/3, R = 1/2
    gold = np.array([0, 1, 1, 1, 2, 2, 2, 2])
    called = np.array([1, 1, 2, 2, 1, 2, 2, 2])
    table = confusion(gold, called, 5)
    assert f1_below(table, 2) == pytest.approx(2 * 2 / 7)
    assert published_f1_below(table, 2) == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    few = confusion(gold, np.array([1, 2, 2, 2, 1, 1, 1, 2]), 5)  # P = R = 1/4: the sum is below 1
    assert published_f1_below(few, 2) == pytest.approx(2 / 16)
    assert f1_below(few, 2) == pytest.approx(1 / 4)


def test_undefined_is_nan_and_an_absent_class_counts_as_none():
    gold = np.array([2, 2, 2])
    table = confusion(gold, gold, 5)
    assert np.isnan(cohen_kappa(table))
    assert np.isnan(f1_below(table, 2))
    assert average_recall(table) == pytest.approx(0.2)


def test_tables_of_draws_are_taken_at_once():
    tables = np.stack([confusion(*columns(s), 5) for s in range(3)])
    assert cohen_kappa(tables).tolist() == [float(cohen_kappa(t)) for t in tables]


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="different length"):
        confusion(np.array([1]), np.array([1, 2]), 5)
