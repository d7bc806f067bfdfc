"""The reference run: its raw scores of the blocks that are judged."""

from __future__ import annotations

from dialogauge.studies.satisfaction.answers import reference_answers
from rated import rated_talk


def row(talk, turn, score, **raw):
    details = {"turn_id": f"{talk.id}__turn_{turn - 1}"}
    scores = {"satisfaction": score}
    return {"turn": turn, "failure": None, "scores": scores, "whole": {}, "raw": raw, "details": details}


def test_raw_scores_are_taken_and_a_turn_that_was_not_applicable_has_none() -> None:
    talk = rated_talk("u", "cook", 0, [5, 4, 3])
    rows = [row(talk, 1, 4, satisfaction=3.25), row(talk, 2, "n/a"), row(talk, 3, 2)]
    found = reference_answers([(talk, rows)], "satisfaction", {"u__cook"}, "run")
    assert [(a.id, a.value) for a in found] == [("u__cook__0__turn_0", 3.25), ("u__cook__0__turn_2", 2.0)]
