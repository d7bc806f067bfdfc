"""Parquet and Arrow files, also as Hugging Face saves data sets: their rows are records."""

import datetime
import json
import sys
import zipfile
from decimal import Decimal

import pytest

from dialogauge.core import Conversation, FileFault, MissingExtra, Rating, ToolCall
from dialogauge.data import read_conversations

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
TALKS = [
    {
        "id": "a",
        "messages": [
            {"role": "user", "content": "Is my bike ready?"},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "content": "yes", "tool_call_id": "c1"},
            {"role": "assistant", "content": "Yes, it is.", "rating": 4},
        ],
        "model": "m",
    },
    {"id": "b", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]},
]


def read(path, **options):
    reader = read_conversations([str(path)], **options)
    return list(reader), [str(note) for note in reader.notes]


def write(path, rows):
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def expect_talks(talks):
    a, b = talks
    assert (a.id, a.candidate, b.id) == ("a", "m", "b")
    assert [(m.role, m.text) for m in a.messages][::3] == [
        ("user", "Is my bike ready?"),
        ("assistant", "Yes, it is."),
    ]
    assert a.messages[1].tool_calls == (ToolCall("c1", "find", "{}"),)
    assert a.messages[2].tool_call_id == "c1"
    assert a.ratings == (Rating("a", "rating", 4, 1),)
    assert all(not m.extra for m in (*a.messages, *b.messages)), "a null of a column says nothing"


def test_conversations_of_a_parquet_file(tmp_path):
    talks, notes = read(write(tmp_path / "log.parquet", TALKS))
    expect_talks(talks)
    assert [talk.place.line for talk in talks] == [1, 2]
    assert any("read as openai" in note for note in notes)


def test_rows_of_messages_and_of_exchanges(tmp_path):
    at = datetime.datetime(2026, 3, 1, 10, tzinfo=datetime.UTC)
    rows = [
        {
            "session_id": n % 2,
            "at": n,
            "created_at": at + datetime.timedelta(minutes=-n),
            "role": r,
            "content": str(n),
        }
        for n, r in enumerate(("assistant", "assistant", "user", "user"))
    ]
    talks, _ = read(write(tmp_path / "rows.parquet", rows))
    assert [[m.text for m in talk.messages] for talk in talks] == [["2", "0"], ["3", "1"]]
    rows = [{"prompt": "q", "response": "r", "rating": None}] * 30
    rows += [{"prompt": "q", "response": "r", "rating": Decimal("4.5")}]
    talks, _ = read(write(tmp_path / "pairs.parquet", rows))
    assert [len(talk.ratings) for talk in talks] == [0] * 30 + [1]
    assert talks[-1].ratings[0].score == 4.5


def test_a_data_set_as_hugging_face_saves_it(tmp_path):
    """`dataset.save_to_disk` writes Arrow streams, and JSON files beside them."""
    folder = tmp_path / "set" / "train"
    folder.mkdir(parents=True)
    (tmp_path / "set" / "dataset_dict.json").write_text('{"splits": ["train"]}')
    (folder / "state.json").write_text('{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}')
    (folder / "dataset_info.json").write_text('{"features": {}, "citation": ""}')
    table = pyarrow.Table.from_pylist(TALKS)
    with pyarrow.ipc.new_stream(str(folder / "data-00000-of-00001.arrow"), table.schema) as writer:
        writer.write_table(table)
    talks, notes = read(tmp_path / "set")
    expect_talks(talks)
    assert any("3 files were left out: in a folder, and not recognised" in note for note in notes)


def test_an_arrow_file_and_one_in_a_zip_file(tmp_path):
    table = pyarrow.Table.from_pylist(TALKS)
    with pyarrow.ipc.new_file(str(tmp_path / "log.arrow"), table.schema) as writer:
        writer.write_table(table)
    expect_talks(read(tmp_path / "log.arrow")[0])
    write(tmp_path / "log.parquet", TALKS)
    with zipfile.ZipFile(tmp_path / "log.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.write(tmp_path / "log.parquet", "data/log.parquet")
    expect_talks(read(tmp_path / "log.zip")[0])


def test_a_damaged_file_ends_in_words(tmp_path):
    whole = write(tmp_path / "log.parquet", TALKS * 300).read_bytes()
    for raw in (whole[:-9], whole[:4], whole[:200] + b"\x00" * 400 + whole[600:]):
        (tmp_path / "log.parquet").write_bytes(raw)
        try:
            outcomes, _ = read(tmp_path / "log.parquet")
        except FileFault as fault:
            outcomes = [fault]
        assert "the Parquet file is damaged here" in str(outcomes[-1])


def test_what_json_has_no_form_for(tmp_path):
    row = {
        "messages": TALKS[1]["messages"],
        "raw": b"\xff\x00",
        "text": b"caf\xc3\xa9",
        "day": datetime.date(2026, 3, 1),
        "took": datetime.timedelta(seconds=2),
    }
    (talk,), _ = read(write(tmp_path / "log.parquet", [row]))
    expected = {"raw": "<2 bytes>", "text": "café", "day": "2026-03-01", "took": 2.0}
    assert json.loads(json.dumps(talk.metadata)) == expected


def test_without_pyarrow_it_says_what_to_install(tmp_path, monkeypatch):
    path = write(tmp_path / "log.parquet", TALKS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="is Parquet, and reading that needs pyarrow") as error:
        read(path)
    assert "dialogauge[parquet]" in str(error.value)


def test_a_large_file_is_read_in_parts(tmp_path):
    long = {
        "messages": [{"role": "user", "content": "x" * 5000}, {"role": "assistant", "content": "y" * 5000}]
    }
    path = tmp_path / "log.parquet"
    with parquet.ParquetWriter(path, pyarrow.Table.from_pylist([long]).schema) as writer:
        for _ in range(3):
            writer.write_table(pyarrow.Table.from_pylist([long] * 500))
    outcomes = iter(read_conversations([str(path)]))
    assert sum(isinstance(one, Conversation) for one in outcomes) == 1500
