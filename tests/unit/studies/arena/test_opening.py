"""The sentences that an arena begins with."""

from itertools import combinations

import pytest

from dialogauge.studies.arena.agents import Agents
from dialogauge.studies.arena.summary import ArenaSettings, arena_result
from dialogauge.studies.evidence import DimensionEvidence

PEOPLE = DimensionEvidence(checked=True, by="they are votes of people")


def said(wins, *, dialogues=60, orders=(), lengths=(10, 10)):
    """The sentences for agents of which the first of each pair wins so many votes of as many dialogues."""
    rows = []
    for (a, b), won in wins.items():
        for i in range(dialogues):
            row = {"conversation_id": f"d{i}", "arena": None, "a": a, "b": b, "rater": None}
            row |= {"winner": "a" if (i * 7) % dialogues < won else "b", "lengths": list(lengths)}
            row |= {"failure": None, "usage": {}, "orders": list(orders)}
            rows.append(row)
    names = tuple(dict.fromkeys(name for pair in wins for name in pair))
    return arena_result(rows, "people", Agents(names), ArenaSettings(), evidence=PEOPLE).answers


def test_a_leader_is_named_with_its_lead():
    """A has 45 of 60 against each of two equals: odds of 3 to 1, 191 points, a little less by the penalty."""
    first, second = said({("A", "B"): 45, ("A", "C"): 45, ("B", "C"): 30})
    assert first.startswith(("A leads, 18", "A leads, 19"))
    assert "] above B: it wins about 75 % of their votes that have a winner." in first
    assert second == "Cannot be told apart: B and C."


def test_a_highest_rating_alone_is_no_lead():
    (first,) = said({("A", "B"): 33, ("A", "C"): 57, ("B", "C"): 57})
    assert first == "A has the highest rating, but B cannot be told apart from it."


def test_where_votes_show_nothing_it_says_so():
    pairs = combinations("ABC", 2)
    (first,) = said(dict.fromkeys(pairs, 31))
    assert first == "These votes do not show who is best: A, B and C cannot be told apart at the top."


def test_equal_agents_and_few_dialogues():
    assert said({("A", "B"): 30}) == ("All agents have the same rating.",)
    (first,) = said({("A", "B"): 3}, dialogues=4)
    assert first.startswith("A has the highest rating of A and B, and nothing says how sure that is: too few")


def test_of_many_groups_the_first_are_named():
    """Neighbours 60 points apart, of 420 votes each, are not told apart; those further away are."""
    apart = {(a, b): ord(b) - ord(a) for a, b in combinations("ABCDEFGH", 2)}
    _, second = said({pair: round(60 / (1 + 10 ** (-0.15 * steps))) for pair, steps in apart.items()})
    assert second == "Cannot be told apart: B and C; C and D; D and E; E and F; and so on, 2 more groups."


def test_groups_that_nothing_links_are_spoken_of_one_by_one():
    sentences = said({("A", "B"): 55, ("C", "D"): 54})
    assert [s.split(",")[0].split()[:2] for s in sentences] == [["A", "leads"], ["C", "leads"]]


@pytest.mark.parametrize(("lengths", "side"), [((20, 10), "longer"), ((10, 20), "shorter")])
def test_what_length_finds_is_said_where_it_is_more_than_a_coin(lengths, side):
    sentences = said({("A", "B"): 50}, lengths=lengths)
    assert sentences[-1].startswith(f"The {side} side wins 83.3 % [")


def test_the_share_of_meetings_that_hang_on_the_order_is_said():
    both = [{"first": "a", "winner": "a"}, {"first": "b", "winner": "a"}]
    _, second = said({("A", "B"): 40}, orders=both)
    assert second == "In the other order the judge named another winner in 0 % [0 %, 6.0 %] of the meetings."
