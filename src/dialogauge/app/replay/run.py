"""The directory of a replay run: its lock, its database, and that it holds one item set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dialogauge.core.errors import StoreError, UsageError
from dialogauge.runs import ReplayDatabase, RunDirectory
from dialogauge.runs.records import json_document
from dialogauge.studies.replay.items import ItemSet, read_items


@contextmanager
def open_for_writing(
    path: str, items: ItemSet | None = None
) -> Iterator[tuple[RunDirectory, ReplayDatabase]]:
    """Lock the directory and open its database; with `items`, make it the run of that set.

    Raises:
        UsageError: The run is of another item set.
        StoreError: The directory cannot be used, or holds no replay run where one is needed.
    """
    directory = RunDirectory(Path(path))
    if items is None:
        _need(directory)
    directory.lock()
    try:
        database = ReplayDatabase(directory.file("replay"))
        try:
            if items is not None:
                _claim(directory, database, items)
            yield directory, database
        finally:
            database.close()
    finally:
        directory.release()


def _need(directory: RunDirectory) -> None:
    if not directory.file("replay").is_file():
        msg = f"{directory.path} holds no replay run: there is no {directory.file('replay').name} in it"
        raise StoreError(msg, hint="give the directory that `dialogauge replay collect` wrote (its -o)")


def _claim(directory: RunDirectory, database: ReplayDatabase, items: ItemSet) -> None:
    held = database.get_meta("items")
    if held is not None and held != items.digest:
        msg = f"the run {directory.path} is of another item set"
        raise UsageError(
            msg, hint="candidates are compared on the same items: choose another directory with -o"
        )
    if held is None:
        directory.write_lines("items", [json_document(items.to_json())])
        database.put_meta("items", items.digest)


@contextmanager
def read_run(path: str) -> Iterator[ReplayDatabase]:
    """Open the database of a run for reading."""
    database = ReplayDatabase(RunDirectory(Path(path)).file("replay"), readonly=True)
    try:
        yield database
    finally:
        database.close()


def item_set_of(path: str) -> ItemSet:
    """Return the item set of a run."""
    directory = RunDirectory(Path(path))
    _need(directory)
    return read_items(directory.file("items"))
