"""Questions to models about rows: better replies for weak ones, and scores of replies given anew.

They are a study in a run that is gone afterwards: what was asked, the response cache keeps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import Any, Final

from dialogauge.core import (
    Conversation,
    Judge,
    Judgement,
    Level,
    Request,
    Score,
    Usage,
    WorkUnit,
    conversation_digest,
    digest,
)
from dialogauge.llm import ChatClient, ChatFailure, client_identity
from dialogauge.runs import Ending, Row, StoredRun, Study
from dialogauge.text import detect_language
from dialogauge.training.pairs import Fork, repair
from dialogauge.training.rows import points_of

_ANEW: Final = 1_000
"""The repeat of scores that are given anew: no earlier answer is taken from the cache for them."""


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """What came of a question."""

    value: str | float | None
    """None for a failure."""
    failure: str | None
    """The kind of failure."""
    usage: Usage

    @property
    def failed(self) -> bool:
        """Whether nothing of use came."""
        return self.failure is not None

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write it as a row."""
        return {"unit": unit.key, "value": self.value, "failure": self.failure}


@dataclass(frozen=True, slots=True)
class AskedItem:
    """One question."""

    target: str
    """The digest of all that it is about."""
    ask: Callable[[], Awaitable[AskedAnswer]]


@dataclass(frozen=True, slots=True)
class Answers:
    """What came of a study of questions."""

    rows: Mapping[str, Row]
    """By unit; without those that were not asked."""

    def to_json(self) -> dict[str, Any]:
        """Return the rows."""
        return dict(self.rows)


@dataclass
class AskingStudy(Study[Answers]):
    """Asks each question once; see `runs.Study` for the parts."""

    who: str
    """What rows call who is asked."""
    digest: str
    """Of who is asked, and what for."""
    items: Sequence[AskedItem]
    _by_key: dict[str, AskedItem] = field(default_factory=dict)

    name = "questions"
    part_of_run = True

    @property
    def judge_digest(self) -> str:
        """That of who is asked."""
        return self.digest

    @property
    def expected(self) -> int:
        """One unit for each question, at most."""
        return len(self.items)

    def plan(self) -> Sequence[WorkUnit]:
        """Return a unit for each distinct question."""
        for place, item in enumerate(self.items, start=1):
            self._by_key.setdefault(self._unit(item, place).key, item)
        return [self._unit(item, place) for place, item in enumerate(self._by_key.values(), start=1)]

    def _unit(self, item: AskedItem, place: int) -> WorkUnit:
        return WorkUnit(self.name, None, item.target, self.digest, judge=self.who, position=place)

    async def run(self, unit: WorkUnit) -> tuple[AskedAnswer]:
        """Ask one question."""
        return (await self._by_key[unit.key].ask(),)

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> Answers:
        """Return the rows by unit."""
        del run, ending
        return Answers({row["unit"]: row for row in rows})

    def in_order(self, answers: Answers) -> list[Row | None]:
        """Return for each question in its order what came of it; None where it was not asked."""
        return [answers.rows.get(self._unit(item, 0).key) for item in self.items]


def repair_study(client: ChatClient, forks: Sequence[Fork]) -> AskingStudy:
    """Ask a model for a better reply at each fork; values are texts."""

    async def ask(fork: Fork) -> AskedAnswer:
        language = "zh" if detect_language(fork.rejected) == "zh" else "en"
        outcome = await repair(client, fork, language=language)
        if isinstance(outcome, ChatFailure):
            return AskedAnswer(None, outcome.kind, outcome.usage)
        return AskedAnswer(outcome.value, None, outcome.usage)

    items = [
        AskedItem(digest([list(fork.prompt), fork.rejected, list(fork.issues)]), partial(ask, fork))
        for fork in forks
    ]
    return AskingStudy(client.name, digest(["repair", dict(client_identity(client))]), items)


def recheck_study(
    judge: Judge, conversations: Sequence[Conversation], level: Level, dimensions: Sequence[str] | None = None
) -> AskingStudy:
    """Judge what is new in conversations; values are the means of the scores, in points of 1 to 5.

    Args:
        judge: Who judges; one that scores nothing at this level is read at that at which it scores.
        conversations: Each ends with what is judged; what stood before is its prefix.
        level: `turn` for a reply, `conversation` for a segment.
        dimensions: Whose mean the score is; None for all of the level.
    """
    levels = {d.level for d in judge.dimensions}
    read = level if level in levels else next(iter(sorted(levels)), level)
    wanted = {d.name for d in judge.dimensions} if dimensions is None else set(dimensions)
    scales = {d.name: d.scale for d in judge.dimensions if d.level == read and d.name in wanted}

    async def ask(conversation: Conversation) -> AskedAnswer:
        judged = await judge.judge(Request(conversation.blinded(), repeat=_ANEW))
        usage = sum((one.usage for one in judged), Usage())
        outcomes = [one.outcome for one in judged if one.target.level == read]
        failure = next((one for one in outcomes if not isinstance(one, Judgement)), None)
        if failure is not None:
            return AskedAnswer(None, failure.kind, usage)
        scores = [
            scales[name].quality(score.value)
            for one in outcomes
            if isinstance(one, Judgement)
            for name, score in one.scores.items()
            if isinstance(score, Score) and name in scales
        ]
        return (
            AskedAnswer(points_of(fmean(scores)), None, usage) if scores else AskedAnswer(None, "n/a", usage)
        )

    items = [AskedItem(digest([conversation_digest(c), c.prefix]), partial(ask, c)) for c in conversations]
    return AskingStudy(judge.name, digest(["recheck", judge.digest]), items)
