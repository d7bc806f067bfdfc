"""The language of entries: paths, conditions, and forms that find several conversations."""

import json

import pytest

from dialogauge.core import RecordFault
from dialogauge.data.field_map import FieldMap
from dialogauge.data.form import read_forms
from dialogauge.data.formats.base import Context
from dialogauge.data.formats.described import described_format
from dialogauge.data.notes import NoteBook
from dialogauge.data.opening import InputSource
from dialogauge.data.paths import MISSING, condition_of, path_of
from dialogauge.data.sources import LineStream

RECORD = {
    "id": 2,
    "key": "b",
    "rows": [{"id": 1, "of": "one"}, {"id": 2, "of": "two"}, {"of": "none"}],
    "ids": [1, 2],
    "by": {"a": {"n": 1}, "b": {"n": 2}},
    "table": {"name": ["x", "y"], "value": [3, 4]},
    "who": {"likes": ["tea", "rain"], "age": 4, "job": None},
    "text": "Prompted Hi",
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("rows[id=2].0.of", "two"),
        ("rows[id!=2].*.of", ["one", "none"]),
        ("rows[id=null].0.of", "none"),
        ("rows[of~o].0.id", 1),
        ("rows[id={id}].0.of", "two"),
        ("rows[id!={ids}].0.of", "none"),
        ("by[{key}].n", 2),
        ("by.*.@key", ["a", "b"]),
        ("table[name=y].value", 4),
        ("text[.~Prompted ]", "Prompted Hi"),
        ("text[.~Used ]", MISSING),
        ("{key}__{nothing | id}", "b__2"),
        ("{key}: {by[{key}].n}", "b: 2"),
        ("{nothing}-x | key", "b"),
        ("<rows.*.of", ["one", "two", "none"]),
        ("{who}!", "likes: tea, rain\nage: 4!"),
    ],
)
def test_a_path(path, value):
    assert path_of(path)(RECORD) == value


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("text~Prompted ", True),
        ("not text~Prompted ", False),
        ("nothing or key=b,c", True),
        ("nothing or key=c", False),
        ("ids:filled", True),
        ("nothing:filled", False),
    ],
)
def test_a_condition(condition, holds):
    assert condition_of(condition)(RECORD) is holds


def talks(tmp_path, entry, *records, files=()):
    for name, value in dict(files).items():
        (tmp_path / name).write_text(json.dumps(value))
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    source = InputSource(str(path), path.name, path)
    own = described_format("own", read_forms({"own": entry}))
    return list(own.read(LineStream(source), Context(source, FieldMap(), NoteBook())))


def said(talk):
    return [(m.role, m.text) for m in talk.messages]


REPLIES = {
    "id": "r",
    "ask": "Name a lake.",
    "replies": [{"by": "m", "say": "Como."}, {"by": "n", "say": "No."}],
}
EACH = {
    "each": "replies",
    "id": "{id}__{by}",
    "candidate": "by",
    "messages": ".",
    "pair": ["ask", "say"],
    "needs": {"say:text": "reply {@number} says {say}"},
}


def test_several_replies_to_one_prompt_are_conversations_of_their_models(tmp_path):
    first, second = talks(tmp_path, EACH, REPLIES)
    assert [(t.id, t.candidate) for t in (first, second)] == [("r__m", "m"), ("r__n", "n")]
    assert said(second) == [("user", "Name a lake."), ("assistant", "No.")]
    fault, sound = talks(tmp_path, EACH, {**REPLIES, "replies": [{"by": "m"}, REPLIES["replies"][1]]})
    assert isinstance(fault, RecordFault)
    assert fault.message == "reply 1 says None"
    assert sound.id == "r__n"


def test_lists_of_prompts_and_replies_stand_in_turn(tmp_path):
    entry = {"id": "id", "exchange": ["asked", "said"]}
    outcomes = talks(
        tmp_path, entry, {"id": "a", "asked": '["1", "2"]', "said": ["x", "y"]}, {"asked": ["1"], "said": []}
    )
    assert said(outcomes[0]) == [("user", "1"), ("assistant", "x"), ("user", "2"), ("assistant", "y")]
    assert "said is []" in outcomes[1].message


def test_records_of_one_group_are_one_conversation(tmp_path):
    entry = {"group": "chat", "id": "chat", "messages": "@rows", "text": "text", "keep": []}
    rows = [{"chat": c, "role": r, "text": t} for c, r, t in ("1ua", "1ab", "2uc")]
    for row in rows:
        row["role"] = {"u": "user", "a": "assistant"}[row["role"]]
    first, fault, second = talks(tmp_path, entry, *rows, rows[0])
    assert (first.id, said(first), second.id) == ("1", [("user", "a"), ("assistant", "b")], "2")
    assert "stands apart" in fault.message


def test_records_that_say_the_same_are_one_with_the_ratings_of_all(tmp_path):
    entry = {"merge": True, "id": "id", "plain": True, "rated": {"vote": {}}, "rater": "by"}
    one = {"id": "a", "messages": [{"role": "user", "content": "Hi"}], "vote": 1, "by": "x"}
    talk, fault = talks(
        tmp_path,
        entry,
        one,
        {**one, "vote": 0, "by": "y"},
        {**one, "messages": [{"role": "user", "content": "Yo"}]},
    )
    assert [(r.score, r.rater) for r in talk.ratings] == [(1, "x"), (0, "y")]
    assert "says something else" in fault.message


def test_a_file_beside_says_what_a_record_names(tmp_path):
    beside = {"file": "prompts.json", "what": "prompts", "key": "prompt"}
    entry = {"id": "id", "plain": True, "beside": beside, "system": "@beside[{prompt}]"}
    record = {"id": "a", "prompt": "p", "messages": [{"role": "user", "content": "Hi"}]}
    (talk,) = talks(tmp_path, entry, record, files={"prompts.json": {"p": "Be kind."}})
    assert said(talk)[0] == ("system", "Be kind.")


def test_what_a_record_lists_as_ratings_is_read(tmp_path):
    rows = {"list": "answers", "dimension": "asked", "score": "said", "rater": "@record.who"}
    entry = {"id": "id", "plain": True, "rating_rows": rows}
    record = {"id": "a", "who": "u", "messages": [{"role": "user", "content": "Hi"}]}
    (talk,) = talks(tmp_path, entry, {**record, "answers": [{"asked": "tone", "said": 4}, {"said": 1}, 7]})
    assert [(r.dimension, r.score, r.rater) for r in talk.ratings] == [("tone", 4, "u")]


def test_a_result_without_an_id_answers_the_last_call_of_its_name(tmp_path):
    entry = {
        "id": "id",
        "text": "text",
        "tools": {"list": "calls"},
        "set": {"name": "tool"},
        "together": True,
    }
    messages = [
        {"role": "assistant", "calls": [{"id": "1", "name": "f"}, {"id": "2", "name": "g"}]},
        {"role": "tool", "tool": "f", "text": "5"},
        {"role": "assistant", "text": "It is"},
        {"role": "assistant", "text": "five."},
    ]
    (talk,) = talks(tmp_path, entry, {"id": "a", "messages": messages})
    assert [(m.role, m.tool_call_id, m.text) for m in talk.messages[1:]] == [
        ("tool", "1", "5"),
        ("assistant", None, "It is\nfive."),
    ]
