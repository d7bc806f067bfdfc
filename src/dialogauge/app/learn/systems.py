"""The memory systems that `learn` is asked for, who answers, and `learn systems`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from secrets import token_hex
from typing import Final

from dialogauge.agents import ChatAgent
from dialogauge.agents.memory import (
    MEMORY_SYSTEMS,
    WRITTEN,
    EndpointMemory,
    Memory,
    build_memory,
    own_memory,
)
from dialogauge.app.candidates import Candidate, build_candidate_client, candidate_digest
from dialogauge.app.clients import Clients
from dialogauge.app.command import Measurement
from dialogauge.app.config import RoleSettings, model_of
from dialogauge.app.functions import load_memory
from dialogauge.app.learn.settings import (
    LearnOptions,
    LearnSystemsOptions,
)
from dialogauge.app.merging import load_config, references
from dialogauge.app.outcome import CommandOutcome
from dialogauge.core import UsageError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import Agent
from dialogauge.data.tasks import (
    TaskFile,
)
from dialogauge.llm import JsonEndpoint
from dialogauge.report import Block, Page, Section, data_table
from dialogauge.studies.learning.figures import CONTROLS, OF_RUN
from dialogauge.studies.learning.judged import (
    PLANTED,
)
from dialogauge.studies.learning.memories import Chunk, LearningSystem

_NAMED: Final = lazy_pattern(r"([^=/:]+)=(.+)")


def chosen_systems(
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
    if any(named_system(text)[1].startswith("embed") for text in options.systems) and not dry:
        if (settings := chosen_role(options, "embedder")) is None:
            msg = "nobody makes the vectors that a system of embeddings needs"
            hint = "give --role embedder=file:FOLDER or --role embedder=MODEL@URL#KEYVAR"
            raise UsageError(msg, hint=hint)
        embedder = clients.build_embedder(settings)
    writes = chosen_role(options, "memory")
    client = None
    if writes is not None and not dry and any(named_system(text)[1] in WRITTEN for text in options.systems):
        client = clients.build(writes, "memory")
    asked = [text for text in options.systems if not (options.controls and text in CONTROLS)]
    for text in [*(CONTROLS if options.controls else ()), *asked]:
        name, reference = named_system(text)
        taken = name in (*CONTROLS, *PLANTED) and reference != name
        if taken or OF_RUN in name or not name.strip("."):
            msg = f"no system can be called {name!r}"
            raise UsageError(msg, hint="controls, planted answers and tables need it: --system NAME=...")
        if name in systems:
            msg = f"two systems are called {name!r}"
            raise UsageError(msg, hint="give one of them a name: --system NAME=...")
        asks = reference.startswith("embed") or reference in WRITTEN
        if dry and (reference not in MEMORY_SYSTEMS or asks):
            reference = "bm25-message"  # in the place of what is asked, or is no code of ours
        build = partial(build_memory, embedder=embedder, client=client)
        make = _maker(name, reference, options, clients, build, evidence)
        systems[name] = LearningSystem(name, make, logs.get(name, logs.get("", ())))
    return tuple(systems.values())


def named_system(text: str) -> tuple[str, str]:
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


def chosen_answerer(options: LearnOptions, clients: Clients) -> Agent | None:
    """Build who answers; None for the one without a model."""
    if (settings := chosen_role(options, "answerer")) is None:
        return None
    candidate = Candidate(settings.model, models=(settings,))
    client = build_candidate_client(candidate, clients, options.seed)
    return ChatAgent(candidate.name, candidate_digest(candidate, "memory", options.seed), client)


def chosen_role(options: LearnOptions, role: str) -> RoleSettings | None:
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
        options=options, result=ListedSystems([ListedSystem(*pair) for pair in MEMORY_SYSTEMS.items()])
    ),
    view=lambda outcome: _listed(outcome.result),
)
