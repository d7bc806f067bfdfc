from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import (
    Conversation,
    Message,
    Place,
    Rating,
    ToolCall,
    WorkUnit,
    conversation_digest,
    digest,
    digest_text,
)
from dialogauge.core.unit import words_digest
from talks import message, talk

BASE = talk("u: a", "a: b", user_id="u1", scenario="s", context="x", profile={"age": 3}, candidate="m")


def test_digest_text_is_the_beginning_of_sha_256() -> None:
    assert digest_text("abc") == "ba7816bf8f01cfea414140de5dae2223"
    assert digest_text("") == "e3b0c44298fc1c149afbf4c8996fb924"


def test_half_a_surrogate_pair_has_a_digest() -> None:
    assert len(digest_text("\ud83d")) == 32


def test_words_up_to_a_turn_have_the_digest_of_a_conversation_that_ends_there() -> None:
    whole = talk("u: a", "a: b", "u: c", "a: d")
    assert words_digest(whole, 1) == words_digest(talk("u: a", "a: b"))
    assert words_digest(whole, 2) == words_digest(whole)
    assert words_digest(whole, 1) == digest_text("user:1:aassistant:1:b")[:16]
    assert words_digest(talk("u: a", "a: B"), 1) != words_digest(whole, 1)


def test_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert digest({"a": 1, "b": [1, 2]}) != digest({"a": 1, "b": [2, 1]})


def test_a_digest_is_the_same_in_another_process() -> None:
    code = "from dialogauge.core import *; print(digest({'b': '长', 'a': [1.5, None, True]}))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest({"a": [1.5, None, True], "b": "长"})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(json_values, json_values)
def test_equal_digests_mean_equal_values(a: object, b: object) -> None:
    assert (digest([a]) == digest([b])) == (repr_of(a) == repr_of(b))


def repr_of(value: object) -> object:
    """A value in which 1 and True differ and the order of keys does not count."""
    if isinstance(value, dict):
        return "object", sorted((k, repr(repr_of(v))) for k, v in value.items())
    return [repr_of(v) for v in value] if isinstance(value, list) else repr(value)


CALL = Message("assistant", None, (ToolCall("1", "f", "{}"),))


@pytest.mark.parametrize(
    "change",
    [
        {"id": "c2"},
        {"user_id": None},
        {"scenario": "t"},
        {"context": None},
        {"profile": {"age": 4}},
        {"profile": None},
        {"candidate": "n"},
        {"language": "en"},
        {"messages": BASE.messages[:1]},
        {"messages": (*BASE.messages, message("u: c"))},
        {"messages": (message("u: A"), message("a: b"))},
        {"messages": (message("s: a"), message("a: b"))},
        {"messages": (message("u: a"), CALL)},
        {"messages": (replace(BASE.messages[0], extra={"weight": 0}), BASE.messages[1])},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_conversations_digest_follows_what_a_judge_may_see(change: dict[str, object]) -> None:
    assert conversation_digest(replace(BASE, **change)) != conversation_digest(BASE)


def test_texts_do_not_run_into_one_another() -> None:
    def of(*texts: str, **fields: str) -> str:
        return conversation_digest(Conversation("c", tuple(Message("user", t) for t in texts), **fields))

    assert len({of("a", "b"), of("a1:b"), of("auser:1:b"), of("a", "b", ""), of("ab"), of("", "ab")}) == 6
    assert len({of(user_id="-"), of(), of(scenario="-"), of(user_id="1:a"), of(user_id="a")}) == 5


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.text(max_size=8)), max_size=4))
def test_equal_conversations_have_equal_digests_and_others_not(messages: list[tuple[str, str]]) -> None:
    def of(pairs: list[tuple[str, str]]) -> str:
        return conversation_digest(Conversation("c", tuple(Message(r, t) for r, t in pairs)))

    assert of(messages) == of(list(messages))
    for index, (role, text) in enumerate(messages):
        changed = [*messages[:index], (role, f"{text}."), *messages[index + 1 :]]
        assert of(changed) != of(messages)
        assert of(messages[:index]) != of(messages)


def test_half_a_surrogate_pair_in_a_message_counts() -> None:
    halves = [Conversation("c", (Message("user", text),)) for text in ("\ud83d", "\ude00", "?")]
    assert len({conversation_digest(c) for c in halves}) == 3


def test_a_conversations_digest_follows_the_calls_of_tools() -> None:
    calls = [("1", "f", "{}"), ("2", "f", "{}"), ("1", "g", "{}"), ("1", "f", "{ }")]
    made = {
        conversation_digest(Conversation("c", (Message("assistant", None, (ToolCall(*call),)),)))
        for call in calls
    }
    assert len(made) == 4


def test_a_conversations_digest_ignores_what_a_judge_never_sees() -> None:
    told = replace(
        BASE, ratings=(Rating("c1", "d", 5),), metadata={"fault": "loop"}, place=Place("a.jsonl", 2)
    )
    assert conversation_digest(told) == conversation_digest(BASE) == conversation_digest(told.blinded())


def test_a_unit_is_named_by_all_its_parts() -> None:
    plain = WorkUnit("judge", BASE, "t", "j", 1, 0)
    others = [
        replace(plain, study="s"),
        replace(plain, target_digest="u"),
        replace(plain, judge_digest="k"),
        replace(plain, repeat=2),
        replace(plain, seed=1),
        replace(plain, target_digest="tj", judge_digest=""),
        replace(plain, repeat=10),
        replace(plain, repeat=1, seed=10),
    ]
    assert len({plain.key, *(o.key for o in others)}) == 9
    assert plain.key == replace(plain, subject=talk("u: other")).key
    assert len(bytes.fromhex(plain.key)) == 16


def test_a_unit_may_be_about_no_single_conversation() -> None:
    unit = WorkUnit("fit", None, "t", "j")
    assert unit.key == WorkUnit("fit", BASE, "t", "j").key
    with pytest.raises(ValueError, match="'fit' is about no single conversation"):
        _ = unit.conversation
