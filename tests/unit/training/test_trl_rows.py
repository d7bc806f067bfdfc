from __future__ import annotations

import json
from typing import Any

import pytest

from dialogauge.core import Conversation, Message, ToolCall
from dialogauge.training import (
    Fork,
    JudgedConversation,
    dpo_row,
    fork_of,
    kto_rows,
    sft_row,
    unfit,
    worth_learning,
)
from dialogauge.training.pairs import TurnFigures, plain_message
from talks import message, talk


def judged(
    conversation: Conversation,
    *qualities: float | None,
    weakest: int | None = None,
    verdict: str | None = "good",
    issues: dict[int, tuple[str, ...]] | None = None,
) -> JudgedConversation:
    figures = tuple(
        TurnFigures(number, quality, (issues or {}).get(number, ()))
        for number, quality in enumerate(qualities, start=1)
    )
    return JudgedConversation(
        conversation, "fake", figures, weakest, verdict, 0.5, 0.0, len(figures) + 1, 0, None
    )


def test_a_preference_pair() -> None:
    prompt = ({"role": "user", "content": "hi"},)
    assert dpo_row(Fork("c", 1, prompt, "hello?", ()), "Hello!") == {
        "prompt": [{"role": "user", "content": "hi"}],
        "chosen": [{"role": "assistant", "content": "Hello!"}],
        "rejected": [{"role": "assistant", "content": "hello?"}],
    }


def test_kto_rows_have_prompt_completion_and_label() -> None:
    conversation = talk("s: rules", "u: a", "a: b", "u: c", "c: look", "t: found", "a: d")
    rows = list(kto_rows(judged(conversation, 1.0, 0.0)))
    assert rows == [
        (
            1,
            {
                "prompt": [{"role": "system", "content": "rules"}, {"role": "user", "content": "a"}],
                "completion": [{"role": "assistant", "content": "b"}],
                "label": True,
            },
            "judge",
        ),
        (
            2,
            {
                "prompt": [plain_message(m) for m in conversation.messages[:-1]],
                "completion": [{"role": "assistant", "content": "d"}],
                "label": False,
            },
            "judge",
        ),
    ]


@pytest.mark.parametrize(
    ("quality", "issues", "weakest", "label"),
    [
        (0.75, (), None, True),
        (0.74, (), None, None),
        (1.0, ("vague",), None, None),
        (0.5, (), None, None),
        (0.41, (), None, None),
        (0.4, (), None, False),
        (0.0, ("vague",), None, False),
        (1.0, (), 1, False),  # the weakest turn is never an example to follow
        (None, (), None, None),
        (None, (), 1, False),
    ],
)
def test_labels(
    quality: float | None, issues: tuple[str, ...], weakest: int | None, label: bool | None
) -> None:
    found = judged(talk("u: a", "a: b"), quality, weakest=weakest, issues={1: issues})
    assert [row["label"] for _, row, _ in kto_rows(found)] == ([] if label is None else [label])


def test_a_turn_without_reply_text_gives_no_row() -> None:
    conversation = talk("u: a", "a: ", "u: b", "c: look", "t: found")
    assert list(kto_rows(judged(conversation, 1.0, 0.0))) == []


@pytest.mark.parametrize(
    ("verdict", "least", "kept"),
    [
        ("good", "good", True),
        ("excellent", "good", True),
        ("borderline", "good", False),
        ("poor", "borderline", False),
        ("good", "excellent", False),
        ("poor", "poor", True),
        (None, "poor", False),
    ],
)
def test_conversations_above_a_verdict(verdict: str | None, least: str, kept: bool) -> None:
    worth, source = worth_learning(judged(talk("u: a", "a: b"), 1.0, verdict=verdict), least)
    assert (bool(worth), worth is None, source) == (kept, verdict is None, "judge")


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (["s: rules", "u: a", "a: b"], 3),
        (["u: a", "a: b", "u: thanks"], 2),  # it ends with what is to be learnt
        (["u: a", "a: b", "u: c", "u: d", "s: e"], 2),
        (["u: a", "c: look", "t: found"], None),
        (["u: a"], None),
    ],
)
def test_a_conversation_to_learn_ends_with_the_assistant(lines: list[str], kept: int | None) -> None:
    conversation = talk(*lines)
    row = sft_row(judged(conversation, verdict="good"))
    expected = [plain_message(m) for m in conversation.messages[:kept]]
    assert row == (None if kept is None else {"messages": expected})


def test_no_row_holds_keys_of_other_makers() -> None:
    scored = Message("assistant", "b", extra={"score": 1, "better": "c"})
    conversation = Conversation("c", (message("u: a"), scored))
    found = judged(conversation, 1.0)
    row: Any = sft_row(found)
    ((_, kto, _),) = kto_rows(found)
    for line in (*row["messages"], *kto["prompt"], *kto["completion"]):
        assert set(line) == {"role", "content"}


TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    ("metadata", "tools"),
    [
        ({"tools": [TOOL]}, [TOOL]),
        ({"tools": json.dumps([TOOL])}, [TOOL]),
        ({"functions": [TOOL["function"]]}, [TOOL]),
        *(({"tools": odd}, None) for odd in ([], "none", "[]", 3, None, ["look"], {"name": "look"})),
    ],
)
def test_tool_definitions_stand_in_a_column_of_their_own(metadata: Any, tools: Any) -> None:
    found = judged(talk("u: a", "c: look", "t: found", "a: b", metadata=metadata), 0.0, weakest=1)
    fork = fork_of(found)
    assert fork is not None
    rows = [dpo_row(fork, "better"), *(row for _, row, _ in kto_rows(found)), sft_row(found)]
    assert [row.get("tools") for row in rows] == [tools] * 3


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        (" {} ", {}),
        ("", {}),
        ("[1]", "[1]"),
        ('"{}"', '"{}"'),
        ("{a: 1}", "{a: 1}"),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": 123456789012345678901}', '{"a": 123456789012345678901}'),
        ('{"a": "\\ud800"}', '{"a": "\\ud800"}'),
        ("[" * 2000, "[" * 2000),
    ],
)
def test_arguments_are_objects_where_they_are_json(arguments: str, kept: object) -> None:
    call = Message("assistant", None, (ToolCall("call_1", "look", arguments),))
    conversation = Conversation("c", (message("u: a"), call, message("t: found"), message("a: b")))
    row = sft_row(judged(conversation, 1.0))
    assert row is not None
    assert row["messages"][1]["tool_calls"][0]["function"]["arguments"] == kept
    assert (unfit(conversation.messages) is not None) == isinstance(kept, str)
    assert conversation.messages[1].tool_calls[0].arguments == arguments
