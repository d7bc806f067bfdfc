"""Questions to models about rows: better replies for weak ones, and scores of replies given anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean
from typing import Any, Final

from dialogauge.core import (
    Conversation,
    Judge,
    Judgement,
    Level,
    Record,
    Request,
    Score,
    Usage,
    WorkUnit,
    conversation_digest,
    digest,
)
from dialogauge.llm import ChatClient, ChatFailure, LimiterState
from dialogauge.runs import Observer, Outcome, Progress, StopSignal, run_work, stop_on_interrupt
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
        return {"unit": unit.key, **asdict(self)}


Question = tuple[str, Callable[[], Awaitable[AskedAnswer]]]
"""The digest of all that it is about, and what asks it."""


class _Nowhere:
    """Stores nothing: what was asked, the response cache keeps."""

    def add(self, unit: WorkUnit, rows: Sequence[Record]) -> None:
        pass

    def has_unit(self, key: str) -> bool:
        return False

    def flush_if_due(self) -> None:
        pass


async def answered(
    questions: Sequence[Question],
    workers: int,
    observer: Observer,
    limits: Callable[[], LimiterState | None],
    stop: StopSignal | None,
) -> tuple[list[AskedAnswer | None], Outcome]:
    """Ask each distinct question once, and return by question what came of it, and how asking ended.

    None stands for what was not asked, because of a Ctrl-C, a spent budget or an endpoint of no use.
    """
    asks, answers, stop = dict(questions), dict[str, AskedAnswer](), stop or StopSignal()

    async def ask(unit: WorkUnit) -> tuple[AskedAnswer]:
        answer = answers[unit.target_digest] = await asks[unit.target_digest]()
        return (answer,)

    units = (WorkUnit("questions", None, about, "") for about in asks)
    progress = Progress(total=len(asks), planned=len(asks))
    with stop_on_interrupt(stop, observer.interrupted), observer.watching(progress, limits):
        outcome = await run_work(units, ask, _Nowhere(), workers=workers, progress=progress, stop=stop)
    return [answers.get(about) for about, _ in questions], outcome


def repair_questions(client: ChatClient, forks: Sequence[Fork]) -> list[Question]:
    """Ask a model for a better reply at each fork; values are texts."""

    async def ask(fork: Fork) -> AskedAnswer:
        language = "zh" if detect_language(fork.rejected) == "zh" else "en"
        outcome = await repair(client, fork, language=language)
        if isinstance(outcome, ChatFailure):
            return AskedAnswer(None, outcome.kind, outcome.usage)
        return AskedAnswer(outcome.value, None, outcome.usage)

    return [(digest([list(f.prompt), f.rejected, list(f.issues)]), partial(ask, f)) for f in forks]


def recheck_questions(
    judge: Judge, conversations: Sequence[Conversation], level: Level, dimensions: Sequence[str] | None = None
) -> list[Question]:
    """Judge what is new in conversations; values are the means of the scores, in points of 1 to 5.

    Args:
        judge: Who judges; one that scores nothing at this level is read at that at which it scores.
        conversations: Each ends with what is judged; what stood before is its prefix.
        level: `turn` for a reply, `conversation` for a segment.
        dimensions: Whose mean the score is; None for all of the level.
    """
    levels = {d.level for d in judge.dimensions}
    read = level if level in levels else min(levels, default=level)
    scales = {
        d.name: d.scale
        for d in judge.dimensions
        if d.level == read and (dimensions is None or d.name in dimensions)
    }

    async def ask(conversation: Conversation) -> AskedAnswer:
        judged = await judge.judge(Request(conversation.blinded(), repeat=_ANEW))
        usage = sum((one.usage for one in judged), Usage())
        scores = []
        for outcome in (one.outcome for one in judged if one.target.level == read):
            if not isinstance(outcome, Judgement):
                return AskedAnswer(None, outcome.kind, usage)
            scores += [
                scales[name].quality(score.value)
                for name, score in outcome.scores.items()
                if isinstance(score, Score) and name in scales
            ]
        return (
            AskedAnswer(points_of(fmean(scores)), None, usage) if scores else AskedAnswer(None, "n/a", usage)
        )

    return [(digest([conversation_digest(c), c.prefix]), partial(ask, c)) for c in conversations]
