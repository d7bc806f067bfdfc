"""Means over clusters: against slow loops, what is undefined, and bounds by failures."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.stats.estimate import Basis
from dialogauge.stats.means import (
    group_means,
    macro_estimate,
    macro_gain,
    mean_bounds,
    mean_estimate,
    mean_of_sums,
    published_interval,
)
from sets import examples

FIVE = (1.0, 5.0)


def slow_moves(values, clusters):
    """The mean with each cluster left out, less the mean."""
    mean = sum(values) / len(values)
    out = []
    for name in dict.fromkeys(clusters):
        rest = [v for v, c in zip(values, clusters, strict=True) if c != name]
        out.append(sum(rest) / len(rest) - mean)
    return out


def test_a_mean_has_the_interval_of_t_on_the_logit_of_its_place():
    """By hand: clusters of one, 1 to 5. Moves are (3 - x) / 4, their squares sum to 10 / 16."""
    found = mean_estimate([1, 2, 3, 4, 5], limits=(0.0, 10.0))
    half = 2.7764451052 * math.sqrt(10 / 16) / 10 / (0.3 * 0.7)
    ends = (10 / (1 + math.exp(-math.log(0.3 / 0.7) - side * half)) for side in (-1, 1))
    assert found.value == 3
    assert found.interval == pytest.approx(tuple(ends))
    assert (found.n, found.clusters, found.method) == (5, 5, "jackknife by conversations")


def test_turns_of_one_conversation_do_not_count_as_independent():
    values, clusters = [5, 5, 1, 1, 4, 4, 2, 2, 5, 5], list("aabbccddee")
    wide, narrow = mean_estimate(values, clusters, limits=FIVE), mean_estimate(values, limits=FIVE)
    assert wide.high - wide.low > narrow.high - narrow.low


def test_nothing_is_undefined_and_few_clusters_have_no_interval_and_say_so():
    nothing = mean_estimate([], limits=FIVE)
    assert (nothing.value, nothing.interval, nothing.n, nothing.clusters) == (None, None, 0, 0)
    few = mean_estimate([4, 2, 5, 5, 1, 3], list("aabbcd"), limits=FIVE, unit="users")
    assert (few.value, few.interval, few.clusters) == (pytest.approx(20 / 6), None, 4)
    assert few.reason == "too few users: 4, and an interval takes 5"


def test_refuses_what_is_no_number_and_lengths_that_differ():
    with pytest.raises(ValueError, match="finite"):
        mean_estimate([1, float("nan")])
    with pytest.raises(ValueError, match="2 values but 1 clusters"):
        mean_estimate([1, 2], ["a"])


@examples(60)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 8)), min_size=6, max_size=40))
def test_agrees_with_the_slow_version_in_any_order(pairs):
    values, clusters = [v for v, _ in pairs], [c for _, c in pairs]
    found = mean_estimate(values, clusters, limits=FIVE)
    turned = mean_estimate(values[::-1], clusters[::-1], limits=FIVE)
    assert turned.value == pytest.approx(found.value)
    if found.interval is None:
        assert found.clusters < 5
        return
    moved = np.array(slow_moves(values, clusters)) + found.value
    sizes = np.bincount(np.unique(clusters, return_inverse=True)[1]).astype(float)
    slow = Basis.of(sizes).estimate(found.value, moved, FIVE)
    assert found.interval == pytest.approx(slow.interval)
    assert turned.interval == pytest.approx(found.interval)
    assert 1 <= found.low < found.high <= 5


def test_sums_of_clusters_are_enough_and_empty_clusters_are_left_out():
    by_values = mean_estimate([5, 4, 1, 2, 3, 3, 4], list("aabbcde"), limits=FIVE)
    sums, counts = np.array([9.0, 0.0, 3.0, 3.0, 3.0, 4.0]), np.array([2, 0, 2, 1, 1, 1])
    assert mean_of_sums(sums, counts, limits=FIVE) == by_values


def test_a_share_that_every_cluster_has_leaves_room_for_those_not_seen():
    """The exact interval of 7 of 7, and of 0 of 7."""
    stats = pytest.importorskip("scipy.stats")
    for hits in (0, 7):
        oracle = stats.binomtest(hits, 7).proportion_ci(method="exact")
        assert mean_estimate([float(hits > 0)] * 7).interval == pytest.approx((oracle.low, oracle.high))


def test_user_macro_means_have_intervals_by_users():
    means = group_means([5, 3, float("nan"), 4, 2, 2, 3, 5], ["b", "b", "b", "a", "c", "d", "d", "e"])
    assert means == {"b": 4, "a": 4, "c": 2, "d": 2.5, "e": 5}
    found = macro_estimate(means, n=7, limits=FIVE)
    assert found == mean_estimate([4, 4, 2, 2.5, 5], limits=FIVE, unit="users").__class__(
        found.value, found.low, found.high, 0.95, 7, 5, "jackknife by users"
    )
    assert found.interval == mean_estimate([4, 4, 2, 2.5, 5], limits=FIVE).interval
    gain = macro_gain({"a": 1.0, "b": 0.0, "c": -1.0}, 4.0)
    assert (gain.value, gain.moved.tolist()) == (0, [-0.5, 0, 0.5])
    assert macro_estimate({}, n=0, limits=FIVE).value is None


def test_the_published_interval_is_that_of_choices_one_by_one():
    means = {name: 1 + 37 * n**3 % 101 / 25 for n, name in enumerate("badcfehg", 1)}
    rng = random.Random(42)
    values = [means[name] for name in sorted(means)]
    drawn = sorted(sum(rng.choice(values) for _ in values) / 8 for _ in range(1000))
    assert drawn[25] < drawn[26]
    assert published_interval(means) == pytest.approx((drawn[25], drawn[975]), abs=1e-12)
    assert published_interval({"a": 1.0}) is None


def test_failures_as_the_worst_and_as_the_best_score():
    assert mean_bounds(16, 4, 1, worst=1, best=5) == (17 / 5, 21 / 5)
    assert mean_bounds(9, 3, 0, worst=1, best=5) == (3, 3)
    assert mean_bounds(0, 0, 3, worst=5, best=1) == (5, 1)
    assert mean_bounds(0, 0, 0, worst=1, best=5) is None
    with pytest.raises(ValueError, match="negative"):
        mean_bounds(0, -1, 0, worst=1, best=5)


def test_many_clusters_come_near_the_textbook():
    rng = np.random.default_rng(2)
    values = np.clip(rng.normal(3, 1, 20_000), 1, 5)
    found = mean_estimate(values, limits=FIVE)
    half = 1.96 * values.std(ddof=1) / math.sqrt(values.size)
    assert found.high - found.low == pytest.approx(2 * half, rel=0.02)


@pytest.mark.parametrize(
    ("clusters", "times", "least", "most"), [(20, 400, 0.92, 0.98), (40, 200, 0.89, 0.995)]
)
def test_covers_the_true_mean_about_as_often_as_it_says(clusters, times, least, most):
    rng, labels, hits = np.random.default_rng(7), np.repeat(np.arange(clusters), 4), 0
    for _ in range(times):
        values = np.repeat(rng.normal(size=clusters), 4) + rng.normal(scale=0.3, size=labels.size)
        found = mean_estimate(values, labels.tolist(), limits=(-9.0, 9.0))
        hits += found.low <= 0 <= found.high
    assert least <= hits / times <= most


def test_weighted_values_count_for_what_they_stand_for():
    mean = mean_estimate([1, 5, 3], weights=[1, 1, 2], limits=(1, 5))
    assert mean.value == pytest.approx((1 + 5 + 6) / 4)
    assert (mean.n, mean.clusters) == (3, 3)
    values, clusters = [2, 3, 5, 4, 1, 3, 4], "aabcdef"
    plain = mean_estimate(values, clusters, limits=(1, 5))
    same = mean_estimate(values, clusters, weights=[7.5] * 7, limits=(1, 5))
    assert same.value == pytest.approx(plain.value)
    assert same.interval == pytest.approx(plain.interval)
    assert same.n == 7


def test_where_few_values_weigh_most_the_interval_is_wide():
    values = [1, 5] * 10
    even = mean_estimate(values, weights=[1] * 20, limits=(1, 5))
    uneven = mean_estimate(values, weights=[20] * 4 + [1] * 16, limits=(1, 5))
    assert uneven.high - uneven.low > 1.5 * (even.high - even.low)


@pytest.mark.parametrize("weights", [[1, 0], [1, -1], [1], [1, math.nan]])
def test_a_weight_is_above_nothing(weights):
    with pytest.raises(ValueError, match="a weight above 0 for each value"):
        mean_estimate([1, 2], weights=weights)
