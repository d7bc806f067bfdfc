from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import ONE_TO_FIVE, Conversation, Judged, Judgement, Message, Target, ToolCall, as_scores
from dialogauge.core.judgement import row_json
from dialogauge.training import JudgedConversation, fork_of, judged_conversation
from dialogauge.training.pairs import plain_message, prompt_and_reply
from talks import judged_rows, talk

SCALES = {"helpfulness": ONE_TO_FIVE, "coherence": ONE_TO_FIVE}


def judged(conversation: Conversation, weakest: int | None, rows: Any = None) -> JudgedConversation:
    found = rows or judged_rows(conversation, weakest=weakest)
    return judged_conversation(
        conversation, [row_json(conversation, r, repeat=1, judge="fake") for r in found], SCALES
    )


@pytest.mark.parametrize(
    ("lines", "turn", "prompt", "rejected"),
    [
        (["u: a", "a: b"], 1, 1, "b"),
        (["s: rules", "a: welcome", "u: a", "a: b", "u: c", "a: d"], 1, 3, "b"),
        (["s: rules", "a: welcome", "u: a", "a: b", "u: c", "a: d"], 2, 5, "d"),
        (["u: a", "u: b", "a: c"], 1, 2, "c"),
        # the tool steps of the turn belong to the prompt
        (["u: a", "c: look", "t: found", "a: b", "u: c"], 1, 3, "b"),
        (["u: a", "c: look", "t: found", "c: look", "t: more", "a: b"], 1, 5, "b"),
        # replies that follow one another are one
        (["u: a", "a: b", "a: c", "u: d"], 1, 1, "b\nc"),
        (["u: a", "c: look", "t: found", "a: b", "a: c"], 1, 3, "b\nc"),
        # what was said before a tool step is not what is rejected
        (["u: a", "a: one moment", "c: look", "t: found", "a: b"], 1, 4, "b"),
        (["u: a", "a: one moment", "s: be brief", "a: b"], 1, 3, "b"),
        # something follows the reply: it is part of neither
        (["u: a", "a: b", "c: look", "t: found"], 1, 1, "b"),
        (["u: a", "a: b", "s: be brief", "u: c", "a: d"], 1, 1, "b"),
    ],
)
def test_the_fork_is_at_the_reply_of_the_weakest_turn(
    lines: list[str], turn: int, prompt: int, rejected: str
) -> None:
    conversation = talk(*lines)
    fork = fork_of(judged(conversation, turn))
    assert fork is not None
    assert (fork.conversation_id, fork.turn, fork.rejected) == ("c1", turn, rejected)
    assert list(fork.prompt) == [plain_message(m) for m in conversation.messages[:prompt]]


@pytest.mark.parametrize(
    ("lines", "turn"),
    [
        (["u: a", "a: b"], None),
        (["u: a", "a: "], 1),
        (["u: a", "a:  \n "], 1),
        (["u: a", "c: look", "t: found"], 1),
        (["u: a", "a: let me see", "c: look", "t: found", "a: "], 1),
    ],
)
def test_without_a_reply_to_better_there_is_no_fork(lines: list[str], turn: int | None) -> None:
    conversation = talk(*lines)
    whole = Judgement(as_scores({"coherence": 3}), verdict="good", weakest_turn=turn)
    rows = (Judged(Target("c1", "conversation"), whole),)
    assert fork_of(judged(conversation, turn, rows)) is None


def test_a_fork_carries_the_issues_of_its_turn() -> None:
    conversation = talk("u: a", "a: b", "u: c", "a: d")
    rows = (
        Judged(Target("c1", "turn", 1), Judgement(as_scores({"helpfulness": 4}), issues=("other",))),
        Judged(
            Target("c1", "turn", 2), Judgement(as_scores({"helpfulness": 2}), issues=("vague", "too long"))
        ),
        Judged(Target("c1", "conversation"), Judgement(as_scores({"coherence": 3}), weakest_turn=2)),
    )
    fork = fork_of(judged(conversation, 2, rows))
    assert fork is not None
    assert fork.issues == ("vague", "too long")


def test_messages_lose_the_keys_of_other_makers_and_keep_their_own() -> None:
    call = Message("assistant", None, (ToolCall("1", "f", "{}"),), extra={"refusal": None, "score": 3})
    assert plain_message(call) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": {}}}],
    }
    answer = Message("tool", "found", tool_call_id="1", name="f", extra={"latency": 2})
    assert plain_message(answer) == {"role": "tool", "content": "found", "tool_call_id": "1", "name": "f"}


@given(st.lists(st.sampled_from("sduaatc"), max_size=12))
def test_prompt_and_rejected_are_a_beginning_of_the_conversation(letters: list[str]) -> None:
    conversation = talk(*(f"{letter}: {i}" for i, letter in enumerate(letters)))
    for turn in conversation.replied_turns:
        parted = prompt_and_reply(conversation, turn)
        assert parted is not None
        prompt, reply = parted
        said = reply.split("\n")
        start, stop = len(prompt), len(prompt) + len(said)
        assert list(prompt) == [plain_message(m) for m in conversation.messages[:start]]
        assert [m.text for m in conversation.messages[start:stop]] == said
        assert all(m.role == "assistant" and not m.tool_calls for m in conversation.messages[start:stop])
        assert turn.start < start < stop <= turn.stop
        assert not any(m.role == "assistant" and not m.tool_calls for m in turn.messages[stop - turn.start :])
