"""Intervals that draw whole clusters, against a loop over draws, and what is undefined."""

import random

import numpy as np
import pytest

from dialogauge.stats import clustered_mean
from dialogauge.stats.estimate import (
    ClusterDraws,
    Estimate,
    group_means,
    macro_estimate,
    mean_estimate,
    replicates_of,
)


def sample(clusters=60, per=4):
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(clusters), per)
    values = np.repeat(rng.normal(size=clusters), per) + rng.normal(scale=0.5, size=clusters * per)
    return values, labels.tolist()


def slow_replicates(values, labels, draws, seed):
    """Draw by draw, each drawn cluster written out with all its values."""
    names = list(dict.fromkeys(labels))
    rng = np.random.default_rng(seed)
    out = []
    for times in rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws):
        drawn = [v for v, c in zip(values, labels, strict=True) for _ in range(times[names.index(c)])]
        out.append(sum(drawn) / len(drawn))
    return out


def test_interval_is_that_of_clusters_written_out():
    values, labels = sample(9, 3)
    found = mean_estimate(values, labels, ClusterDraws(200, seed=5), unit="users")
    expected = np.quantile(slow_replicates(values, labels, 200, 5), [0.025, 0.975])
    assert found.interval == pytest.approx(tuple(expected))
    assert found.value == pytest.approx(values.mean())
    assert (found.n, found.clusters, found.method) == (27, 9, "bootstrap by users")


def test_interval_of_a_mean_is_near_the_sandwich_one():
    values, labels = sample()
    found = mean_estimate(values, labels, ClusterDraws(2000, seed=1))
    assert found.interval == pytest.approx(clustered_mean(values, labels).interval, abs=0.03)


def test_interval_covers_the_mean_as_often_as_it_says():
    """Of 200 samples of 40 clusters, 95 % intervals hold the true mean in about 190."""
    rng = np.random.default_rng(8)
    held = 0
    for trial in range(200):
        values = np.repeat(rng.normal(size=40), 3) + rng.normal(size=120)
        found = mean_estimate(values, np.repeat(np.arange(40), 3).tolist(), ClusterDraws(200, seed=trial))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0 <= found.high
    assert 178 <= held <= 199


def test_more_draws_for_a_p_value_leave_the_interval_where_it_is(monkeypatch):
    values, labels = sample(9, 3)
    plain, more = ClusterDraws(100, seed=2), ClusterDraws(100, seed=2, for_p=400)
    assert mean_estimate(values, labels, plain) == mean_estimate(values, labels, more)
    assert more.total == 400
    monkeypatch.setattr("dialogauge.stats.estimate._BLOCK_CELLS", 9 * 7)
    assert mean_estimate(values, labels, plain) == mean_estimate(values, labels, more)


def test_every_version_has_blocks_within_the_draws_of_an_interval():
    sizes = [len(b) for b in ClusterDraws(100, for_p=150).blocks(5, versions=20)]
    assert sum(sizes) == 150
    assert len(sizes[:20]) == 20
    assert sum(sizes[:20]) == 100


def test_what_is_undefined_is_none():
    draws = ClusterDraws(50)
    nothing = mean_estimate([], [], draws)
    assert (nothing.value, nothing.interval, nothing.n, nothing.clusters) == (None, None, 0, 0)
    one = mean_estimate([1.0, 0.0], ["a", "a"], draws)
    assert (one.value, one.interval, one.clusters) == (0.5, None, 1)
    without = mean_estimate([1.0, 0.0], ["a", "b"], ClusterDraws(0))
    assert (without.value, without.interval, without.method) == (0.5, None, "none")
    assert replicates_of(lambda w: w.sum(axis=1), 3, ClusterDraws(0)).size == 0


def test_the_published_interval_is_that_of_choices_one_by_one():
    means = group_means([5, 3, float("nan"), 4, 2, 2, 3], ["b", "b", "b", "a", "c", "d", "d"])
    assert means == {"b": 4, "a": 4, "c": 2, "d": 2.5}
    found = macro_estimate(means, ClusterDraws(1000, 42, published=True), n=6)
    rng = random.Random(42)
    values = [means[name] for name in sorted(means)]
    drawn = sorted(sum(rng.choice(values) for _ in values) / 4 for _ in range(1000))
    assert found.interval == pytest.approx((drawn[25], drawn[975]), abs=1e-12)
    assert (found.value, found.clusters) == (pytest.approx(3.125), 4)
    more = macro_estimate(means, ClusterDraws(1000, 42, for_p=3000, published=True), n=6)
    assert more == found
    assert macro_estimate({}, ClusterDraws(10), n=0).value is None


def test_an_interval_can_be_cut_at_the_ends_of_a_scale():
    found = Estimate(4.5, 3.9, 5.1, 0.95, 9, 3, "bootstrap by users").within(1, 5)
    assert found.interval == (3.9, 5)
    assert Estimate(4.5, None, None, 0.95, 9, 1, "none").within(1, 5).interval is None
    assert set(found.to_json()) == {"value", "low", "high", "level", "n", "clusters", "method"}
