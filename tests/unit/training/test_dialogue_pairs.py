"""Two dialogues of which one was preferred: where they part, and as which kind of pair."""

from __future__ import annotations

import pytest

from dialogauge.training import Provenance, pair_of_dialogues
from talks import talk

KNOWN = Provenance(conversation_id="c", persona="inn", scores=(4.0, 3.0), model_chosen="m")


def contents(messages):
    return [message["content"] for message in messages]


def test_dialogues_that_part_at_the_last_reply_are_a_pair_of_replies():
    better, worse = talk("u: a", "a: b", "u: c", "a: d"), talk("u: a", "a: b", "u: c", "a: e", "u: bye")
    pair = pair_of_dialogues(better, worse, segments=False)
    row = pair.row(KNOWN)
    assert list(row) == ["prompt", "chosen", "rejected"]
    assert (contents(row["prompt"]), contents(row["chosen"]), contents(row["rejected"])) == (
        ["a", "b", "c"],
        ["d"],
        ["e"],
    )
    assert pair.turn == 2
    assert pair_of_dialogues(better, worse, segments=True) == "one reply alone differs (--kind dpo takes it)"


def test_dialogues_that_part_earlier_are_segments_behind_the_turns_they_share():
    better = talk("s: you are Rosa", "u: a", "a: b", "u: c", "a: d", "u: e", "a: f")
    worse = talk("s: you are Rosa", "u: a", "a: b", "u: x", "a: y", "u: unanswered")
    assert (
        pair_of_dialogues(better, worse, segments=False) == "the conversations part before their last reply"
    )
    pair = pair_of_dialogues(better, worse, segments=True)
    assert pair.row(KNOWN) == {
        "prompt": [
            {"role": "system", "content": "you are Rosa"},
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
        ],
        "chosen": [
            {"role": role, "content": text}
            for role, text in (("user", "c"), ("assistant", "d"), ("user", "e"), ("assistant", "f"))
        ],
        "rejected": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}],
        "score_chosen": 4.0,
        "score_rejected": 3.0,
        "persona_id": "inn",
        "step": None,
        "model_chosen": "m",
        "model_rejected": None,
    }
    assert pair.turn == 2


def test_a_shared_user_message_begins_both_segments():
    better, worse = talk("u: a", "a: b", "u: c", "a: d"), talk("u: a", "a: x", "u: c", "a: d")
    row = pair_of_dialogues(better, worse, segments=True).row(KNOWN)
    assert (row["prompt"], contents(row["chosen"]), contents(row["rejected"])) == (
        [],
        ["a", "b", "c", "d"],
        ["a", "x", "c", "d"],
    )


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (("u: a", "a: b"), ("u: a", "a: b", "u: c", "a: d")),
        (("s: one", "u: a", "a: b", "u: c", "a: d"), ("s: two", "u: a", "a: b", "u: x", "a: y")),
    ],
)
def test_one_that_is_the_beginning_of_the_other_and_other_instructions_are_no_pair(better, worse):
    why = pair_of_dialogues(talk(*better), talk(*worse), segments=True)
    assert why == "the dialogues begin differently, or one is the beginning of the other"
    assert (
        pair_of_dialogues(talk("u: a"), talk("u: a", "a: b"), segments=True) == "a dialogue without a reply"
    )
