"""The schedule: asks what tells most, and with fewer comparisons."""

import numpy as np
import pytest
from benchmarks.arena import Contest, saved

from dialogauge.stats.ranking import strengths
from dialogauge.stats.schedule import next_pairs, widest
from dialogauge.stats.standings import ranking_of
from dialogauge.stats.votes import votes_of


def test_pairs_without_the_top_are_left_alone():
    contest = Contest(np.linspace(1, -1, 8), np.linspace(1, -1, 8)[None], np.random.default_rng(0))
    contest.shifted = np.repeat(contest.shifted, 20, axis=0)
    pairs = next_pairs(strengths(contest.everything(20)), 30)
    assert len(pairs) == 30
    assert all(i < j and i < 3 for i, j in pairs)


def test_who_has_no_votes_is_asked_first():
    votes = votes_of(
        ["A", "B", "B", "C", "A", "C"] * 9, ["B", "A", "C", "B", "C", "A"] * 9, [1] * 54, agents=["X"]
    )
    assert next_pairs(strengths(votes), 1)[0][0] == 0


def test_it_ends_where_nothing_is_left():
    fitted = strengths(votes_of(["A", "B"], ["B", "C"], [1, 1]))
    left = np.zeros((3, 3))
    left[0, 1] = left[1, 0] = 2
    assert next_pairs(fitted, 5, left=left) == [(0, 1), (0, 1)]


def test_the_widest_is_of_the_top_alone():
    board = ranking_of(Contest.of(6, 20, 0).everything(20))
    widths = [s.rating.high - s.rating.low for s in board.standings]
    assert widest(board) == max(widths[:3])
    assert widest(board, 6) == max(widths)
    assert widest(ranking_of(votes_of(["A"], ["B"], [1]))) is None


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_the_same_interval_takes_at_most_half_of_the_comparisons(seed):
    """`python -m benchmarks arena` has 20 seeds."""
    everything, asked = saved(12, seed, points=120)
    assert asked <= everything / 2
