"""Reasoning that stands at the head of a stored reply is no part of it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, Message, RecordFault
from dialogauge.data import memory_conversations, read_conversations
from dialogauge.data.notes import NoteBook
from dialogauge.data.reasoning import without_reasoning

THOUGHT = "<think>\nTwo and three.\n</think>\n\nFive."
APART = "messages have reasoning: kept under 'reasoning', no judge reads it"
CUT = "replies are reasoning alone, as if cut off: read as empty"
ASK = {"role": "user", "content": "2+3?"}


def read(tmp_path, *records, name="talks.jsonl", **options):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    reader = read_conversations([str(path)], **options)
    return list(reader), {note.text: note.count for note in reader.notes}


def reply(text):
    return {"role": "assistant", "content": text}


RECORDS = [
    {"id": "a", "messages": [ASK, reply(THOUGHT)]},
    {"id": "a", "messages": [ASK, reply([{"type": "text", "text": THOUGHT}])]},
    {"id": "a", "messages": [ASK, reply(THOUGHT.removeprefix("<think>"))]},
    {"id": "a", "conversations": [{"from": "human", "value": "2+3?"}, {"from": "gpt", "value": THOUGHT}]},
    {"id": "a", "turns": [{"user": "2+3?", "bot": THOUGHT}]},
    {"id": "a", "messages": [ASK], "response": THOUGHT},
    {"conversation_id": "a", "prompt": "2+3?", "response": THOUGHT},
    {"request": {"messages": [ASK]}, "response": {"choices": [{"message": reply(THOUGHT)}]}},
]


@pytest.mark.parametrize("record", RECORDS)
def test_it_is_kept_beside_the_reply_in_every_format(record, tmp_path):
    (talk,), notes = read(tmp_path, record)
    question, answer = talk.messages
    assert (question.text, answer.text) == ("2+3?", "Five.")
    assert answer.extra["reasoning"] == "Two and three."
    assert notes[APART] == 1


def test_notes_count_the_messages_and_a_reply_that_was_cut_off_is_empty(tmp_path):
    talks = [ASK, reply(THOUGHT), ASK, reply("<think>Four and"), ASK, reply("Eight.")]
    (talk,), notes = read(tmp_path, {"messages": talks})
    assert [m.text for m in talk.messages if m.role == "assistant"] == ["Five.", "", "Eight."]
    assert [turn.has_reply for turn in talk.turns] == [True, True, True]
    assert (notes[APART], notes[CUT]) == (2, 1)
    with pytest.raises(RecordFault, match="reasoning alone"):
        read(tmp_path, {"id": "a", "messages": talks}, strict=True)


def test_a_call_after_reasoning_is_no_empty_reply(tmp_path):
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    talks = [ASK, {**reply("<think>Add.</think>"), "tool_calls": [call]}]
    (talk,), notes = read(
        tmp_path, {"messages": [*talks, {"role": "tool", "tool_call_id": "c", "content": "5"}]}
    )
    assert talk.messages[1].content is None
    assert CUT not in notes


def test_reasoning_of_the_provider_stays(tmp_path):
    record = {"messages": [ASK, {**reply(THOUGHT), "reasoning": "Sum."}]}
    (talk,), _ = read(tmp_path, record)
    assert talk.messages[1].extra["reasoning"] == "Sum.\nTwo and three."


def test_calls_are_put_together_where_a_later_request_leaves_the_reasoning_out(tmp_path):
    first = {"request": {"messages": [ASK]}, "response": {"choices": [{"message": reply(THOUGHT)}]}}
    asks = [ASK, reply("Five."), {"role": "user", "content": "4+4?"}]
    second = {
        "request": {"messages": asks},
        "response": {"choices": [{"message": reply("<think>x</think>8")}]},
    }
    (talk,), notes = read(tmp_path, first, second)
    assert [m.text for m in talk.messages] == ["2+3?", "Five.", "4+4?", "8"]
    assert notes[APART] == 2


def test_steps_as_text_are_read_after_reasoning(tmp_path):
    text = '<think>Look.</think>\nThought: look it up\nAction: find\nAction Input: {"q": 1}'
    talks = [ASK, reply(text), {"role": "user", "content": "Observation: 5"}, reply("Final Answer: Five.")]
    (talk,), _ = read(tmp_path, {"messages": talks})
    assert [call.name for m in talk.messages for call in m.tool_calls] == ["find"]


@pytest.mark.parametrize(
    "text",
    [
        "Close it with </think> at the end.",
        "Write\n```\n</think>\n```\nafter it.",
        '{"tag": "</think>"}',
        "Is a<b or [THIS]?",
    ],
)
def test_a_reply_about_such_tags_stays(text):
    messages = (Message("user", "<think>mine</think>"), Message("assistant", text))
    assert without_reasoning(messages) is messages


@given(st.lists(st.sampled_from(["<think>", "</think>", "\n", "a", "[THINK]", "```", "{"]), max_size=12))
def test_nothing_is_left_for_a_second_time(pieces):
    once = without_reasoning([Message("assistant", "".join(pieces))])
    assert without_reasoning(once) is once


def test_it_is_so_in_memory_too():
    talk = Conversation("a", (Message("user", "2+3?"), Message("assistant", THOUGHT)))
    (read,) = memory_conversations([talk])
    assert read.messages[1].text == "Five."


def test_the_note_of_one_reply():
    book = NoteBook()
    book.assume(CUT)
    assert str(book.notes[0]) == "1 reply is reasoning alone, as if cut off: read as empty"
