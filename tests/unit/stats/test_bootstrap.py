from functools import partial

import numpy as np
import pytest

from dialogauge.stats import cluster_bootstrap, clustered_mean, mean_draws, pearson_draws


def sample():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(60), 4)
    values = np.repeat(rng.normal(size=60), 4) + rng.normal(scale=0.5, size=240)
    return values, list(clusters)


def test_interval_of_a_mean_is_near_the_sandwich_one():
    values, clusters = sample()
    found = cluster_bootstrap(partial(mean_draws, values), clusters, rng=np.random.default_rng(1), draws=2000)
    low, high = clustered_mean(values, clusters).interval
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)


def test_same_seed_same_interval_whatever_the_chunks(monkeypatch):
    values, clusters = sample()
    statistic = partial(pearson_draws, values, values**2)
    first = cluster_bootstrap(statistic, clusters, rng=np.random.default_rng(5), draws=50)
    monkeypatch.setattr("dialogauge.stats.intervals._CHUNK_CELLS", 240 * 7)
    assert cluster_bootstrap(statistic, clusters, rng=np.random.default_rng(5), draws=50) == first


def test_one_cluster_or_mostly_undefined_draws_have_no_interval():
    rng = np.random.default_rng(0)
    one = cluster_bootstrap(partial(mean_draws, [1.0, 2.0]), ["a", "a"], rng=rng, draws=10)
    assert (one.low, one.high, one.undefined) == (None, None, 10)
    flat = cluster_bootstrap(partial(pearson_draws, [1.0, 1.0], [1.0, 2.0]), ["a", "b"], rng=rng, draws=10)
    assert (flat.low, flat.undefined) == (None, 10)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="at least one draw"):
        cluster_bootstrap(partial(mean_draws, [1.0]), ["a"], rng=np.random.default_rng(0), draws=0)
