from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import ONE_TO_FIVE, Scale
from dialogauge.training import JudgedConversation, judged_conversation
from talks import talk

CONVERSATION = talk("u: a", "a: b", "u: c", "a: d", "u: e", "a: f")
SCALES = {"helpfulness": ONE_TO_FIVE, "harm": Scale(0, 1, integer=False, higher_is_better=False)}


def turn(
    number: int, scores: dict[str, Any] | None, repeat: int = 1, issues: tuple[str, ...] = ()
) -> dict[str, Any]:
    return {
        "level": "turn",
        "turn": number,
        "repeat": repeat,
        "scores": scores,
        "whole": {},
        "weakest_turn": None,
        "verdict": None,
        "issues": list(issues),
        "judge": "j",
        "prompt_digest": "p",
    }


def whole(
    weakest: int | None, verdict: str | None = "good", repeat: int = 1, failed: bool = False
) -> dict[str, Any]:
    row = turn(0, None if failed else {}, repeat)
    return {**row, "level": "conversation", "turn": None, "weakest_turn": weakest, "verdict": verdict}


def judged(*rows: dict[str, Any]) -> JudgedConversation:
    return judged_conversation(CONVERSATION, rows, SCALES)


@pytest.mark.parametrize(
    ("named", "weakest"),
    [
        ([], None),
        ([None], None),
        ([2], 2),
        ([2, 3, 3], 3),
        ([3, 2], 2),  # a tie goes to the earlier one
        ([None, None, 2], None),
        ([None, 2], 2),  # half of them name it
        ([None, None, 2, 2, 1], 2),
        ([None, None, 1, 2], None),
    ],
)
def test_the_weakest_turn_is_the_one_that_most_repeats_name(
    named: list[int | None], weakest: int | None
) -> None:
    assert judged(*(whole(n, repeat=i) for i, n in enumerate(named))).weakest_turn == weakest


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ([], None),
        ([None], None),
        (["good"], "good"),
        (["good", "poor", "good"], "good"),
        (["good", "poor"], "poor"),  # a tie goes to the worse one
        (["excellent", "good", "borderline"], "borderline"),
        (["excellent", None, None], "excellent"),
    ],
)
def test_the_verdict_is_the_one_that_most_repeats_give(given: list[str | None], verdict: str | None) -> None:
    assert judged(*(whole(None, v, repeat=i) for i, v in enumerate(given))).verdict == verdict


def test_failed_rows_name_no_turn_and_give_no_verdict() -> None:
    found = judged(whole(None, None, 1, failed=True), whole(2, "good", 2), whole(None, None, 3, failed=True))
    assert (found.weakest_turn, found.verdict, found.failed, found.targets) == (2, "good", 2, 3)


def test_scores_are_brought_to_one_scale() -> None:
    found = judged(
        turn(1, {"helpfulness": 4, "harm": 0.25}),  # 3/4 and 3/4
        turn(2, {"helpfulness": 1, "harm": 1.0}),  # 0 and 0
        turn(3, {"helpfulness": "n/a"}),
    )
    assert [t.quality for t in found.turns] == [0.75, 0.0, None]
    assert found.quality == 0.375
    assert found.spread == 0.0


def test_repeats_weigh_alike_and_their_spread_is_told() -> None:
    found = judged(
        turn(1, {"helpfulness": 5}, 1),
        turn(2, {"helpfulness": 5}, 1),
        turn(1, {"helpfulness": 1}, 2),
        turn(2, None, 2),
        turn(1, None, 3),
    )
    assert found.quality == 0.5  # 1 and 0; the third repeat scored nothing
    assert found.spread == 0.5
    assert [t.quality for t in found.turns] == [0.5, 1.0]
    assert (found.failed, found.targets) == (2, 5)


def test_unknown_dimensions_take_no_part() -> None:
    assert judged(turn(1, {"helpfulness": 3, "style": 99})).quality == 0.5


def test_issues_of_all_repeats_are_kept_once_in_order() -> None:
    found = judged(
        turn(2, {}, 1, ("vague", "long")), turn(2, {}, 2, ("long", "rude")), turn(1, {}, 1, ("other",))
    )
    assert found.turn(2) is not None
    assert [(t.turn, t.issues) for t in found.turns] == [(1, ("other",)), (2, ("vague", "long", "rude"))]
    assert found.turn(9) is None


def test_nothing_was_judged() -> None:
    found = judged()
    assert (found.quality, found.spread, found.verdict, found.weakest_turn) == (None, 0.0, None, None)
    assert (found.failed, found.targets, found.turns, found.prompt_digest) == (0, 0, (), None)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.none() | st.integers(1, 5)), max_size=12))
def test_qualities_stay_between_worst_and_best(rows: list[tuple[int, int, int | None]]) -> None:
    found = judged(*(turn(t, None if s is None else {"helpfulness": s}, r) for t, r, s in rows))
    for quality in (found.quality, *(t.quality for t in found.turns)):
        assert quality is None or 0 <= quality <= 1
    assert (found.quality is None) == all(s is None for _, _, s in rows)
    assert found.failed == sum(s is None for _, _, s in rows)
