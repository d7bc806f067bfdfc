"""The study of sessions: scenarios by candidates in, a run that holds what they said out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from dialogauge.agents import (
    NO_CONTEXT,
    GivenContexts,
    PlayedSession,
    Scenario,
    SessionCandidate,
    beginning,
    keep_scenarios,
    play,
    session_record,
)
from dialogauge.core import (
    Conversation,
    Usage,
    WorkUnit,
    conversation_digest,
    digest,
    digest_text,
)
from dialogauge.core.conversation import SESSION
from dialogauge.core.protocols import Agent
from dialogauge.data import Mask
from dialogauge.report import Page
from dialogauge.runs import Ending, Produced, Row, RunDatabase, StoredRun, StoredUnit, Study, StudyFacts
from dialogauge.stats import reply_length
from dialogauge.studies.sessions.figures import SessionsResult
from dialogauge.studies.sessions.page import sessions_page, sessions_result

SIMULATE: Final = "simulate"
"""The kind of run."""
SESSIONS: Final = digest([SIMULATE])
"""The digest under which all sessions of a run are kept, whoever talked."""


def session_name(scenario: Scenario, number: int) -> str:
    """Return the id of the first, second ... session of a scenario: the same for every candidate."""
    return scenario.id if number == 1 else f"{scenario.id}/{number}"


@dataclass(frozen=True, slots=True)
class SessionUnit(WorkUnit):
    """One scenario with one candidate, once."""

    scenario: Scenario | None = field(default=None, compare=False)
    candidate: SessionCandidate | None = field(default=None, compare=False)
    beginning: Conversation | None = field(default=None, compare=False)


@dataclass
class SessionStudy(Study[SessionsResult]):
    """Plays sessions; see `runs.Study` for the parts.

    A unit is a scenario, a candidate, its user and what stood before: where one of them would be another
    today, the session is played anew. What other candidates said in earlier calls stays.
    """

    scenarios: Sequence[Scenario]
    """Their user personas made."""
    users: Mapping[str, Agent]
    """By scenario."""
    candidates: Sequence[SessionCandidate]
    turns: int = 10
    sessions: int = 1
    """Of each scenario with each candidate."""
    first: int = 1
    """The number of the first of them."""
    contexts: GivenContexts = NO_CONTEXT
    seed: int = 0
    simulator: Mapping[str, Any] = field(default_factory=dict)
    """Who plays the users, for manifest and metadata."""
    opening_usage: dict[str, Usage] = field(default_factory=dict)
    """By scenario what its user persona took: booked on the first session of it that is played."""
    _database: RunDatabase | None = None
    """Of the run; None where nothing is written."""

    name = SIMULATE
    produces = True
    judge_digest = SESSIONS

    @property
    def repeats(self) -> int:
        """One: each session is a conversation of its own."""
        return 1

    @property
    def expected(self) -> int:
        """All sessions."""
        return len(self.scenarios) * len(self.candidates) * self.sessions

    def stays(self, unit: StoredUnit) -> bool:
        """Keep what other candidates said."""
        return unit.rows[0]["candidate"] not in {c.name for c in self.candidates}

    def opened(self, database: RunDatabase) -> None:
        """Take the run file, to keep the scenarios in it."""
        self._database = database

    def prepare(self, mask: Mask | None, notes: object) -> None:
        """Keep the scenarios; nobody real is in a session, and what models write is masked by the run."""
        del notes
        if self._database is not None:
            keep_scenarios(self._database, self.scenarios, mask)

    def plan(self) -> Iterator[WorkUnit]:
        """Yield a unit for each session, scenario by scenario: of each all candidates one after another."""
        place = 0
        for number in range(self.first, self.first + self.sessions):
            for scenario in self.scenarios:
                name = session_name(scenario, number)
                user = self.users[scenario.id]
                for candidate in self.candidates:
                    start = beginning(scenario, name, candidate.name, self.contexts, seed=self.seed)
                    shown = conversation_digest(replace(start, candidate=None))
                    yield SessionUnit(
                        SIMULATE,
                        None,
                        digest([shown, scenario.digest, self.turns]),
                        SESSIONS,
                        seed=int(digest_text(f"{self.seed}\x1f{name}")[:7], 16),
                        part=digest([candidate.name, candidate.about["digest"], user.digest]),
                        judge=candidate.name,
                        position=place,
                        scenario=scenario,
                        candidate=candidate,
                        beginning=start,
                    )
                    place += 1

    async def run(self, unit: WorkUnit) -> tuple[Produced]:
        """Play one session."""
        one = cast("SessionUnit", unit)
        scenario, candidate = cast("Scenario", one.scenario), cast("SessionCandidate", one.candidate)
        start = cast("Conversation", one.beginning)
        user = self.users[scenario.id]
        session = await play(user, candidate.agent, start, self.turns, seed=unit.seed)
        return (self._produced(scenario, session, start),)

    def _produced(self, scenario: Scenario, session: PlayedSession, start: Conversation) -> Produced:
        """Return the record of a session; one in which a side failed is a failure, however far it came."""
        conversation, usage = session.conversation, dict(session.usage)
        usage["simulator"] += self.opening_usage.pop(scenario.id, Usage())
        replies, fault = session.replies, session.fault
        details = {
            "ended": "simulator_failed" if fault and not session.failure else session.ended,
            "turns": len(replies),
            "length": sum(map(reply_length, replies)),
            "truncated": session.truncated,
            "asked_again": session.asked_again,
            "category": scenario.category,
        }
        beside = session_record(scenario, session.ended, self.turns, self.simulator)
        return Produced(
            replace(conversation, metadata={**conversation.metadata, SESSION: beside}),
            fault,
            usage=usage["simulator"] + usage["candidate"],
            role_usage={role: used for role, used in usage.items() if used.calls or used.cached},
            details=details,
            prefix=start.prefix,
        )

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> SessionsResult:
        """Count sessions, and how they ended, by candidate and category; check the simulated users."""
        return sessions_result(rows, run, ending.pending)

    def facts(self) -> StudyFacts:
        """Return who talked with whom."""
        return StudyFacts(
            judge={"name": ", ".join(c.name for c in self.candidates), "digest": SESSIONS},
            dimensions=(),
            data=digest([[s.digest for s in self.scenarios], self.contexts.digest]),
            conversations=self.expected,
            more={
                "candidates": {c.name: dict(c.about) for c in self.candidates},
                "simulator": dict(self.simulator),
                "scenarios": len(self.scenarios),
            },
        )

    def page(self, result: SessionsResult, run: StoredRun) -> Page:
        """Return the page."""
        return sessions_page(run, result)
