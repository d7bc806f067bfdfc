"""The arena study: every meeting is put to a referee, and the votes are made a ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Final

from dialogauge.core import Conversation, InputError, WorkUnit, digest
from dialogauge.core.protocols import Notes
from dialogauge.data import Mask
from dialogauge.report import Page
from dialogauge.runs import Ending, Row, StoredRun, Study, StudyFacts
from dialogauge.studies.arena.meetings import Meeting, MeetingVote, Referee
from dialogauge.studies.arena.page import arena_page
from dialogauge.studies.arena.summary import Agents, ArenaResult, ArenaSettings, arena_result

ARENA: Final = "arena"
_TOGETHER: Final = 500
"""Votes that are there already, in one unit."""


@dataclass
class ArenaStudy(Study[ArenaResult]):
    """Who does better on the same dialogue, and by how much; see `runs.Study` for the parts."""

    referee: Referee
    meetings: Sequence[Meeting]
    agents: Agents
    _: KW_ONLY
    settings: ArenaSettings = field(default_factory=ArenaSettings)
    people: Sequence[Meeting] = ()
    """Votes of people, where another referee is compared with them."""
    unreadable: Sequence[InputError] = ()
    together: bool = True
    """Whether votes cost nothing, so that many are one unit."""

    name = ARENA

    @property
    def judge_digest(self) -> str:
        """That of the referee."""
        return digest([ARENA, self.referee.digest])

    def prepare(self, mask: Mask | None, notes: Notes | None) -> None:
        """Put on the mask."""
        del notes
        if mask is None:
            return
        talks: dict[int, Conversation] = {}

        def masked(one: Meeting) -> Meeting:
            for talk in one.conversations or ():
                if id(talk) not in talks:
                    talks[id(talk)] = mask.conversation(talk)
            rating = one.rating
            if rating is not None and rating.rater is not None:
                rating = replace(rating, rater=mask.id("user", rating.rater))
            both = one.conversations and (talks[id(one.conversations[0])], talks[id(one.conversations[1])])
            name = None if one.dialogue is None else mask.id("conversation", one.dialogue)
            return replace(one, dialogue=name, conversations=both, rating=rating)

        self.meetings = [masked(one) for one in self.meetings]
        self.people = [masked(one) for one in self.people]
        missing = self.agents.missing.items()
        hidden = {name: [mask.id("conversation", one) for one in ids] for name, ids in missing}
        self.agents = replace(self.agents, missing=hidden)

    @cached_property
    def _batches(self) -> list[tuple[Meeting, ...]]:
        """What is put to the referee together."""
        size = _TOGETHER if self.together else 1
        return [tuple(self.meetings[i : i + size]) for i in range(0, len(self.meetings), size)]

    @property
    def expected(self) -> int:
        """One unit for each batch of meetings."""
        return len(self._batches)

    def plan(self) -> Sequence[WorkUnit]:
        """Return a unit for each batch; of votes that are there already, also by its place."""
        return [
            WorkUnit(
                ARENA,
                None,
                digest([one.digest for one in batch]),
                self.judge_digest,
                part=str(place) if self.together else None,
                judge=self.referee.name,
                position=place,
            )
            for place, batch in enumerate(self._batches, 1)
        ]

    async def run(self, unit: WorkUnit) -> tuple[MeetingVote, ...]:
        """Put a batch to the referee."""
        return tuple([await self.referee.vote(one) for one in self._batches[unit.position - 1]])

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> ArenaResult:
        """Make the votes a ranking."""
        del run, ending
        return arena_result(rows, self.referee.name, self.agents, self.settings, self.people)

    def facts(self) -> StudyFacts:
        """Return who voted on whom."""
        judge = {**self.referee.describe(), "name": self.referee.name, "digest": self.judge_digest}
        talks = len({one.dialogue for one in self.meetings})
        more = {"agents": list(self.agents.names)}
        return StudyFacts(judge=judge, dimensions=(), conversations=talks, more=more)

    def page(self, result: ArenaResult, run: StoredRun) -> Page:
        """Return the page of the arena."""
        return arena_page(result, run.manifest)
