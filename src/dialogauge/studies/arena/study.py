"""The arena study: every meeting is put to a referee, and the votes are made a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Final

from dialogauge.core import Conversation, InputError, WorkUnit, conversation_digest, digest
from dialogauge.core.protocols import Notes
from dialogauge.data import Mask
from dialogauge.report import Page
from dialogauge.runs import Ending, Row, RunDatabase, StoredRun, Study, StudyFacts
from dialogauge.studies.arena.agents import Agents
from dialogauge.studies.arena.meetings import DIALOGUES, Meeting, MeetingVote, Referee, Side
from dialogauge.studies.arena.page import arena_page
from dialogauge.studies.arena.scheduling import Schedule
from dialogauge.studies.arena.stored import dialogues_to_read
from dialogauge.studies.arena.summary import ArenaResult, ArenaSettings, arena_result
from dialogauge.studies.evidence import UNCHECKED, DimensionEvidence

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
    evidence: DimensionEvidence = UNCHECKED
    """What shows that the referee agrees with people or outcomes, beside `people`."""
    unreadable: Sequence[InputError] = ()
    together: bool = True
    """Whether votes cost nothing, so that many are one unit."""
    schedule: Schedule | None = None
    """What is asked of all meetings; None for all."""

    _asked: dict[str, tuple[Meeting, ...]] = field(default_factory=dict)
    """By key of a unit."""
    _stored: Mapping[str, Row] = field(default_factory=dict)
    """Likewise, of an earlier run."""
    _database: RunDatabase | None = None
    """Of the run; None where nothing is written."""
    _votes: dict[Meeting, Side | None] = field(default_factory=dict)
    """So far, for a schedule."""

    name = ARENA

    @property
    def judge_digest(self) -> str:
        """That of the referee."""
        return digest([ARENA, self.referee.digest])

    def prepare(self, mask: Mask | None, notes: Notes | None) -> None:
        """Put on the mask, and keep what was said: `dialogauge show` prints it."""
        del notes
        if mask is not None:
            self._hide(mask)
        if self._database is None:
            return
        digests: dict[str, dict[str, str]] = {}
        for one in self.meetings:
            if one.dialogue is None or one.conversations is None:
                continue
            by_agent = digests.setdefault(one.dialogue, {})
            for agent, talk in zip((one.a, one.b), one.conversations, strict=True):
                if agent not in by_agent:
                    by_agent[agent] = conversation_digest(talk)
                    self._database.keep(bytes.fromhex(by_agent[agent]), talk)
        self._database.put_meta(DIALOGUES, digests)

    def _hide(self, mask: Mask) -> None:
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

        def hidden(of: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
            return {name: [mask.id("conversation", one) for one in ids] for name, ids in of.items()}

        missing, absent = hidden(self.agents.missing), hidden(self.agents.absent)
        self.agents = replace(self.agents, missing=missing, absent=absent)

    @cached_property
    def _batches(self) -> list[tuple[Meeting, ...]]:
        """What is put to the referee together."""
        size = _TOGETHER if self.together else 1
        return [tuple(self.meetings[i : i + size]) for i in range(0, len(self.meetings), size)]

    @property
    def expected(self) -> int | None:
        """One unit for each batch of meetings; of a schedule its budget."""
        return len(self._batches) if self.schedule is None else self.schedule.budget

    def opened(self, database: RunDatabase) -> None:
        """Take the votes that are stored: a schedule stands on them."""
        self._database = database
        if self.schedule is not None:
            self._stored = {unit.key.hex(): unit.rows[0] for unit in database.units(self.judge_digest)}

    def plan(self) -> Iterable[WorkUnit]:
        """Return a unit for each batch; of votes that are there already, also by its place."""
        if self.schedule is not None:
            return self._scheduled(self.schedule)
        return [self._unit(batch, place) for place, batch in enumerate(self._batches, 1)]

    def _unit(self, batch: tuple[Meeting, ...], place: int) -> WorkUnit:
        unit = WorkUnit(
            ARENA,
            None,
            digest([one.digest for one in batch]),
            self.judge_digest,
            part=str(place) if self.together else None,
            judge=self.referee.name,
            position=place,
        )
        self._asked[unit.key] = batch
        return unit

    def _scheduled(self, schedule: Schedule) -> Iterator[WorkUnit]:
        """Yield meeting after meeting as the schedule asks, by the votes that are there by then."""
        for place, meeting in enumerate(schedule.meetings(self.meetings, self.agents.names, self._votes), 1):
            unit = self._unit((meeting,), place)
            row = self._stored.get(unit.key)
            if row is not None:  # it will not be asked again
                self._votes[meeting] = row["winner"]
            yield unit

    async def run(self, unit: WorkUnit) -> tuple[MeetingVote, ...]:
        """Put a batch to the referee."""
        batch = enumerate(self._asked[unit.key])
        votes = tuple([replace(await self.referee.vote(one), item=place) for place, one in batch])
        if self.schedule is not None:
            self._votes |= {one.meeting: one.winner for one in votes}
        return votes

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> ArenaResult:
        """Make the votes a ranking."""
        del run
        result = arena_result(rows, self.referee.name, self.agents, self.settings, self.people, self.evidence)
        return replace(result, pending=ending.pending)

    def facts(self) -> StudyFacts:
        """Return who voted on whom."""
        judge = {**self.referee.describe(), "name": self.referee.name, "digest": self.judge_digest}
        talks = len({one.dialogue for one in self.meetings})
        more = {"agents": list(self.agents.names)}
        return StudyFacts(judge=judge, dimensions=(), conversations=talks, more=more)

    def page(self, result: ArenaResult, run: StoredRun) -> Page:
        """Return the page of the arena."""
        return arena_page(result, run.manifest, dialogues_to_read(run, result))
