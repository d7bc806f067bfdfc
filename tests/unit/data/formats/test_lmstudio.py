"""What LM Studio keeps of a chat."""

import json

import pytest

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations


def single(role, *parts):
    return {"type": "singleStep", "role": role, "content": list(parts)}


def text(words, **more):
    return {"type": "text", "text": words, **more}


def step(*parts, **more):
    return {"type": "contentBlock", "stepIdentifier": "s", "content": list(parts), **more}


def steps(*several, sender="model-a"):
    return {
        "type": "multiStep",
        "role": "assistant",
        "senderInfo": {"senderName": sender},
        "steps": list(several),
    }


def one_of(*versions, chosen=0):
    return {"versions": list(versions), "currentlySelected": chosen}


def read(tmp_path, *messages, **more):
    record = {"name": "Tea", "createdAt": 1777888800000, "tokenCount": 9, "messages": list(messages), **more}
    path = tmp_path / "1777888800000.conversation.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [f.format for f in reader.files.values()] == ["lmstudio"]
    return outcomes, [str(note) for note in reader.notes]


def spoken(talk):
    return [(m.role, m.text) for m in talk.messages]


ASKED = one_of(single("user", text("How long?")))
THREE = steps(step(text("Three minutes.")), {"type": "debugInfoBlock", "debugInfo": "x"})
FOUR = steps(step(text("Four minutes.")))


@pytest.mark.parametrize(("chosen", "words"), [(0, "Three minutes."), (1, "Four minutes.")])
def test_the_chosen_version_is_read_and_the_others_are_counted(tmp_path, chosen, words):
    (talk,), notes = read(tmp_path, ASKED, one_of(THREE, FOUR, FOUR, chosen=chosen), systemPrompt="Be brief.")
    assert spoken(talk) == [("system", "Be brief."), ("user", "How long?"), ("assistant", words)]
    assert any(note.startswith("2 messages were left out: versions") for note in notes)
    assert talk.candidate == "model-a"
    assert talk.metadata["name"] == "Tea"


def test_the_prompt_of_the_chat_and_the_model_it_used_last(tmp_path):
    settings = {"fields": [{"key": "llm.prediction.systemPrompt", "value": "Be kind."}]}
    answer = one_of(steps(step(text("Three.")), sender=""))
    more = {"systemPrompt": "Be brief.", "perChatPredictionConfig": settings}
    (talk,), _ = read(tmp_path, ASKED, answer, **more, lastUsedModel={"identifier": "model-z"})
    assert spoken(talk)[0] == ("system", "Be kind.")
    assert talk.candidate == "model-z"


def test_reasoning_is_kept_apart(tmp_path):
    thought = step(text("Green tea?"), style={"type": "thinking", "ended": True}, prefix="<think>")
    pieces = step(text("<mark>", isStructural=True), text("Three "), text("minutes."))
    (talk,), _ = read(tmp_path, ASKED, one_of(steps(thought, pieces)))
    assert spoken(talk)[1] == ("assistant", "Three minutes.")
    assert talk.messages[1].extra["reasoning"] == [{"type": "thinking", "thinking": "Green tea?"}]


def test_tools(tmp_path):
    call = {
        "type": "toolCallRequest",
        "callId": 1,
        "toolCallRequestId": "t1",
        "name": "boil",
        "parameters": {"c": 80},
    }
    back = {"type": "toolCallResult", "callId": 1, "toolCallRequestId": "t1", "content": "hot"}
    status = {"type": "toolStatus", "callId": 1, "statusState": {}}
    answer = steps(step(text("I boil."), call), status, step(back, roleOverride="tool"), step(text("Done.")))
    (talk,), _ = read(tmp_path, ASKED, one_of(answer))
    assert spoken(talk)[1:] == [("assistant", "I boil."), ("tool", "hot"), ("assistant", "Done.")]
    (used,) = talk.messages[1].tool_calls
    assert (used.id, used.name, json.loads(used.arguments)) == ("t1", "boil", {"c": 80})
    assert talk.messages[2].tool_call_id == "t1"


def test_a_file_beside_a_question(tmp_path):
    file = {"type": "file", "fileIdentifier": "a.png", "fileType": "image", "sizeBytes": 5}
    (talk,), _ = read(tmp_path, one_of(single("user", text("What is it?"), file)), one_of(THREE))
    assert [part["type"] for part in talk.messages[0].content] == ["text", "file"]


@pytest.mark.parametrize(
    "odd",
    [
        5,
        one_of(THREE, chosen=3),
        one_of(single("user", 5)),
        one_of(7),
        {"versions": [], "currentlySelected": 0},
    ],
)
def test_a_message_without_a_chosen_version_is_a_fault(tmp_path, odd):
    (fault,), _ = read(tmp_path, ASKED, odd)
    assert isinstance(fault, RecordFault)
    assert "message 2" in fault.message
