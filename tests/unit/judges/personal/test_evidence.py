from __future__ import annotations

import json

from dialogauge.judges.personal.memory import shown_history
from knowing import block_of, rated, view_with


def shown_scores(evidence):
    return {score: [json.loads(turn)["score"] for turn in turns] for score, turns in evidence.groups.items()}


def test_all_turns_are_shown_where_they_fit_in_the_order_of_the_data() -> None:
    evidence = shown_history(view_with([4, 5, 4, 1]))
    assert shown_scores(evidence) == {5: [5], 4: [4, 4], 1: [1]}
    assert list(evidence.groups) == [5, 4, 1]
    requests = [json.loads(turn)["request"] for turn in evidence.groups[4]]
    assert requests == ["bread question 0", "bread question 2"]
    assert evidence.to_json() == {"shown": 4, "of": 4, "left_out": {}, "texts_cut": 0}
    assert json.loads(evidence.groups[1][0]) == {
        "score": 1,
        "reason": "too vague",
        "kind": "past",
        "task": "the task past 3",
        "request": "bread question 3",
        "reply": "answer 3 so ",
    }


def test_where_not_all_fits_every_score_stays_and_the_rest_is_counted() -> None:
    scores = [5] * 30 + [4] * 20 + [3] * 2 + [1]
    evidence = shown_history(view_with(scores, size=100), budget=4500)
    shown = {score: len(turns) for score, turns in evidence.groups.items()}
    assert shown[1] == 1
    assert shown[3] == 2
    assert abs(shown[5] - shown[4]) <= 1
    assert sum(len(t) for turns in evidence.groups.values() for t in turns) <= 4500
    assert evidence.left_out == {5: 30 - shown[5], 4: 20 - shown[4]}
    assert evidence.shown + sum(evidence.left_out.values()) == len(scores)


def test_one_turn_of_each_score_is_shown_whatever_the_budget() -> None:
    evidence = shown_history(view_with([5, 5, 4, 4, 2, 2], size=100), budget=1)
    assert {score: len(turns) for score, turns in evidence.groups.items()} == {5: 1, 4: 1, 2: 1}


def test_turns_like_the_task_ahead_come_first() -> None:
    past = [
        rated("u", "past", n, [(f"{word} question", "so " * 100, 4)])
        for n, word in enumerate(["music lesson", "tax form", "sourdough bread baking", "car repair"])
    ]
    ahead = rated("u", "sourdough bread baking", 0, [("x", "y", 4)])
    view = block_of("u", "sourdough bread baking", *past, ahead).view
    evidence = shown_history(view, budget=400)
    assert ["sourdough" in turn for turn in evidence.groups[4]] == [True]


def test_the_best_turn_of_another_conversation_comes_before_the_second_of_the_same() -> None:
    near = rated("u", "past", 0, [("ahead task", "so " * 100, 4), ("ahead task", "no " * 100, 4)])
    far = rated("u", "past", 1, [("something else", "ha " * 100, 4)])
    ahead = rated("u", "ahead", 0, [("x", "y", 4)])
    evidence = shown_history(block_of("u", "ahead", near, far, ahead).view, budget=900)
    replies = [json.loads(turn)["reply"][:2] for turn in evidence.groups[4]]
    assert replies == ["so", "ha"]


def test_long_texts_are_cut_in_the_middle_and_counted() -> None:
    evidence = shown_history(view_with([4], size=1000))
    assert evidence.texts_cut == 1
    assert "characters cut" in evidence.groups[4][0]


def test_nothing_of_the_target_but_its_task_is_looked_at() -> None:
    past = [rated("u", "past", n, [("q", "so " * 100, 4)]) for n in range(4)]
    one = rated("u", "ahead", 0, [("x", "y", 4)])
    other = rated("u", "ahead", 0, [("quite another request", "and another reply", 1)])
    found = [shown_history(block_of("u", "ahead", *past, t).view, budget=500) for t in (one, other)]
    assert found[0] == found[1]


def test_no_history_gives_no_evidence() -> None:
    assert shown_history(view_with([])).to_json() == {"shown": 0, "of": 0, "left_out": {}, "texts_cut": 0}
