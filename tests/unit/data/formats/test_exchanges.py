"""Records that list prompts with their replies, by names or in pairs."""

import json

import pytest

from dialogauge.core import Rating, RecordFault
from dialogauge.data import read_conversations
from dialogauge.data.field_map import FieldMap


def read(tmp_path, *records, **options):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    reader = read_conversations([str(path)], **options)
    return list(reader), [str(note) for note in reader.notes]


def contents(talk):
    return [(m.role, m.text) for m in talk.messages]


OPEN = [("user", "Is it open?"), ("assistant", "From nine."), ("user", "Today?"), ("assistant", "Yes.")]


@pytest.mark.parametrize(
    ("list_key", "prompt", "reply"),
    [
        ("turns", "user", "assistant"),
        ("turns", "user", "bot"),
        ("history", "question", "answer"),
        ("conversation", "human", "ai"),
        ("exchanges", "prompt", "response"),
        ("messages", "input", "output"),
    ],
)
def test_exchanges_by_their_usual_names(tmp_path, list_key, prompt, reply):
    items = [
        {prompt: "Is it open?", reply: "From nine.", "rating": 2, "ms": 9},
        {prompt: "Today?", reply: "Yes."},
    ]
    (talk,), notes = read(tmp_path, {"id": "e", list_key: items, "model": "m", "system_prompt": "Be kind."})
    assert contents(talk) == [("system", "Be kind."), *OPEN]
    assert (talk.id, talk.candidate) == ("e", "m")
    assert talk.ratings == (Rating("e", "rating", 2, 1),)
    assert talk.messages[2].extra == {"ms": 9}
    assert any(f"has exchanges: {prompt!r} with {reply!r}" in note for note in notes)


def test_pairs_of_texts(tmp_path):
    (talk,), notes = read(tmp_path, {"id": "e", "history": [["Is it open?", "From nine."], ["Today?", None]]})
    assert contents(talk) == OPEN[:3]
    assert any("pairs of texts: the first of each read as the user's" in note for note in notes)


def test_other_names_by_a_map(tmp_path):
    mapping = FieldMap(messages="log.parts", prompt="q.text", reply="a.0")
    items = [{"q": {"text": "Is it open?"}, "a": ["From nine."]}, {"q": {"text": "Today?"}, "a": ["Yes."]}]
    (talk,), _ = read(tmp_path, {"id": "e", "log": {"parts": items}}, mapping=mapping)
    assert contents(talk) == OPEN


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ("text", "exchange 2 is 'text': not like the first"),
        (["a", "b"], "exchange 2 is"),
        ({"user": 5, "bot": "x"}, "exchange 2: what the user says is 5: no text"),
        ({"other": 1}, "exchange 2 has neither prompt nor reply"),
        ({"user": "x", "bot": ["a"]}, "what the assistant says is"),
    ],
)
def test_an_exchange_unlike_the_first_is_a_fault(tmp_path, item, why):
    turns = [{"user": "Hi", "bot": "Hello"}]
    (fault, talk), _ = read(tmp_path, {"id": "e", "turns": [*turns, item]}, {"id": "f", "turns": turns})
    assert isinstance(fault, RecordFault)
    assert why in str(fault)
    assert talk.id == "f"


def test_exchanges_in_the_order_that_a_map_names(tmp_path):
    turns = [
        {"user": "Today?", "bot": "Yes.", "at": "2026-05-04T10:01:00"},
        {"user": "Is it open?", "bot": "From nine.", "at": "2026-05-04T10:00:00"},
    ]
    (talk,), notes = read(tmp_path, {"id": "e", "turns": turns}, mapping=FieldMap(order_by="at"))
    assert contents(talk) == OPEN
    assert any("put in that of their 'at'" in note for note in notes)
    del turns[1]["at"]
    (fault, _), _ = read(
        tmp_path,
        {"id": "e", "turns": turns},
        {"id": "f", "turns": turns[:1]},
        mapping=FieldMap(order_by="at"),
    )
    assert "message 2 has under 'at' nothing" in str(fault)


PAST = [{"role": "user", "content": "Is it open?"}, {"role": "assistant", "content": "From nine."}]


@pytest.mark.parametrize("prompt", ["question", "query", "input"])
@pytest.mark.parametrize(
    "past",
    [
        PAST,
        [["Is it open?", "From nine."]],
        [{"user": "Is it open?", "assistant": "From nine."}],
        [{"type": "human", "content": "Is it open?"}, {"type": "ai", "content": "From nine."}],
        json.dumps(PAST),
    ],
)
@pytest.mark.parametrize("key", ["history", "chat_history"])
def test_the_messages_before_a_prompt_that_stand_beside_it(tmp_path, key, past, prompt):
    (talk,), notes = read(tmp_path, {"id": "e", key: past, prompt: "Today?", "answer": "Yes."})
    assert contents(talk) == OPEN
    assert any(f"messages before their prompt under '{key}': read first" in note for note in notes)


@pytest.mark.parametrize("past", ["User: Is it open?", [{"a": 1}], [["a", "b", "c"]]])
def test_a_history_that_is_none_is_said(tmp_path, past):
    (talk,), notes = read(tmp_path, {"id": "e", "chat_history": past, "question": "Today?", "answer": "Yes."})
    assert contents(talk) == OPEN[2:]
    assert any("was left out: a 'chat_history' that cannot be read as messages" in note for note in notes)


def test_a_reply_beside_messages_of_other_names(tmp_path):
    turns = [{"speaker": "user", "text": "Today?"}]
    (talk, odd), notes = read(
        tmp_path,
        {"id": "e", "dialogue": turns, "response": "Yes."},
        {"id": "f", "dialogue": turns, "response": {"score": 4}},
    )
    assert contents(talk) == OPEN[2:]
    assert contents(odd) == OPEN[2:3]
    assert any("has a 'response' beside their messages: read as the reply to them" in note for note in notes)
    assert any("has a 'response' beside their messages that is no text" in note for note in notes)
    (talk,), notes = read(tmp_path, {"id": "e", "messages": PAST, "response": "At ten."})
    assert contents(talk) == OPEN[:2]
    assert any("'response' beside messages that end with a reply: kept as metadata" in note for note in notes)
