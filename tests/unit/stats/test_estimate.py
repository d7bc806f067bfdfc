"""The one interval: what it takes, what it never does, and what is left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core.json_keys import as_json
from dialogauge.stats import gain_of_sums, mean_estimate
from dialogauge.stats.comparison import adjusted, compare_gain
from dialogauge.stats.estimate import (
    MIN_CLUSTERS,
    Basis,
    Estimate,
    Gain,
    Moves,
    freedom_of,
    parts_left_out,
    parts_of,
)

SHARE = (0.0, 1.0)


def test_the_freedom_of_even_moves_is_the_clusters_less_one():
    even = Moves.of(np.array([1.0, -1, 1, -1, 1, -1, 1, -1]), 8)
    assert (even.variance, even.freedom) == (8, 7)


def test_where_one_cluster_makes_the_figure_it_is_less_sure():
    """2 * 100^2 / (100^2 - 100^2 / 20) = 2.1, and not below 4."""
    alone = Moves.of(np.array([10.0] + [0.0] * 19), 20)
    assert (alone.variance, alone.freedom) == (100, 4)
    few = Moves.of(np.array([10.0] * 4 + [0.0] * 16), 20)
    assert few.freedom == pytest.approx(2 * 400**2 / (4 * 100**2 - 400**2 / 20))


@pytest.mark.parametrize(
    ("sizes", "most"),
    [
        ([7.0] * 12, 11),  # even ones: the clusters less one
        ([40.0, 40, *[1.0] * 20], (60**2) / (40**2 + 20)),  # two hold 80 %: all but the largest decide
        ([40.0, 20, *[1.0] * 20], (80**2) / (40**2 + 20**2 + 20)),  # one holds half, one a quarter: all
        ([9.0], 1),
    ],
)
def test_where_few_clusters_hold_most_targets_the_freedom_is_that_of_few(sizes, most):
    assert freedom_of(np.array(sizes)) == pytest.approx(most)
    assert Basis.of(np.array(sizes)).most == pytest.approx(most)


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=MIN_CLUSTERS, max_size=12),
)
def test_no_interval_has_width_0_or_leaves_the_range_or_its_figure(values):
    found = mean_estimate(values)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


def test_where_all_clusters_agree_as_many_may_differ_as_are_seldom_missed():
    """(1 - share)^10 = .025 gives a share of .3085 of the clusters."""
    share = 1 - 0.025 ** (1 / 10)
    same = mean_estimate([5.0] * 10, limits=(1.0, 5.0))
    assert same.interval == pytest.approx((5 - 4 * share, 5))
    middle = mean_estimate([2.0] * 10, limits=(1.0, 5.0))
    assert middle.interval == pytest.approx((2 - share, 2 + 3 * share))
    equal, p = Basis(40, 10, "users").difference(Gain(0.0, np.zeros(10), 4.0))
    assert equal.interval == pytest.approx((-4 * share, 4 * share))
    assert p == 1
    _, apart = Basis(40, 10, "users").difference(Gain(4.0, np.full(10, 4.0), 4.0))
    assert apart == 0  # the floor of the comparison is above it


@pytest.mark.parametrize("value", [-1.0, -0.01, 0.25, 4.0])
@pytest.mark.parametrize("clusters", [6, 12, 40])
def test_the_word_of_an_even_difference_follows_from_its_interval(value, clusters):
    """2 / 2^G is at most .05 from 6 clusters on. Of 12, 26.5 % may say the opposite."""
    gain = Gain(value, np.full(clusters, value), 4.0)
    comparison = adjusted([compare_gain(("b", "a"), "score", (value, 0.0), gain, Basis(40, clusters))])[0]
    low, high = comparison.difference.interval
    assert low <= value <= high
    assert (comparison.side in ("above", "below")) == (low > 0 or high < 0)
    assert Basis(40, clusters).detectable(gain, power=0.8) is None
    if clusters == 12 and value == -1:
        share = 1 - 0.025 ** (1 / 12)
        assert (low, high) == pytest.approx((-1 - 3 * share, -1 + 2 * share))


@pytest.mark.parametrize("faulty", [1, 2, 3])
def test_few_events_reach_as_far_as_an_exact_interval_of_the_trials_that_are_as_sure(faulty):
    """Korn and Graubard: the deviation gives the trials, t in place of z leaves fewer of them."""
    stats = pytest.importorskip("scipy.stats")
    values = np.array([1.0] * faulty + [0.0] * (100 - faulty))
    share, moved = faulty / 100, (faulty - values) / 99
    spread = Moves.of(moved - share, 100)
    t = stats.t.ppf(0.975, spread.freedom)
    trials = min(100, share * (1 - share) / spread.variance) * (stats.norm.ppf(0.975) / t) ** 2
    exact = stats.beta.ppf(0.975, trials * share + 1, trials * (1 - share))
    rare = mean_estimate(values)
    assert rare.high == pytest.approx(exact, rel=1e-4)
    half = stats.norm.ppf(0.975) / (trials * share * (1 - share)) ** 0.5
    logit = np.log(share / (1 - share))
    assert rare.low == pytest.approx(1 / (1 + np.exp(half - logit)), rel=1e-4)
    assert rare.high < 1 / (1 + np.exp(-half - logit))
    often = mean_estimate(1 - values)
    assert often.interval == pytest.approx((1 - rare.high, 1 - rare.low))


def test_one_more_event_never_lowers_an_end():
    ends = [mean_estimate([1.0] * n + [0.0] * (60 - n)).interval for n in range(61)]
    assert [low for low, _ in ends] == sorted(low for low, _ in ends)
    assert [high for _, high in ends] == sorted(high for _, high in ends)


def two_samples(a, b, limits=SHARE):
    """Of the values of two samples, each value a cluster: their difference and what it stands on."""
    (x, y), (none_x, none_y) = (np.array(v, dtype=float) for v in (a, b)), (np.zeros(len(v)) for v in (a, b))
    first = np.append(x, none_y), np.append(none_x + 1, none_y)
    second = np.append(none_x, y), np.append(none_x, none_y + 1)
    return gain_of_sums(first, second, limits=limits, unit="conversations", paired=False)


def told_apart(gain, basis):
    return adjusted([compare_gain(("b", "a"), "share", (None, None), gain, basis)])[0]


def test_a_sample_in_which_all_are_alike_is_as_unsure_as_its_own_interval():
    """0 of 10 may be up to 1 - .025^(1/10) = 30.8 %, and so may not lie below 12.5 % of 200."""
    events = [1.0] * 25 + [0.0] * 175
    change = told_apart(*two_samples([0.0] * 10, events))
    low, high = mean_estimate(events).interval
    unseen = 1 - 0.025 ** (1 / 10)
    assert change.difference.interval == pytest.approx(
        (0.125 - np.hypot(0.125 - low, unseen), 0.125 + (high - 0.125))
    )
    assert (change.side, change.p > 0.25) == ("not distinguishable", True)
    back = told_apart(*two_samples(events, [0.0] * 10))
    assert back.difference.interval == pytest.approx([-end for end in change.difference.interval[::-1]])
    assert back.p == pytest.approx(change.p)


@pytest.mark.parametrize("sizes", [(5, 5), (5, 60), (12, 12), (30, 200)])
def test_the_p_value_of_two_samples_is_below_5_percent_where_the_interval_leaves_0_out(sizes):
    rng = np.random.default_rng(sizes)
    sides = set()
    for share in (0.1, 0.3, 0.6, 0.9, 1.0):
        a, b = rng.random(sizes[0]) < 0.02, rng.random(sizes[1]) < share
        change = told_apart(*two_samples(a, b))
        low, high = change.difference.interval
        assert (change.p < 0.05) == (low > 0 or high < 0) == (change.side in ("above", "below"))
        sides.add(change.side)
    assert sides == {"above", "not distinguishable"}


def test_clusters_in_both_samples_count_by_how_they_go_together():
    """Users who differ by 2 to 5, each half a point higher in the second: the half point is sure."""
    rng = np.random.default_rng(4)
    level = rng.uniform(2, 5, 20)
    ones = np.ones(20)
    both = (level, ones), (level + 0.5 + rng.normal(0, 0.05, 20), ones)
    of = {"limits": (1.0, 6.0), "unit": "users"}
    mixed, paired = (told_apart(*gain_of_sums(*both, paired=paired, **of)) for paired in (False, True))
    assert mixed.side == paired.side == "above"
    assert mixed.difference.low == pytest.approx(paired.difference.low, abs=0.05)
    apart = told_apart(*two_samples(level, both[1][0], (1.0, 6.0)))
    assert apart.side == "not distinguishable"


def test_what_two_samples_can_show_is_shown_in_four_of_five_cases():
    """Two samples of 100 and 400 conversations, 20 % with a finding in the first."""
    rng = np.random.default_rng(8)
    gain, basis = two_samples([1.0] * 20 + [0.0] * 80, [1.0] * 80 + [0.0] * 320)
    size = basis.detectable(gain, power=0.8)
    told = [
        told_apart(*two_samples(rng.random(100) < 0.2, rng.random(400) < 0.2 + size)).side == "above"
        for _ in range(100)
    ]
    assert 0.72 <= np.mean(told) <= 0.92


def test_five_pairs_have_no_interval_since_no_p_value_could_say_so():
    gain = Gain(-1.0, np.array([-1.1, -0.9, -1.0, -1.05, -0.95]), 4.0)
    change = told_apart(gain, Basis(20, 5, "users"))
    assert (change.difference.interval, change.side) == (None, "too few to tell")
    assert change.difference.reason == "too few users: 5, and the interval of a difference takes 6"


def test_why_there_is_no_interval_is_said():
    nothing = np.empty(0)
    few = Basis(9, 3, "users").estimate(0.5, np.array([0.4, 0.5, 0.6]), SHARE)
    assert (few.interval, few.reason) == (None, "too few users: 3, and an interval takes 5")
    held = Basis(90, 30, "users").estimate(0.5, np.full(30, 0.5), SHARE, support=2)
    assert held.reason == "too few users: 2, and an interval takes 5"
    untold = Basis(90, 30, "users").estimate(0.5, np.full(30, 0.5), SHARE, support=0)
    assert untold.reason == "none of the users tells anything of it"
    alone = Basis(90, 30, "users").estimate(0.5, np.append(np.full(29, 0.5), np.nan), SHARE)
    assert alone.reason == "undefined without some of the users"
    unasked = Basis(90, 30, "users").estimate(0.5, nothing, SHARE)
    assert (unasked.interval, unasked.method, unasked.reason) == (None, "none", None)
    assert Basis(0, 0, "users").estimate(None, nothing, SHARE).reason is None
    assert set(as_json(few)) == {
        "value",
        "low",
        "high",
        "level",
        "n",
        "clusters",
        "method",
        "reason",
    }
    assert Estimate(0.5, None, 1.0, 0.95, 9, 9, "none").interval is None


def test_an_interval_stays_within_what_can_be():
    uneven = np.array([0.9, *[1.0] * 9])
    low, high = Basis(40, 10, "users").estimate(1.0, uneven, SHARE).interval
    assert 0 < low < high == 1
    gain, _ = Basis(40, 10, "users").difference(Gain(3.0, np.array([2.5, 3.5] * 5), 4.0))
    assert gain.interval == (pytest.approx(3 - 2.262157 * 2.5**0.5), 4)


def test_a_figure_that_few_clusters_make_is_no_surer_than_these_few():
    moved = 0.5 + np.array([0.01, -0.01] * 15)
    few, all_ = (Basis(90, 30, "users").estimate(0.5, moved, SHARE, support=n) for n in (6, 30))
    assert few.low < all_.low
    assert few.high > all_.high


def test_every_cluster_is_left_out_once():
    assert parts_of(9).tolist() == parts_left_out(9).tolist() == list(range(9))


def test_very_many_clusters_are_left_out_in_parts_of_like_size():
    parts = parts_of(1234)
    assert set(np.bincount(parts)) == {2, 3}
    assert (parts != np.arange(1234) % 500).any()  # by chance, whatever the order of the data
    assert parts_left_out(1234).tolist() == sorted(set(parts)) == list(range(500))


def test_each_part_is_left_out_of_as_many_deals_as_are_cheap():
    few = [parts_left_out(10, version, 20) for version in range(20)]
    assert all(parts.size == 10 for parts in few)
    many = [parts_left_out(400, version, 20) for version in range(20)]
    assert np.bincount(np.concatenate(many)).tolist() == [2] * 400
