"""Votes: what is counted, what is refused, what is drawn and left out."""

import numpy as np
import pytest

from dialogauge.stats.votes import VoteCells, votes_of


def some(**options):
    """A beats B twice (once named second), they tie once, and C loses to B."""
    return votes_of(["A", "B", "A", "B"], ["B", "A", "B", "C"], [1, 0, 0.5, 1], **options)


def test_wins_losses_and_ties_are_counted_from_both_sides():
    votes = some()
    assert votes.agents == ("A", "B", "C")
    assert votes.wins.tolist() == [[0, 2, 0], [0, 0, 1], [0, 0, 0]]
    assert votes.ties.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert votes.counts.tolist() == [[3, 2, 0, 1], [4, 1, 2, 1], [1, 0, 1, 0]]


def test_agents_without_a_vote_are_there_and_belong_to_nobody():
    votes = some(agents=["D", "A"])
    assert votes.agents == ("D", "A", "B", "C")
    assert votes.counts[0].tolist() == [0, 0, 0, 0]
    assert votes.components.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("wins", "bounded"),
    [
        ([("A", "B", 1), ("B", "C", 1), ("C", "A", 1)], True),  # a circle
        ([("A", "B", 1), ("B", "A", 1), ("A", "C", 1)], False),  # C never won
        ([("A", "B", 0.5), ("B", "C", 0.5)], True),  # a tie is half a win of each
        ([("A", "B", 1), ("B", "A", 1), ("C", "D", 1), ("D", "C", 1)], True),  # each within its own
    ],
)
def test_it_is_known_whether_strengths_are_finite_without_a_penalty(wins, bounded):
    assert votes_of(*zip(*wins, strict=True)).bounded is bounded


def test_a_cell_counts_a_pair_whichever_was_named_first():
    cells = VoteCells(some())
    assert (cells.left.tolist(), cells.right.tolist()) == ([0, 1], [1, 2])
    assert cells.counts.tolist() == [[0, 1, 2], [0, 0, 1]]


def test_cells_of_lengths_keep_the_sign_of_the_longer():
    votes = votes_of(["A", "B"], ["B", "A"], [1, 0], lengths=([30, 10], [10, 30]))
    cells = VoteCells(votes)
    assert votes.longer.tolist() == [0.5, -0.5]
    assert cells.longer.tolist() == [0.5]
    assert cells.counts.tolist() == [[0, 0, 2]]
    assert votes_of(["A"], ["B"], [1], lengths=([0], [0])).longer.tolist() == [0]


def test_without_a_cluster_its_votes_are_gone():
    votes = some(clusters=(["x", "y", "x", "y"], "dialogues"))
    assert [counts.tolist() for counts in VoteCells(votes).without()] == [
        [[0, 0, 1], [0, 0, 1]],
        [[0, 1, 1], [0, 0, 0]],
    ]
    alone = VoteCells(some())
    assert sum(counts.sum() for counts in alone.without()) == 4 * 3


def test_draws_take_whole_clusters():
    votes = some(clusters=(["x", "y", "x", "y"], "dialogues"))
    allowed = {0: [[0, 2, 2], [0, 0, 0]], 1: [[0, 1, 2], [0, 0, 1]], 2: [[0, 0, 2], [0, 0, 2]]}
    drawn = [counts.tolist() for counts in VoteCells(votes).drawn(40, np.random.default_rng(0))]
    assert all(counts in allowed.values() for counts in drawn)
    assert all(counts in drawn for counts in allowed.values())


def test_draws_of_votes_that_stand_for_themselves_have_as_many_votes():
    drawn = np.array(list(VoteCells(some()).drawn(400, np.random.default_rng(0))))
    assert set(drawn.sum(axis=(1, 2))) == {4}
    assert drawn.mean(axis=0) == pytest.approx(np.array([[0, 1, 2], [0, 0, 1]]), abs=0.15)


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ((["A"], ["B", "C"], [1]), "different length"),
        ((["A"], ["B"], [0.3]), "leave out what gave no verdict"),
        ((["A"], ["B"], [np.nan]), "leave out what gave no verdict"),
        ((["A", "B"], ["B", "B"], [1, 1]), "B stands against itself"),
    ],
)
def test_what_is_no_vote_is_refused(columns, why):
    with pytest.raises(ValueError, match=why):
        votes_of(*columns)
