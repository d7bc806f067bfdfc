"""`dialogauge learn run`: tasks asked of assistants with a memory."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from dialogauge.agents import ChatAgent
from dialogauge.agents.memory import (
    SYSTEMS,
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
from dialogauge.app.command import ReadyStudy, StudyEntry
from dialogauge.app.config import model_of
from dialogauge.app.functions import load_memory
from dialogauge.app.learn.settings import (
    LearnOptions,
)
from dialogauge.app.merging import load_config, references
from dialogauge.app.outcome import CommandOutcome, Plan, PlanJson
from dialogauge.app.outputs import run_named_after
from dialogauge.app.sources import PythonInput
from dialogauge.core import FileFault, Place, RecordFault, UsageError
from dialogauge.core.files import read_text, shown_path
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import Agent
from dialogauge.data.tasks import (
    DATASETS,
    PARTITIONS,
    LoggedDialogue,
    TaskFile,
    TaskRecord,
    read_logs,
    read_tasks,
    sample_tasks,
    unlike_published,
)
from dialogauge.judges.answers import bert_scorer
from dialogauge.llm import FolderEmbedder, HttpEmbedder, JsonEndpoint, folder_digest
from dialogauge.report import Block, words
from dialogauge.rubrics import own_template, render
from dialogauge.runs import RunDirectory, StudyRun, open_run
from dialogauge.studies.learning.figures import CONTROLS, NO_MODEL, OF_RUN, LearnResult
from dialogauge.studies.learning.memories import Chunk, LearningSystem, Memories
from dialogauge.studies.learning.page import learn_blocks, shown_answer, stored_page
from dialogauge.studies.learning.planted import PLANTED, planted_answers
from dialogauge.studies.learning.study import LearningStudy
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
_ITEMS: Final = 5
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
    clients = Clients(options, dry=dry)
    try:
        answerer = _answerer(options, clients)
        systems = _systems(options, clients, file, logs, dry=dry)
    except BaseException:
        await clients.close()
        raise
    if options.k is not None and options.context_tokens is not None:
        msg = "--k and --context-tokens are given: a room has one bound"
        raise UsageError(msg, hint="keep one of them")
    room = Room(options.k or _ITEMS) if options.context_tokens is None else Room(None, options.context_tokens)
    folder = None if dry else directory_of(options).path / _FOLDER
    study = LearningStudy(
        file,
        tasks,
        systems,
        answerer,
        room,
        Memories(folder, options.hours),
        options.protocol,
        _disputed(options.disputed_file, tasks),
        lambda language: own_template("phrase", "zh" if language == "zh" else "en").strip(),
        references=None if options.norm_from is None else _references(options.norm_from, tasks),
        choose=_choose if options.options else None,
        bert_score=None if options.bert_score is None else bert_scorer(options.bert_score),
        bert_model=None if options.bert_score is None else folder_digest(Path(options.bert_score)),
        seed=options.seed,
        planted=planted_answers(tasks) if options.planted else {},
    )
    plain = answerer is None and all(_named(text)[1] in SYSTEMS for text in options.systems)
    return PreparedLearning(
        options=options,
        study=study,
        clients=clients,
        judge=NO_MODEL if answerer is None else answerer.name,
        workers=1 if plain else options.max_concurrency,
        remarks=remarks,
    )


def directory_of(options: LearnOptions) -> RunDirectory:
    """Return the run directory: the one that was asked for, else one named after the first of the tasks."""
    if options.out:
        return RunDirectory(Path(options.out))
    return RunDirectory(run_named_after(options.inputs, "-learn") if options.inputs else _SHIPPED_RUN)


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
        pairs = [tuple((log.conversation, feedback_of(log)) for log in part) for part in parts]
        batches[system] = tuple(Chunk(f"logs {n}", pair) for n, pair in enumerate(pairs, 1))
    return batches, logged


def feedback_of(log: LoggedDialogue) -> Feedback | None:
    """Return what a user let show of a dialogue: all actions, and the last score; None for nothing."""
    actions = {action: None for one in log.feedback for action in one.actions}
    scores = [one.score for one in log.feedback if one.score is not None]
    return Feedback((*actions,), scores[-1] if scores else None) if log.feedback else None


def _answerer(options: LearnOptions, clients: Clients) -> Agent | None:
    config, named = load_config(options.config_file), references(options).get("answerer")
    if named is None and "answerer" not in config.roles:
        return None
    settings = model_of(named, "answerer", config.roles)
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
    embeds = any(_named(text)[1].startswith("embed") for text in options.systems)
    embedder = _embedder(options, clients) if embeds and not dry else None
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
        make = _maker(name, reference, clients, embedder, evidence, dry=dry)
        systems[name] = LearningSystem(name, make, logs.get(name, logs.get("", ())))
    return tuple(systems.values())


def _named(text: str) -> tuple[str, str]:
    """Return name and reference of a system."""
    match = _NAMED.fullmatch(text)
    if match is not None:
        return match[1].strip(), match[2]
    return (text.rpartition(":")[2] if text.startswith("py:") else text.partition("://")[2] or text), text


def _embedder(options: LearnOptions, clients: Clients) -> FolderEmbedder | HttpEmbedder:
    config, reference = load_config(options.config_file), references(options).get("embedder")
    if reference is None and "embedder" not in config.roles:
        msg = "nobody makes the vectors that a system of embeddings needs"
        raise UsageError(msg, hint="give --role embedder=file:FOLDER or --role embedder=MODEL@URL#KEYVAR")
    return clients.build_embedder(model_of(reference, "embedder", config.roles))


def _maker(
    name: str,
    reference: str,
    clients: Clients,
    embedder: FolderEmbedder | HttpEmbedder | None,
    evidence: Mapping[str | None, Mapping[str, Sequence[str]]],
    *,
    dry: bool,
) -> Callable[[str | None, str], Memory]:
    """Return what makes empty memories; of a plan BM25 stands for what is asked or is no code of ours."""
    if dry and (reference not in SYSTEMS or reference.startswith("embed")):
        reference = "bm25-message"
    if reference.startswith(("http://", "https://")):
        server = JsonEndpoint(reference)
        clients.free_too(server.close)
        # A server may hold what a call that broke off gave it: each memory that is built has its own name.
        return lambda _, memory: EndpointMemory(server, name, f"{memory}-{token_hex(4)}")
    if reference.startswith("py:"):
        make = load_memory(reference)
        return lambda _, memory: own_memory(make, name)
    build_memory(reference, embedder=embedder)  # says what there is, where it is none

    def made(corpus: str | None, memory: str) -> Memory:
        del memory
        return build_memory(reference, embedder=embedder, evidence=evidence.get(corpus))

    return made


def _references(run: str, tasks: Sequence[TaskRecord]) -> dict[str, Any]:
    """Return the references of another run; UsageError where it has none of a data set."""
    with open_run(run, studies=("learn",)) as stored:
        of = stored.summary.get("references", {})
    if missing := sorted({task.dataset for task in tasks} - of.keys()):
        msg = f"{shown_path(run)} is no reference for {', '.join(missing)}: it asked no such task"
        raise UsageError(msg, hint="give a run of the same data sets with --norm-from")
    return {"run": shown_path(run), "of": of}


def _choose(language: str, question: str, options: Mapping[str, str]) -> str:
    template = own_template("options", "zh" if language == "zh" else "en")
    return render(template, {"question": question, **options})


def _disputed(path: str | None, tasks: Sequence[TaskRecord]) -> dict[str, bool]:
    """Return of each task whether its gold is disputed; empty where nobody has looked.

    Raises RecordFault for a line without an id, and UsageError where the file is of other tasks.
    """
    own = {task.id: bool(task.gold["disputed"]) for task in tasks if "disputed" in task.gold}
    if path is None:
        return {task.id: own.get(task.id, False) for task in tasks} if own else {}
    disputed = set[str]()
    for number, line in enumerate(read_text(Path(path), "file of disputed tasks", FileFault).splitlines(), 1):
        try:
            value = json.loads(line or "{}")
            if line.strip() and value.get("gold_disputed", True):
                disputed.add(str(value["id"]))
        except (ValueError, KeyError, AttributeError) as error:
            msg = "this line names no task"
            hint = 'write {"id": "...", "gold_disputed": true}'
            raise RecordFault(msg, place=Place(shown_path(path), number), hint=hint) from error
    if not disputed & {task.id for task in tasks}:
        msg = f"{shown_path(path)} disputes none of these tasks"
        raise UsageError(msg, hint="it holds the ids of tasks, one JSON object a line")
    return {task.id: task.id in disputed for task in tasks}


def _notes(prepared: PreparedLearning, run: StudyRun[LearnResult] | None) -> Iterator[str]:
    del run
    yield from prepared.remarks


def _plan_words(plan: Plan, options: LearnOptions) -> str:
    del options
    return f"would ask for {plan.left:,} of {counted(plan.counts['answers'], 'answer')} by {plan.judge}"


def _view(outcome: CommandOutcome[LearnResult]) -> Iterable[Block]:
    return learn_blocks(outcome.result)


RUN: Final = StudyEntry(
    name="learn",
    prints=LearnResult,
    plans=LearnPlanJson,
    unit="answer",
    prepare=_prepare,
    directory=directory_of,
    notes=_notes,
    failed_share=lambda result: result.failed_share,
    counts=lambda prepared, units: {"answers": units},
    measured=20,
    plan_words=_plan_words,
    view=_view,
    page=stored_page,
    shown=shown_answer,
    columns=lambda run: AnswerColumns(),
)
