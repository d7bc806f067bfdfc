import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.stats import (
    mid_ranks,
    pearson,
    spearman,
)
from dialogauge.stats.coefficients import (
    auc_draws,
    auc_without,
    f1_draws,
    kappa_draws,
    pearson_draws,
    precision_draws,
    recall_draws,
    spearman_draws,
)
from sets import examples


def once(draws, x, y):
    """The figure of the values as they are; None where it is undefined."""
    value = float(draws(x, y, np.ones((1, len(x))))[0]) if len(x) else np.nan
    return value if np.isfinite(value) else None


def columns(seed, n=60, levels=5):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, levels + 1, n)
    return x.astype(float), np.clip(x + rng.integers(-1, 2, n), 1, levels).astype(float)


def test_mid_ranks_share_the_ranks_of_ties():
    assert list(mid_ranks([10, 20, 20, 5])) == [2, 3.5, 3.5, 1]


def test_values_that_differ_by_the_order_of_a_sum_tie():
    """0.1 + 0.2 + 0.3 is 0.6 from the left and a bit more from the right."""
    left, right = (0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)
    assert left != right
    assert list(mid_ranks([left, right, 0.6 + 1e-9])) == [1.5, 1.5, 3]
    assert once(auc_draws, [left, right], [1, 0]) == 0.5
    assert list(auc_without([left, right, right], [1, 0, 0], np.array([0, 1, 2]), 3))[1:] == [0.5, 0.5]
    # What is small is not nothing: ranks go by the size of the values.
    assert list(mid_ranks([1e-15, 2e-15])) == [1, 2]


@pytest.mark.parametrize("seed", range(5))
def test_correlations_agree_with_scipy(seed):
    stats = pytest.importorskip("scipy.stats")
    x, y = columns(seed)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)


@pytest.mark.parametrize("seed", range(5))
def test_kappa_and_auc_agree_with_sklearn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    x, y = columns(seed)
    kappa = metrics.cohen_kappa_score(x, y, weights="quadratic", labels=[1, 2, 3, 4, 5])
    assert once(kappa_draws, x, y) == pytest.approx(kappa)
    assert once(auc_draws, x, y > 3) == pytest.approx(metrics.roc_auc_score(y > 3, x))


def test_auc_by_hand_counts_a_tie_as_a_half():
    # positives 3, 2; negatives 2, 1: pairs 3>2, 3>1, 2=2, 2>1 -> 3.5 of 4
    assert once(auc_draws, [3, 2, 2, 1], [1, 1, 0, 0]) == 3.5 / 4


def test_kappa_by_hand():
    # x 1 2 3, y 1 3 2: observed 2/3, chance 2/3 + 2/3 = 4/3 -> 0.5
    assert once(kappa_draws, [1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)


def test_what_is_undefined_is_none():
    assert pearson([], []) is None
    assert pearson([2.2, 2.2, 2.2], [1, 2, 3]) is None
    assert spearman([1], [1]) is None
    assert once(auc_draws, [1, 2], [1, 1]) is None
    assert once(kappa_draws, [4, 4], [4, 4]) is None
    assert once(kappa_draws, [4, 4], [4, 5]) == 0


def test_bad_columns_are_refused():
    with pytest.raises(ValueError, match="different length"):
        pearson([1, 2], [1])
    with pytest.raises(ValueError, match="different length"):
        pearson([], [1])
    with pytest.raises(ValueError, match="finite"):
        spearman([1, float("nan")], [1, 2])
    with pytest.raises(ValueError, match="0 or 1"):
        once(auc_draws, [1, 2], [1, 3])


@examples(40)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=20), st.data())
def test_weights_mean_repetition(pairs, data):
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(pairs), max_size=len(pairs)))
    x, y = np.array(pairs, dtype=float).T
    many_x, many_y = np.repeat(x, times), np.repeat(y, times)
    weights = np.array([times], dtype=float)
    for draws in (pearson_draws, spearman_draws, kappa_draws):
        found, expected = float(draws(x, y, weights)[0]), once(draws, many_x, many_y)
        assert np.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-9)
    found, expected = float(auc_draws(x, y > 3, weights)[0]), once(auc_draws, many_x, many_y > 3)
    assert np.isnan(found) if expected is None else found == pytest.approx(expected)


@examples(60)
@given(st.lists(st.tuples(st.integers(1, 5), st.booleans(), st.integers(0, 4)), min_size=1, max_size=30))
def test_the_auc_without_each_part_is_that_of_the_others(rows):
    scores, positive, part = (np.array(column) for column in zip(*rows, strict=True))
    weights = (part != np.arange(6)[:, None]).astype(float)  # nothing is in the last part
    np.testing.assert_array_equal(
        auc_without(scores, positive, part, 6), auc_draws(scores, positive, weights)
    )


@examples(30)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=20))
def test_coefficients_are_symmetric_and_bounded(pairs):
    x, y = np.array(pairs, dtype=float).T
    for draws in (pearson_draws, spearman_draws, kappa_draws):
        value, turned = once(draws, x, y), once(draws, y, x)
        assert (value is None) == (turned is None)
        if value is not None:
            assert value == pytest.approx(turned)
            assert -1 - 1e-9 <= value <= 1 + 1e-9


def test_two_classes_by_hand():
    # called 1 at 0,1,2; positive at 1,2,3: tp 2, fp 1, fn 1, tn 1
    called, positive = [1, 1, 1, 0, 0], [0, 1, 1, 1, 0]
    for figure in (precision_draws, recall_draws, f1_draws):
        assert once(figure, called, positive) == pytest.approx(2 / 3)


def test_what_nobody_called_or_is_has_no_share_and_what_was_missed_is_zero():
    figures = (precision_draws, recall_draws, f1_draws)
    assert [once(f, [0, 0], [1, 0]) for f in figures] == [None, 0.0, 0.0]
    assert [once(f, [0, 0], [0, 0]) for f in figures] == [None, None, None]
    with pytest.raises(ValueError, match="0 or 1"):
        once(f1_draws, [2], [1])
    with pytest.raises(ValueError, match="different length"):
        f1_draws([1], [1, 0], np.ones((1, 1)))


labels = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30)


@given(labels)
def test_draws_agree_with_sklearn_on_repeated_values(rows):
    metrics = pytest.importorskip("sklearn.metrics")
    called, positive, times = (np.array(c, dtype=float) for c in zip(*rows, strict=True))
    weights = times[None, :]
    a, b = np.repeat(called, times.astype(int)), np.repeat(positive, times.astype(int))
    for draws, oracle in (
        (precision_draws, metrics.precision_score),
        (recall_draws, metrics.recall_score),
        (f1_draws, metrics.f1_score),
    ):
        value = draws(called, positive, weights)[0]
        if np.isfinite(value):
            assert value == pytest.approx(oracle(b, a, zero_division=0))
