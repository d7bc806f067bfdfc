from __future__ import annotations

import errno
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partialmethod
from pathlib import Path

import pytest

from dialogauge.core import StoreError
from dialogauge.runs import RunDirectory
from dialogauge.runs.directory import write_whole, writing_whole


def test_a_run_directory_is_made_and_recognised(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "runs" / "demo")
    assert not directory.exists
    directory.open_for_writing("judge").close()
    assert directory.exists
    assert directory.file("summary") == tmp_path / "runs" / "demo" / "summary.json"
    directory.release()
    directory.release()


def test_a_directory_without_a_run_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no run") as caught:
        RunDirectory(tmp_path).open_for_reading()
    assert "dialogauge runs DIR" in str(caught.value)


@pytest.mark.parametrize("below", ["", "/deeper"])
def test_a_path_that_cannot_be_a_directory(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be written") as caught:
        RunDirectory(Path(f"{tmp_path}/file{below}")).open_for_writing("judge")
    assert "-o" in str(caught.value)


def test_a_directory_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreError, match="Permission denied"):
        RunDirectory(tmp_path).open_for_writing("judge")


# -- one writer -----------------------------------------------------------------------------------

_HOLD = """
import sys
from pathlib import Path
from dialogauge.runs import RunDirectory
directory = RunDirectory(Path(sys.argv[1]))
database = directory.open_for_writing("judge")
print("held", flush=True)
sys.stdin.read()
database.close()
directory.release()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        if process.poll() is None:
            process.kill()


def test_a_second_process_is_refused_until_the_first_has_ended(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    directory = RunDirectory(tmp_path)
    for fresh in (False, True):
        with pytest.raises(StoreError, match="another process is writing") as caught:
            directory.open_for_writing("judge", fresh=fresh)
        assert "wait for it" in str(caught.value)
    assert directory.exists, "--fresh must not delete what another process writes"
    directory.open_for_reading().close()
    holder.communicate()
    directory.open_for_writing("judge").close()
    directory.release()


def test_a_killed_process_leaves_no_lock(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.wait()
    directory = RunDirectory(tmp_path)
    directory.open_for_writing("judge").close()
    directory.release()


# -- afresh ---------------------------------------------------------------------------------------


def test_fresh_forgets_the_database_and_keeps_foreign_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    directory = RunDirectory(tmp_path)
    database = directory.open_for_writing("judge")
    database.put_meta("x", 1)
    database.close()
    directory.release()
    database = directory.open_for_writing("judge", fresh=True)
    assert database.get_meta("x") is None
    database.close()
    directory.release()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_fresh_mends_a_damaged_run(tmp_path: Path) -> None:
    (tmp_path / "run.db").write_bytes(b"damaged" * 1000)
    directory = RunDirectory(tmp_path)
    with pytest.raises(StoreError, match="--fresh"):
        directory.open_for_writing("judge")
    directory.release()
    directory.open_for_writing("judge", fresh=True).close()
    directory.release()


# -- files ----------------------------------------------------------------------------------------


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    write_whole(target, [b"old\n"])

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError):
        write_whole(target, broken())
    assert target.read_bytes() == b"old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]


def test_a_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_bytes(b"old\n")

    def full() -> Iterator[bytes]:
        yield b"half"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(StoreError, match=r"No space left.*same command again"):
        write_whole(target, full())
    assert target.read_bytes() == b"old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]


def test_a_written_file_can_be_read_by_others(tmp_path: Path) -> None:
    write_whole(tmp_path / "new" / "folder" / "x", [b"a", b"b"])
    written = tmp_path / "new" / "folder" / "x"
    assert written.read_bytes() == b"ab"
    assert stat.S_IMODE(written.stat().st_mode) == 0o644


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="out cannot be written"):
        write_whole(tmp_path / "file" / "out", [b""])

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreError, match="Permission denied"):
        write_whole(tmp_path / "out", [b""])


def test_json_files_are_read_back(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    directory.write_json("manifest", {"a": [1, "长"]})
    directory.write_lines("report", ["<p>长".encode()])
    assert directory.read_json("manifest") == {"a": [1, "长"]}
    assert directory.file("report").read_text(encoding="utf-8") == "<p>长"
    assert directory.file("manifest").read_text(encoding="utf-8").endswith("}\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "has no manifest.json"),
        (b"{", "is not JSON"),
        (b"", "is not JSON"),
        (b"[1]", "does not hold a JSON object"),
        (b"\xff\xfe", "is not JSON"),
    ],
)
def test_a_faulty_manifest_is_a_clear_error(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(StoreError, match=message):
        RunDirectory(tmp_path).read_json("manifest")


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o027, 0o640)])
def test_files_are_as_private_as_the_umask_asks(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        directory = RunDirectory(tmp_path / "runs" / "one")
        database = directory.open_for_writing("judge")
        directory.write_json("summary", {})
        database.close()
        directory.release()
    finally:
        os.umask(before)
    modes = {p.name: p.stat().st_mode & 0o777 for p in directory.path.iterdir()}
    assert set(modes) == {"run.db", "summary.json", ".lock"}
    assert set(modes.values()) == {mode}
    assert directory.path.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o755)
    directory = RunDirectory(tmp_path / "run")
    directory.lock()
    directory.release()
    assert directory.path.stat().st_mode & 0o777 == 0o755


def test_a_lock_that_is_a_link_is_refused_and_its_target_untouched(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(StoreError, match="symbolic link"):
        RunDirectory(tmp_path / "run").lock()
    assert (tmp_path / "precious").read_text() == "text"


def test_what_a_killed_process_was_writing_is_swept_away(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    directory.lock()
    for name in (".judgements.jsonl.0123abcd.part", ".report.html.0123abcd.part"):
        (directory.path / name).write_text("half")
    (directory.path / ".notes.part").write_text("the user's own")
    directory.release()
    directory.lock()
    assert sorted(p.name for p in directory.path.iterdir()) == [".lock", ".notes.part"]
    directory.release()


def test_a_run_file_that_was_emptied_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    (tmp_path / "run.db").touch()
    directory.open_for_writing("judge").close()  # nothing was done before
    directory.release()
    directory.write_json("manifest", {})
    (tmp_path / "run.db").write_bytes(b"")
    with pytest.raises(StoreError, match="is empty, and the run has ended before"):
        directory.open_for_writing("judge")
    directory.open_for_writing("judge", fresh=True).close()
    directory.release()


def test_nothing_is_written_into_the_database_of_another_program(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "run.db") as other:
        other.execute("CREATE TABLE cookies (name TEXT)")
    other.close()
    before = (tmp_path / "run.db").read_bytes()
    with pytest.raises(StoreError, match="database of another program"):
        RunDirectory(tmp_path).open_for_writing("judge")
    assert (tmp_path / "run.db").read_bytes() == before


@pytest.mark.parametrize("killed", [("before",), ("after",), ("before", "after"), ("after", "before")])
def test_a_document_is_known_whenever_its_writing_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: Sequence[str]
) -> None:
    directory = RunDirectory(tmp_path)
    database = directory.open_for_writing("judge")
    directory.write_json("summary", {"version": 0})
    for version, when in enumerate(killed, 1):
        with monkeypatch.context() as patch:
            patch.setattr(RunDirectory, "write_lines", partialmethod(_dying, when))
            with pytest.raises(KeyboardInterrupt):
                directory.write_json("summary", {"version": version})
        directory.read_json("summary")
    directory.file("summary").write_bytes(b"{}")
    with pytest.raises(StoreError, match="was changed since"):
        directory.read_json("summary")
    directory.write_json("summary", {"version": 9})
    assert directory.read_json("summary") == {"version": 9}
    database.close()
    directory.release()


def _dying(directory: RunDirectory, when: str, name: str, chunks: Iterable[bytes]) -> None:
    if when == "after":
        write_whole(directory.file(name), chunks)
    raise KeyboardInterrupt


def test_what_a_killed_process_was_writing_beside_a_file_is_swept_away(tmp_path: Path) -> None:
    target = tmp_path / "rows[1].csv"
    left, others = tmp_path / ".rows[1].csv.0123abcd.part", tmp_path / ".rows[1].csv.mine.part"
    for path in (left, others):
        path.write_text("half")
    with writing_whole(target) as one:
        one.write(b"one")
        write_whole(target, [b"two"])  # another process at the same time takes nothing away
    assert sorted(p.name for p in tmp_path.iterdir()) == [others.name, target.name]
    assert target.read_bytes() == b"one"


def test_a_file_system_without_locks_takes_files_and_no_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("dialogauge.runs.directory.fcntl.flock", refuse)
    write_whole(tmp_path / "rows.csv", [b"rows"])
    assert (tmp_path / "rows.csv").read_bytes() == b"rows"
    with pytest.raises(StoreError, match="cannot be locked: No locks available"):
        RunDirectory(tmp_path / "run").open_for_writing("judge")
