"""`learn run`: tasks asked of memory systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dialogauge.agents.memory import (
    MEMORY_SYSTEMS,
    WRITTEN,
    Room,
)
from dialogauge.app.clients import Clients
from dialogauge.app.columns import AnswerColumns
from dialogauge.app.command import ReadyStudy, StudyEntry, chosen_directory
from dialogauge.app.learn.settings import LearnOptions
from dialogauge.app.learn.systems import chosen_answerer, chosen_systems, named_system
from dialogauge.app.learn.tasks import chosen_logs, chosen_tasks, disputed_tasks
from dialogauge.app.outcome import PlanJson
from dialogauge.app.sources import PythonInput
from dialogauge.core import UsageError
from dialogauge.core.files import shown_path
from dialogauge.data.tasks import (
    TaskRecord,
)
from dialogauge.judges.answers import bert_scorer
from dialogauge.llm import folder_digest
from dialogauge.runs import RunDirectory, open_run
from dialogauge.studies.learning.figures import NO_MODEL, LearnResult
from dialogauge.studies.learning.judged import (
    planted_answers,
)
from dialogauge.studies.learning.memories import Memories
from dialogauge.studies.learning.page import learn_blocks, shown_answer, stored_page
from dialogauge.studies.learning.study import LearningStudy
from dialogauge.text import counted

_SHIPPED_RUN: Final = Path("runs", "learn")
_FOLDER: Final = "memories"
"""Of a run, where its memories are kept."""


class LearnPlanJson(PlanJson):
    """What `learn run` would do."""

    answers: int
    """Tasks times systems times steps."""


@dataclass(kw_only=True)
class PreparedLearning(ReadyStudy[LearnOptions, LearningStudy]):
    """A study of memories, and what is to be said of its tasks."""

    remarks: list[str] = field(default_factory=list)


async def _prepare(options: LearnOptions, python: PythonInput, *, dry: bool) -> PreparedLearning:
    """Read tasks and logs, and build systems and answerer."""
    del python
    remarks = list[str]()
    file, tasks = chosen_tasks(options.inputs, options.sample, remarks)
    logs, logged = chosen_logs(options)
    if logged:
        training = options.protocol == "training"
        tasks = [task for task in tasks if (task.id in logged) == training]
    elif options.protocol != "off-policy":
        msg = f"--protocol {options.protocol} needs logs"
        raise UsageError(msg, hint="give dialogues that the assistant led with --logs FILE")
    if not tasks:
        msg = "no task is left to ask"
        raise UsageError(msg, hint="--protocol training asks the tasks of the logs, the others all but these")
    if options.k is not None and options.context_tokens is not None:
        msg = "--k and --context-tokens are given: a room has one bound"
        raise UsageError(msg, hint="keep one of them")
    clients = Clients(options, dry=dry)
    try:
        answerer = chosen_answerer(options, clients)
        systems = chosen_systems(options, clients, file, logs, dry=dry)
    except BaseException:
        await clients.close()
        raise
    room = Room() if options.k is None else Room(options.k)
    if options.context_tokens is not None:
        room = Room(None, options.context_tokens)
    folder = None if dry else _directory(options).path / _FOLDER
    study = LearningStudy(
        file,
        tasks,
        systems,
        answerer,
        room,
        Memories(folder, options.hours, options.system_timeout),
        options.protocol,
        disputed_tasks(options.disputed_file, tasks),
        references=None if options.norm_from is None else _references(options.norm_from, tasks),
        options=options.options,
        bert_score=None if options.bert_score is None else bert_scorer(options.bert_score),
        bert_model=None if options.bert_score is None else folder_digest(Path(options.bert_score)),
        seed=options.seed,
        planted=planted_answers(tasks) if options.planted else {},
    )
    own = MEMORY_SYSTEMS.keys() - WRITTEN
    plain = answerer is None and all(named_system(text)[1] in own for text in options.systems)
    return PreparedLearning(
        options=options,
        study=study,
        clients=clients,
        judge=NO_MODEL if answerer is None else answerer.name,
        workers=1 if plain else options.max_concurrency,
        remarks=remarks,
    )


def _directory(options: LearnOptions) -> RunDirectory:
    shipped = not options.out and not options.inputs
    return RunDirectory(_SHIPPED_RUN) if shipped else chosen_directory(options, "-learn")


def _references(run: str, tasks: Sequence[TaskRecord]) -> dict[str, Any]:
    """Return the references of another run; UsageError where it has none of a data set."""
    with open_run(run, studies=("learn",)) as stored:
        of = stored.summary.get("references", {})
    if missing := sorted({task.dataset for task in tasks} - of.keys()):
        msg = f"{shown_path(run)} is no reference for {', '.join(missing)}: it asked no such task"
        raise UsageError(msg, hint="give a run of the same data sets with --norm-from")
    return {"run": shown_path(run), "of": of}


RUN: Final[StudyEntry[LearnOptions, PreparedLearning, LearnResult]] = StudyEntry(
    name="learn",
    prints=LearnResult,
    plans=LearnPlanJson,
    unit="answer",
    prepare=_prepare,
    directory=_directory,
    notes=lambda prepared, run: prepared.remarks,
    failed_share=lambda result: result.failed_share,
    counts=lambda prepared, units: {"answers": units},
    measured=20,
    plan_words=lambda plan, options: (
        f"would ask for {plan.left:,} of {counted(plan.counts['answers'], 'answer')} by {plan.judge}"
    ),
    view=lambda outcome: learn_blocks(outcome.result),
    page=stored_page,
    shown=shown_answer,
    columns=lambda run: AnswerColumns(),
)
