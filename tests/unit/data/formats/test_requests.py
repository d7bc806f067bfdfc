"""Logs of requests and responses; completions are as `model_dump` of openai 3.54 wrote them."""

import json
from pathlib import Path

import pytest

from dialogauge.core import Conversation, RecordFault
from dialogauge.data import read_conversations
from dialogauge.data.formats.spans import SAME_ID


def read(tmp_path, *records):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [f.format for f in reader.files.values()] == ["requests"]
    return outcomes, [n.text for n in reader.notes]


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


SYSTEM = {"role": "system", "content": "You help in a bike shop."}


def completion(name, text, at=1777888800):
    message = {"content": text, "refusal": None, "role": "assistant", "annotations": None, "tool_calls": None}
    choice = {"finish_reason": "stop", "index": 0, "logprobs": None, "message": message}
    about = {"object": "chat.completion", "created": at, "model": "model-a"}
    return {"id": name, "choices": [choice], **about}


def call(name, text, *messages, at=1777888800, **more):
    request = {"model": "model-a", "messages": [SYSTEM, *messages], "user": "u7"}
    return {"request": request, "response": completion(name, text, at), **more}


READY = call("c1", "Yes.", user("Is my bike ready?"))
CLOSE = call(
    "c2", "At six.", user("Is my bike ready?"), assistant("Yes."), user("When do you close?"), at=1777888860
)


@pytest.mark.parametrize("records", [[READY, CLOSE], [CLOSE, READY]])
def test_a_call_that_repeats_an_earlier_one_goes_on_from_it(records, tmp_path):
    (c,), _ = read(tmp_path, *records)
    assert (c.id, c.user_id, c.candidate, c.instructions) == ("c1", "u7", "model-a", SYSTEM["content"])
    assert [(t.user_text, t.reply_text) for t in c.turns] == [
        ("Is my bike ready?", "Yes."),
        ("When do you close?", "At six."),
    ]


def test_two_conversations_that_begin_alike_stay_two(tmp_path):
    again = call("c3", "Yes.", user("Is my bike ready?"))
    price = call("c4", "Nine.", user("Is my bike ready?"), assistant("Yes."), user("What is the price?"))
    outcomes, _ = read(tmp_path, READY, again, CLOSE, price)
    assert [[t.user_text for t in c.turns] for c in outcomes] == [
        ["Is my bike ready?", "When do you close?"],
        ["Is my bike ready?", "What is the price?"],
    ]


def test_steps_of_an_agent_are_one_turn(tmp_path):
    calling = {
        **assistant(None),
        "tool_calls": [{"id": "t1", "function": {"name": "find", "arguments": "{}"}}],
    }
    first = {"request": {"messages": [user("Ready?")]}, "response": completion("c1", None)}
    first["response"]["choices"][0]["message"] = calling
    found = {"role": "tool", "tool_call_id": "t1", "content": "ready"}
    last = {"request": {"messages": [user("Ready?"), calling, found]}, "response": completion("c2", "Yes.")}
    (c,), _ = read(tmp_path, first, last)
    assert [m.role for m in c.messages] == ["user", "assistant", "tool", "assistant"]
    assert c.turns[0].reply_text == "Yes."
    # The next request may leave out the tools, and another user may ask the same.
    more = {"messages": [user("Ready?"), assistant("Yes."), user("Closing?")]}
    other = json.loads(json.dumps(first).replace("{}", "{7}").replace('"c1"', '"c9"'))
    (c, d), _ = read(tmp_path, other, first, last, {"request": more, "response": completion("c3", "Six.")})
    assert [m.role for m in d.messages] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert [(t.user_text, t.reply_text) for t in d.turns] == [("Ready?", "Yes."), ("Closing?", "Six.")]
    assert (c.id, len(c.messages)) == ("c9", 2)


def reply(name, text, **more):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    item = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
    return {"id": name, "object": "response", "created_at": 1777888800, "output": [item], **more}


@pytest.mark.parametrize(
    "records",
    [
        [
            {"request": {"input": "Ready?", "instructions": "Be brief."}, "response": reply("r1", "Yes.")},
            {
                "request": {"input": [user("Closing?")], "previous_response_id": "r1"},
                "response": reply("r2", "Six."),
            },
        ],
        [
            reply("r1", "Yes.", input="Ready?", instructions="Be brief."),
            reply("r2", "Six.", input="Closing?", previous_response_id="r1"),
        ],
        [
            {
                "request": {"input": "Ready?", "instructions": "Be brief.", "conversation": talk},
                "response": one,
            }
            for talk, one in (("r1", reply("r8", "Yes.")), ("r0", reply("r9", "No.")))
        ]
        + [{"request": {"input": "Closing?", "conversation": {"id": "r1"}}, "response": reply("r7", "Six.")}],
    ],
)
def test_the_responses_api(records, tmp_path):
    outcomes, _ = read(tmp_path, *records)
    c = next(c for c in outcomes if c.id == "r1")
    assert [m.text for m in c.messages] == ["Be brief.", "Ready?", "Yes.", "Closing?", "Six."]


MESSAGE = {
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Yes."}],
}
GEMINI = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Yes."}]}}]}
ASKED = {
    "system": [{"text": "Be brief."}],
    "messages": [{"role": "user", "content": [{"text": "Ready?"}]}],
}
CONVERSE = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Yes."}]}},
    "stopReason": "end_turn",
}
CONTENTS = {
    "system_instruction": {"parts": [{"text": "Be brief."}]},
    "contents": [{"role": "user", "parts": [{"text": "Ready?"}]}],
}


@pytest.mark.parametrize(
    "record",
    [
        {"request": {"system": "Be brief.", "messages": [user("Ready?")]}, "response": MESSAGE},
        {"request": CONTENTS, "response": GEMINI},
        {"request": {"body": CONTENTS}, "response": {"status_code": 200, "body": GEMINI}},
        {
            "request_body": {"messages": [user("Ready?")], "system": "Be brief."},
            "response_body": MESSAGE,
        },
        {"messages": [{**SYSTEM, "content": "Be brief."}, user("Ready?")], "response": "Yes."},
        {"messages": [{**SYSTEM, "content": "Be brief."}, user("Ready?")], **completion("x", "Yes.")},
        {"input": [{**SYSTEM, "content": "Be brief."}, user("Ready?")], "output": assistant("Yes.")},
        {"operation": "Converse", "input": {"inputBodyJson": ASKED}, "output": {"outputBodyJson": CONVERSE}},
    ],
)
def test_each_interface_and_each_place(record, tmp_path):
    (c,), _ = read(tmp_path, record)
    assert [(m.role, m.text) for m in c.messages] == [
        ("system", "Be brief."),
        ("user", "Ready?"),
        ("assistant", "Yes."),
    ]


def test_what_stands_beside_a_call_is_kept(tmp_path):
    more = {"scenario": "support", "language": "en", "rating": 4, "release": "7", "metadata": {"shop": "b"}}
    later = {"ratings": {"tone": 2}, "release": "8"}
    for records in ([READY | more, CLOSE | later], [CLOSE | later, READY | more]):
        (c,), notes = read(tmp_path, *records)
        assert (c.scenario, c.language) == ("support", "en")
        assert (c.metadata["release"], c.metadata["shop"]) == ("7", "b")
        assert [(r.dimension, r.score, r.turn) for r in c.ratings] == [("rating", 4, 1), ("tone", 2, 2)]
        assert any("'rating' were read as ratings" in n for n in notes)


def test_a_call_without_an_id_is_named_by_its_line(tmp_path):
    (c,), notes = read(tmp_path, {"messages": [user("Ready?")], "response": "Yes.", "rating": 2})
    assert (c.id, [(r.turn, r.score) for r in c.ratings]) == ("log.jsonl:1", [(None, 2)])
    assert any("have no id" in n for n in notes)


ASKS = [
    {
        "custom_id": f"q{n}",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"messages": [user(f"{n}?")]},
    }
    for n in (1, 2)
]
REPLIES = [
    {"id": "b", "custom_id": f"q{n}", "response": {"status_code": 200, "body": completion(f"c{n}", f"{n}!")}}
    for n in (2, 1)
]


def test_the_two_files_of_a_batch_in_one(tmp_path):
    outcomes, _ = read(tmp_path, *ASKS, *REPLIES)
    assert [(c.id, [m.text for m in c.messages]) for c in outcomes] == [
        ("q1", ["1?", "1!"]),
        ("q2", ["2?", "2!"]),
    ]


def test_half_of_a_batch_is_said(tmp_path):
    outcomes, notes = read(tmp_path, *ASKS)
    assert all(isinstance(c, Conversation) for c in outcomes)
    assert "conversations have no assistant reply" in notes
    outcomes, _ = read(tmp_path, *REPLIES)
    assert [str(f.message) for f in outcomes] == ["the trace holds replies without what was asked"] * 2


def test_what_cannot_be_read_is_a_fault(tmp_path):
    odd = call("c5", [{"type": "hologram"}], user("hi"))
    failed = {"request": None, "response": None, "error": {"message": "Overloaded"}}
    outcomes, _ = read(tmp_path, READY, odd, failed, {}, 4)
    messages = [f.message for f in outcomes if isinstance(f, RecordFault)]
    assert len(messages) == 4
    assert any("'hologram' cannot be read" in m for m in messages)
    assert any("the request failed: {'message': 'Overloaded'}" in m for m in messages)
    assert "it has neither a request nor a response" in messages
    assert "the record is 4: no request with its response" in messages


BLOCKS = [{"type": "text", "text": "Yes."}]


@pytest.mark.parametrize(
    "beside",
    [
        *({key: "Yes."} for key in ("response", "completion", "output", "reply", "answer", "output_text")),
        {"response": {"text": "Yes."}},
        {"message": assistant("Yes.")},
        {"content": BLOCKS},
        {"id": "msg_1", "type": "message", "role": "assistant", "content": BLOCKS, "stop_reason": "end_turn"},
    ],
)
def test_the_reply_that_stands_beside_messages(beside, tmp_path):
    (c,), _ = read(tmp_path, {"messages": [SYSTEM, user("Ready?")], "release": 7, **beside})
    assert [m.text for m in c.messages] == [SYSTEM["content"], "Ready?", "Yes."]
    assert c.metadata["release"] == 7


def test_what_is_no_reply_is_kept(tmp_path):
    (c,), _ = read(tmp_path, {"messages": [user("Ready?")], "response": "Yes.", "answer": {"id": 4}})
    assert c.metadata["answer"] == {"id": 4}


@pytest.mark.parametrize("key", ["choices", "candidates"])
def test_choices_beside_the_first_are_counted(tmp_path, key):
    texts = ("Yes.", "No.", "Maybe.")
    choices = {
        "choices": [{"message": assistant(text)} for text in texts],
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}} for text in texts],
    }
    request = {"messages": [user("Ready?")]}
    records = [{"request": request, "response": {key: choices[key]}}, {**request, key: choices[key]}]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    reader = read_conversations([str(path)])
    assert [[m.text for m in c.messages] for c in reader] == [["Ready?", "Yes."]] * 2
    assert any(str(note).startswith("4 messages were left out: choices beside") for note in reader.notes)


@pytest.mark.parametrize("odd", [["b"], {"id": "b"}, 4, True])
def test_a_previous_response_that_is_no_name_is_passed_over(tmp_path, odd):
    (talk,), _ = read(tmp_path, call("a", "Yes.", user("Ready?"), previous_response_id=odd))
    assert len(talk.turns) == 1


def test_an_id_that_a_server_draws_twice_merges_nothing(tmp_path):
    """Ollama draws a number below 999; what differs stays apart, and what is the same counts once."""
    calls = [call("chatcmpl-7", f"{n}!", user(f"{n}?")) for n in range(3)]
    first, notes = read(tmp_path, *calls, calls[1])
    assert [(c.id, [m.text for m in c.messages[1:]]) for c in first] == [
        ("chatcmpl-7", ["0?", "0!"]),
        ("chatcmpl-7~2", ["1?", "1!"]),
        ("chatcmpl-7~3", ["2?", "2!"]),
    ]
    assert {SAME_ID, "records were left out: the same call again"} <= set(notes)


def test_the_ids_of_two_logs_merge_nothing(tmp_path):
    paths = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl", "c.jsonl")]
    for path, n in zip(paths, (1, 2, 2), strict=True):
        record = call("chatcmpl-7", f"{n}!", user(f"{n}?"))
        Path(path).write_text(json.dumps(record), encoding="utf-8")
    first, second, again = read_conversations(paths)
    assert (first.id, second.id, second.messages[1].text) == ("chatcmpl-7", "chatcmpl-7~2:1", "2?")
    assert "the id was seen before" in again.message
