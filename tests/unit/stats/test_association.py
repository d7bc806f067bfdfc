import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.stats import (
    auc,
    auc_draws,
    kappa_draws,
    mid_ranks,
    pearson,
    pearson_draws,
    quadratic_weighted_kappa,
    spearman,
    spearman_draws,
)


def columns(seed, n=60, levels=5):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, levels + 1, n)
    return x.astype(float), np.clip(x + rng.integers(-1, 2, n), 1, levels).astype(float)


def test_mid_ranks_share_the_ranks_of_ties():
    assert list(mid_ranks([10, 20, 20, 5])) == [2, 3.5, 3.5, 1]


@pytest.mark.parametrize("seed", range(5))
def test_correlations_agree_with_scipy(seed):
    stats = pytest.importorskip("scipy.stats")
    x, y = columns(seed)
    assert pearson(x, y).value == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman(x, y).value == pytest.approx(stats.spearmanr(x, y).statistic)


@pytest.mark.parametrize("seed", range(5))
def test_kappa_and_auc_agree_with_sklearn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    x, y = columns(seed)
    kappa = metrics.cohen_kappa_score(x, y, weights="quadratic", labels=[1, 2, 3, 4, 5])
    assert quadratic_weighted_kappa(x, y).value == pytest.approx(kappa)
    assert auc(x, y > 3).value == pytest.approx(metrics.roc_auc_score(y > 3, x))


def test_auc_by_hand_counts_a_tie_as_a_half():
    # positives 3, 2; negatives 2, 1: pairs 3>2, 3>1, 2=2, 2>1 -> 3.5 of 4
    assert auc([3, 2, 2, 1], [1, 1, 0, 0]).value == 3.5 / 4


def test_kappa_by_hand():
    # x 1 2 3, y 1 3 2: observed 2/3, chance 2/3 + 2/3 = 4/3 -> 0.5
    assert quadratic_weighted_kappa([1, 2, 3], [1, 3, 2]).value == pytest.approx(0.5)


def test_what_is_undefined_is_none():
    assert pearson([], []).value is None
    assert pearson([2.2, 2.2, 2.2], [1, 2, 3]).value is None
    assert spearman([1], [1]).value is None
    assert auc([1, 2], [1, 1]).value is None
    assert quadratic_weighted_kappa([4, 4], [4, 4]).value is None
    assert quadratic_weighted_kappa([4, 4], [4, 5]).value == 0


def test_bad_columns_are_refused():
    with pytest.raises(ValueError, match="different length"):
        pearson([1, 2], [1])
    with pytest.raises(ValueError, match="different length"):
        pearson([], [1])
    with pytest.raises(ValueError, match="finite"):
        spearman([1, float("nan")], [1, 2])
    with pytest.raises(ValueError, match="0 or 1"):
        auc([1, 2], [1, 3])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=20), st.data())
def test_weights_mean_repetition(pairs, data):
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(pairs), max_size=len(pairs)))
    x, y = np.array(pairs, dtype=float).T
    many_x, many_y = np.repeat(x, times), np.repeat(y, times)
    weights = np.array([times], dtype=float)
    for draws, single in (
        (pearson_draws, pearson),
        (spearman_draws, spearman),
        (kappa_draws, quadratic_weighted_kappa),
    ):
        found, expected = float(draws(x, y, weights)[0]), single(many_x, many_y).value
        assert np.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-9)
    found, expected = float(auc_draws(x, y > 3, weights)[0]), auc(many_x, many_y > 3).value
    assert np.isnan(found) if expected is None else found == pytest.approx(expected)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=20))
def test_coefficients_are_symmetric_and_bounded(pairs):
    x, y = np.array(pairs, dtype=float).T
    for coefficient in (pearson, spearman, quadratic_weighted_kappa):
        value, turned = coefficient(x, y).value, coefficient(y, x).value
        assert (value is None) == (turned is None)
        if value is not None:
            assert value == pytest.approx(turned)
            assert -1 - 1e-9 <= value <= 1 + 1e-9
