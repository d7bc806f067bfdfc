"""`dialogauge chat SCENARIOS --candidate REF`: a person plays the user, and rates the session."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random, SystemRandom
from typing import Protocol

from dialogauge.agents import Person, Scenario
from dialogauge.annotate.questions import RatingQuestion, questions_of
from dialogauge.app.candidates import read_agents, read_candidates
from dialogauge.app.clients import Clients
from dialogauge.app.merging import load_config
from dialogauge.app.option_groups import SEEDS
from dialogauge.app.settings import ChatOptions
from dialogauge.app.simulate import chosen_scenarios, expect_answers, session_candidates
from dialogauge.core import JudgeFailure, UsageError, WorkUnit
from dialogauge.core.files import shown_path
from dialogauge.core.settings import recorded
from dialogauge.rubrics import load_rubric
from dialogauge.runs import (
    Observer,
    Produced,
    RunDirectory,
    RunSettings,
    StoredUnit,
    expect_study,
    run_study,
)
from dialogauge.runs.records import json_line
from dialogauge.studies.sessions.study import SIMULATE, SessionStudy, session_name

RATINGS = "ratings.jsonl"
"""Beside the run's files: what people said at the end of their sessions, one rating a line."""


class Terminal(Protocol):
    """Where the person sits."""

    def open(self, scenario: Scenario) -> None:
        """Say what this is about, before the first message."""

    def read(self, reply: str | None) -> str | None:
        """Show what the candidate said, and return the person's answer; None to leave."""

    def score(self, question: RatingQuestion) -> float | None:
        """Ask for a score; None where the person leaves it out."""


@dataclass(frozen=True, slots=True)
class Chatted:
    """What came of a chat."""

    session: str
    candidate: str
    """Who it was."""
    ratings: Mapping[str, float]
    """By dimension, those that were given."""
    folder: Path
    failure: str | None = None
    """Why there was no session."""


@dataclass
class _ChatStudy(SessionStudy):
    """One session, added to those that the run holds."""

    played: Produced | None = None

    async def run(self, unit: WorkUnit) -> tuple[Produced]:
        """Play it, and remember how it went."""
        (self.played,) = await super().run(unit)
        return (self.played,)

    def stays(self, unit: StoredUnit) -> bool:
        """Keep all."""
        del unit
        return True


def chat(options: ChatOptions, terminal: Terminal, observer: Observer) -> Chatted:
    """Let a person talk with a candidate, keep the session, and ask for ratings.

    Raises UsageError for what cannot be done, before anybody has typed a word; StoreError for a directory of
    no use.
    """
    scenario, rubric = _scenario_of(options), load_rubric(options.rubric)
    language = scenario.language if scenario.language in rubric.languages else "en"
    questions = [q for q in questions_of(rubric, language) if q.level == "conversation"]
    if not questions:
        msg = f"the rubric {rubric.id!r} has no dimension of whole conversations"
        raise UsageError(msg, hint="give one that has with --rubric, such as roleplay")
    config, agents = load_config(options.config_file), read_agents(options.agents_file)
    chosen = read_candidates(options.candidates, agents, config)
    expect_answers(chosen)
    seed = SystemRandom().randint(0, SEEDS) if options.seed is None else options.seed
    directory, number = RunDirectory(Path(options.out)), 1
    if directory.exists:
        expect_study(directory, (SIMULATE,))
        database = directory.open_for_reading()
        try:
            number += sum(1 for c in database.conversations() if c.scenario == scenario.id)
        finally:
            database.close()
    clients = Clients(replace(options, cache=False), sessions=True)
    drawn = Random(f"{seed}/{number}").choice(chosen)
    (candidate,) = session_candidates([drawn], clients, seed)
    person = Person(options.rater, terminal.read)
    study = _ChatStudy(
        (scenario,),
        {scenario.id: person},
        (candidate,),
        turns=options.turns,
        seed=seed,
        first=number,
        simulator={"name": options.rater, "kind": "person"},
    )
    settings = RunSettings(directory=directory, settings=recorded(options), seed=seed)

    async def play() -> None:
        try:
            await run_study(study, settings, observer, clients.limits)
        finally:
            await clients.close()

    terminal.open(scenario)
    asyncio.run(play())
    name, played, ratings = session_name(scenario, number), study.played, dict[str, float]()
    if played is not None and not played.failed:
        scores = {question.name: terminal.score(question) for question in questions}
        ratings = {dimension: score for dimension, score in scores.items() if score is not None}
    with (directory.path / RATINGS).open("ab") as file:
        for dimension, score in ratings.items():
            row = {"conversation_id": name, "candidate": drawn.name, "rater": options.rater}
            file.write(json_line({**row, "dimension": dimension, "score": score}))
    why = "the session was broken off" if played is None else None
    if played is not None and isinstance(played.outcome, JudgeFailure):
        why = played.outcome.message
    return Chatted(name, drawn.name, ratings, directory.path, why)


def _scenario_of(options: ChatOptions) -> Scenario:
    """Return the scenario that is asked for; UsageError where there is no such."""
    scenarios = {s.id: s for s in chosen_scenarios([options.scenarios], real_persons=options.real_persons)}
    if options.scenario is None:
        return next(iter(scenarios.values()))
    if options.scenario not in scenarios:
        msg = f"{shown_path(options.scenarios)} has no scenario {options.scenario!r}"
        raise UsageError(msg, hint=f"it has {', '.join(list(scenarios)[:10])}")
    return scenarios[options.scenario]
