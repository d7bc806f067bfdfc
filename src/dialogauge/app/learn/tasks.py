"""The tasks and logs that commands of `dialogauge learn` are given, and `learn tasks`, which counts them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dialogauge.agents.memory import (
    Feedback,
)
from dialogauge.app.command import Measurement
from dialogauge.app.learn.settings import (
    LearnOptions,
    LearnTasksOptions,
)
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.sources import PythonInput
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
    unlike_published,
)
from dialogauge.report import words
from dialogauge.studies.learning.memories import Chunk
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
        sets = {task.dataset: None for task in tasks}
        tasks = [t for name in sets for t in sample_tasks([t for t in tasks if t.dataset == name], sample)]
    return file, tasks


def chosen_logs(options: LearnOptions) -> tuple[dict[str, tuple[Chunk, ...]], set[str]]:
    """Return by system the batches of logs, `""` for those of all systems, and the ids of their tasks."""
    batches, logged = dict[str, tuple[Chunk, ...]](), set[str]()
    if options.logs_file is None:
        return batches, logged
    by_system: dict[str, list[LoggedDialogue]] = {}
    dialogues = read_logs(options.logs_file)
    if not dialogues:
        msg = f"{shown_path(options.logs_file)} holds no dialogue"
        raise UsageError(msg, hint="a row has dialog, or messages")
    for log in dialogues:
        name = log.conversation.candidate or ""
        by_system.setdefault(_PUBLISHED.get(name, name), []).append(log)
        logged.add(str(log.conversation.metadata.get("task")))
    for system, logs in by_system.items():
        random.Random(_SHUFFLED).shuffle(logs)
        size = options.step_size if options.protocol == "stepwise" else len(logs)
        parts = [logs[start : start + size] for start in range(0, len(logs), size)]
        pairs = [
            tuple((log.conversation, Feedback(log.feedback) if log.feedback else None) for log in part)
            for part in parts
        ]
        batches[system] = tuple(Chunk(f"logs {n}", pair) for n, pair in enumerate(pairs, 1))
    return batches, logged


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
    logs = () if options.logs_file is None else read_logs(options.logs_file)
    tables = task_tables(replace(file, tasks=tuple(tasks)), logs, options.tokenizer)
    return CommandOutcome(options=options, result=tables)


TASKS: Final[Measurement[LearnTasksOptions, TaskTables]] = Measurement(
    name="tasks",
    prints=TaskTables,
    measure=_tasks,
    view=lambda outcome: task_blocks(outcome.result),
)
