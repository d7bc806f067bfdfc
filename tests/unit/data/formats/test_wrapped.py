"""Documents that hold the records of other formats, flat rows, or messages by id."""

import json

import pytest

from dialogauge.core import Conversation, FileFault, RecordFault
from dialogauge.data import read_conversations
from dialogauge.data.field_map import FieldMap

CHAT = [{"role": "user", "content": "Is it open?"}, {"role": "assistant", "content": "From nine."}]
SAID = [{"from": "human", "value": "Is it open?"}, {"from": "gpt", "value": "From nine."}]
ROWS = [{"session_id": s, **message} for message in CHAT for s in ("a", "b")]
HELD = {
    "openai": {"data": [{"id": "a", "messages": CHAT}, {"id": "b", "messages": CHAT}], "meta": {"n": 2}},
    "sharegpt": {
        "version": 1,
        "items": [{"id": "a", "conversations": SAID}, {"id": "b", "conversations": SAID}],
    },
    "rows": {"rows": ROWS},
    "by id": {"a": CHAT, "b": CHAT},
    "openai beside others": {
        "users": [{"id": 3}],
        "data": [{"id": "a", "messages": CHAT}, {"id": "b", "messages": CHAT}],
    },
}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("held", HELD)
def test_a_document_of_records(tmp_path, held, indent):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(HELD[held], indent=indent))
    reader = read_conversations([str(path)])
    talks = list(reader)
    assert [talk.id for talk in talks] == ["a", "b"]
    expected = [("user", "Is it open?"), ("assistant", "From nine.")]
    assert all([(m.role, m.text) for m in talk.messages] == expected for talk in talks)
    notes = [note.text for note in reader.notes]
    what = "messages of conversations by their ids" if held == "by id" else f"read as {held.split()[0]}"
    assert any(note.startswith("documents have") and what in note for note in notes)


def test_a_record_that_cannot_be_read_is_a_fault_of_its_own(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"data": [{"id": "a", "messages": CHAT}, {"messages": 3}, 7]}))
    talk, *faults = read_conversations([str(path)])
    assert isinstance(talk, Conversation)
    assert [type(fault) for fault in faults] == [RecordFault, RecordFault]
    assert "log.json record 2" in str(faults[0])


@pytest.mark.parametrize(
    "document", [{"id": "a", "log": CHAT}, {"a": [{"x": 1}], "b": [{"y": 1}]}, {"data": []}, {"data": [1]}]
)
def test_other_documents_are_not_taken_for_one(tmp_path, document):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FileFault, match="unknown format"):
        list(read_conversations([str(path)]))


def test_the_order_that_a_map_names(tmp_path):
    path = tmp_path / "log.json"
    timed = [{**message, "n": n} for n, message in enumerate(CHAT)]
    rows = [{"session_id": "a", **message} for message in timed]
    for held in ([{"id": "a", "messages": timed[::-1]}], rows[::-1]):
        path.write_text(json.dumps({"data": held, "v": 2}))
        (talk,) = read_conversations([str(path)], mapping=FieldMap(order_by="n"))
        assert [m.role for m in talk.messages] == ["user", "assistant"]
