"""Logs of dialogues about tasks: both shapes of feedback, dialogues by system, faults with their place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialogauge.core import Conversation, Message, RecordFault, UsageError
from dialogauge.data.tasks import (
    LoggedDialogue,
    RoundFeedback,
    TaskRecord,
    log_lines,
    read_logs,
    read_scores,
    read_tasks,
)

DIALOG = [
    {"role": "user", "content": "Why do bells ring?"},
    {"role": "assistant", "content": "They are struck."},
    {"role": "user", "content": "Why does it last?"},
    {"role": "assistant", "content": "Metal swings on."},
]
ROW = {
    "test_idx": 4,
    "dataset_name": "NFCats",
    "lang": "en",
    "input_prompt": "Why do bells ring?",
    "info": {},
    "dialog": DIALOG,
    "implicit_feedback": [
        {"round": 1, "implicit_action": "none", "terminated": False},
        {"round": 2, "implicit_action": "like", "terminated": True},
    ],
}


def rows(path, *values):
    path.write_text("".join(json.dumps(v) + "\n" for v in values), encoding="utf-8")
    return str(path)


def test_a_released_row_is_a_dialogue_with_its_actions(tmp_path):
    (one,) = read_logs(rows(tmp_path / "a.jsonl", ROW))
    talk = one.conversation
    assert (talk.id, talk.metadata) == ("NF-CATS/#4", {"dataset": "NF-CATS", "task": "NF-CATS/#4"})
    assert (talk.candidate, talk.language, [m.text for m in talk.messages][-1]) == (
        None,
        "en",
        "Metal swings on.",
    )
    assert one.feedback == (RoundFeedback(1), RoundFeedback(2, ("like",), None, ended=True))


def test_the_other_shape_has_several_actions_and_a_score(tmp_path):
    entry = {"round": 2, "implicit_actions": ["copy", "like"], "satisfaction_score": 9, "terminated": False}
    (one,) = read_logs(rows(tmp_path / "a.jsonl", ROW | {"implicit_feedback": [entry]}))
    assert one.feedback == (RoundFeedback(2, ("like", "copy"), 9),)


def test_each_system_has_a_dialogue_of_its_own_and_texts_are_unpacked(tmp_path):
    """In the released Arrow files dialogues and feedback are texts, as JSON or as Python prints them."""
    row = {key: value for key, value in ROW.items() if key not in ("dialog", "implicit_feedback")}
    row |= {
        "dataset_name": "Locomo-1",
        "dialog_bm25": str(DIALOG),
        "implicit_feedback_bm25": str(ROW["implicit_feedback"]),
        "dialog_a_mem": json.dumps(DIALOG[:2]),
    }
    path = rows(tmp_path / "a.jsonl", row)
    bm25, a_mem = read_logs(path)
    assert (bm25.conversation.id, bm25.conversation.candidate) == ("LoCoMo/conv-30-4/bm25", "bm25")
    assert bm25.conversation.metadata["task"] == "LoCoMo/conv-30-4"
    assert [f.round for f in bm25.feedback] == [1, 2]
    assert (a_mem.conversation.candidate, len(a_mem.conversation.messages), a_mem.feedback) == (
        "a_mem",
        2,
        (),
    )


def test_openai_messages_are_dialogues_and_may_have_feedback(tmp_path):
    clicked = {"implicit_feedback": [{"round": 1, "implicit_action": "copy"}]}
    path = rows(tmp_path / "mine.jsonl", {"messages": DIALOG}, {"id": "x", "messages": DIALOG, **clicked})
    assert [(one.conversation.id, one.feedback) for one in read_logs(path)] == [
        ("mine:1", ()),
        ("x", (RoundFeedback(1, ("copy",)),)),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dialog": [{"role": "user"}]}, "a dialogue is no list of messages"),
        ({"test_idx": None}, "dataset_name or test_idx is missing"),
        ({"implicit_feedback": "none"}, "implicit_feedback is no list"),
        ({"implicit_feedback": [{"round": 3, "implicit_action": "like"}]}, "feedback on round 3 .* has 2"),
        ({"implicit_feedback": [{"round": 0, "implicit_action": "like"}]}, "feedback on round 0"),
        ({"implicit_feedback": [{"round": 1}, {"round": 1}]}, "feedback on round 1"),
        ({"implicit_feedback": [{"round": 1, "implicit_action": "love"}]}, r"the action \['love'\]"),
        ({"implicit_feedback": [{"round": 1, "implicit_actions": "like"}]}, "the action 'like'"),
        ({"implicit_feedback": [{"round": 1, "satisfaction_score": 11}]}, "round 1 has the score 11"),
        ({"implicit_feedback": [{"round": 1, "satisfaction_score": 7.5}]}, "round 1 has the score 7.5"),
        ({"test_idx": 5}, "'NF-CATS/#5' is there twice"),
        (
            {"implicit_feedback_bm25": [{"round": 1}]},
            "implicit_feedback_bm25 .*put dialog_bm25 beside it.*has dialog",
        ),
        ({"implicit_feedback_bm25": '[{"round": 1}]', "dialog": None}, "that is not there.*has no dialogue"),
        ({"messages": DIALOG, "implicit_feedback_bm25": [{"round": 1}], "dialog": None}, "has messages"),
        ({"messages": DIALOG[:2]}, "feedback on round 2 .* has 1"),
    ],
)
def test_a_fault_is_named_with_file_and_line(tmp_path, change, message):
    path = rows(tmp_path / "a.jsonl", ROW | {"test_idx": 5}, ROW | change)
    with pytest.raises(RecordFault, match=message) as caught:
        read_logs(path)
    assert (Path(caught.value.place.file).name, caught.value.place.line) == ("a.jsonl", 2)


def test_feedback_that_holds_nothing_needs_no_dialogue(tmp_path):
    """Rows of a table have a column for every system."""
    empty = {"implicit_feedback_bm25": None, "implicit_feedback_mem0": "[]"}
    assert len(read_logs(rows(tmp_path / "a.jsonl", ROW | empty))) == 1


SCORED = ROW | {"implicit_feedback": [{"round": n, "satisfaction_score": s} for n, s in ((1, 3), (2, 9))]}


@pytest.mark.parametrize(
    ("name", "text", "shares", "count"),
    [
        ("a.txt", "9\n9\n3\n9\n", {3: 0.25, 9: 0.75}, 4),
        ("a.json", "[9, 3]", {3: 0.5, 9: 0.5}, 2),
        ("a.jsonl", '{"score": 9}\n{"satisfaction_score": 3}\n', {3: 0.5, 9: 0.5}, 2),
        ("a.csv", "id,score\na,9\nb,3\n", {3: 0.5, 9: 0.5}, 2),
        ("a.jsonl", json.dumps(SCORED) + "\n", {3: 0.5, 9: 0.5}, 2),
        ("a.json", '{\n  "9": 0.565,\n  "3": 0.433\n}\n', {9: 0.565, 3: 0.433}, 0),
    ],
)
def test_scores_are_read_in_each_form(tmp_path, name, text, shares, count):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_scores(str(tmp_path / name)) == (shares, count)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("7\n11\n", "this line has the score 11"),
        ("7\ntrue\n", "this line has the score True"),
        ('{"score": 7}\n{"score": 7.5}\n', "this line has the score 7.5"),
        ('7\n{"9": 1}\n', "beside something else"),
        ('{"9": 1}\n7\n', "beside something else"),
        ('7\n{"grade": 7}\n', "this holds no score .*write a score a line"),
        ("7\n[7]\n", "no JSON object"),
        ('{"score": 1}\n{"messages": []}\n', "no list of messages"),
    ],
)
def test_a_line_without_a_score_is_named(tmp_path, text, message):
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(RecordFault, match=message) as caught:
        read_scores(str(tmp_path / "a.jsonl"))
    assert (Path(caught.value.place.file).name, caught.value.place.line) == ("a.jsonl", 2)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ({"11": 1.0}, RecordFault, "a share has the score 11"),
        ({"9": -1}, RecordFault, "a score has the share -1"),
        ({"9": 1, "3": "some"}, RecordFault, "a score has the share 'some'"),
        (ROW, UsageError, "holds no satisfaction score"),
    ],
)
def test_shares_that_cannot_be_and_logs_without_scores(tmp_path, value, error, message):
    with pytest.raises(error, match=message):
        read_scores(rows(tmp_path / "a.jsonl", value))


def test_what_is_written_is_read_as_it_was(tmp_path):
    """Two systems talk about one task: one row, and the shape with several actions."""
    task = TaskRecord("LoCoMo/conv-26-0", "LoCoMo", (Message("user", "When?"),), {"answer": "2024"})
    about = {"dataset": "LoCoMo", "task": task.id}
    messages = (Message("user", "When?"), Message("assistant", "In 2024 – 五月."))
    dialogues = [
        LoggedDialogue(
            Conversation(f"{task.id}/{name}", messages, candidate=name, language="en", metadata=about),
            (RoundFeedback(1, ("like", "copy"), 9, ended=True),),
        )
        for name in ("bm25", "none")
    ]
    (tmp_path / "log.jsonl").write_bytes(b"".join(log_lines(dialogues, {task.id: task})))
    (row,) = map(json.loads, (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines())
    assert (row["input_prompt"], row["info"], row["dataset_name"]) == ("When?", {"answer": "2024"}, "LoCoMo")
    assert row["implicit_feedback_none"] == [
        {"round": 1, "implicit_actions": ["like", "copy"], "satisfaction_score": 9, "terminated": True}
    ]
    assert list(read_logs(str(tmp_path / "log.jsonl"))) == dialogues
    (again,) = read_tasks(str(tmp_path / "log.jsonl")).tasks
    assert (again.id, again.question, again.gold) == (task.id, "When?", {"answer": "2024"})
