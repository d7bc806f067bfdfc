"""`dialogauge simulate SCENARIOS --candidate REF -o RUN`: sessions of candidates with simulated users."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, Protocol, TypeVar

from dialogauge.agents import (
    NO_CONTEXT,
    ChatAgent,
    GivenContexts,
    RecordedUser,
    Scenario,
    SessionCandidate,
    SimulatedUser,
    contexts_of,
    derive_persona,
    read_scenarios,
)
from dialogauge.app.candidates import (
    Candidate,
    about_candidate,
    build_candidate_client,
    read_agents,
    read_candidates,
)
from dialogauge.app.clients import Clients
from dialogauge.app.command import ReadyStudy, StudyEntry, chosen_directory
from dialogauge.app.config import answering, model_of
from dialogauge.app.merging import load_config, references
from dialogauge.app.outcome import Plan, PlanJson
from dialogauge.app.settings import PlayOptions, SimulateOptions
from dialogauge.app.sources import PythonInput, is_run, open_source
from dialogauge.core import Conversation, InputError, Usage, UsageError, digest_text
from dialogauge.core.files import shown_path
from dialogauge.core.protocols import Agent
from dialogauge.llm import ChatClient
from dialogauge.runs import Observer, Study, StudyRun
from dialogauge.studies.sessions.figures import SessionsResult
from dialogauge.studies.sessions.page import session_blocks, stored_page
from dialogauge.studies.sessions.study import SessionStudy
from dialogauge.text import counted


class SimulatePlanJson(PlanJson):
    """What `simulate` would do."""

    sessions: int
    """Scenarios times candidates times sessions of each."""


class HasUsers(Protocol):
    """A study in which simulated users talk."""

    scenarios: Sequence[Scenario]
    users: Mapping[str, Agent]
    opening_usage: dict[str, Usage]
    seed: int


P = TypeVar("P", bound=PlayOptions)
U = TypeVar("U", bound=Study[Any])


@dataclass(kw_only=True)
class PreparedUsers(ReadyStudy[P, U]):
    """A study whose users have yet to be made."""

    simulator: ChatClient | None = None
    """Who plays the users; None where they are recorded."""
    templates: list[str] = field(default_factory=list)
    """Scenarios whose user is the package's own sentence, since the model wrote none of use."""


PreparedSessions = PreparedUsers[SimulateOptions, SessionStudy]


async def _prepare(options: SimulateOptions, python: PythonInput, *, dry: bool) -> PreparedSessions:
    """Read scenarios and contexts, and build candidates and the simulator."""
    del python
    scenarios = chosen_scenarios(options.inputs, real_persons=options.real_persons)
    config, agents = load_config(options.config_file), read_agents(options.agents_file)
    chosen = read_candidates(options.candidates, agents, config)
    expect_answers(chosen)
    named = references(options).get("simulator")
    if options.users_file is not None and named is not None:
        msg = "a simulator and --users are given: the users would be two"
        raise UsageError(msg, hint="keep one of them")
    if options.users_file is None and named is None and "simulator" not in config.roles:
        msg = "nobody plays the users"
        raise UsageError(
            msg, hint="give --role simulator=MODEL@URL#KEYVAR, or recorded users with --users FILE"
        )
    contexts = NO_CONTEXT if options.context_file is None else _contexts(options.context_file, scenarios)
    clients = Clients(options, dry=dry, sessions=True)
    try:
        playing = session_candidates(chosen, clients, options.seed)
        simulator, users, shown = None, dict[str, Agent](), dict[str, Any]()
        if options.users_file is None:
            settings = model_of(named, "simulator", config.roles, agents)
            simulator = clients.build(settings, "simulator")
            shown = {"name": simulator.name, **answering(settings)}
        else:
            users = _recorded_users(options, scenarios)
            shown = {"name": shown_path(options.users_file), "kind": "recorded"}
    except BaseException:
        await clients.close()
        raise
    study = SessionStudy(
        scenarios,
        users,
        playing,
        turns=options.turns,
        sessions=options.sessions_per,
        contexts=contexts,
        seed=options.seed,
        simulator=shown,
    )
    return PreparedSessions(
        options=options,
        study=study,
        clients=clients,
        judge=str(shown["name"]),
        workers=options.max_concurrency,
        simulator=simulator,
    )


def chosen_scenarios(paths: Sequence[str], *, real_persons: bool) -> tuple[Scenario, ...]:
    """Read all files; raise UsageError for real persons, where nobody has allowed them."""
    scenarios: dict[str, Scenario] = {}
    for path in paths:
        for scenario in read_scenarios(path):
            if scenario.id in scenarios:
                msg = f"the scenario {scenario.id!r} is in two files"
                raise UsageError(msg, hint="every scenario has an id of its own")
            scenarios[scenario.id] = scenario
    real = [s.id for s in scenarios.values() if s.real_person]
    if real and not real_persons:
        named = ", ".join(real[:3])
        msg = f"{counted(len(real), 'scenario')} would let a candidate play a real person: {named}"
        raise UsageError(msg, hint="say --real-persons if they agree, or leave them out")
    return tuple(scenarios.values())


def expect_answers(candidates: Sequence[Candidate]) -> None:
    """Raise UsageError for a file of replies, which answers nobody."""
    if written := next((c for c in candidates if c.replies is not None), None):
        msg = f"the candidate {written.name!r} is a file of replies"
        raise UsageError(msg, hint="a session needs somebody who answers: a model, a function or an endpoint")


def session_candidates(
    candidates: Sequence[Candidate], clients: Clients, seed: int
) -> tuple[SessionCandidate, ...]:
    """Build who replies in sessions."""
    playing = []
    for candidate in candidates:
        about = about_candidate(candidate, "session", seed)
        agent = ChatAgent(candidate.name, about["digest"], build_candidate_client(candidate, clients, seed))
        playing.append(SessionCandidate(candidate.name, about, agent))
    return tuple(playing)


def _whole(path: str) -> list[Conversation]:
    """Read a file of conversations, or a run without those that failed; raise the first fault in it."""
    conversations, stored = list[Conversation](), is_run(path)
    for item in open_source([path], format=None, mapping=None, strict=False):
        if isinstance(item, InputError):
            raise item
        if item.messages or not stored:
            conversations.append(item)
    return conversations


def _contexts(path: str, scenarios: Sequence[Scenario]) -> GivenContexts:
    return contexts_of(_whole(path), scenarios)


def _recorded_users(options: SimulateOptions, scenarios: Sequence[Scenario]) -> dict[str, Agent]:
    """Return by scenario the user of a recorded conversation, drawn by seed where there are several."""
    file = str(options.users_file)
    recorded, users = contexts_of(_whole(file), scenarios), dict[str, Agent]()
    for scenario in scenarios:
        conversations = recorded.of(scenario.id)
        if not conversations:
            msg = f"{shown_path(file)} has no conversation of the scenario {scenario.id!r}"
            raise UsageError(msg, hint="a recorded conversation names its scenario, or has its id")
        chance = Random(digest_text(f"{options.seed}\x1f{scenario.id}"))
        one = conversations[chance.randrange(len(conversations))]
        lines = [turn.user_text for turn in one.turns if turn.user]
        users[scenario.id] = RecordedUser(one.user_id or one.id, lines)
    return users


async def make_users(prepared: PreparedUsers[Any, Any], observer: Observer | None) -> None:
    """Make the personas of users who have none, all at once; the response cache keeps them."""
    study: HasUsers = prepared.study
    simulator = prepared.simulator
    if simulator is None:
        return
    missing = [s for s in study.scenarios if s.user.persona is None and s.user.kind != "goal"]
    if missing and observer is not None:
        observer.say(f"writing {counted(len(missing), 'user persona')}")
    made = await asyncio.gather(*(derive_persona(s, simulator, seed=study.seed) for s in missing))
    texts = {s.id: persona.text for s, persona in zip(missing, made, strict=True)}
    study.opening_usage = {s.id: persona.usage for s, persona in zip(missing, made, strict=True)}
    study.scenarios = tuple(
        replace(s, user=replace(s.user, persona=texts.get(s.id, s.user.persona))) for s in study.scenarios
    )
    study.users = {s.id: SimulatedUser(simulator, s) for s in study.scenarios}
    prepared.templates += [s.id for s, one in zip(missing, made, strict=True) if one.from_template]


def play_notes(prepared: PreparedUsers[Any, Any], run: StudyRun[Any] | None) -> Iterator[str]:
    """Say whose users are not the model's, and what a killed run would lose."""
    options, templates = prepared.options, prepared.templates
    if templates:
        yield (
            f"{counted(len(templates), 'user persona')} could not be written by the model: the "
            f"package's own sentence stands in ({', '.join(templates[:3])})"
        )
    functions = any("py:" in reference for reference in (*options.candidates, *options.models))
    if (run is None or run.result.pending) and (functions or not options.cache):
        yield "a session that is broken off starts anew: functions, and calls without a cache, are not kept"


def _plan_words(plan: Plan, options: SimulateOptions) -> str:
    del options
    return f"would play {plan.left:,} of {counted(plan.counts['sessions'], 'session')} with {plan.judge}"


ENTRY: Final = StudyEntry(
    name="simulate",
    prints=SessionsResult,
    plans=SimulatePlanJson,
    unit="session",
    prepare=_prepare,
    directory=lambda options: chosen_directory(options, "-sessions"),
    begin=make_users,
    notes=play_notes,
    failed_share=lambda result: result.failed_share,
    counts=lambda prepared, units: {"sessions": units},
    measured=20,
    plan_words=_plan_words,
    view=lambda outcome: session_blocks(outcome.result),
    page=stored_page,
)
