"""Records of any size: memory stays bounded, time linear, and what is refused is named with its place."""

import gzip
import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, FileFault, RecordFault
from dialogauge.data import read_conversations
from dialogauge.data.json_values import JsonValue, json_values
from dialogauge.data.opening import locate
from dialogauge.data.rating_files import read_ratings
from dialogauge.data.sources import LARGEST, LineStream
from sets import examples

PEAK = """
import re, sys
from dialogauge.data import inspect_conversations, read_conversations
report = inspect_conversations(read_conversations([sys.argv[1]]))
peak = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
print(int(peak) >> 10, report.conversations, report.fault_count)
print("\\n".join(report.faults))
"""
RATINGS = """
import re, sys
from dialogauge.data.rating_files import read_ratings
table = read_ratings(sys.argv[1])
peak = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
print(int(peak) >> 10, len(table.ratings), len(table.faults), table.faults[-1])
"""
MIB = 1 << 20

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")


def surveyed(path) -> tuple[int, int, int, str]:
    """Survey a file in a process of its own: peak MiB, conversations, faults, and the first messages."""
    out = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True, env=os.environ
    ).stdout
    figures, _, faults = out.partition("\n")
    peak, conversations, count = map(int, figures.split())
    return peak, conversations, count, faults


def record(name: str, text: str = "x") -> bytes:
    return json.dumps(
        {"conversation_id": name, "messages": [{"role": "user", "content": text}]}, ensure_ascii=False
    ).encode()


def wide(part: bytes, size: int) -> bytes:
    return b'{"messages": [{"role": "user", "content": "a", "odd": [' + part * (size // len(part)) + b"0]}]}"


HUGE = {
    "blank lines": lambda: b"\n" * (5 * MIB),
    "one endless line": lambda: b"x" * (40 * MIB) + b"\n",
    "one endless text": lambda: record("t", "x" * (40 * MIB)) + b"\n",
    "lists": lambda: wide(b"[],", 40 * MIB) + b"\n",
    "fewer lists": lambda: wide(b"[],", LARGEST - 100) + b"\n",
    "objects": lambda: wide(b'{"":0},', LARGEST - 100) + b"\n",
    "texts": lambda: wide(b'"ab",', LARGEST - 100) + b"\n",
    "numbers": lambda: wide(b"1.5,", LARGEST - 100) + b"\n",
    "a text with an emoji": lambda: record("e", "\U0001f600" + "x" * (LARGEST - 200)) + b"\n",
    "an array": lambda: b"[" + b",".join([record("a", "y" * MIB)] * 40) + b"]",
    "an array with an endless element": lambda: b"[" + record("a") + b"," + wide(b"[0],", 20 * MIB) + b"]",
    "an array with an endless text": lambda: b"[" + record("a") + b',\n{"a": "' + b"z" * (40 * MIB),
}


@pytest.mark.long
@linux
@pytest.mark.parametrize("what", HUGE)
def test_no_file_takes_more_than_300_mb(tmp_path, what):
    path = tmp_path / "huge.json.gz"
    path.write_bytes(gzip.compress(record("first") + b"\n" + HUGE[what]() + b"\n" + record("last"), 1))
    if what.startswith("an array"):
        path.write_bytes(gzip.compress(HUGE[what](), 1))
    peak, conversations, _, _ = surveyed(path)
    assert peak < 300
    assert conversations >= 1


TABLES = {
    "an endless cell": lambda: b'1,user,"' + (b"x" * 999 + b"\n") * 40_000,
    "an endless row": lambda: b'1,user,"' + (b"x" * 999 + b'\n","') * 40_000,
    "an endless conversation": lambda: b"1,user,hi\n" * 200_000,
}


@pytest.mark.long
@linux
@pytest.mark.parametrize("what", TABLES)
def test_no_table_takes_more_than_300_mb(tmp_path, what):
    path = tmp_path / "huge.csv.gz"
    path.write_bytes(gzip.compress(b"id,role,content\n0,user,hi\n1,user,hi\n" + TABLES[what](), 1))
    peak, conversations, faults, messages = surveyed(path)
    assert peak < 300
    assert (conversations, faults > 0) == (1, True)
    assert re.search("larger than 16 MiB|longer than 10 million", messages)


@pytest.mark.long
@linux
def test_no_session_of_uss_takes_more_than_300_mb(tmp_path):
    path = tmp_path / "huge.txt.gz"
    line = b"USER\thi\tinform\t3\n"
    path.write_bytes(gzip.compress(line + b"\n" + line * 200_000 + b"\n" + line, 1))
    peak, conversations, faults, messages = surveyed(path)
    assert (peak < 300, conversations, faults) == (True, 2, 1)
    assert "huge.txt.gz:3: the conversation is longer than 10 million characters" in messages


@pytest.mark.parametrize("line", [b"x\n", b"[0]\n", b'{"messages": 0}\n'])
def test_unreadable_records_are_counted_in_little_memory(tmp_path, line):
    path = tmp_path / "log.jsonl"
    path.write_bytes(record("first") + b"\n" + line * 20_000)
    faults = [o for o in read_conversations([str(path)]) if not isinstance(o, Conversation)]
    assert len(faults) == 20_000
    assert len(set(map(id, faults))) == 1001
    assert "one more record" in str(faults[-1])


def test_the_records_around_one_that_is_too_large_are_read(tmp_path, monkeypatch):
    for module in ("sources", "json_values", "tables"):
        monkeypatch.setattr(f"dialogauge.data.{module}.LARGEST", 300)
    monkeypatch.setattr("dialogauge.data.json_values._LARGE", 100)
    large = record("b", "x" * 1000)
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join([record("a"), large, record("c")]))
    first, fault, last = read_conversations([str(path)])
    assert (first.id, last.id) == ("a", "c")
    assert isinstance(fault, RecordFault)
    assert str(fault).startswith(f"{path}:2: the record is larger than")
    path.write_bytes(b"[" + b",\n".join([record("a"), large, record("c")]) + b"]")
    first, fault, last = read_conversations([str(path)])
    assert (first.id, last.id) == ("a", "c")
    assert str(fault).startswith(f"{path} record 2: the record is larger than")


texts = st.text(st.sampled_from('ab"\\[]{},:é😀\n\t '), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
)


@examples(200)
@given(
    st.lists(values, min_size=1, max_size=8),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.integers(1, 64),
)
def test_an_array_is_read_element_by_element_whatever_the_blocks(elements, indent, escaped, block):
    import tempfile
    from pathlib import Path

    import dialogauge.data.json_values as array

    if isinstance(elements[0], dict) and any(isinstance(elements[0].get(k), str) for k in ("role", "from")):
        elements = [0, *elements]
    usual = array._BLOCK, array._LARGEST_BLOCK
    array._BLOCK = array._LARGEST_BLOCK = block
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.json"
            path.write_bytes(json.dumps(elements, indent=indent, ensure_ascii=escaped).encode())
            stream = LineStream(locate([str(path)])[0][0])
            stream.memo["is a JSON document"] = True
            found = list(json_values(stream))
    finally:
        array._BLOCK, array._LARGEST_BLOCK = usual
    assert [v.value for v in found if isinstance(v, JsonValue)] == elements


@pytest.mark.parametrize(
    ("content", "read", "line", "why"),
    [
        (b'[\n{"a": 1},\n{"b": ', 1, 3, "unexpected end|breaks off"),
        (b'[\n{"a": 1},\n{"b": 2]\n]', 1, 3, "not JSON"),
        (b'[\n{"a": 1},\n]', 1, 2, "not JSON"),
        (b'[\n{"a": 1}\n]\n{"c": 1}', 1, 3, "more follows"),
        (b'[\n{"a": 1}}', 1, 2, "more follows"),
        (b'[\n{"a": 1},\n{"b": "text', 1, 3, "breaks off|unexpected end"),
    ],
)
def test_a_damaged_array_is_read_up_to_the_damage(tmp_path, content, read, line, why):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    found = []
    with pytest.raises(FileFault, match=why) as fault:
        found.extend(json_values(LineStream(locate([str(path)])[0][0])))
    values = iter(json_values(LineStream(locate([str(path)])[0][0])))
    assert [isinstance(next(values), JsonValue) for _ in range(read)] == [True] * read
    with pytest.raises(FileFault):
        next(values)
    assert fault.value.place.line == line


@pytest.mark.parametrize(
    "odd",
    [
        b"[" * 5000 + b"]" * 5000,
        b'{"messages": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"messages": [{"role": "user", "content": NaN}]}',
        b'{"messages": [{"role": "user", "content": "\\ud800"}]}',
        b'{"messages": [{"role": "user", "content": "a\x00b"}]}',
        b"\x00" * 2000,
    ],
)
def test_an_odd_line_is_named_and_the_others_are_read(tmp_path, odd):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + record("a") + b"\r\n" + odd + b"\r\n" + record("c"))
    first, fault, last = read_conversations([str(path)])
    assert isinstance(first, Conversation)
    assert (first.id, last.id, fault.place.line) == ("a", "c", 2)


def test_numbers_without_end_are_no_error(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(record("a")[:-1] + b', "n": ' + b"9" * 5000 + b"}\n" + record("b"))
    assert [o.id for o in read_conversations([str(path)]) if isinstance(o, Conversation)][-1] == "b"


@pytest.mark.long
@linux
@pytest.mark.parametrize("line", [b"{}\n", b'{"id": ""}\n', b'{"id": "a", "score": 1}\n'])
def test_no_row_of_a_rating_file_stays_in_memory(tmp_path, line):
    """So 100,000 more of them take less than 100 MB with all that is loaded: less than 1 kB each."""
    path = tmp_path / "ratings.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": "c1", "score": 4}\n' + line * 100_000, 1))
    done = subprocess.run([sys.executable, "-c", RATINGS, path], capture_output=True, text=True, check=True)
    peak, ratings, faults, last = done.stdout.split(maxsplit=3)
    assert int(peak) < 100
    assert (int(ratings), int(faults)) == (1 + (b"score" in line), 1001)
    assert re.search("more rows could not be used", last)


def test_more_ratings_than_memory_takes_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.data.rating_files.MOST_RATINGS", 3)
    path = tmp_path / "ratings.csv"
    path.write_text("id,turn,score\n" + "".join(f"a,{n},4\n" for n in range(1, 5)))
    with pytest.raises(FileFault, match="more than 3 ratings"):
        read_ratings(path)
