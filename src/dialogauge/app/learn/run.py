"""The commands of `dialogauge learn`: tasks asked, runs compared, tasks and systems listed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from dialogauge.agents import ChatAgent
from dialogauge.agents.memory import (
    MEMORY_SYSTEMS,
    EndpointMemory,
    Feedback,
    Memory,
    Room,
    build_memory,
    own_memory,
)
from dialogauge.app.candidates import Candidate, build_candidate_client, candidate_digest
from dialogauge.app.clients import Clients
from dialogauge.app.columns import AnswerColumns
from dialogauge.app.command import Measurement, ReadyStudy, StudyEntry, chosen_directory
from dialogauge.app.config import RoleSettings, model_of
from dialogauge.app.functions import load_memory
from dialogauge.app.learn.settings import (
    LearnCompareOptions,
    LearnOptions,
    LearnSystemsOptions,
    LearnTasksOptions,
)
from dialogauge.app.merging import load_config, references
from dialogauge.app.outcome import CommandOutcome, PlanJson
from dialogauge.app.sources import PythonInput, is_run
from dialogauge.core import RecordFault, UsageError
from dialogauge.core.files import shown_path
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import Agent
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
from dialogauge.judges.answers import bert_scorer
from dialogauge.llm import JsonEndpoint, folder_digest
from dialogauge.report import Block, Page, Section, data_table, words
from dialogauge.runs import RunDirectory, StoredRun, open_run
from dialogauge.studies.learning.figures import CONTROLS, NO_MODEL, OF_RUN, LearnResult, compared_result
from dialogauge.studies.learning.judged import (
    PLANTED,
    JudgedAccuracy,
    judged_accuracy,
    judged_blocks,
    planted_answers,
)
from dialogauge.studies.learning.memories import Chunk, LearningSystem, Memories
from dialogauge.studies.learning.page import ComparedSystems, learn_blocks, shown_answer, stored_page
from dialogauge.studies.learning.published import PublishedTables, published_blocks, read_published
from dialogauge.studies.learning.study import LearningStudy
from dialogauge.studies.learning.tasks import TaskTables, task_blocks, task_tables
from dialogauge.text import counted

_SHIPPED: Final = "family"
_SHIPPED_RUN: Final = Path("runs", "learn")
_PUBLISHED: Final = {
    "bm25": "bm25-message",
    "bm25_dialog": "bm25-session",
    "embedder": "embed-message",
    "embedder_dialog": "embed-session",
}
"""Our names of the systems of published logs."""
_SHUFFLED: Final = 42
"""The seed by which MemoryBench shuffles logs."""
_NAMED: Final = lazy_pattern(r"([^=/:]+)=(.+)")
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
    logs, logged = _logs(options)
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
        answerer = _answerer(options, clients)
        systems = _systems(options, clients, file, logs, dry=dry)
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
        _disputed(options.disputed_file, tasks),
        references=None if options.norm_from is None else _references(options.norm_from, tasks),
        options=options.options,
        bert_score=None if options.bert_score is None else bert_scorer(options.bert_score),
        bert_model=None if options.bert_score is None else folder_digest(Path(options.bert_score)),
        seed=options.seed,
        planted=planted_answers(tasks) if options.planted else {},
    )
    plain = answerer is None and all(_named(text)[1] in MEMORY_SYSTEMS for text in options.systems)
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


def _logs(options: LearnOptions) -> tuple[dict[str, tuple[Chunk, ...]], set[str]]:
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
        pairs = [tuple((log.conversation, _feedback_of(log)) for log in part) for part in parts]
        batches[system] = tuple(Chunk(f"logs {n}", pair) for n, pair in enumerate(pairs, 1))
    return batches, logged


def _feedback_of(log: LoggedDialogue) -> Feedback | None:
    """Return what a user let show of a dialogue: all actions, and the last score; None for nothing."""
    actions = {action: None for one in log.feedback for action in one.actions}
    scores = [one.score for one in log.feedback if one.score is not None]
    return Feedback((*actions,), scores[-1] if scores else None) if log.feedback else None


def _role(options: LearnOptions, role: str) -> RoleSettings | None:
    """Return the model of a role, of the options or the configuration; None where neither names one."""
    config, reference = load_config(options.config_file), references(options).get(role)
    return None if reference is None and role not in config.roles else model_of(reference, role, config.roles)


def _answerer(options: LearnOptions, clients: Clients) -> Agent | None:
    if (settings := _role(options, "answerer")) is None:
        return None
    candidate = Candidate(settings.model, models=(settings,))
    client = build_candidate_client(candidate, clients, options.seed)
    return ChatAgent(candidate.name, candidate_digest(candidate, "memory", options.seed), client)


def _systems(
    options: LearnOptions,
    clients: Clients,
    file: TaskFile,
    logs: Mapping[str, tuple[Chunk, ...]],
    *,
    dry: bool,
) -> tuple[LearningSystem, ...]:
    """Build the systems, the controls first.

    Raises UsageError for a system that there is none of, or that is there twice.
    """
    systems: dict[str, LearningSystem] = {}
    evidence: dict[str | None, dict[str, Sequence[str]]] = {}
    for task in file.tasks:
        of_corpus = evidence.setdefault(task.corpus, {})  # a question may stand there twice
        of_corpus[task.question] = (*of_corpus.get(task.question, ()), *task.evidence)
    embedder = None
    if any(_named(text)[1].startswith("embed") for text in options.systems) and not dry:
        if (settings := _role(options, "embedder")) is None:
            msg = "nobody makes the vectors that a system of embeddings needs"
            hint = "give --role embedder=file:FOLDER or --role embedder=MODEL@URL#KEYVAR"
            raise UsageError(msg, hint=hint)
        embedder = clients.build_embedder(settings)
    asked = [text for text in options.systems if not (options.controls and text in CONTROLS)]
    for text in [*(CONTROLS if options.controls else ()), *asked]:
        name, reference = _named(text)
        taken = name in (*CONTROLS, *PLANTED) and reference != name
        if taken or OF_RUN in name or not name.strip("."):
            msg = f"no system can be called {name!r}"
            raise UsageError(msg, hint="controls, planted answers and tables need it: --system NAME=...")
        if name in systems:
            msg = f"two systems are called {name!r}"
            raise UsageError(msg, hint="give one of them a name: --system NAME=...")
        if dry and (reference not in MEMORY_SYSTEMS or reference.startswith("embed")):
            reference = "bm25-message"  # in the place of what is asked, or is no code of ours
        make = _maker(name, reference, options, clients, partial(build_memory, embedder=embedder), evidence)
        systems[name] = LearningSystem(name, make, logs.get(name, logs.get("", ())))
    return tuple(systems.values())


def _named(text: str) -> tuple[str, str]:
    """Return name and reference of a system."""
    match = _NAMED.fullmatch(text)
    if match is not None:
        return match[1].strip(), match[2]
    return (text.rpartition(":")[2] if text.startswith("py:") else text.partition("://")[2] or text), text


def _maker(
    name: str,
    reference: str,
    options: LearnOptions,
    clients: Clients,
    build: Callable[..., Memory],
    evidence: Mapping[str | None, Mapping[str, Sequence[str]]],
) -> Callable[[str | None, str], Memory]:
    """Return what makes empty memories, of a corpus and a name; `build` makes those of ours."""
    if reference.startswith(("http://", "https://")):
        server = JsonEndpoint(reference, deadline=options.system_timeout)
        clients.free_too(server.close)
        # A server may hold what a call that broke off gave it: each memory that is built has its own name.
        return lambda _, memory: EndpointMemory(server, name, f"{memory}-{token_hex(4)}")
    if reference.startswith("py:"):
        make = load_memory(reference)
        return lambda _, memory: own_memory(make, name)
    build(reference)  # says what there is, where it is none
    return lambda corpus, _: build(reference, evidence=evidence.get(corpus))


def _references(run: str, tasks: Sequence[TaskRecord]) -> dict[str, Any]:
    """Return the references of another run; UsageError where it has none of a data set."""
    with open_run(run, studies=("learn",)) as stored:
        of = stored.summary.get("references", {})
    if missing := sorted({task.dataset for task in tasks} - of.keys()):
        msg = f"{shown_path(run)} is no reference for {', '.join(missing)}: it asked no such task"
        raise UsageError(msg, hint="give a run of the same data sets with --norm-from")
    return {"run": shown_path(run), "of": of}


def _disputed(path: str | None, tasks: Sequence[TaskRecord]) -> dict[str, bool]:
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


@dataclass(frozen=True, slots=True)
class ListedSystem:
    """A memory system that comes with dialogauge."""

    name: str
    gives: str
    """What it gives to an answer."""


@dataclass(frozen=True, slots=True)
class ListedSystems:
    """The systems that come with dialogauge."""

    systems: Sequence[ListedSystem]

    @property
    def page(self) -> Page:
        """The list as a page."""
        return Page("Memory systems", (Section("Systems", tuple(_listed(self))),))


def _listed(listed: ListedSystems) -> Iterator[Block]:
    rows = [(one.name, one.gives) for one in listed.systems]
    yield data_table("Memory systems", ["system", "gives to an answer"], rows)


SYSTEMS: Final[Measurement[LearnSystemsOptions, ListedSystems]] = Measurement(
    name="systems",
    prints=ListedSystems,
    measure=lambda options, python: CommandOutcome(
        options=options, result=ListedSystems([ListedSystem(*pair) for pair in MEMORY_SYSTEMS.items()])
    ),
    view=lambda outcome: _listed(outcome.result),
)


Compared = ComparedSystems | JudgedAccuracy | PublishedTables


def _compare(options: LearnCompareOptions, python: PythonInput) -> CommandOutcome[Compared]:
    """Lay runs beside each other, correct what a judge says of one, or make published tables anew.

    Raises UsageError for files beside runs, and for runs of which nothing compares.
    """
    del python
    files = [path for path in options.sources if not is_run(path)]
    if files and len(options.sources) > 1:
        msg = f"{shown_path(files[0])} is no run, and stands beside {len(options.sources) - 1} more"
        raise UsageError(msg, hint="figures by other references are in no table with these: give it alone")
    if files:
        return CommandOutcome(options=options, result=read_published(files[0]))
    with ExitStack() as stack:
        runs, judged = dict[str, StoredRun](), list[StoredRun]()
        for path in options.sources:
            run = stack.enter_context(open_run(path, studies=("learn", "judge")))
            if run.manifest.study == "judge":
                judged.append(run)
            else:
                runs[shown_path(path)] = run
        if not runs and len(judged) == 1:
            return CommandOutcome(options=options, result=judged_accuracy(judged[0]))
        if not runs:
            msg = "several runs of judges, and no run of answers"
            raise UsageError(msg, hint="give the run that `learn run` wrote, too")
        return CommandOutcome(options=options, result=ComparedSystems(compared_result(runs, judged)))


def _compared(outcome: CommandOutcome[Compared]) -> Iterable[Block]:
    result = outcome.result
    if isinstance(result, JudgedAccuracy):
        return judged_blocks(result)
    return published_blocks(result) if isinstance(result, PublishedTables) else learn_blocks(result.result)


COMPARE: Final[Measurement[LearnCompareOptions, Compared]] = Measurement(
    name="compare",
    prints=LearnResult | JudgedAccuracy | PublishedTables,
    measure=_compare,
    view=_compared,
)


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
