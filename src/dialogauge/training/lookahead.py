"""The lookahead search: scenarios in, trajectories of the best segments out. Source: Algorithm 1 of DynSess.

At each step a few candidates of the pool go on from the same committed prefix. A judge scores what each
added, with the prefix in view. The best is committed.
"""

from __future__ import annotations

import asyncio
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, cast

from dialogauge.agents import (
    Scenario,
    SessionCandidate,
    SimulatedUser,
    beginning,
    keep_scenarios,
    play,
    session_record,
)
from dialogauge.core import (
    Conversation,
    Judge,
    JudgeFailure,
    Message,
    Request,
    Usage,
    WorkUnit,
    conversation_digest,
    digest,
    digest_text,
    round_score,
)
from dialogauge.core.conversation import PREFIX, SESSION
from dialogauge.core.json_keys import as_json
from dialogauge.core.judgement import usage_json
from dialogauge.core.protocols import Agent
from dialogauge.data import Mask
from dialogauge.judges.rubric.prompt import gathered
from dialogauge.report import Page
from dialogauge.runs import Ending, Produced, Row, RunDatabase, StoredRun, Study, StudyFacts
from dialogauge.training.search_figures import SearchResult, search_result
from dialogauge.training.trajectories import (
    SEARCH,
    CandidateSegment,
    SearchEnded,
    SearchStep,
    search_details,
    spoken,
)

SEARCHED: Final = digest([SEARCH])
"""The digest under which all trajectories of a run are kept, whoever scored."""


@dataclass
class LookaheadStudy(Study[SearchResult]):
    """Searches scenario by scenario; see `runs.Study` for the parts.

    A unit is a scenario, its user, the pool and the judge: where one of them would be another today, the
    scenario is searched anew. The answers that stay the same come from the response cache.
    """

    scenarios: Sequence[Scenario]
    """Their user personas made."""
    users: Mapping[str, Agent]
    """By scenario."""
    pool: Sequence[SessionCandidate]
    judge: Judge
    dimensions: Sequence[str]
    """Of the judge's, those of a conversation whose mean is the score of a segment."""
    lay_out: Callable[[SearchResult, StoredRun], Page]
    """Makes the page."""
    segments: int = 5
    segment_turns: int = 10
    draw: int = 2
    """Candidates of a step; at most as many as the pool has."""
    min_margin: float = 0.25
    """Of pairs that the summary counts; the rows hold all segments."""
    judge_repeats: int = 1
    seed: int = 0
    rubric: str = ""
    """As it was asked for."""
    simulator: Mapping[str, Any] = field(default_factory=dict)
    """Who plays the users, for manifest and metadata."""
    counting: bool = False
    """Whether nothing is asked, and calls are only counted: who was drawn first is then committed."""
    opening_usage: dict[str, Usage] = field(default_factory=dict)
    """By scenario what its user persona took."""
    _database: RunDatabase | None = None
    """Of the run; None where nothing is written."""

    name = SEARCH
    produces = True
    judge_digest = SEARCHED

    @property
    def expected(self) -> int:
        """All scenarios."""
        return len(self.scenarios)

    def opened(self, database: RunDatabase) -> None:
        """Take the run file, to keep the scenarios in it."""
        self._database = database

    def prepare(self, mask: Mask | None, notes: object) -> None:
        """Keep the scenarios; nobody real is in a session."""
        del notes
        if self._database is not None:
            keep_scenarios(self._database, self.scenarios, mask)

    def plan(self) -> Iterator[WorkUnit]:
        """Yield a unit for each scenario."""
        pool = sorted([c.name, c.about["digest"]] for c in self.pool)
        for place, scenario in enumerate(self.scenarios):
            start = beginning(scenario, scenario.id, SEARCH, seed=self.seed)
            shape = [self.segments, self.segment_turns, self.draw, self.judge_repeats]
            yield WorkUnit(
                SEARCH,
                None,
                digest([conversation_digest(start), scenario.digest, shape]),
                SEARCHED,
                seed=int(digest_text(f"{self.seed}\x1f{scenario.id}")[:7], 16),
                part=digest([pool, self.users[scenario.id].digest, self.judge.digest, [*self.dimensions]]),
                judge=self.judge.name,
                position=place,
            )

    async def run(self, unit: WorkUnit) -> tuple[Produced]:
        """Search one scenario; where an earlier try failed at a step, go on behind those before it."""
        scenario = self.scenarios[unit.position]
        start = beginning(scenario, scenario.id, SEARCH, seed=self.seed)
        earlier = [step for row in unit.earlier[:1] for step in search_details(row)["steps"]]
        steps = [step for step in earlier if step.winner is not None]
        while len(steps) < self.segments and (not steps or _goes_on(steps[-1])):
            steps.append(await self._step(scenario, _committed(start, steps), len(steps) + 1, unit.seed))
        return (self._produced(scenario, start, steps),)

    async def _step(self, scenario: Scenario, committed: Conversation, number: int, seed: int) -> SearchStep:
        """Roll out and score the segments of one step, side by side, and choose the best."""
        pool = sorted(self.pool, key=lambda c: c.name)
        drawn = Random(digest_text(f"{seed}\x1f{number}")).sample(pool, self.draw)
        user = self.users[scenario.id]
        if number > 1 and isinstance(user, SimulatedUser) and scenario.user.opening is not None:
            role = replace(scenario.user, opening=None)  # it has been said
            user = replace(user, scenario=replace(scenario, user=role))
        tasks = [self._segment(user, c, committed, number, seed) for c in drawn]
        # Where one ends the run, the others come to their next call: an answer on its way is paid for.
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        for fault in (one for one in ended if isinstance(one, BaseException)):
            raise fault
        segments = [one for one in ended if not isinstance(one, BaseException)]
        scored = [c for c in segments if c.score is not None] or (segments[:1] if self.counting else [])
        best = min(scored, key=lambda c: (-(c.score or 0.0), c.truncated, c.name), default=None)
        winner = None if best is None else best.name
        return SearchStep(number, len(committed.messages), winner, tuple(segments))

    async def _segment(
        self, user: Agent, candidate: SessionCandidate, committed: Conversation, number: int, seed: int
    ) -> CandidateSegment:
        """Roll out one candidate from the committed prefix, and score what is new."""
        name = f"{committed.id}/{number}/{candidate.name}"
        own = int(digest_text(f"{seed}\x1f{number}\x1f{candidate.name}")[:7], 16)
        prefix = {PREFIX: len(committed.messages)}
        start = replace(committed, id=name, candidate=candidate.name, metadata=prefix)
        session = await play(user, candidate.agent, start, self.segment_turns, seed=own)
        usage = {**session.usage, "judge": Usage()}
        segment = CandidateSegment(
            name=candidate.name,
            seed=own,
            messages=tuple(spoken(m) for m in session.new),
            turns=len(session.replies),
            ended=session.ended,
            truncated=session.truncated,
            score=None,
            scores={},
            criteria={},
            usage={role: cast("Any", usage_json(used)) for role, used in usage.items()},
            failure=session.fault,
        )
        return await self._judged(segment, session.conversation) if session.fault is None else segment

    async def _judged(self, segment: CandidateSegment, conversation: Conversation) -> CandidateSegment:
        """Score a segment over all repeats, with what was there before in view.

        One failed repeat is enough to drop it: a mean of fewer would be another measure.
        """
        shown = conversation.blinded()
        requests = [Request(shown, repeat=n + 1, seed=self.seed) for n in range(self.judge_repeats)]
        judged = [row for rows in await gathered([self.judge.judge(r) for r in requests]) for row in rows]
        used = cast("Any", usage_json(sum((row.usage for row in judged), Usage())))
        segment = replace(segment, usage={**segment.usage, "judge": used})
        numbers, criteria = defaultdict[str, list[float]](list), defaultdict[str, list[str]](list)
        for outcome in (row.outcome for row in judged if row.target.level == "conversation"):
            if isinstance(outcome, JudgeFailure):
                return replace(segment, failure=outcome)
            for name in self.dimensions:
                value = outcome.numbers.get(name)
                if value is not None and not isinstance(value, str):
                    numbers[name].append(value)
            for name, items in outcome.details.get("items", {}).items():
                criteria[name] += [item["label"] for item in items]
        scores = {name: round_score(statistics.fmean(of)) for name, of in numbers.items()}
        return replace(
            segment,
            score=round_score(statistics.fmean(scores.values())) if scores else None,
            scores=scores,
            criteria={name: tuple(sorted(of)) for name, of in criteria.items()},
            failure=None if scores else JudgeFailure("unmet", "no dimension has a score: all are n/a"),
        )

    def _produced(self, scenario: Scenario, start: Conversation, steps: Sequence[SearchStep]) -> Produced:
        """Return the record of a scenario."""
        committed, last, failure = _committed(start, steps), steps[-1], None
        if last.winner is None:
            reasons = Counter((c.failure.kind, c.failure.message) for c in last.candidates if c.failure)
            ((kind, first), times), *_ = reasons.most_common(1)
            msg = f"no candidate was left at step {last.number}: {first} ({times} of {len(last.candidates)})"
            failure = JudgeFailure(kind, msg)
        usage: dict[str, Usage] = {"simulator": self.opening_usage.pop(scenario.id, Usage())}
        for segment in (c for step in steps for c in step.candidates):
            for role, used in segment.usage.items():
                usage[role] = usage.get(role, Usage()) + Usage(**cast("Any", used))
        left = last.committed is not None and last.committed.ended == "user"
        ended: SearchEnded = "failed" if failure else "user" if left else "turns"
        beside = session_record(scenario, ended, self.segments * self.segment_turns, self.simulator)
        return Produced(
            replace(committed, metadata={**committed.metadata, SESSION: beside}),
            failure,
            usage=sum(usage.values(), Usage()),
            role_usage={role: used for role, used in usage.items() if used.calls or used.cached},
            details={
                "steps": as_json(tuple(steps)),
                "ended": ended,
                "committed": [spoken(m) for m in committed.messages] if failure else [],
            },
            prefix=start.prefix,
        )

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> SearchResult:
        """Count wins, failures and pairs, and estimate scores and margins by scenario."""
        return search_result(rows, run.manifest.facts["search"], ending.pending)

    def facts(self) -> StudyFacts:
        """Return who was in the pool, and who scored."""
        scales = [d.scale for d in self.judge.dimensions if d.name in self.dimensions]
        low, high = min(s.low for s in scales), max(s.high for s in scales)
        return StudyFacts(
            judge={"name": self.judge.name, "digest": SEARCHED},
            dimensions=(),
            data=digest([s.digest for s in self.scenarios]),
            conversations=self.expected,
            more={
                "candidates": {c.name: dict(c.about) for c in self.pool},
                "simulator": dict(self.simulator),
                "scored_by": {
                    **self.judge.describe(),
                    "name": self.judge.name,
                    "digest": self.judge.digest,
                    "rubric": self.rubric,
                    "dimensions": [*self.dimensions],
                    "repeats": self.judge_repeats,
                },
                "search": {"min_margin": self.min_margin, "scale": [low, high]},
            },
        )

    def page(self, result: SearchResult, run: StoredRun) -> Page:
        """Return the page."""
        return self.lay_out(result, run)


def _committed(start: Conversation, steps: Sequence[SearchStep]) -> Conversation:
    """Return a conversation with the segments of the winners."""
    segments = [step.committed.messages for step in steps if step.committed is not None]
    new = (Message(m["role"], m["content"]) for messages in segments for m in messages)
    return replace(start, messages=(*start.messages, *new))


def _goes_on(step: SearchStep) -> bool:
    """Say whether a next step can follow: somebody won, and the user has not left."""
    best = step.committed
    return best is not None and best.ended != "user"
