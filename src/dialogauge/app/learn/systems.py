"""The memory systems that `learn` is asked for, who answers, and `learn systems`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from dialogauge.agents import ChatAgent
from dialogauge.agents.memory import (
    MEMORY_SYSTEMS,
    VENDORS,
    WRITTEN,
    EndpointMemory,
    Memory,
    build_memory,
    own_memory,
    start_vendor,
)
from dialogauge.agents.memory.systems import Embedder
from dialogauge.app.candidates import Candidate, build_candidate_client, candidate_digest
from dialogauge.app.clients import Clients, read_key
from dialogauge.app.command import Measurement
from dialogauge.app.config import RoleSettings, in_process, model_of
from dialogauge.app.functions import load_memory
from dialogauge.app.learn.settings import (
    ACTION,
    AskedOptions,
    LearnDialoguesOptions,
    LearnOptions,
    LearnSystemsOptions,
)
from dialogauge.app.merging import load_config, references, training_settings
from dialogauge.app.outcome import CommandOutcome
from dialogauge.core import UsageError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import Agent
from dialogauge.data.tasks import TaskFile
from dialogauge.llm import ChatClient, JsonEndpoint
from dialogauge.report import Block, Page, Section, data_table
from dialogauge.studies.learning.controls import control_of, twins
from dialogauge.studies.learning.figures import CONTROLS, OF_RUN
from dialogauge.studies.learning.judged import PLANTED
from dialogauge.studies.learning.memories import Chunk, LearningSystem

_SFT: Final[Mapping[str, Any]] = {
    "learning_rate": 1e-4,
    "epochs": 5.0,
    "batch_size": 4,
    "max_length": 8_192,
    "lora": True,
    "lora_r": 8,
    "lora_alpha": 32,
    "lora_dropout": 0.05,
}
"""How MemoryBench trains (A.3.9)."""
_NAMED: Final = lazy_pattern(r"([^=/:]+)=(.+)")


def chosen_systems(
    options: LearnOptions | LearnDialoguesOptions,
    clients: Clients,
    file: TaskFile,
    logs: Mapping[str, tuple[Chunk, ...]],
    *,
    folder: Path,
    dry: bool,
) -> tuple[LearningSystem, ...]:
    """Build the systems, the controls first; models that are trained are kept in a folder.

    Raises UsageError for a system that there is none of, or that is there twice; for a role that none asks.
    """
    systems = dict[str, LearningSystem]()
    named = [named_system(text)[1] for text in options.systems]
    evidence: dict[str | None, dict[str, Sequence[str]]] = {}
    for task in file.tasks:
        of_corpus = evidence.setdefault(task.corpus, {})  # a question may stand there twice
        of_corpus[task.question] = (*of_corpus.get(task.question, ()), *task.evidence)
    embedder, client = _models(options, clients, named, dry=dry)
    asked = [text for text in options.systems if not (options.controls and text in CONTROLS)]
    for text in [*(CONTROLS if options.controls else ()), *asked]:
        name, reference = named_system(text)
        taken = name in (*CONTROLS, *PLANTED) and reference != name
        if taken or OF_RUN in name or control_of(name) or not name.strip("."):
            msg = f"no system can be called {name!r}"
            raise UsageError(
                msg, hint="controls, twins, planted answers and tables have such names: --system NAME=..."
            )
        if name in systems:
            msg = f"two systems are called {name!r}"
            raise UsageError(msg, hint="give one of them a name: --system NAME=...")
        asks = reference.startswith("embed") or reference in WRITTEN
        if dry and (reference not in MEMORY_SYSTEMS or asks):
            reference = "bm25-message"  # in the place of what is asked, or is no code of ours
        build: Callable[..., Memory] = partial(build_memory, embedder=embedder, client=client)
        if reference == "trained":
            build = _trained(options, clients, folder)
        make = _maker(name, reference, options, clients, build, evidence)
        leads = not (options.controls and reference in ("none", "oracle"))  # what these take in is nothing
        systems[name] = LearningSystem(name, make, logs.get(name, logs.get("", ())), leads)
        if name not in CONTROLS:
            systems |= {one.name: one for one in twins(systems[name], options.twins)}
    return tuple(systems.values())


def _models(
    options: AskedOptions, clients: Clients, systems: Sequence[str], *, dry: bool
) -> tuple[Embedder | None, ChatClient | None]:
    """Build the models that systems of ours ask: one that makes vectors, and one that writes."""
    vendors = any(reference.partition(":")[0] in VENDORS for reference in systems)
    embeds = any(reference.startswith("embed") for reference in systems)
    writes = not WRITTEN.isdisjoint(systems)
    for role, is_asked in (("embedder", embeds or vendors), ("memory", writes or vendors)):
        if role in references(options) and not is_asked:
            msg = f"no system asks the role {role}"
            hint = f"leave --role {role}= out; docs/learn.md says which systems ask models"
            raise UsageError(msg, hint=hint)
    embedder = chosen_role(options, "embedder") if embeds and not dry else None
    if embeds and not dry and embedder is None:
        msg = "a system of embeddings needs a model that makes vectors"
        hint = "give --role embedder=file:FOLDER or --role embedder=MODEL@URL#KEYVAR"
        raise UsageError(msg, hint=hint)
    writer = chosen_role(options, "memory") if writes and not dry else None
    return (
        None if embedder is None else clients.build_embedder(embedder),
        None if writer is None else clients.build(writer, "memory"),
    )


def named_system(text: str) -> tuple[str, str]:
    """Return name and reference of a system."""
    match = _NAMED.fullmatch(text)
    if match is not None:
        return match[1].strip(), match[2]
    return (text.rpartition(":")[2] if text.startswith("py:") else text.partition("://")[2] or text), text


def _maker(
    name: str,
    reference: str,
    options: AskedOptions,
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
    if reference.partition(":")[0] in VENDORS:
        make_vendor = _vendor(reference, options, clients)
        return lambda _, memory: make_vendor(name)
    build(reference)  # says what there is, where it is none
    return lambda corpus, _: build(reference, evidence=evidence.get(corpus))


def _vendor(reference: str, options: AskedOptions, clients: Clients) -> Callable[[str], Memory]:
    """Start a vendor's system with the models of its roles; UsageError where it lacks one that it can ask."""
    system, _, file = reference.partition(":")
    models = dict[str, Mapping[str, str | None]]()
    for role in ("memory", "embedder"):
        settings = chosen_role(options, role)
        if settings is not None and not in_process(settings.model):
            key = read_key(settings, role)
            models[role] = {"model": settings.model, "base_url": settings.base_url, "api_key": key}
        elif settings is not None and role == "embedder" and settings.model.startswith("file:"):
            models[role] = {"folder": str(Path(settings.model.removeprefix("file:")).resolve())}
        else:
            msg = f"{system} asks a model of its own: the role {role} has none that it can reach"
            place = "MODEL@URL#KEYVAR" if role == "memory" else "file:FOLDER, or MODEL@URL#KEYVAR"
            raise UsageError(msg, hint=f"give --role {role}={place}")
    process, make = start_vendor(system, file or None, models["memory"], models["embedder"])
    clients.free_too(process.close)
    return make


def _trained(options: AskedOptions, clients: Clients, folder: Path) -> Callable[..., Memory]:
    """Return what builds memories that are trained, by default as MemoryBench trains them."""
    from dialogauge.app.learn.tuning import FolderTuner
    from dialogauge.training import SftSettings

    role, tuner = chosen_role(options, "answerer"), None
    if role is not None and role.model.startswith("file:"):
        settings = training_settings(SftSettings, options.config_file, **_SFT)

        def answers(trained: Path) -> Agent:
            own = role.model_copy(update={"model": f"file:{trained}"})
            return _answering(Candidate(own.model, models=(own,)), options, clients)

        base = Path(role.model.removeprefix("file:"))
        tuner = FolderTuner(base, folder, settings, answers, options.device)
    if isinstance(options, LearnOptions) and options.protocol == "action":
        return partial(build_memory, tuner=tuner, liked=(options.action or ACTION,))
    return partial(build_memory, tuner=tuner)


def chosen_answerer(
    options: AskedOptions, clients: Clients, candidate: Candidate | None = None
) -> Agent | None:
    """Build who answers: a candidate, else the model of the role; None for the one without a model."""
    if candidate is None:
        if (settings := chosen_role(options, "answerer")) is None:
            return None
        candidate = Candidate(settings.model, models=(settings,))
    return _answering(candidate, options, clients)


def _answering(candidate: Candidate, options: AskedOptions, clients: Clients) -> Agent:
    client = build_candidate_client(candidate, clients, options.seed)
    return ChatAgent(candidate.name, candidate_digest(candidate, "memory", options.seed), client)


def chosen_role(options: AskedOptions, role: str) -> RoleSettings | None:
    """Return the model of a role, of the options or the configuration; None where neither names one."""
    config, reference = load_config(options.config_file), references(options).get(role)
    return None if reference is None and role not in config.roles else model_of(reference, role, config.roles)


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
        options=options,
        result=ListedSystems([ListedSystem(*pair) for pair in {**MEMORY_SYSTEMS, **VENDORS}.items()]),
    ),
    view=lambda outcome: _listed(outcome.result),
)
