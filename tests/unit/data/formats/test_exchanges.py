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
