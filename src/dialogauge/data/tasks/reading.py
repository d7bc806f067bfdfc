"""Files of tasks, read whole: of our form, or of one of the public forms of `datasets`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, Final

from dialogauge.core import Conversation, FileFault, Place, shown_path
from dialogauge.data.json_values import json_values, starts_json
from dialogauge.data.opening import locate
from dialogauge.data.sources import LineStream
from dialogauge.data.tables import open_table
from dialogauge.data.tasks.datasets import PublicRow, our_records
from dialogauge.data.tasks.record import TASK_FORM, TaskFile, TaskRecord, corpus_of, fail, task_of, whole

SHIPPED: Final[Mapping[str, str]] = {"family": "family.jsonl", "support-desk": "support_desk.jsonl"}
"""Files that come with dialogauge, by the name that stands for them; `support-desk` holds logs too."""


def read_tasks(*paths: str) -> TaskFile:
    """Read files of tasks and corpora: JSONL, a JSON array, CSV, Parquet, Arrow, or a script as text.

    What is not of our form is recognised by its keys, as one of the public forms. A folder stands for its
    `.jsonl` files, or for the papers of LimitGen; a name of `SHIPPED` for that file.

    Raises:
        FileFault: A file cannot be read, or there is no task in any.
        RecordFault: A record lacks something, an id is there twice, or a task names a corpus that is nowhere.
    """
    tasks: dict[str, TaskRecord] = {}
    corpora: dict[str, tuple[Conversation, ...]] = {}
    without_question = 0
    for row in public_rows(paths):
        for value in our_records(row):
            if "q" in value and value["q"] is None:
                without_question += 1
            elif "sessions" in value or "corpus_id" in value:
                name, sessions = corpus_of(value, row.place)
                if name in corpora:
                    msg = f"the corpus {name!r} is there twice"
                    fail(msg, row.place, "every corpus has an id of its own")
                corpora[name] = sessions
            else:
                task = task_of(value, row.place)
                if task.id in tasks:
                    fail(f"the task {task.id!r} is there twice", row.place, "every task has an id of its own")
                tasks[task.id] = task
    if not tasks:
        msg = "there is no task"
        msg += f" with a question, {without_question} without" if without_question else ""
        raise FileFault(msg, place=Place(shown_path(paths[0])) if paths else None, hint=TASK_FORM)
    known = {name: {m.extra.get("id") for s in of for m in s.messages} for name, of in corpora.items()}
    unknown = {}
    for task in tasks.values():
        if task.corpus is not None and task.corpus not in corpora:
            msg = f"the task {task.id!r} is about the corpus {task.corpus!r}, which no file holds"
            fail(msg, task.place, "give the file of the corpora too")
        if missing := tuple(id for id in task.evidence if id not in known.get(task.corpus or "", ())):
            unknown[task.id] = missing
    empty = tuple(n for n, of in corpora.items() if not any(m.text.strip() for s in of for m in s.messages))
    without_gold = sum(not t.gold for t in tasks.values())
    return TaskFile(tuple(tasks.values()), corpora, without_gold, unknown, empty, without_question)


def public_rows(paths: Sequence[str], bare: str | None = None) -> Iterator[PublicRow]:
    """Yield each JSON object or row of the files, with its place; raises `InputError` for what is none.

    With `bare`, a number or a text by itself stands for an object in which it has that name, and no file
    is a script.
    """
    for name in paths:
        path = str(resources(__package__) / SHIPPED[name]) if name in SHIPPED else name
        folder, files = Path(path), [path]
        if folder.is_dir():
            members = sorted(folder.glob("*.jsonl")) or sorted(folder.glob("annotated/*/*.json"))
            files = [str(file) for file in members]
        for source in locate(files)[0]:
            beside: dict[str, Any] = {}
            for number, (place, value) in enumerate(_values(LineStream(source), scripts=not bare)):
                if bare and isinstance(value, str | int | float):
                    value = {bare: value}
                if not isinstance(value, dict):
                    fail("this is no JSON object", place, "write one a line, with names and values")
                yield PublicRow(value, place, source, number, beside)


def _values(stream: LineStream, *, scripts: bool) -> Iterator[tuple[Place, Any]]:
    """Yield what a file holds: a row of a table, a script, where there are any, as one text, else JSON."""
    name, ending = stream.source.name, Path(stream.source.label).suffix.lower()
    if ending in (".csv", ".tsv"):
        for row in open_table(stream).rows:
            cells = whole(row)
            yield Place(name, cells.line), cells.cells
    elif scripts and ending == ".txt" and not starts_json(stream):
        yield Place(name), {"text": "".join(text for _, text in stream.text())}
    else:
        for value in json_values(stream):
            yield whole(value).place, whole(value).value
