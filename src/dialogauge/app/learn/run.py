"""`learn run`: tasks asked of memory systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from dialogauge.agents.memory import MEMORY_SYSTEMS, WRITTEN, Room, TrainedMemory
from dialogauge.app.clients import Clients
from dialogauge.app.columns import AnswerColumns
from dialogauge.app.command import ReadyStudy, StudyEntry, chosen_directory
from dialogauge.app.learn.settings import ACTION, BATCH, STEPS, AskedOptions, LearnOptions
from dialogauge.app.learn.systems import chosen_answerer, chosen_systems, named_system
from dialogauge.app.learn.tasks import (
    batches_of,
    chosen_logs,
    chosen_tasks,
    disputed_tasks,
    expect_taught,
    task_ids,
    training_tasks,
)
from dialogauge.app.learn.users import teaching_of
from dialogauge.app.merging import references
from dialogauge.app.outcome import PlanJson
from dialogauge.app.sources import PythonInput
from dialogauge.core import UsageError
from dialogauge.core.files import shown_path
from dialogauge.data.tasks import LoggedDialogue, TaskRecord
from dialogauge.judges.answers import bert_scorer
from dialogauge.llm import folder_digest
from dialogauge.runs import RunDirectory, StudyRun, open_run
from dialogauge.studies.learning.effects import feedback_effects
from dialogauge.studies.learning.figures import NO_MODEL, LearnResult
from dialogauge.studies.learning.judged import planted_answers
from dialogauge.studies.learning.memories import LearningSystem, Memories
from dialogauge.studies.learning.page import learn_blocks, shown_answer, stored_page
from dialogauge.studies.learning.study import LearningStudy
from dialogauge.text import counted

_USED_IN: Final[Mapping[str, Sequence[str]]] = {
    "batch": ("stepwise", "on-policy"),
    "steps": ("on-policy",),
    "rounds": ("on-policy",),
    "action": ("action",),
}
"""The protocols that use a setting, where not all do."""


class LearnPlanJson(PlanJson):
    """What `learn run` would do."""

    answers: int
    """Tasks times systems times steps."""


@dataclass(kw_only=True)
class PreparedLearning(ReadyStudy[Any, LearningStudy]):
    """A study of memories, and what is to be said of its tasks."""

    remarks: list[str] = field(default_factory=list)


async def _prepare(options: LearnOptions, python: PythonInput, *, dry: bool) -> PreparedLearning:
    """Read tasks and logs, and build systems, answerer, and users where dialogues are led."""
    del python
    remarks, protocol = list[str](), options.protocol
    file, tasks = chosen_tasks(options.inputs, options.sample, remarks)
    logs = chosen_logs(options.logs_file)
    teaching_tasks, tasks = _taught_and_asked(options, tasks, logs)
    if logs and not teaching_tasks:
        remarks.append("the logs are about none of these tasks")
    size, action = options.batch or BATCH, (options.action or ACTION) if protocol == "action" else None
    batches = batches_of(logs, size if protocol == "stepwise" else None, action)
    clients = Clients(options, dry=dry)
    try:
        answerer, teaching = chosen_answerer(options, clients), None
        systems: tuple[LearningSystem, ...] = ()
        if protocol != "feedback-effect":
            tuned = learn_directory(options).path / "tuned"
            systems = chosen_systems(options, clients, file, batches, folder=tuned, dry=dry)
        if protocol == "on-policy":
            systems = tuple(replace(system, logs=()) for system in systems)
            teaching = teaching_of(options, clients, teaching_tasks, options.steps or STEPS, size)
        else:
            _expect_liked(systems)
    except BaseException:
        await clients.close()
        raise
    effects = feedback_effects(tasks, logs, options.seed) if protocol == "feedback-effect" else ()
    folder = None if dry or effects else learn_directory(options).path / "memories"
    study = LearningStudy(
        file,
        tasks,
        systems,
        answerer,
        chosen_room(options),
        Memories(folder, options.hours, options.system_timeout),
        protocol,
        disputed_tasks(options.disputed_file, tasks),
        references=None if options.norm_from is None else _references(options.norm_from, tasks),
        options=options.options,
        bert_score=None if options.bert_score is None else bert_scorer(options.bert_score),
        bert_model=None if options.bert_score is None else folder_digest(Path(options.bert_score)),
        seed=options.seed,
        planted=planted_answers(tasks) if options.planted else {},
        teaching=teaching,
        effects=effects,
        action=action,
    )
    own = MEMORY_SYSTEMS.keys() - WRITTEN
    plain = answerer is None and all(named_system(text)[1] in own for text in options.systems)
    return PreparedLearning(
        options=options,
        study=study,
        clients=clients,
        judge=NO_MODEL if answerer is None else answerer.name,
        workers=1 if plain and teaching is None else options.max_concurrency,
        remarks=remarks,
    )


def _taught_and_asked(
    options: LearnOptions, tasks: Sequence[TaskRecord], logs: Mapping[str, Sequence[LoggedDialogue]]
) -> tuple[list[TaskRecord], list[TaskRecord]]:
    """Return the tasks that teach, and those that are asked; UsageError for what a protocol cannot do."""
    protocol = options.protocol
    for name, uses in _USED_IN.items():
        if getattr(options, name) is not None and protocol not in uses:
            msg = f"--protocol {protocol} does not use --{name}"
            raise UsageError(msg, hint=f"leave --{name} out, or give --protocol {' or '.join(uses)}")
    idle = set[str]() if protocol == "on-policy" else {"simulator", "judge"}
    idle |= {"embedder", "memory"} if protocol == "feedback-effect" else set()
    if idle := idle & references(options).keys():
        msg = f"--protocol {protocol} asks no {min(idle)}"
        hint = "users talk in on-policy and in `learn dialogues`; feedback-effect asks the answerer alone"
        raise UsageError(msg, hint=hint)
    if protocol == "feedback-effect" and options.systems != LearnOptions().systems:
        msg = "--protocol feedback-effect has no systems: a dialogue of the logs stands before each question"
        raise UsageError(msg, hint="leave --system out")
    withheld = set(options.twins) - {"other-case"}
    if (options.twins and protocol == "feedback-effect") or (
        withheld and not (logs or protocol == "on-policy")
    ):
        msg = "--control has nothing to withhold: no system takes in logs"
        hint = "give dialogues with --logs FILE"
        if protocol == "feedback-effect":
            msg, hint = "--protocol feedback-effect has no systems, and so no twins", "leave --control out"
        raise UsageError(msg, hint=hint)
    if not logs and protocol not in ("off-policy", "on-policy"):
        msg = f"--protocol {protocol} needs logs"
        raise UsageError(msg, hint="give dialogues that the assistant led with --logs FILE")
    teaching = training_tasks(tasks, task_ids(logs)) if logs or protocol == "on-policy" else []
    if protocol == "on-policy":
        expect_taught(teaching)
    taught = {task.id for task in teaching}
    asked = [task for task in tasks if (task.id in taught) == (protocol in ("training", "feedback-effect"))]
    if not asked:
        msg = "no task is left to ask"
        hint = "--protocol training and feedback-effect ask the tasks of the logs, the others all but these"
        raise UsageError(msg, hint=hint)
    return teaching, asked


def _expect_liked(systems: Sequence[LearningSystem]) -> None:
    """Raise UsageError where a system that is trained is given logs that it can learn nothing from."""
    for system in systems:
        if isinstance(memory := system.empty(), TrainedMemory):
            memory.expect_liked([one for chunk in system.logs for one in chunk.dialogues])


def chosen_room(options: AskedOptions) -> Room:
    """Return how much a system may give; UsageError for two bounds."""
    if options.k is not None and options.context_tokens is not None:
        msg = "--k and --context-tokens are given: a room has one bound"
        raise UsageError(msg, hint="keep one of them")
    if options.context_tokens is not None:
        return Room(None, options.context_tokens)
    return Room() if options.k is None else Room(options.k)


def learn_directory(options: LearnOptions) -> RunDirectory:
    """Return the directory of a run; that of the shipped tasks has a name of its own."""
    shipped = not options.out and not options.inputs
    return RunDirectory(Path("runs", "learn")) if shipped else chosen_directory(options, "-learn")


def _references(run: str, tasks: Sequence[TaskRecord]) -> dict[str, Any]:
    """Return the references of another run; UsageError where it has none of a data set."""
    with open_run(run, studies=("learn",)) as stored:
        of = stored.summary.get("references", {})
    if missing := sorted({task.dataset for task in tasks} - of.keys()):
        msg = f"{shown_path(run)} is no reference for {', '.join(missing)}: it asked no such task"
        raise UsageError(msg, hint="give a run of the same data sets with --norm-from")
    return {"run": shown_path(run), "of": of}


def learn_notes(prepared: PreparedLearning, run: StudyRun[LearnResult] | None) -> Iterator[str]:
    """Say what is odd of the tasks, and what a plan does not count."""
    yield from prepared.remarks
    teaching = prepared.study.teaching
    if run is None and teaching is not None and teaching.asks_models:
        most = 3 * teaching.rounds - 2
        yield f"calls are counted as if users left soon: a dialogue takes up to {most}"


RUN: Final[StudyEntry[Any, PreparedLearning, LearnResult]] = StudyEntry(
    name="learn",
    prints=LearnResult,
    plans=LearnPlanJson,
    unit="answer",
    prepare=_prepare,
    directory=learn_directory,
    notes=learn_notes,
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
