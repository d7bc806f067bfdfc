"""Coverage and level, in short; `python -m benchmarks coverage` at full length."""

from statistics import fmean

import pytest
from benchmarks.coverage import (
    Sampling,
    coverage,
    levels,
    rare_faults,
    replay_level,
    uneven_level,
    worst_scenario,
)
from benchmarks.two_samples import missed

FIGURES = ("pearson", "qwk", "exact", "mae", "f1_dsat", "auc", "ac1", "alpha_ordinal")


@pytest.mark.long
@pytest.mark.parametrize("users", [5, 10, 20])
def test_intervals_hold_the_truth_as_often_as_they_say(users):
    """Of 250 samples a coverage of .92 shows at least .885 in 97 of 100 tries; more of five users."""
    found = coverage(Sampling(), FIGURES, users, 1000 if users == 5 else 250)
    assert {name: of["coverage"] for name, of in found.items() if of["coverage"] < 0.885} == {}
    assert fmean(of["coverage"] for of in found.values()) < 0.975
    assert min(of["has one"] for of in found.values()) > 0.85


def test_four_users_show_nothing():
    found = coverage(Sampling(), FIGURES, 4, 20)
    assert {of["has one"] for of in found.values()} == {0}
    assert set(levels(Sampling(), FIGURES, 4, 20).values()) == {0}


@pytest.mark.long
@pytest.mark.parametrize("users", [6, 20])
def test_equal_judges_are_seldom_told_apart(users):
    found = levels(Sampling(), FIGURES, users, 200)
    assert {name: level for name, level in found.items() if level > 0.115} == {}
    assert replay_level(users, 1000) < 0.08


@pytest.mark.parametrize("held", [(0.5,), (0.5, 0.25), (0.4, 0.4), (0.27, 0.27, 0.26)])
@pytest.mark.parametrize("users", [6, 20])
def test_equal_judges_are_seldom_told_apart_where_a_few_users_hold_most_targets(held, users):
    assert uneven_level(held, users, 2000) < 0.08


@pytest.mark.parametrize(
    ("share", "users", "turns", "widest"), [(0.025, 5, 35, 0.9), (0.025, 20, 35, 0.2), (0.02, 100, 1, 0.4)]
)
def test_rare_faults_are_covered_by_intervals_that_say_something(share, users, turns, widest):
    held, width, bootstrap = rare_faults(share, users, turns, 200)
    assert held > 0.9 > bootstrap
    assert width < widest


@pytest.mark.long
@pytest.mark.parametrize("sizes", [(5, 50), (10, 100), (20, 200), (50, 50)])
def test_two_equal_samples_are_told_apart_as_rarely_as_the_level_says(sizes):
    """A side whose clusters are all alike tells as little as its own interval: at most .08 of all samples."""
    for share in (0.02, 0.05, 0.25):
        assert missed("share, one target each", sizes, (share, share), 600) <= 0.08
        assert missed("share, one target each", sizes, (share, 2 * share), 600) <= 0.08


def test_two_equal_samples_of_several_targets_in_each_cluster_are_too():
    assert missed("share, five each", (10, 100), (0.05, 0.05), 120) <= 0.08
    assert missed("scores 1 to 5, five each", (5, 50), (4.0, 4.0), 120) <= 0.08


@pytest.mark.long
def test_the_worst_scenario_is_named_and_no_other_group():
    assert worst_scenario(50, 8, 15, wrong=0.7) == (1, 0)
    assert worst_scenario(50, 8, 15, wrong=0.3) == (0, 0)
