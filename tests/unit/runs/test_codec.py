from __future__ import annotations

import zlib

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, Message, Place, Rating, ToolCall
from dialogauge.runs.records import decode_conversation, encode_conversation, pack, unpack
from talks import talk

text = st.text(max_size=12)
maybe = st.none() | text
names = text.filter(lambda t: t not in {"role", "content", "tool_calls", "tool_call_id", "name"})
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
mappings = st.dictionaries(names, values, max_size=3)
parts = st.lists(st.dictionaries(text, values, max_size=3), max_size=3).map(tuple)
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "developer", "user", "assistant", "tool"]),
    content=maybe | parts,
    tool_calls=st.lists(st.builds(ToolCall, text, text, text), max_size=2).map(tuple),
    tool_call_id=maybe,
    name=maybe,
    extra=mappings,
)
ratings = st.builds(
    Rating,
    text,
    text,
    numbers | text,
    turn=st.none() | st.integers(0, 99),
    rater=maybe,
    candidate=maybe,
    note=maybe,
)
conversations = st.builds(
    Conversation,
    id=text,
    messages=st.lists(messages, max_size=4).map(tuple),
    user_id=maybe,
    scenario=maybe,
    context=maybe,
    profile=st.none() | mappings,
    candidate=maybe,
    language=maybe,
    ratings=st.lists(ratings, max_size=3).map(tuple),
    metadata=mappings,
)


@given(conversations)
def test_a_conversation_comes_back_as_it_was(conversation: Conversation) -> None:
    again = decode_conversation(encode_conversation(conversation))
    assert again == conversation
    assert repr(again) == repr(conversation)  # 1 and 1.0 and True are told apart


def test_its_place_is_left_out() -> None:
    again = decode_conversation(encode_conversation(talk("u: a", place=Place("log.jsonl", 3))))
    assert again.place is None
    rated = talk("u: a", ratings=(Rating("c", "fun", 4, 1, place=Place("r.csv", 3)),))
    assert decode_conversation(encode_conversation(rated)).ratings[0].place is None


def test_the_whole_of_a_conversation_with_tools_parts_and_ratings() -> None:
    conversation = Conversation(
        "会话 1",
        (
            Message("system", "rules"),
            Message(
                "user", ({"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}})
            ),
            Message("assistant", None, (ToolCall("1", "find", '{"q": "x"}'),), extra={"refusal": None}),
            Message("tool", "found", tool_call_id="1", name="find"),
            Message("assistant", "here\x00 it is 😀"),
        ),
        profile={},
        ratings=(
            Rating("会话 1", "satisfaction", 4.5, turn=1, rater="r", note="fine"),
            Rating("会话 1", "satisfaction", 4, turn=2, weight=2.5),
        ),
        metadata={"tags": ["a", {"b": None}]},
    )
    assert decode_conversation(encode_conversation(conversation)) == conversation


def test_text_shrinks() -> None:
    conversation = talk(*["u: the same words again and again", "a: the same words again and again"] * 50)
    plain = orjson.dumps([m.to_openai() for m in conversation.messages])
    assert len(encode_conversation(conversation)) < len(plain) / 5


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("cut off \ud83d", "cut off \ufffd"),
        ("cut \ud83d off", "cut \ufffd off"),
        ("\ude00", "\ufffd"),
        (["\ud83d", {"\ud83d": ("a", "\ud83d!")}], ["\ufffd", {"\ufffd": ["a", "\ufffd!"]}]),
        (2**64, float(2**64)),
        ({"n": -(10**30), "m": 10**400, "t": True, "f": 1.5}, {"n": -1e30, "m": None, "t": True, "f": 1.5}),
        (2**63, 2**63),
        ({1: "a"}, {"1": "a"}),
    ],
)
def test_what_json_cannot_hold_is_replaced_and_nothing_else(value: object, kept: object) -> None:
    assert unpack(pack(value)) == kept


def test_damaged_bytes_are_noticed() -> None:
    whole = pack({"a": "b" * 100})
    with pytest.raises(zlib.error):
        unpack(whole[:-5])
    with pytest.raises(zlib.error):
        unpack(whole[:8] + bytes([whole[8] ^ 255]) + whole[9:])
