"""The run directory: its files, its lock, and writing them so that a reader never sees half a file."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from glob import escape
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, Final

import orjson

from dialogauge.core.errors import DialogaugeError, StoreError
from dialogauge.runs.records import json_document
from dialogauge.runs.store import STUDY, RunDatabase

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this kind
    fcntl = None  # type: ignore[assignment]


FILES: Final = {
    "database": "run.db",
    "manifest": "manifest.json",
    "summary": "summary.json",
    "judgements": "judgements.jsonl",
    "report": "report.html",
    "items": "items.json",
    "model": "model.json",
    "predictions": "predictions.jsonl",
    "scores": "scores.jsonl",
    "kept": "kept.jsonl",
    "logs": "logs.jsonl",
}


PRIVATE: Final = 0o700
"""Of a directory that is made for a run: what people said of themselves is for the one who judges it."""
_MODE: Final = 0o666
"""Of files: the umask takes from it what it is to take."""
_LOCK: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
"""Never through a link, and without emptying what is there."""
_PASSING: Final = ".part"
_NAMED: Final = 40
"""Characters of a file's name in that of the one that is being written: no name becomes too long by it."""

_WRITTEN: Final = "written:"
"""Before the name of a file: under it the run file keeps the digests of what was, or is being, written."""


class RunDirectory:
    """A directory that holds one run."""

    def __init__(self, path: Path) -> None:
        """Name the directory; nothing is opened yet."""
        self.path = path
        self._lock: IO[str] | None = None
        self._database: RunDatabase | None = None
        """The run file, while this writes the directory."""

    @property
    def exists(self) -> bool:
        """Whether there is a run in it."""
        return (self.path / FILES["database"]).is_file()

    def file(self, name: str) -> Path:
        """Return the path of one of `FILES`."""
        return self.path / FILES[name]

    def open_for_writing(
        self, study: str, *, hosts: Collection[str] = (), fresh: bool = False
    ) -> RunDatabase:
        """Create the directory if need be, lock it for this process, and open its database.

        Args:
            study: The kind of run; a directory holds one kind.
            hosts: The kinds of run to which the study adds; the directory must hold one of them.
            fresh: Whether the database of an earlier run is deleted first, be it damaged.

        Raises:
            StoreError: The directory cannot be written, another process writes it, or it holds a run of
                another study.
        """
        if hosts:
            self._expect_run()
        self.lock()
        try:
            file = self.file("database")
            if fresh:
                try:
                    for ending in ("", "-wal", "-shm", "-journal"):
                        file.with_name(file.name + ending).unlink(missing_ok=True)
                except OSError as error:
                    msg = f"{file} cannot be deleted: {error.strerror}"
                    raise StoreError(msg, hint="choose another directory with -o") from error
            # Where the run has ended before and its file is empty now, it was cut off.
            if self.file("manifest").is_file() and file.is_file() and not file.stat().st_size:
                msg = f"the run file {file} is empty, and the run has ended before"
                raise StoreError(msg, hint="put the file back, or start again with --fresh or another -o")
            database = RunDatabase(file)
            before = database.get_meta(STUDY)
            try:
                refuse_older_kind(before, self.path)
            except StoreError:
                database.close()
                raise
            if before is None and not hosts:
                database.put_meta(STUDY, study)
            elif before not in (hosts or (study,)):
                database.close()
                msg = f"{self.path} holds a run of {command_of(str(before))}, not of {command_of(study)}"
                raise StoreError(msg, hint="choose another directory with -o, or start with --fresh")
        except StoreError:
            self.release()
            raise
        self._database = database
        return database

    def lock(self) -> None:
        """Create the directory if need be, and keep other processes from writing it until `release`."""
        try:
            self.path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            self._lock = os.fdopen(os.open(self.path / ".lock", _LOCK, _MODE), "w")
        except OSError as error:
            linked = error.errno == errno.ELOOP
            why = "its .lock is a symbolic link" if linked else error.strerror
            msg = f"the run directory {self.path} cannot be written: {why}"
            raise StoreError(msg, hint="choose another with -o") from error
        try:
            _hold(self._lock)
        except OSError as error:
            self._lock.close()
            self._lock = None
            msg = f"another process is writing the run {self.path}"
            if not isinstance(error, BlockingIOError):
                msg = f"the run directory {self.path} cannot be locked: {error.strerror}"
            raise StoreError(msg, hint="wait for it, or choose another directory with -o") from error
        for name in FILES:
            _sweep(self.file(name))

    def open_for_reading(self) -> RunDatabase:
        """Open the database of a run that exists."""
        self._expect_run()
        return RunDatabase(self.file("database"), readonly=True)

    def copy_to(self, path: Path) -> None:
        """Copy what a run goes on from, its database and its item set; nothing where there is no run."""
        if not self.exists:
            return
        path.mkdir(mode=PRIVATE)
        with contextlib.closing(self.open_for_reading()) as database:
            database.copy_to(path / FILES["database"])
        for name in ("items", "manifest"):
            if (file := self.file(name)).is_file():
                (path / FILES[name]).write_bytes(file.read_bytes())

    def _expect_run(self) -> None:
        if not self.exists:
            msg = f"{self.path} holds no run: there is no {FILES['database']} in it"
            raise StoreError(
                msg,
                hint="give what a command wrote with -o; `dialogauge runs DIR` lists the runs below a folder",
            )

    def release(self) -> None:
        """Give the lock back."""
        self._database = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def read_json(self, name: str) -> dict[str, Any]:
        """Read the manifest or the summary; StoreError where it is not what the run wrote."""
        try:
            if self.file(name).is_fifo():
                msg = f"{self.file(name)} is a pipe, and no file"
                raise StoreError(msg)
            raw = self.file(name).read_bytes()
            value = orjson.loads(raw)
        except FileNotFoundError as error:
            msg = f"the run {self.path} has no {FILES[name]}"
            raise StoreError(msg, hint="run `dialogauge judge` on it once more to finish it") from error
        except orjson.JSONDecodeError as error:
            msg = f"{self.file(name)} is not JSON: {error}"
            raise StoreError(msg) from error
        if not isinstance(value, dict):
            msg = f"{self.file(name)} does not hold a JSON object"
            raise StoreError(msg)
        if (written := self._digests_written(name)) and _digest(raw) not in written:
            msg = f"{self.file(name)} was changed since the run wrote it"
            raise StoreError(msg, hint="give the command that wrote it again; nothing is judged twice")
        return value

    def _digests_written(self, name: str) -> list[str]:
        if not self.exists:
            return []
        database = self._database or self.open_for_reading()
        try:
            written: str | list[str] = database.get_meta(_WRITTEN + name, [], str | list[str])
        finally:
            if database is not self._database:
                database.close()
        return [written] if isinstance(written, str) else written

    def write_json(self, name: str, value: Mapping[str, Any]) -> None:
        """Write the manifest or the summary, whole or not at all."""
        document = json_document(value)
        own = _digest(document)
        # A killed process leaves the file as it was, or as it is to be: both are the run's own.
        self._note_written(name, [own, *self._digests_written(name)])
        self.write_lines(name, [document])
        self._note_written(name, [own])

    def _note_written(self, name: str, digests: Sequence[str]) -> None:
        if self._database is not None:
            self._database.put_meta(_WRITTEN + name, digests)

    def remove(self, name: str) -> None:
        """Delete a file, if it is there."""
        try:
            self.file(name).unlink(missing_ok=True)
        except OSError as error:
            msg = f"{self.file(name)} cannot be deleted: {error.strerror}"
            raise StoreError(msg, hint="check the directory") from error

    def write_lines(self, name: str, chunks: Iterable[bytes]) -> None:
        """Write a file from chunks, whole or not at all."""
        write_whole(self.file(name), chunks)


def command_of(study: str) -> str:
    """Return the command that makes runs of a kind, for messages."""
    return f"`dialogauge {'replay' if study == 'answer' else study}`"


def refuse_older_kind(study: object, path: Path) -> None:
    """Raise StoreError for a replay run of version 0.2.0: it has rows of another form."""
    if study == "replay":
        msg = f"an older dialogauge wrote the replay run {path}, and its rows have another form"
        hint = "give its commands again, into another directory: what models have said comes from the cache"
        raise StoreError(msg, hint=hint)


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:32]


def write_whole(target: Path, chunks: Iterable[bytes]) -> None:
    """Write a file from chunks, whole or not at all; its directory is made if need be."""
    with writing_whole(target) as out:
        out.writelines(chunks)


@contextlib.contextmanager
def writing_whole(target: Path) -> Iterator[IO[bytes]]:
    """Open a file under a passing name in the same directory, and give it its own when all is written.

    Raises StoreError when the system refuses; then the file is as it was.
    """
    with _refusals(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            # Not `exists`, which from Python 3.14 on says no to a name that the system refuses.
            if not stat.S_ISREG(target.stat().st_mode):
                raise OSError(errno.EINVAL, "it is a folder, a pipe or a device")
        _sweep(target)
        passing = target.with_name(f".{target.name[:_NAMED]}.{token_hex(4)}{_PASSING}")
        handle = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
        try:
            with os.fdopen(handle, "wb") as out:
                # Where the file system has no locks, nobody sweeps either.
                with contextlib.suppress(OSError):
                    _hold(out)
                yield out
            passing.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                passing.unlink()
            raise


def _hold(file: IO[Any]) -> None:
    """Keep other processes from a file while it is open; OSError where another has it."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sweep(target: Path) -> None:
    """Delete what a killed process was writing in place of a file: nobody holds it any more."""
    for passing in target.parent.glob(f".{escape(target.name[:_NAMED])}.{'[0-9a-f]' * 8}{_PASSING}"):
        with contextlib.suppress(OSError), passing.open("rb") as left:
            _hold(left)
            passing.unlink()


def expect_writable(target: Path) -> None:
    """Raise StoreError where `writing_whole` would be refused, before there is anything to write."""
    with contextlib.suppress(_Left), writing_whole(target):
        raise _Left


class _Left(Exception):
    """Leaves a file as it is."""


@contextlib.contextmanager
def _refusals(target: Path) -> Iterator[None]:
    """Turn what the system refuses into StoreError."""
    try:
        yield
    except DialogaugeError:
        raise
    except OSError as error:
        msg = f"{target} cannot be written: {error.strerror}"
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        hint = "free some space and run the same command again" if full else "check the directory"
        raise StoreError(msg, hint=hint) from error
