"""Several runs on one table: joined by turn id, refused where the ids do not match."""

from __future__ import annotations

import pytest

from dialogauge.core import UsageError
from dialogauge.studies.satisfaction.comparison import Predictions, collect_predictions, compare_runs
from rated import rated_answer, rated_talk


def rows_of(talk, scores, **more):
    return [
        {
            "turn": i,
            "user_id": talk.user_id,
            "scenario": talk.scenario,
            "failure": None if s else {"kind": "timeout"},
            "scores": {"satisfaction": s} if s else None,
            "whole": {},
            "details": {"turn_id": f"{talk.id}__turn_{i - 1}", **more} if s else {},
        }
        for i, s in enumerate(scores, 1)
    ]


def test_rows_are_joined_with_the_ratings_of_their_turns() -> None:
    talk = rated_talk("u", "cook", 0, [5, None, 3, 4])
    rows = [r for r in rows_of(talk, [4, 4, 2, None]) if r["turn"] != 2]
    found = collect_predictions(Predictions("run", "j", "none"), [(talk, rows)], "satisfaction")
    told = {id: (a.user, a.block, a.gold, a.score) for id, a in found.scored.items()}
    assert told == {
        "u__cook__0__turn_0": ("u", "u__cook", 5, 4),
        "u__cook__0__turn_2": ("u", "u__cook", 3, 2),
    }
    assert found.failed == 1


def test_a_turn_that_was_not_applicable_has_no_score() -> None:
    talk = rated_talk("u", "cook", 0, [5, 4])
    found = collect_predictions(
        Predictions("run", "j", "none"), [(talk, rows_of(talk, ["n/a", 4]))], "satisfaction"
    )
    assert (list(found.scored), found.failed) == (["u__cook__0__turn_1"], 1)


def test_users_without_history_stand_apart() -> None:
    talk = rated_talk("u", "cook", 0, [5, 4])
    rows = rows_of(talk, [4, 4], without_history=True)
    found = collect_predictions(Predictions("run", "j", "none"), [(talk, rows)], "satisfaction")
    assert (found.scored, found.without_history) == ({}, 2)


def test_ids_that_do_not_match_are_refused_with_the_list() -> None:
    talk = rated_talk("u", "cook", 0, [5, None, 3, 4])
    rows = rows_of(talk, [4, 4, 2, 5])[:3]
    with pytest.raises(UsageError) as refused:
        collect_predictions(Predictions("run", "j", "none"), [(talk, rows)], "satisfaction")
    said = str(refused.value)
    assert "1 judged turn without a rating: u__cook__0__turn_1" in said
    assert "1 rated turn not judged: u__cook__0__turn_3" in said


def test_a_long_list_is_cut() -> None:
    talk = rated_talk("u", "cook", 0, [5] * 30)
    with pytest.raises(UsageError, match=r"30 rated turns not judged: .*turn_9 and 20 more"):
        collect_predictions(Predictions("run", "j", "none"), [(talk, [])], "satisfaction")


def run(name, ids, said=4, gold=4):
    scored = {id: rated_answer(id[0], gold, said) for id in ids}
    return Predictions(name, "j", "none", scored=scored)


def test_only_turns_that_all_scored_are_compared() -> None:
    found = compare_runs([run("a", ["u1", "u2", "v1"]), run("b", ["u2", "v1", "v2"])])
    assert (found.n, found.users) == (2, 2)
    assert found.left_out == {"a": 1, "b": 1}
    assert {(c.a, c.b) for c in found.comparisons} == {("a", "b")}
    alone = compare_runs([run("a", ["u1"])])
    assert alone.comparisons == ()


def test_runs_of_other_turns_or_other_ratings_are_refused() -> None:
    with pytest.raises(UsageError, match=r"no turn was scored by all of the runs \(a: u1; b: w1\)"):
        compare_runs([run("a", ["u1"]), run("b", ["w1"])])
    with pytest.raises(UsageError, match="different ratings of 1 turn: u1"):
        compare_runs([run("a", ["u1"]), run("b", ["u1"], gold=2)])
