"""What votes come to: bias by position, invalid verdicts, and groups that nothing links."""

import pytest

from dialogauge.report import to_text
from dialogauge.studies.arena.agents import Agents
from dialogauge.studies.arena.page import brief
from dialogauge.studies.arena.summary import ArenaSettings, arena_result
from dialogauge.studies.evidence import DimensionEvidence

PEOPLE = DimensionEvidence(checked=True, by="they are votes of people")


def row(name, a, b, winner, *orders, lengths=(10, 10)):
    failure = {"kind": "invalid_json", "message": "no verdict"} if winner is None else None
    return {
        "conversation_id": name,
        "arena": None,
        "a": a,
        "b": b,
        "winner": winner,
        "rater": None,
        "orders": [{"first": first, "winner": said} for first, said in zip("ab", orders, strict=False)],
        "lengths": list(lengths),
        "failure": failure,
        "usage": {"calls": 2, "cost": None},
    }


def result_of(rows, names=("A", "B"), **settings):
    return arena_result(rows, "judge", Agents(names), ArenaSettings(**settings), evidence=PEOPLE)


def test_a_judge_that_always_says_a_has_a_bias_of_1_and_equal_ratings():
    result = result_of([row(f"d{i}", "A", "B", "tie", "a", "b") for i in range(12)])
    assert result.position.first.value == 1
    assert result.position.changed.value == 1
    assert [one.rating.value for one in result.standings] == pytest.approx([1000, 1000])
    assert [one.rank for one in result.standings] == [1, 1]


def test_what_it_took_is_summed_and_an_unknown_cost_is_no_0():
    result = result_of([row(f"d{i}", "A", "B", "tie", "a", "b") for i in range(12)])
    assert (result.usage.calls, result.usage.cost) == (24, None)
    assert "It took 24 calls, 0 answers came from the cache; cost unknown" in to_text(brief(result))


def test_an_invalid_verdict_is_counted_and_no_tie():
    rows = [row(f"d{i}", "A", "B", "a", "a", "a") for i in range(6)]
    result = result_of([*rows, row("d6", "A", "B", None, "a", None)])
    assert (result.asked, result.n_failed, result.votes.m) == (7, 1, 6)
    assert result.position.meetings == 6
    assert result.votes.ties.sum() == 0


def test_where_all_is_invalid_nobody_is_ranked():
    result = result_of([row(f"d{i}", "A", "B", None) for i in range(3)])
    assert result.standings == ()
    assert result.failed_share == 1
    assert result.to_json()["agents"] == []
    assert "nobody can be ranked" in to_text(brief(result))


def test_groups_that_no_vote_links_are_named():
    rows = [row(f"d{i}", *pair, "a") for i in range(6) for pair in (("A", "B"), ("C", "D"))]
    shown = to_text(brief(result_of(rows, ("A", "B", "C", "D"))))
    assert "Nothing links these groups, and their ratings cannot be compared: A, B; C, D" in shown


def test_what_length_is_worth_is_said_on_request():
    rows = [row(f"d{i}", "A", "B", "ab"[i % 3 == 0], lengths=(10 + i, 20 - i)) for i in range(20)]
    result = result_of(rows, equal_length=True)
    assert result.to_json()["twice_as_long"]["value"] is not None
    assert "Length is taken out of these ratings: being twice as long is worth " in to_text(brief(result))


def test_of_several_arenas_online_elo_is_weighted_by_votes():
    """+16 in the arena of one vote, +30.53 in that of two: (1016 + 2 * 1030.53) / 3."""
    rows = [{**row("d1", "A", "B", "a"), "arena": "one"}]
    rows += [{**row(f"e{i}", "A", "B", "a"), "arena": "two"} for i in range(2)]
    assert result_of(rows).elo["A"] == pytest.approx((1016 + 2 * 1030.5305) / 3, abs=1e-3)


def test_of_peoples_votes_it_is_said_how_often_who_was_shown_first_wins():
    """Shown first won 9 of 12; of a referee that was shown nothing there is no such control."""
    rows = [{**row(f"d{i}", "A", "B", "ab"[i % 2]), "shown_first": "ab"[i % 2 ^ (i < 3)]} for i in range(12)]
    position = next(one for one in result_of(rows).beside if one.name == "position")
    assert (position.agrees.value, position.agrees.n) == (0.75, 12)
    assert {one.name for one in result_of([row("d", "A", "B", "a")]).beside} == {"length", "coin"}
