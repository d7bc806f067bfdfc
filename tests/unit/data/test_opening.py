"""Opening inputs: pipes are read once and whole, and what is no file is refused in words."""

import contextlib
import gzip
import io
import json
import os
import socket
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, FileFault, RecordFault
from dialogauge.data import read_conversations, read_ratings, read_replies
from dialogauge.data.opening import Pipe, locate, pipe_of
from sets import examples


def log(count: int) -> bytes:
    talk = [{"role": "user", "content": "Hello there."}, {"role": "assistant", "content": "Good day."}]
    return b"".join(
        json.dumps({"conversation_id": f"c{n}", "messages": talk}).encode() + b"\n" for n in range(count)
    )


class Feed:
    """A named pipe, and a thread that writes bytes into it once."""

    def __init__(self, folder, content, name="pipe"):
        self.path = folder / name
        os.mkfifo(self.path)
        self.thread = threading.Thread(target=self.write, args=(content,))
        self.thread.start()

    def write(self, content):
        with contextlib.suppress(BrokenPipeError):
            self.path.write_bytes(content)

    def __enter__(self):
        return str(self.path)

    def __exit__(self, *error):
        self.thread.join(10)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_named_pipe_is_read_whole_as_often_as_its_reader_is_asked(tmp_path, pack):
    with Feed(tmp_path, pack(log(3000))) as path:
        reader = read_conversations([path])
        assert reader.count() == 3000
        for _ in range(2):
            assert [c.id for c in reader] == [f"c{n}" for n in range(3000)]


def test_the_descriptor_of_a_process_substitution_is_read_whole():
    reading, writing = os.pipe()
    thread = threading.Thread(target=lambda: (os.write(writing, log(500)), os.close(writing)))
    thread.start()
    try:
        assert len(list(read_conversations([f"/dev/fd/{reading}"]))) == 500
    finally:
        os.close(reading)
        thread.join(10)


def test_ratings_and_replies_come_through_pipes_too(tmp_path):
    with Feed(tmp_path, b"conversation_id,turn,satisfaction\nc0,1,4\nc1,1,2\n", "ratings") as path:
        assert [r.score for r in read_ratings(path).ratings] == [4, 2]
    with Feed(tmp_path, b'{"item": "a", "reply": "b"}\n', "replies") as path:
        assert [r.item for r in read_replies(path)] == ["a"]


def test_what_a_pipe_brings_is_handed_on_before_it_ends(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    go_on = threading.Event()

    def write():
        with path.open("wb", buffering=0) as out:
            out.write(log(30))
            go_on.wait(10)
            out.write(log(31)[len(log(30)) :])

    thread = threading.Thread(target=write)
    thread.start()
    outcomes = iter(read_conversations([str(path)]))
    first = [next(outcomes).id for _ in range(30)]
    go_on.set()
    assert [*first, *(c.id for c in outcomes)] == [f"c{n}" for n in range(31)]
    thread.join(10)


def test_a_pipe_given_twice_is_like_a_file_given_twice(tmp_path):
    with Feed(tmp_path, log(2)) as path:
        outcomes = list(read_conversations([path, path]))
    assert [isinstance(o, RecordFault) for o in outcomes] == [False, False, True, True]


def test_an_endless_pipe_ends_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.data.opening._LARGEST_PIPE", 1 << 20)
    with Feed(tmp_path, b"[" + b" " * (2 << 20)) as path, pytest.raises(FileFault, match="use a file"):
        list(read_conversations([path]))


def test_standard_input_can_be_read_again_and_may_be_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(log(50)))))
    reader = read_conversations(["-"])
    assert len(list(reader)) == len(list(reader)) == 50
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FileFault, match="standard input is closed"):
        read_conversations(["-"])


def test_what_is_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("pipe")
    assert pipe_of("-")
    assert pipe_of(str(tmp_path / "pipe")) == pipe_of(str(tmp_path / "link"))
    assert not any(map(pipe_of, (str(tmp_path / "file"), str(tmp_path), "a\0b", "x" * 5000)))


@examples(60)
@given(
    st.lists(st.binary(max_size=40), max_size=60),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(1, 300)), max_size=30),
)
def test_any_way_of_reading_a_pipe_gives_its_bytes(blocks, ways):
    content = b"".join(blocks)
    pipe = Pipe(None)
    pipe._from = io.BufferedReader(Drops([b for b in blocks if b]))
    pipe._kept = io.BytesIO()
    for at, most in ways:
        read = pipe.read(at, most)
        assert content[at:].startswith(read)
        assert read or at >= len(content)
    at = 0
    while block := pipe.read(at, 7):
        assert content.startswith(block, at)
        at += len(block)
    assert at == len(content)


class Drops(io.RawIOBase):
    """Hands out one block a call, as a slow writer does."""

    def __init__(self, blocks):
        self.blocks = blocks

    def readable(self):
        return True

    def readinto(self, buffer):
        block = self.blocks.pop(0) if self.blocks else b""
        buffer[: len(block)] = block
        return len(block)


PIECES = [
    b'{"conversation_id": "a", "messages": [{"role": "user", "content": "x"}]}',
    '{"conversation_id": "é", "messages": [{"role": "user", "content": "ü\\n\\"[{"}]}'.encode(),
    b'[{"role": "user", "content": "y"}, {"role": "assistant", "content": "z"}]',
    b"",
    b"  \t",
    b"{",
    b"[",
    b"]",
    b",",
    b"7",
    b'"',
    b"\x00",
    b"\xff",
    b"USER\thello\tinform\t3",
    b"id,role,content",
    b'1,user,"a',
]


@examples(150)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=12),
    st.sampled_from([b"\n", b"\r\n", b",\n", b""]),
    st.sampled_from(
        [bytes, gzip.compress, lambda raw: gzip.compress(raw) * 2, lambda r: gzip.compress(r)[:-9]]
    ),
)
def test_a_pipe_reads_like_the_file(tmp_path_factory, pieces, between, pack):
    folder = tmp_path_factory.mktemp("both")
    content = pack(between.join(pieces))
    (folder / "file").mkdir()
    (folder / "file/log").write_bytes(content)
    with Feed(folder, content, "log") as pipe:
        piped = outcomes_of(pipe)
    assert piped == outcomes_of(str(folder / "file/log"))


def outcomes_of(path):
    """What reading gives, with one name for the place and for ids made from it."""
    try:
        found = [
            repr(outcome) if not isinstance(outcome, Exception) else str(outcome)
            for outcome in read_conversations([path])
        ]
    except FileFault as fault:
        found = [str(fault)]
    return [one.replace(path, "INPUT") for one in found]


def test_devices_sockets_loops_and_names_that_are_none_are_refused(tmp_path):
    held = socket.socket(socket.AF_UNIX)
    held.bind(str(tmp_path / "socket"))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    refused = {
        "/dev/zero": "a device",
        "/dev/null": "a device",
        str(tmp_path / "socket"): "a socket",
        str(tmp_path / "loop"): "symbolic links",
        str(tmp_path / "gone"): "no such file",
        "x" * 300: "too long",
        "a\0b": "no name of a file",
        "\ud800": "no name of a file",
    }
    for path, why in refused.items():
        with pytest.raises(FileFault, match=why):
            read_conversations([path])
    held.close()


def test_a_missing_file_is_answered_with_the_one_that_was_meant(tmp_path):
    (tmp_path / "log.jsonl").write_bytes(log(1))
    (tmp_path / "talks").mkdir()
    for wrong, meant in (("lgo.jsonl", "log.jsonl"), ("log.json", "log.jsonl"), ("talk", "talks")):
        with pytest.raises(FileFault) as caught:
            read_conversations([str(tmp_path / wrong)])
        assert caught.value.hint == f"did you mean {tmp_path / meant}?"
    for wrong in ("nothing.jsonl", "gone/log.jsonl"):
        with pytest.raises(FileFault) as caught:
            read_conversations([str(tmp_path / wrong)])
        assert caught.value.hint is None


def test_a_missing_file_of_ratings_is_answered_so_too(tmp_path):
    (tmp_path / "people.csv").write_text("conversation_id,score\n")
    with pytest.raises(FileFault) as caught:
        read_ratings(tmp_path / "peopel.csv")
    assert caught.value.hint == f"did you mean {tmp_path / 'people.csv'}?"


def test_linked_folders_are_read_once(tmp_path):
    for name in ("x", "y"):
        (tmp_path / "logs" / name).mkdir(parents=True)
        (tmp_path / "logs" / name / "log.jsonl").write_bytes(log(1).replace(b"c0", name.encode()))
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "all").symlink_to(tmp_path / "logs")
    (tmp_path / "linked" / "again").symlink_to(tmp_path / "logs" / "y")
    (tmp_path / "logs" / "round").symlink_to(tmp_path / "logs")
    for folder in ("logs", "linked", "linked/all"):
        talks = list(read_conversations([str(tmp_path / folder)]))
        assert sorted(talk.id for talk in talks) == ["x", "y"]


def test_a_linked_file_is_read_once(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "far.jsonl").write_bytes(log(1).replace(b"c0", b"far"))
    (tmp_path / "logs" / "monday.jsonl").write_bytes(log(1))
    (tmp_path / "logs" / "latest.jsonl").symlink_to("monday.jsonl")
    for name in ("far", "later"):
        (tmp_path / "logs" / f"{name}.jsonl").symlink_to(tmp_path / "far.jsonl")
    sources, left_out = locate([str(tmp_path / "logs")])
    assert [Path(source.name).name for source in sources] == ["far.jsonl", "monday.jsonl"]
    assert left_out == 0


def test_a_folder_that_may_not_be_looked_into_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(log(1))
    (tmp_path / "closed").mkdir()
    allowed = os.scandir

    def scandir(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return allowed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(FileFault, match=r"closed: the folder cannot be read: Permission denied"):
        read_conversations([str(tmp_path)])


@pytest.mark.parametrize(
    ("begins", "packer"),
    [
        (b"\xfd7zXZ\x00", "xz"),
        (b"7z\xbc\xaf", "7z"),
        (b"BZh91AY&SY", "bzip2"),
    ],
)
def test_what_is_packed_otherwise_is_named_whatever_it_is_called(tmp_path, begins, packer):
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(begins + b"\x00\xff" * 40)
    with pytest.raises(FileFault, match=f"packed by {packer}, which is not read"):
        read_conversations([str(path)])


@pytest.mark.parametrize(
    ("begins", "what"),
    [
        (b"%PDF-1.7", "a PDF file"),
        (b"SQLite format 3\0", "an SQLite data base"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an Office file of the old form"),
        (b"\x80\x04\x95\x01", "a pickle of Python"),
    ],
)
def test_what_is_no_text_is_named_and_not_taken_for_a_wrong_encoding(tmp_path, begins, what):
    path = tmp_path / "log.jsonl"
    path.write_bytes(begins + b"\x00\xff" * 40)
    with pytest.raises(FileFault, match=f"this is {what}"):
        read_conversations([str(path)])


def test_gzip_of_several_members_and_under_any_name(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(gzip.compress(log(1)) + gzip.compress(log(2)[len(log(1)) :]))
    assert [c.id for c in read_conversations([str(path)])] == ["c0", "c1"]


def test_a_file_that_grows_is_read_as_far_as_it_was(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(log(40))
    outcomes = iter(read_conversations([str(path)]))
    first = next(outcomes)
    with path.open("ab") as more:
        more.write(b'{"conversation_id": "half')
    assert [first.id, *(c.id for c in outcomes)] == [f"c{n}" for n in range(40)]


def test_a_file_that_becomes_shorter_is_a_fault(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(log(20_000))
    outcomes = iter(read_conversations([str(path)]))
    next(outcomes)
    os.truncate(path, 1_500_000)
    assert "became shorter while it was read" in str(list(outcomes)[-1])


def test_a_file_that_is_replaced_is_read_to_its_end(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(log(20_000))
    outcomes = iter(read_conversations([str(path)]))
    next(outcomes)
    (tmp_path / "new").write_bytes(b"something else\n")
    (tmp_path / "new").replace(path)
    assert sum(1 for _ in outcomes) == 19_999


def test_a_block_of_utf16_that_is_longer_as_utf8_is_read_whole(tmp_path):
    """Chinese takes two bytes a character there and three here: a block does not fit where it is read to."""
    said = [{"role": "user", "content": "请问" * 500}, {"role": "assistant", "content": "好的" * 500}]
    records = ({"conversation_id": f"c{n}", "messages": said} for n in range(100))
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path = tmp_path / "log.jsonl"
    path.write_bytes(text.encode("utf-16"))
    assert len(text) > 1 << 17
    assert [talk.id for talk in read_conversations([str(path)])] == [f"c{n}" for n in range(100)]


NAMED = {
    "<!DOCTYPE html>\n<html><p>User: hi, you</p></html>": "a web page",
    "\n<html>\nUser: hi\nAssistant: hello\n": "a web page",
    '<?xml version="1.0"?>\n<chat/>': "an XML document",
    "From ana@x.org Mon Nov 30 10:00:00 2026\nFrom: Ana <a@x.org>\nTo: b\n\nHi\n": "a mailbox",
    "Return-Path: <ana@x.org>\nFrom: Ana\n\nHi\n": "a mail",
    "From: Ana <a@x.org>\nTo: help@x.org\nSubject: x\n\nHi": "a mail",
    "-- MySQL dump 10.13\n--\n\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `m`;": "a dump",
    "--\n-- PostgreSQL database dump\n--\n\nSET timeout = 0;\nCOPY public.m (id) FROM stdin;": "a dump",
    "INSERT INTO messages (session_id, role, content) VALUES ('a','user','hi');": "a dump",
    "BEGIN TRANSACTION;\nCREATE TABLE m (a);": "a dump",
    "{\\rtf1 User: hi}": "a text document",
    "[Script Info]\nTitle: x": "subtitles",
    "RIFF\0\0\0\0WAVEfmt": "a recording",
}


@pytest.mark.parametrize("text", NAMED)
@pytest.mark.parametrize("packed", [False, True])
def test_what_is_no_log_is_named_before_anything_is_guessed(tmp_path, text, packed):
    path = tmp_path / "log.txt"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with pytest.raises(FileFault, match=rf"log\.txt: (this is|these are) {NAMED[text]}") as fault:
        read_conversations([str(path)])
    assert fault.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "-- a chat --\nUser: Hi\nAssistant: Set it to 5.\n",
        "---\nUser: Create a table\nAssistant: CREATE TABLE x (a);\n",
        "User: <html> is what?\nAssistant: A tag.\n",
        "user,assistant\nSELECT 1,It is one\n",
    ],
)
def test_texts_that_look_a_little_like_it_are_read(tmp_path, text):
    path = tmp_path / "log.txt"
    path.write_text(text)
    assert [type(one) for one in read_conversations([str(path)])] == [Conversation]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("packed", [False, True])
def test_wide_characters_without_a_mark_and_packed(tmp_path, encoding, packed):
    raw = "session,role,content\na,user,请问“x”\na,assistant,5 €\n".encode(encoding)
    path = tmp_path / "log.csv"
    path.write_bytes(gzip.compress(raw) if packed else raw)
    (talk,) = read_conversations([str(path)])
    assert [m.text for m in talk.messages] == ["请问“x”", "5 €"]


def test_what_is_packed_twice_is_refused_in_words(tmp_path):
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(gzip.compress(log(2))))
    with pytest.raises(FileFault, match="packed twice"):
        read_conversations([str(path)])
