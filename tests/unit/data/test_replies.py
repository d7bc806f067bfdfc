"""Files of candidates' replies."""

from __future__ import annotations

import json

import pytest

from dialogauge.core import FileFault, RecordFault
from dialogauge.data import read_replies
from dialogauge.data.replies import ReplyRecord


def read(tmp_path, *records, name="r.jsonl"):
    path = tmp_path / name
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    path.write_text("".join(line + "\n" for line in lines))
    return list(read_replies(str(path)))


def test_own_and_published_keys(tmp_path) -> None:
    ours, theirs = read(
        tmp_path,
        {"item": "a__turn_1", "reply": "Yes.", "memory": ["b__turn_0"]},
        {
            "sample_id": "a__turn_2",
            "candidate_response": "No.",
            "candidate_model": "m",
            "dialogue_memory_records": [{"memory_id": "c__turn_3"}],
        },
    )
    assert isinstance(ours, ReplyRecord)
    assert isinstance(theirs, ReplyRecord)
    assert (ours.item, ours.reply, ours.memory) == ("a__turn_1", "Yes.", ("b__turn_0",))
    assert (theirs.item, theirs.reply, theirs.candidate, theirs.memory) == (
        "a__turn_2",
        "No.",
        "m",
        ("c__turn_3",),
    )


def test_no_reply_is_none_and_not_a_fault(tmp_path) -> None:
    (found,) = read(tmp_path, {"item": "a", "reply": None})
    assert isinstance(found, ReplyRecord)
    assert found.reply is None


@pytest.mark.parametrize("record", ['{"item": ', "[1]", '"x"', {"reply": "x"}, {"item": "a", "reply": 5}])
def test_records_that_cannot_be_used(tmp_path, record) -> None:
    found = read(tmp_path, {"item": "a", "reply": "x"}, record)
    assert isinstance(found[0], ReplyRecord)
    assert isinstance(found[1], RecordFault)
    assert "r.jsonl:2" in str(found[1])


def test_two_candidates_in_one_file(tmp_path) -> None:
    with pytest.raises(FileFault, match=r"two candidates, 'm' \(.*r.jsonl:1\) and 'n'") as raised:
        read(tmp_path, {"item": "a", "reply": "x", "model": "m"}, {"item": "b", "reply": "y", "model": "n"})
    assert "r.jsonl:2" in str(raised.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(FileFault, match="there is no such file"):
        list(read_replies("nowhere.jsonl"))


@pytest.mark.parametrize(
    "memory",
    ["User_1__trip__0__turn_1", [1], [{"id": "x"}], [{"memory_id": 5}], {"memory_id": "x"}, 0, False],
)
def test_a_memory_that_names_no_turns_is_a_fault(tmp_path, memory) -> None:
    (fault,) = read(tmp_path, {"item": "a", "reply": "x", "memory": memory})
    assert isinstance(fault, RecordFault)
    assert "the memory of the reply to 'a' is no list of turns" in str(fault)


def test_no_memory_is_no_fault(tmp_path) -> None:
    records = read(tmp_path, {"item": "a", "reply": "x"}, {"item": "b", "reply": "x", "memory": None})
    assert [record.memory for record in records] == [(), ()]
