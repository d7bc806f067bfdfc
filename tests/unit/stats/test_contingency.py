"""Tables of categories by categories: against scikit-learn, and what is undefined."""

import numpy as np
import pytest

from dialogauge.stats import cohen_kappa, confusion
from dialogauge.stats.contingency import average_recall


def levels(seed, n=400):
    rng = np.random.default_rng(seed)
    gold = rng.choice(5, n, p=[0.02, 0.1, 0.7, 0.15, 0.03])
    return gold, np.where(rng.random(n) < 0.5, gold, rng.choice(5, n))


@pytest.mark.parametrize("seed", range(5))
def test_tables_agree_with_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    gold, called = levels(seed)
    table = confusion(gold, called, 5)
    assert average_recall(table) == pytest.approx(metrics.recall_score(gold, called, average="macro"))
    assert cohen_kappa(table) == pytest.approx(metrics.cohen_kappa_score(gold, called))


def test_undefined_is_nan_and_an_absent_class_counts_as_none():
    gold = np.array([2, 2, 2])
    table = confusion(gold, gold, 5)
    assert np.isnan(cohen_kappa(table))
    assert average_recall(table) == pytest.approx(0.2)


def test_tables_of_draws_are_taken_at_once():
    tables = np.stack([confusion(*levels(s), 5) for s in range(3)])
    assert cohen_kappa(tables).tolist() == [float(cohen_kappa(t)) for t in tables]


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="different length"):
        confusion(np.array([1]), np.array([1, 2]), 5)
