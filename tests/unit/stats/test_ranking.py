"""Strengths: against an independent optimiser and evalica, and where plain Bradley-Terry has none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from dialogauge.core import NotConverged
from dialogauge.stats.ranking import CENTRE, ELO, RIDGE, Davidson, strengths
from dialogauge.stats.votes import votes_of
from sets import examples

UNDEFEATED = [("A", "B", 1)] * 30 + [("A", "C", 1)] * 30 + [("B", "C", 1)] * 20 + [("B", "C", 0)] * 10


def of(rows, **options):
    return votes_of(*zip(*rows, strict=True), **options)


def drawn(seed, m=600, agents=6):
    """Votes of connected agents with ties, and the lengths of what they said."""
    rng = np.random.default_rng(seed)
    first = rng.integers(agents, size=m)
    second = (first + rng.integers(1, agents, size=m)) % agents
    score = rng.choice([0, 0.5, 1], size=m, p=[0.4, 0.2, 0.4])
    names = np.array(list("ABCDEFGHIJ"))
    return names[first].tolist(), names[second].tolist(), score, rng.integers(1, 900, size=(2, m))


def slow(votes, *, ridge, ties="davidson"):
    """The same greatest by scipy, vote by vote, without a derivative: logits, log v, b."""
    n = len(votes.agents)
    tied = ties == "davidson" and (votes.score == 0.5).any()

    def loss(at):
        d = at[votes.first] - at[votes.second]
        if votes.longer is not None:
            d = d + at[-1] * votes.longer
        weights = [np.exp(d / 2), np.exp(-d / 2), np.full(d.shape, np.exp(at[n]) if tied else 0)]
        total = sum(weights)
        if tied:
            likely = np.choose((2 * votes.score).astype(int), [weights[1], weights[2], weights[0]]) / total
            return -np.log(likely).sum() + ridge / 2 * at @ at
        logs = votes.score * np.log(weights[0] / total) + (1 - votes.score) * np.log(weights[1] / total)
        return -logs.sum() + ridge / 2 * at @ at

    size = n + tied + (votes.longer is not None)
    return minimize(loss, np.zeros(size), method="BFGS", options={"gtol": 1e-7}).x


@pytest.mark.parametrize("ridge", [RIDGE, 1.0, 0.01])
def test_the_undefeated_is_as_an_independent_optimiser_has_it(ridge):
    fitted = strengths(of(UNDEFEATED), ridge=ridge)
    assert fitted.logits == pytest.approx(slow(of(UNDEFEATED), ridge=ridge), abs=1e-5)
    assert fitted.ratings[0] > fitted.ratings[1] > fitted.ratings[2]
    assert fitted.ratings.mean() == pytest.approx(CENTRE)
    assert fitted.tie is None


@pytest.mark.parametrize("ties", ["davidson", "half"])
@pytest.mark.parametrize("lengths", [False, True])
def test_ties_and_lengths_are_as_an_independent_optimiser_has_them(ties, lengths):
    first, second, score, said = drawn(3, m=200)
    votes = votes_of(first, second, score, lengths=said if lengths else None)
    fitted, solution = strengths(votes, ties=ties), slow(votes, ridge=RIDGE, ties=ties)
    assert fitted.logits == pytest.approx(solution[:6], abs=1e-5)
    if ties == "davidson":
        assert np.log(fitted.tie) == pytest.approx(solution[6], abs=1e-5)
    assert (fitted.longer is None) is not lengths
    if lengths:
        assert fitted.longer == pytest.approx(solution[-1], abs=1e-5)
        assert fitted.twice_as_long == pytest.approx(ELO * solution[-1] / 3, abs=1e-2)


@pytest.mark.parametrize("seed", range(5))
def test_without_a_penalty_and_with_ties_as_half_wins_it_is_evalica(seed):
    evalica = pytest.importorskip("evalica")
    first, second, score, _ = drawn(seed)
    winners = [{0: evalica.Winner.Y, 0.5: evalica.Winner.Draw, 1: evalica.Winner.X}[s] for s in score]
    theirs = evalica.bradley_terry(first, second, winners, tolerance=1e-12, limit=10_000).scores
    votes = votes_of(first, second, score)
    ours = np.exp(strengths(votes, ridge=0, ties="half").logits)
    assert ours == pytest.approx(theirs[list(votes.agents)].to_numpy(), abs=1e-6)


def test_two_agents_by_hand():
    """3 : 1 without a penalty are odds of 3, 400 log10(3) = 190.8 points; 2 ties of 6 give v 2 / sqrt(3)."""
    assert np.diff(strengths(of([("A", "B", 1)] * 3 + [("A", "B", 0)]), ridge=0).ratings) == pytest.approx(
        -190.8485
    )
    fitted = strengths(of([("A", "B", 1)] * 3 + [("A", "B", 0)] + [("B", "A", 0.5)] * 2), ridge=0)
    assert np.diff(fitted.ratings) == pytest.approx(-190.8485)
    assert fitted.tie == pytest.approx(2 / 3**0.5)


def test_without_a_penalty_the_undefeated_has_no_strength():
    with pytest.raises(NotConverged, match="infinite"):
        strengths(of(UNDEFEATED), ridge=0)


def test_who_met_nobody_and_who_only_tied_are_at_the_mean():
    votes = of([("A", "B", 0.5)] * 9, agents=["C"])
    assert strengths(votes).ratings == pytest.approx([CENTRE] * 3)


def test_groups_that_no_vote_links_lie_each_around_the_mean():
    fitted = strengths(
        of([("A", "B", 1), ("C", "D", 1), ("C", "D", 1), ("C", "D", 0), ("A", "B", 0)], agents="ABCD")
    )
    assert fitted.logits[:2].sum() == pytest.approx(0)
    assert fitted.logits[2:].sum() == pytest.approx(0)


@examples(25)
@given(st.integers(0, 10**6), st.sampled_from(["davidson", "half"]))
def test_order_names_and_sides_change_nothing(seed, ties):
    first, second, score, _ = drawn(seed, m=40)
    rng = np.random.default_rng(seed)
    order, swap = rng.permutation(40), rng.random(40) < 0.5
    rows = [
        (second[k], first[k], 1 - score[k]) if s else (first[k], second[k], score[k])
        for k, s in zip(order, swap, strict=True)
    ]
    one, other = votes_of(first, second, score), of(rows)
    logits = dict(zip(one.agents, strengths(one, ties=ties).logits, strict=True))
    again = dict(zip(other.agents, strengths(other, ties=ties).logits, strict=True))
    assert again == pytest.approx(logits, abs=1e-8)


def test_other_counts_are_solved_as_if_they_came_first():
    """Few votes move far: then the curvature of all votes does not lead there."""
    votes = votes_of(*drawn(1, m=20)[:3])
    model = Davidson(votes)
    for counts, again in zip(model.cells.without(), model.again(model.cells.without()), strict=True):
        assert np.abs(model._slope(again, counts)).max() < 1e-7


def test_more_votes_for_an_agent_raise_it():
    before = strengths(of(UNDEFEATED))
    after = strengths(of([*UNDEFEATED, ("C", "A", 1)]))
    assert after.ratings[2] > before.ratings[2]
