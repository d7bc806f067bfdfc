"""The judge's score of each target beside the user's rating: the table that all figures are made from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dialogauge.core import Conversation, DimensionSpec, Judged, Judgement, Score, UsageError
from dialogauge.core.protocols import RatedBlock, RatedReply, block_id
from dialogauge.runs import Row
from dialogauge.runs.records import raw_score
from dialogauge.stats import RawScore, ScoreHistory, reply_length
from dialogauge.studies.satisfaction.blocks import collect_rated

SATISFACTION: Final = "satisfaction"
"""The dimension under which the rows of a satisfaction run have their scores."""


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """One target with its rating and the judge's score."""

    id: str
    """The published form of the turn's id."""
    block: str
    user: str
    scenario: str
    position: int
    """The 0-based index among the conversation's assistant messages."""
    length: int
    """Characters of the reply."""
    gold: float
    reason: str | None
    """What the user gave as a reason."""
    history: bool
    """Whether the user has any."""
    score: int | None
    """The judge's whole score; None where there is none."""
    value: float | None
    """The same with a fraction, where the judge gives one."""
    cap: float | None = None
    """The highest score that the failed condition of a guarded judge allows."""

    @property
    def session(self) -> str:
        """The conversation."""
        return self.id.rpartition("__turn_")[0]


def answers_of(block: RatedBlock, rows: Sequence[Judged]) -> list[JudgedReply]:
    """Put a block's judgements beside its ratings; `rows` has one row for each target, in order."""
    view, history, out = block.view, bool(block.view.history), []
    for rated, row in zip(block.ratings, rows, strict=True):
        score = row.outcome.scores.get(SATISFACTION) if isinstance(row.outcome, Judgement) else None
        whole, value = (score.rounded(), float(score.value)) if isinstance(score, Score) else (None, None)
        cap = row.outcome.details.get("cap") if isinstance(row.outcome, Judgement) else None
        answer = answer_of(rated, view.user, view.scenario, score=whole, value=value, history=history)
        out.append(replace(answer, cap=cap))
    return out


def answer_of(
    rated: RatedReply,
    user: str,
    scenario: str,
    *,
    score: int | None,
    value: float | None,
    history: bool = True,
) -> JudgedReply:
    """Return the answer to one rated reply."""
    return JudgedReply(
        id=rated.reply.id,
        block=block_id(user, scenario),
        user=user,
        scenario=scenario,
        position=rated.reply.position,
        length=reply_length(rated.reply.text),
        gold=rated.score,
        reason=rated.reason,
        history=history,
        score=score,
        value=value,
    )


def says_side_only(dimensions: Iterable[DimensionSpec]) -> bool:
    """Whether the scale has two scores: they say on which side of the boundary a turn lies, and no more."""
    return any(d.name == SATISFACTION and d.scale.high - d.scale.low == 1 for d in dimensions)


def histories_of(blocks: Iterable[RatedBlock], turns: Mapping[str, int]) -> dict[str, ScoreHistory]:
    """Count the histories of the blocks that have one.

    Args:
        blocks: With histories whole or cut.
        turns: By block, how many rated turns the whole history has.
    """
    return {
        b.view.id: ScoreHistory.of(b.view.scores, turns=turns.get(b.view.id))
        for b in blocks
        if b.view.history
    }


def raw_scores(answers: Sequence[JudgedReply], values: Sequence[float]) -> list[RawScore]:
    """Pair the targets with raw scores, ready to be calibrated."""
    return [RawScore(a.id, value, a.position, a.block) for a, value in zip(answers, values, strict=True)]


def rows_by_reply(rows: Iterable[Row]) -> dict[str, Row]:
    """Return the rows that are no failures, by the id of the reply."""
    return {str(row["details"]["turn_id"]): row for row in rows if row["failure"] is None}


def raw_by_reply(rows: Iterable[Row]) -> dict[str, float | None]:
    """Return by the id of the reply what the judge gave before any calibration; None where it said n/a."""
    return {id: raw_score(row, SATISFACTION) for id, row in rows_by_reply(rows).items()}


_SHOWN = 10


def listed(ids: Sequence[str]) -> str:
    """Name the first ids, and count the others."""
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more


_BLOCKS = 5


def reference_answers(
    judged: Iterable[tuple[Conversation, Sequence[Row]]],
    dimension: str,
    blocks: Collection[str],
    name: str,
) -> tuple[JudgedReply, ...]:
    """Return the raw scores of the original replies, with what the users gave them.

    Args:
        judged: Each conversation of the reference run, with its rows.
        dimension: The rated one.
        blocks: Those that are judged; the others are left out.
        name: Of the reference run, for messages.

    Raises:
        UsageError: The run holds no scored turn of any of the blocks.
    """
    out: list[JudgedReply] = []
    present: set[str] = set()
    for conversation, rows in judged:
        user, scenario = conversation.user_id, conversation.scenario
        if user is None or scenario is None:
            continue
        block = block_id(user, scenario)
        present.add(block)
        if block not in blocks:
            continue
        by_reply = raw_by_reply(rows)
        for rated in collect_rated(conversation, dimension).replies:
            if (raw := by_reply.get(rated.reply.id)) is not None:
                out.append(answer_of(rated, user, scenario, score=None, value=raw))
    if not out:
        wanted, there = (", ".join(sorted(names)[:_BLOCKS]) or "none" for names in (blocks, present))
        msg = f"the reference run {name} holds no scored turn of the blocks that are judged"
        raise UsageError(msg, hint=f"judged are {wanted}; the reference holds {there}")
    return tuple(out)
