"""Figures of memory systems, by hand."""

from __future__ import annotations

import pytest

from dialogauge.studies.learning.figures import _set

ROOM = {"items": 5, "tokens": None}


def case(system, number, score, **more):
    known = {"dataset": "d", "corpus": f"c{number % 4}", "category": "temporal", "disputed": None, "step": 0}
    known |= {"items": 5, "tokens": 90, "share": 0.1, "kinds": {}, "whole": False, "retrieve_s": 0.002}
    known |= {"answer_s": 0.0, "metric": "locomo", "recall": score, "failure": None, "message": None}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "calls": 2, "cached": 1}
    used = {
        "usage": {
            **usage,
            "by_role": {"memory": {"prompt_tokens": 60, "completion_tokens": 0, "calls": 1, "cached": 0}},
        }
    }
    return {**known, **used, "system": system, "id": f"q{number}", "score": score, **more}


def test_systems_are_paired_by_case_and_clustered_by_conversation():
    a = [case("a", n, 0.5) for n in range(8)]
    b = [case("b", n, 0.25) for n in range(8)]
    b[7] |= {"score": None, "failure": "judge_error"}  # no pair, and no score
    of = _set("d", [*a, *b], ROOM)
    (pair,) = of.pairs
    assert (pair.a, pair.b, pair.figure_a, pair.figure_b) == ("a", "b", 0.5, 0.25)
    assert pair.difference.value == pytest.approx(0.25)
    assert (pair.difference.n, pair.difference.clusters) == (7, 4)
    systems = {s.name: s for s in of.systems}
    assert systems["b"].failed == {"judge_error": 1}
    assert systems["b"].score.value == 0.25
    assert systems["b"].score.n == 7
    assert systems["a"].room == "5 messages"
    assert systems["a"].answer_tokens == 50  # what it took to recall is not part of it
    assert systems["a"].retrieve_ms == pytest.approx(2.0)


def test_unequal_room_is_never_compared():
    cases = [case("a", n, 0.5) for n in range(8)] + [case("b", n, 0.25, whole=True) for n in range(8)]
    of = _set("d", cases, ROOM)
    assert {s.name: s.room for s in of.systems} == {"a": "5 messages", "b": "5 dialogues"}
    assert of.pairs == ()
    equal = _set("d", cases, {"items": None, "tokens": 900})
    assert [(p.a, p.b) for p in equal.pairs] == [("a", "b")]
