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
    Judged,
    JudgeFailure,
    Judgement,
    Usage,
    WorkUnit,
    conversation_digest,
    digest,
)
from dialogauge.core.judgement import usage_json
from dialogauge.core.protocols import (
    BlockView,
    Judge,
    Notes,
    Population,
    RatedBlock,
    RatedReply,
    Reply,
    request_for,
)
from dialogauge.runs import REFERENCE, StoredScore
from dialogauge.studies.satisfaction import answers_of

_STUDY = "replay"


def evaluator_digest(judge: Judge, population: Population, blocks: Sequence[RatedBlock]) -> str:
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


@dataclass(frozen=True, slots=True)
class BlockScoring:
    """How the replies of a block are scored."""

    judge: Judge
    blocks: Mapping[str, RatedBlock]
    """With all of their original replies. What a judge takes from a block's targets (the language, what its
    memory is to be of use for) is then the same whoever's replies it judges, and however few."""
    population: Population
    training: frozenset[str]
    """Users who are part of the population, and are judged by what is known of the others."""
    replies: Callable[[str, str], Sequence[RatedReply]]
    """What is to be judged of a candidate in a block, of `REFERENCE` the original replies: each as a reply
    of its own, under the rating of the original."""
    notes: Notes
    """What is made once for several targets (a memory), for the original replies and all candidates alike."""
    keep: Callable[[StoredScore], None]
    """Takes each score, of a block that could not be judged to its end too."""

    async def score(self, unit: WorkUnit) -> tuple[Judged, ...]:
        """Judge the replies of one block, and hand the scores to `keep`.

        Raises `EndpointError` or `BudgetSpent` once every request that is under way has ended: what was
        paid for is kept.
        """
        name, candidate = unit.conversation.id, unit.conversation.candidate or REFERENCE
        ratings = tuple(self.replies(candidate, name))
        user = self.blocks[name].view.user
        others = self.population.without(user) if user in self.training else self.population
        judged = await self._judged(self.blocks[name].view, tuple(r.reply for r in ratings), others)
        done = [(rated, row) for rated, row in zip(ratings, judged, strict=True) if isinstance(row, Judged)]
        block = replace(self.blocks[name], ratings=tuple(rated for rated, _ in done))
        rows = tuple(row for _, row in done)
        for score in _scores(block, candidate, rows):
            self.keep(score)
        for row in judged:
            if isinstance(row, BaseException):
                raise row
        return rows

    async def _judged(
        self, view: BlockView, replies: tuple[Reply, ...], others: Population
    ) -> Sequence[Judged | BaseException]:
        """Judge replies together, or side by side where the judge takes one at a time."""
        if not replies:
            return ()
        if self.judge.together:
            request = request_for(replies, replace(view, targets=replies), others, self.notes)
            return await self.judge.judge(request)
        known = replace(view, targets=(*view.targets, *replies))
        requests = (request_for((reply,), known, others, self.notes) for reply in replies)
        found = await asyncio.gather(*map(self.judge.judge, requests), return_exceptions=True)
        return [row if isinstance(row, BaseException) else row[0] for row in found]


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
