"""The tasks and logs that commands of `dialogauge learn` are given, and `learn tasks`, which counts them."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from dialogauge.app.command import Measurement
from dialogauge.app.learn.settings import LearnTasksOptions
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.sources import PythonInput, is_run
from dialogauge.core import RecordFault, UsageError
from dialogauge.core.files import shown_path
from dialogauge.data.tasks import (
    DATASETS,
    PARTITIONS,
    LoggedDialogue,
    TaskFile,
    TaskRecord,
    public_rows,
    read_logs,
    read_tasks,
    sample_tasks,
    split_tasks,
    unlike_published,
)
from dialogauge.report import words
from dialogauge.runs import RunDirectory
from dialogauge.studies.learning.memories import Chunk, chunk_of
from dialogauge.studies.learning.scoring import by_dataset
from dialogauge.studies.learning.tasks import TaskTables, task_blocks, task_tables
from dialogauge.text import counted

_SHIPPED: Final = "family"
_PUBLISHED: Final = {
    "bm25": "bm25-message",
    "bm25_dialog": "bm25-session",
    "embedder": "embed-message",
    "embedder_dialog": "embed-session",
}
"""Our names of the systems of published logs."""
_SHUFFLED: Final = 42
"""The seed by which MemoryBench shuffles logs."""


def chosen_tasks(
    asked: Sequence[str], sample: int | None, remarks: list[str]
) -> tuple[TaskFile, list[TaskRecord]]:
    """Read the files of tasks, else those that ship, and keep what is named; what is odd goes to `remarks`.

    Raises UsageError where none of them holds a data set that is named.
    """
    names = [text for text in asked if text in DATASETS or text in PARTITIONS]
    file = read_tasks(*([text for text in asked if text not in names] or [_SHIPPED]))
    wanted = {one for name in names for one in PARTITIONS.get(name, (name,))}
    tasks = [task for task in file.tasks if not wanted or task.dataset in wanted]
    if not tasks:
        msg = f"no task is of {', '.join(names)}"
        there = words.listing(sorted({t.dataset for t in file.tasks}))
        raise UsageError(msg, hint=f"give its files too, with --tasks FILE; those that are read hold {there}")
    if file.without_gold:
        remarks.append(f"{counted(file.without_gold, 'task')} without anything to hold an answer against")
    if file.without_question:
        remarks.append(f"{counted(file.without_question, 'task')} without a question, left out")
    if file.empty:
        blank = words.listing(file.empty, 3)
        remarks.append(f"{counted(len(file.empty), 'corpus', 'corpora')} without a message: {blank}")
    if file.unknown_evidence:
        several = counted(len(file.unknown_evidence), "task")
        first = words.listing([*file.unknown_evidence], 3)
        remarks.append(f"{several} with evidence that the corpus does not have, left out of recall: {first}")
    remarks += unlike_published(tasks)
    if sample is not None:
        tasks = [t for of in by_dataset(tasks).values() for t in sample_tasks(of, sample)]
    return file, tasks


def chosen_logs(file: str | None) -> dict[str, list[LoggedDialogue]]:
    """Return dialogues by system, `""` for those of all: of a file, or of a run of `learn dialogues`.

    Raises UsageError for a file without any.
    """
    by_system: dict[str, list[LoggedDialogue]] = {}
    if file is None:
        return by_system
    dialogues = read_logs(logs_in(file))
    if not dialogues:
        msg = f"{shown_path(file)} holds no dialogue"
        raise UsageError(msg, hint="a row has dialog, or messages")
    for log in dialogues:
        name = log.conversation.candidate or ""
        by_system.setdefault(_PUBLISHED.get(name, name), []).append(log)
    for logs in by_system.values():
        random.Random(_SHUFFLED).shuffle(logs)
    return by_system


def logs_in(file: str) -> str:
    """Return the file of logs: of a run of `learn dialogues` the one in it; UsageError for another run."""
    if not is_run(file):
        return file
    logs = RunDirectory(Path(file)).file("logs")
    if not logs.is_file():
        msg = f"{shown_path(file)} is a run, and none of `learn dialogues`"
        raise UsageError(msg, hint="give a run of `learn dialogues`, or a file of dialogues")
    return str(logs)


def batches_of(
    logs: Mapping[str, Sequence[LoggedDialogue]], size: int | None, action: str | None
) -> dict[str, tuple[Chunk, ...]]:
    """Return by system its logs in batches: all in one without a size, with an action those that have it.

    Raises UsageError where no dialogue has the action.
    """
    batches: dict[str, tuple[Chunk, ...]] = {}
    for system, of in logs.items():
        kept = [log for log in of if action is None or any(action in one.actions for one in log.feedback)]
        step = size or max(1, len(kept))
        parts = (kept[start : start + step] for start in range(0, len(kept), step))
        batches[system] = tuple(chunk_of(f"logs {n}", part) for n, part in enumerate(parts, 1))
    if logs and not any(batches.values()):
        msg = f"no dialogue of {counted(sum(map(len, logs.values())), 'dialogue')} has the action {action}"
        raise UsageError(msg, hint="give logs with it, or another --action; `learn calibrate` says how rare")
    return batches


def task_ids(logs: Mapping[str, Sequence[LoggedDialogue]]) -> set[str]:
    """Return the ids of the tasks that logs are about."""
    return {str(log.conversation.metadata.get("task")) for of in logs.values() for log in of}


def training_tasks(tasks: Sequence[TaskRecord], logged: Collection[str]) -> list[TaskRecord]:
    """Return the tasks that teach: those of logs, else four of five of each set, as MemoryBench draws."""
    if logged:
        return [task for task in tasks if task.id in logged]
    return [task for of in by_dataset(tasks).values() for task in split_tasks(of)[0]]


def expect_taught(tasks: Sequence[TaskRecord]) -> None:
    """Raise UsageError where no task teaches."""
    if not tasks:
        msg = "no task is left to teach"
        hint = "those of --logs teach, where it is given, and else four of five of each data set: give more"
        raise UsageError(msg, hint=hint)


def disputed_tasks(path: str | None, tasks: Sequence[TaskRecord]) -> dict[str, bool]:
    """Return of each task whether its gold is disputed; empty where nobody has looked.

    Raises RecordFault for a line without an id, and UsageError where the file is of other tasks.
    """
    own = {task.id: bool(task.gold["disputed"]) for task in tasks if "disputed" in task.gold}
    if path is None:
        return {task.id: own.get(task.id, False) for task in tasks} if own else {}
    disputed = set[str]()
    for row in public_rows([path]):
        if "id" not in row.value:
            msg = "this line names no task"
            raise RecordFault(msg, place=row.place, hint='write {"id": "...", "gold_disputed": true}')
        if row.value.get("gold_disputed", True):
            disputed.add(str(row["id"]))
    if not disputed & {task.id for task in tasks}:
        msg = f"{shown_path(path)} disputes none of these tasks"
        raise UsageError(msg, hint="it holds the ids of tasks, one JSON object a line")
    return {task.id: task.id in disputed for task in tasks}


def _tasks(options: LearnTasksOptions, python: PythonInput) -> CommandOutcome[TaskTables]:
    """Count what there is to ask."""
    del python
    remarks = list[str]()
    file, tasks = chosen_tasks(options.inputs, None, remarks)
    logs = () if options.logs_file is None else read_logs(logs_in(options.logs_file))
    tables = task_tables(replace(file, tasks=tuple(tasks)), logs, options.tokenizer)
    return CommandOutcome(options=options, result=tables)


TASKS: Final[Measurement[LearnTasksOptions, TaskTables]] = Measurement(
    name="tasks",
    prints=TaskTables,
    measure=_tasks,
    view=lambda outcome: task_blocks(outcome.result),
)
