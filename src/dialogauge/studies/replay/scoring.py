"""Scoring replies by a frozen evaluator: the original replies of the touched blocks first, then candidates'.

A unit of work is one block for one candidate; a reply is judged in the state that it was written for, by
what the user rated in other scenarios.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialogauge.core import (
    Conversation,
    DimensionSpec,
    Judged,
    JudgeFailure,
    Judgement,
    Usage,
    WorkUnit,
    conversation_digest,
    digest,
)
from dialogauge.core.protocols import (
    BlockView,
    Kept,
    PersonalJudge,
    Population,
    RatedBlock,
    RatedReply,
    Reads,
    Reply,
    TurnJudge,
)
from dialogauge.judges.personal import TurnDimension
from dialogauge.runs import REFERENCE, StoredScore, usage_json
from dialogauge.studies.satisfaction import answers_of


class BlockBroken(Exception):
    """Not all targets of a block could be judged; its cause is what ended the run."""

    def __init__(self, done: Sequence[tuple[Reply, Judged]]) -> None:
        """Take the targets that were judged, each with what came of it."""
        super().__init__(f"{len(done)} targets judged before the end")
        self.done = tuple(done)


@dataclass(frozen=True, slots=True)
class TurnsOfBlock:
    """Asks about all targets of a block side by side."""

    judge: TurnJudge
    kept: Kept
    """What is made once for several turns (a memory), for the original replies and all candidates alike."""
    whole: Mapping[str, BlockView]
    """The blocks with all of their original replies: what a judge takes from a block's targets (the language,
    what its memory is to be of use for) is the same whoever's replies it judges, and however few."""

    @property
    def name(self) -> str:
        """The judge's."""
        return self.judge.name

    @property
    def digest(self) -> str:
        """The judge's."""
        return self.judge.digest

    @property
    def reads(self) -> frozenset[Reads]:
        """What the judge reads."""
        return self.judge.reads

    def describe(self) -> Mapping[str, Any]:
        """Return the judge's settings."""
        return self.judge.describe()

    async def judge_block(self, view: BlockView, population: Population) -> tuple[Judged, ...]:
        """Judge the targets; one `Judged` for each, in their order.

        Raises `BlockBroken` once every request that is under way has ended, where the client met an
        `EndpointError` or `BudgetSpent`: what was paid for is in it.
        """
        known = replace(view, targets=(*self.whole[view.id].targets, *view.targets))
        asked = (self.judge.judge_turn(known, reply, population, self.kept) for reply in view.targets)
        found = await asyncio.gather(*asked, return_exceptions=True)
        done = [(t, row) for t, row in zip(view.targets, found, strict=True) if isinstance(row, Judged)]
        broken = next((row for row in found if isinstance(row, BaseException)), None)
        if broken is not None:
            raise BlockBroken(done) from broken
        return tuple(row for _, row in done)


_STUDY = "replay"


def evaluator_digest(judge: PersonalJudge, population: Population, blocks: Sequence[RatedBlock]) -> str:
    """Return what the evaluator is known by: all that its scores of these blocks depend on.

    It changes with the judge, with what is known of the users (ratings, reasons, profiles and the words of
    the conversations) and with the original replies, never with their ratings.
    """
    known = [_rated(b.ratings) for b in population.blocks]
    past = [
        [b.view.id, dict(b.view.profile or {}), _rated(b.view.history), _texts(b.view.targets)]
        for b in blocks
    ]
    return digest([judge.digest, known, past])


def _rated(ratings: Sequence[RatedReply]) -> list[Any]:
    return [[[r.reply.id, r.score, r.reason] for r in ratings], _texts([r.reply for r in ratings])]


def _texts(replies: Sequence[Reply]) -> list[str]:
    # The last reply of a conversation has all the others before it.
    whole = {r.conversation.id: r.conversation for r in replies}
    return [conversation_digest(c) for c in whole.values()]


def block_unit(block: RatedBlock, candidate: str, evaluator: str) -> WorkUnit:
    """Return the unit that judges one block's replies of a candidate; `REFERENCE` for the originals."""
    head = Conversation(block.view.id, (), user_id=block.view.user, candidate=candidate)
    return WorkUnit(_STUDY, head, digest([block.view.id, candidate]), evaluator)


@dataclass
class BlockScorer:
    """The evaluator as a judge of whole blocks, for the engine."""

    judge_of_blocks: PersonalJudge
    blocks: Mapping[str, RatedBlock]
    population: Population
    training: frozenset[str]
    """Users who are part of the population, and are judged by what is known of the others."""
    replies: Callable[[str, str], Sequence[RatedReply]]
    """What is to be judged of a candidate in a block, of `REFERENCE` the original replies: each as a reply
    of its own, under the rating of the original."""
    keep: Callable[[StoredScore], None]
    """Takes each score, of a block that could not be judged to its end too."""

    @property
    def name(self) -> str:
        """The evaluator's."""
        return self.judge_of_blocks.name

    @property
    def digest(self) -> str:
        """The evaluator's."""
        return self.judge_of_blocks.digest

    @property
    def dimensions(self) -> tuple[DimensionSpec, ...]:
        """Satisfaction, of a turn."""
        return (TurnDimension(),)

    def describe(self) -> Mapping[str, Any]:
        """Return the evaluator's settings."""
        return self.judge_of_blocks.describe()

    async def judge(self, conversation: Conversation, *, repeat: int, seed: int) -> tuple[Judged, ...]:
        """Judge the replies of one block, and hand the scores to `keep`."""
        name, candidate = conversation.id, conversation.candidate or REFERENCE
        whole = self.blocks[name]
        ratings = tuple(self.replies(candidate, name))
        block = RatedBlock(replace(whole.view, targets=tuple(r.reply for r in ratings)), ratings)
        user = whole.view.user
        others = self.population.without(user) if user in self.training else self.population
        try:
            rows = await self.judge_of_blocks.judge_block(block.view, others)
        except BlockBroken as broken:
            done = {reply.id for reply, _ in broken.done}
            part = replace(block, ratings=tuple(r for r in ratings if r.reply.id in done))
            self._keep(part, candidate, [row for _, row in broken.done])
            raise broken.__cause__ or broken from None
        self._keep(block, candidate, rows)
        return rows

    def _keep(self, block: RatedBlock, candidate: str, rows: Sequence[Judged]) -> None:
        for score in _scores(block, candidate, rows):
            self.keep(score)


def _scores(block: RatedBlock, candidate: str, rows: Sequence[Judged]) -> list[StoredScore]:
    return [
        StoredScore(
            candidate=candidate,
            item=answer.id,
            block=answer.block,
            position=answer.position,
            length=answer.length,
            score=answer.score,
            value=answer.value,
            failure=_failure(row, answer.score),
            details=_details(row),
        )
        for answer, row in zip(answers_of(block, rows), rows, strict=True)
    ]


def _failure(row: Judged, score: int | None) -> dict[str, Any] | None:
    if isinstance(row.outcome, JudgeFailure):
        return {"kind": row.outcome.kind, "message": row.outcome.message}
    if score is None:
        return {"kind": "judge_error", "message": "the evaluator gave no score"}
    return None


def _details(row: Judged) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if isinstance(row.outcome, Judgement) and row.outcome.rationale:
        found["rationale"] = row.outcome.rationale
    if row.prompt_digest is not None:
        found["prompt_digest"] = row.prompt_digest
    if row.usage != Usage():
        found["usage"] = usage_json(row.usage)
    return found
