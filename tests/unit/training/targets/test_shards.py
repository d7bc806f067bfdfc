"""Files of targets are written shard by shard."""

from __future__ import annotations

import json
import weakref
from pathlib import Path

import pyarrow.ipc
import pyarrow.parquet
import pytest

from dialogauge.core import UsageError
from dialogauge.training.targets import shards
from dialogauge.training.targets.shards import TargetFiles, place, write_dataset, write_lines, write_parquet


def counted(number, taken):
    for n in range(number):
        taken.append(n)
        yield {"id": n, "words": [{"role": "user", "content": f"第{n}句"}], "more": {"a": "x"}}


COLUMNS = {"id": "whole", "words": "messages", "more": {"a": "text"}}


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch):
    monkeypatch.setattr(shards, "SHARD", 10)
    monkeypatch.setattr(shards, "TOKEN_SHARD", 10)


def test_parquet_has_a_row_group_for_each_shard(tmp_path):
    file, taken = tmp_path / "rows.parquet", []
    write_parquet(file, counted(25, taken), COLUMNS)
    read = pyarrow.parquet.ParquetFile(file)
    assert [read.metadata.row_group(n).num_rows for n in range(3)] == [10, 10, 5]
    assert read.read().to_pylist() == list(counted(25, []))
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


def batches(folder):
    with pyarrow.ipc.open_stream((folder / "data-00000.arrow").read_bytes()) as stream:
        return [batch.to_pylist() for batch in stream]


def test_a_folder_holds_a_batch_for_each_shard(tmp_path):
    write_dataset(tmp_path / "rows.tokens", counted(25, []), COLUMNS)
    read = batches(tmp_path / "rows.tokens")
    assert [len(batch) for batch in read] == [10, 10, 5]
    assert [row for batch in read for row in batch] == list(counted(25, []))


@pytest.mark.parametrize("write", [write_parquet, write_dataset])
def test_no_more_than_two_shards_are_in_memory(tmp_path, write):
    alive = weakref.WeakSet()

    class Kept(dict):
        """A row that can be watched."""

    def rows():
        for row in counted(55, []):
            one = Kept(row)
            alive.add(one)
            assert len(alive) <= 20, "the shard that is being taken, and the one before"
            yield one

    Kept.__hash__ = object.__hash__
    write(tmp_path / "rows", rows(), COLUMNS)


def test_a_folder_written_anew_keeps_nothing_of_before(tmp_path):
    folder = tmp_path / "rows.tokens"
    write_dataset(folder, counted(25, []), COLUMNS)
    before = json.loads((folder / "state.json").read_text())["_fingerprint"]
    write_dataset(folder, counted(5, []), COLUMNS)
    assert sum(map(len, batches(folder))) == 5
    # Readers keep what they made of a data set under its fingerprint.
    assert json.loads((folder / "state.json").read_text())["_fingerprint"] != before


def test_a_folder_that_is_broken_off_is_none(tmp_path):
    folder = tmp_path / "rows.tokens"
    write_dataset(folder, counted(25, []), COLUMNS)

    def broken():
        yield from counted(15, [])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_dataset(folder, broken(), COLUMNS)
    assert not (folder / "state.json").exists()


def test_a_row_that_cannot_be_written_is_named():
    def reshape(row):
        if row["id"] == 2:
            raise UsageError("it is too long", hint="shorten it")
        return "of no use" if row["id"] == 1 else dict(row)

    to = TargetFiles("sft", counted(3, []), Path("rows.jsonl"))
    rows = to.kept(reshape)
    assert next(rows)["id"] == 0
    with pytest.raises(UsageError, match="row 3: it is too long") as error:
        next(rows)
    assert error.value.hint == "shorten it"
    assert to.left_out == {1: "of no use"}


def test_names_are_quoted_as_the_file_has_it(tmp_path):
    bare = {"argument": "", "policy": "m"}
    odd = "my rows' ($x).jsonl"
    script = place(
        "openrlhf_sft.sh", tmp_path / "a.sh", {"file": odd, "script": "a.sh", "tuned": "b"}, lines=bare
    )
    config = place(
        "verl_sft.yaml", tmp_path / "a.yaml", {"file": odd, "name": "a", "tuned": "b", "model": "/m"}
    )
    assert """--data.dataset 'my rows'"'"' ($x).jsonl' --data""" in script.read_text()
    assert f"train_files: {json.dumps(odd)}\n" in config.read_text()


def test_lines_are_written_as_they_come(tmp_path):
    write_lines(tmp_path / "rows.jsonl", counted(2, []))
    lines = (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["words"][0]["content"] for line in lines] == ["第0句", "第1句"]
