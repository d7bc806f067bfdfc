"""Figures of memory systems, by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dialogauge.report import to_text
from dialogauge.studies.learning.figures import _set, compared_result, learn_result
from dialogauge.studies.learning.page import learn_blocks

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


def row(system, number, score, step=0, **details):
    """Return a row as a run stores it."""
    one = case(system, number, score, step=step, memory="m", **details)
    usage = one.pop("usage")
    failure = {"kind": "judge_error", "message": "gone"} if one.pop("failure") else None
    place = f"q{number}@{step}"
    return {
        "candidate": system,
        "conversation_id": place,
        "details": one,
        "failure": failure,
        "usage": usage,
    }


def run(rows, protocol="off-policy", facts=None, **settings):
    """Return a stored run of these rows."""
    manifest = {"facts": {"room": ROOM, "protocol": protocol, **(facts or {})}, "settings": settings}
    return SimpleNamespace(
        manifest=SimpleNamespace(**manifest),
        rows=lambda: iter(rows),
        database=SimpleNamespace(all_meta=lambda key: {}),
    )


def test_dialogues_that_taught_are_no_answers():
    about = {"taught": True, "rounds": 2, "actions": [["like", "copy"], []], "ended": True}
    about |= {"leaked": [], "repeated": 0}
    fine = row("a", 90, None, 1, **about, scores=[4, 8])
    brief = row("a", 91, None, 1, **{**about, "rounds": 1, "actions": [["like"]], "ended": False}, scores=[6])
    lost = {**row("a", 92, None, 1, taught=True), "failure": {"kind": "judge_error", "message": "gone"}}
    answers = [row("a", n, 0.5, step) for step in (0, 1) for n in range(8)]
    result = learn_result([*answers, fine, brief, lost], run([], "on-policy"), 0)
    (of,) = result.sets[0].systems
    assert (of.asked, of.failed, of.score.n) == (8, {}, 8)
    assert result.failed_share == 1 / 11  # of eight answers at the last step, and three dialogues
    (taught,) = result.taught
    assert (taught.system, taught.step, taught.dialogues, taught.failed, taught.ended) == ("a", 1, 3, 1, 1)
    assert (taught.rounds, taught.scores) == (1.5, (5.0, 8.0))
    assert taught.actions == {"copy": 1, "like": 2}
    page = to_text(learn_blocks(result), width=140)
    assert "Dialogues that were led in this run" in page


def test_runs_that_differ_in_their_action_are_named_for_it():
    runs = {
        f"runs/{action}": run([row("a", n, score) for n in range(8)], "action", {"action": action})
        for action, score in (("like", 0.5), ("copy", 0.25))
    }
    result = compared_result(runs)
    assert result.actions == ["like", "copy"]
    assert [s.name for s in result.sets[0].systems] == ["a, like", "a, copy"]
    lines = to_text(learn_blocks(result), width=140).splitlines()
    at = next(n for n, line in enumerate(lines) if "by the action of the dialogues" in line)
    assert lines[at + 1].split() == ["system", "like", "copy", "like", "less", "copy"]
    assert lines[at + 3].split()[0] == "a"
    assert "+0.250" in lines[at + 3]


def test_runs_of_other_seeds_are_one_and_a_case_has_one_score_of_them():
    runs = {
        f"s{seed}": run([row(name, n, score) for name, score in scores.items() for n in range(8)], seed=seed)
        for seed, scores in enumerate(({"a": 0.2, "b": 0.1}, {"a": 0.6, "b": 0.1}))
    }
    of = compared_result(runs).sets[0]
    assert [(s.name, s.score.n, s.score.clusters) for s in of.systems] == [("a", 16, 4), ("b", 16, 4)]
    assert of.pairs[0].difference.value == pytest.approx(0.3)
    assert of.pairs[0].difference.n == 8


def test_the_effect_of_feedback_is_paired_with_no_dialogue_and_with_another_one():
    gains = {"without": ("without", 0.2), "own: x": ("own", 0.6), "other-case: x": ("other", 0.5)}
    rows = [
        row(name, n, score, condition=condition, feedback=["like"])
        for name, (condition, score) in gains.items()
        for n in range(8)
    ]
    result = learn_result(rows, run([], "feedback-effect"), 0)
    pairs = {(p.a, p.b): round(p.difference.value, 3) for p in result.sets[0].pairs}
    assert pairs == {
        ("own: x", "without"): 0.4,
        ("own: x", "other-case: x"): 0.1,
        ("other-case: x", "without"): 0.3,
    }
    assert [s.room for s in result.sets[0].systems] == ["nothing", "its dialogue", "another dialogue"]
    lines = to_text(learn_blocks(result), width=160).splitlines()
    shown = lines[next(n for n, line in enumerate(lines) if "Effect of feedback" in line) + 3].split()
    assert shown == ["d", "x", "8", "0.200", "0.600", "0.500", "+0.400", "+0.100"]


def test_a_partition_has_a_curve_by_the_references_of_its_last_step():
    rows = [
        row(name, n, scores[step], step, dataset=dataset)
        for dataset in ("NF-CATS", "LoCoMo")
        for name, scores in (("a", (0.0, 0.2, 0.4)), ("none", (0.0, 0.0, 0.0)))
        for step in range(3)
        for n in range(8)
    ]
    result = learn_result(rows, run([], "stepwise"), 0)
    curve = result.partition_steps["Open"]["a"]
    assert [(step, one.value) for step, one in curve.points] == [(0, 0.0), (1, 0.5), (2, 1.0)]
    assert curve.slope.difference.value == pytest.approx(0.5)
    assert (curve.best, curve.forgetting) == (2, None)
    assert result.partition_steps["Open"]["none"].slope is None


def test_a_system_along_the_steps_stands_beside_its_own_twin_alone():
    rises = {"a": 0.2, "a (echo)": 0.1, "b": 0.3, "none": 0.0}
    rows = [
        row(name, n, step * rise * (1 - n % 3 / 20), step, corpus=None)
        for name, rise in rises.items()
        for step in range(3)
        for n in range(20)
    ]
    result = learn_result(rows, run([], "stepwise"), 0)
    steps = result.sets[0].steps
    assert {name: [twin.b for twin in of.beside_twins] for name, of in steps.items()} == {
        "a": ["a (echo)"],
        "a (echo)": [],
        "b": [],
        "none": [],
    }
    assert steps["a"].beside_twins[0].difference.value == pytest.approx(0.1 * (1 - 19 / 20 / 20))
    text = to_text(learn_blocks(result), width=160)
    assert "change along the steps, beside the twins" in text
    assert "rises more" in text
