import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.stats import (
    clustered_mean,
    clustered_mean_of_sums,
    mean_bounds,
    wilson_interval,
)
from dialogauge.stats.intervals import (
    t_quantile,
)


def stderr_of(found):
    return (found.high - found.value) / t_quantile(0.975, found.clusters - 1)


@pytest.mark.parametrize("df", [1, 2, 3, 5, 10, 29, 100, 1000, 9999, 200_000])
@pytest.mark.parametrize("p", [0.5, 0.6, 0.9, 0.975, 0.995, 0.025, 0.9999])
def test_t_quantile_agrees_with_scipy(p, df):
    stats = pytest.importorskip("scipy.stats")
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("p", "df"), [(0, 3), (1, 3), (0.5, 0)])
def test_t_quantile_refuses_what_has_none(p, df):
    with pytest.raises(ValueError, match="no t quantile"):
        t_quantile(p, df)


def test_independent_values_give_the_textbook_interval():
    # mean 3, sd 1.5811, n 5: 3 -+ 2.7764 * 0.70711
    found = clustered_mean([1, 2, 3, 4, 5])
    assert found.value == 3
    assert stderr_of(found) == pytest.approx(math.sqrt(2.5 / 5))
    assert found.interval == pytest.approx((1.0367568385, 4.9632431615))
    assert (found.n, found.clusters) == (5, 5)


def test_turns_of_one_conversation_do_not_count_as_independent():
    # clusters a (5, 5) and b (1, 1): mean 3, residual sums 4 and -4, var = 2 * 32 / 16 = 4
    found = clustered_mean([5, 5, 1, 1], ["a", "a", "b", "b"])
    assert stderr_of(found) == pytest.approx(2)
    assert stderr_of(found) > stderr_of(clustered_mean([5, 5, 1, 1]))


def test_nothing_is_undefined_and_one_cluster_has_no_interval():
    nothing = clustered_mean([])
    assert (nothing.value, nothing.interval, nothing.n, nothing.clusters) == (None, None, 0, 0)
    one = clustered_mean([4, 2], ["a", "a"])
    assert (one.value, one.interval, one.clusters) == (3, None, 1)


def test_refuses_what_is_no_number_and_lengths_that_differ():
    with pytest.raises(ValueError, match="finite"):
        clustered_mean([1, float("nan")])
    with pytest.raises(ValueError, match="2 values but 1 clusters"):
        clustered_mean([1, 2], ["a"])


def brute_force(values, clusters):
    mean = sum(values) / len(values)
    names = sorted(set(clusters))
    total = 0.0
    for name in names:
        total += sum(v - mean for v, c in zip(values, clusters, strict=True) if c == name) ** 2
    return mean, math.sqrt(total * len(names) / (len(names) - 1)) / len(values)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 6)), min_size=2, max_size=40))
def test_agrees_with_the_slow_version_in_any_order(pairs):
    values, clusters = [v for v, _ in pairs], [c for _, c in pairs]
    found = clustered_mean(values, clusters)
    turned = clustered_mean(values[::-1], clusters[::-1])
    assert turned.value == pytest.approx(found.value)
    if found.clusters > 1:
        mean, stderr = brute_force(values, clusters)
        assert (found.value, stderr_of(found)) == pytest.approx((mean, stderr), abs=1e-9)
        assert turned.interval == pytest.approx(found.interval)


def test_sums_of_clusters_are_enough_and_empty_clusters_are_left_out():
    by_values = clustered_mean([5, 4, 1, 2, 3], list("aabbc"))
    by_sums = clustered_mean_of_sums(np.array([9.0, 0.0, 3.0, 3.0]), np.array([2, 0, 2, 1]))
    assert by_sums == by_values


def test_covers_the_true_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(400):
        base = rng.normal(size=20)
        values = np.repeat(base, 4) + rng.normal(scale=0.3, size=80)
        low, high = clustered_mean(values, list(np.repeat(np.arange(20), 4))).interval
        hits += low <= 0 <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_failures_as_the_worst_and_as_the_best_score():
    found = mean_bounds(16, 4, 1, worst=1, best=5)
    assert found == (17 / 5, 21 / 5)


def test_without_failures_both_bounds_are_the_mean():
    found = mean_bounds(9, 3, 0, worst=1, best=5)
    assert found == (3, 3)


def test_only_failures_span_the_scale_and_nothing_is_undefined():
    found = mean_bounds(0, 0, 3, worst=5, best=1)
    assert found == (5, 1)
    assert mean_bounds(0, 0, 0, worst=1, best=5) is None


def test_refuses_negative_counts():
    with pytest.raises(ValueError, match="negative"):
        mean_bounds(0, -1, 0, worst=1, best=5)


@pytest.mark.parametrize(("hits", "n"), [(0, 21), (3, 10), (50, 100), (7, 7)])
def test_wilson_agrees_with_scipy(hits, n):
    stats = pytest.importorskip("scipy.stats")
    oracle = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson_interval(hits, n) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


def test_shares_of_nothing_and_nonsense():
    assert wilson_interval(0, 0) is None
    with pytest.raises(ValueError, match="no interval"):
        wilson_interval(3, 2)
