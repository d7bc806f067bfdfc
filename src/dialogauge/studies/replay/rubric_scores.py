"""Scores by a rubric: the original reply and every candidate's, each judged as the last of its conversation.

The judge is one of `dialogauge judge`, in foresight: nothing follows a reply, and no rating is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, cast

from dialogauge.core import (
    Judge,
    Judged,
    JudgeFailure,
    Request,
    Score,
    Usage,
    WorkUnit,
    conversation_digest,
    digest,
    digest_text,
)
from dialogauge.core.protocols import DimensionSpec, Reply
from dialogauge.runs import Row
from dialogauge.stats import reply_length
from dialogauge.studies.replay.items import replaced
from dialogauge.studies.replay.scoring import ORIGINAL_REPLY, ScoringStudy
from dialogauge.studies.replay.stored import REPLAY
from dialogauge.studies.replay.study import stored_usage


@dataclass(frozen=True, slots=True)
class RubricUnit(WorkUnit):
    """One reply to one item."""

    candidate: str | None = field(default=ORIGINAL_REPLY, compare=False)
    """None for the original reply."""


@dataclass(frozen=True, slots=True)
class RubricReply:
    """What a rubric gave one reply, or why it gave nothing; a record of a study."""

    judged: Judged
    item: str
    candidate: str | None
    length: int
    """Characters of the reply."""

    @property
    def failed(self) -> bool:
        """Whether there is no score."""
        return isinstance(self.judged.outcome, JudgeFailure)

    @property
    def usage(self) -> Usage:
        """What it took."""
        return self.judged.usage

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write the scores; what says nothing is left out, since such rows are many."""
        del unit
        o = self.judged.outcome
        row: dict[str, Any] = {"candidate": self.candidate, "item": self.item, "length": self.length}
        if isinstance(o, JudgeFailure):
            row["failure"] = {"kind": o.kind, "message": o.message}
        else:
            row["scores"] = {name: s.own if isinstance(s, Score) else s for name, s in o.scores.items()}
            values = {n: s.value for n, s in o.scores.items() if isinstance(s, Score) and s.value != s.own}
            evidence = [{"turn": e.turn, "quote": e.quote, e.kind: e.source} for e in o.evidence]
            row |= {"values": values or None, "evidence": evidence or None}
            row |= {"issues": list(o.issues) or None, "rationale": o.rationale or None}
        row |= {"prompt_digest": self.judged.prompt_digest, "usage": stored_usage(self.usage)}
        return {key: value for key, value in row.items() if value is not None}


@dataclass
class RubricScoresStudy(ScoringStudy):
    """Scores by the turn dimensions of a rubric."""

    _: KW_ONLY
    judge: Judge

    @property
    def dimensions(self) -> tuple[DimensionSpec, ...]:
        """Those that are judged turn by turn."""
        return tuple(d for d in self.judge.dimensions if d.level == "turn")

    @cached_property
    def judge_digest(self) -> str:
        """Changes with the judge, and with all that it sees of the original conversations."""
        seen = [conversation_digest(self.stage.originals[i.id].conversation) for i in self.stage.items]
        return digest(["rubric", self.judge.digest, *seen])

    @property
    def expected(self) -> int:
        """Replies that there are."""
        return sum(1 for _ in self.plan())

    def described(self) -> dict[str, Any]:
        """Return what the judge says of itself."""
        return dict(self.judge.describe())

    @property
    def judge_name(self) -> str:
        """The judge's."""
        return self.judge.name

    def apart(self, row: Row) -> float | None:
        """Return the mean of the scores, from 0 the worst to 1 the best."""
        scores: Mapping[str, object] = row.get("scores") or {}
        known = [(d.scale, scores.get(d.name)) for d in self.dimensions]
        values = [scale.quality(score) for scale, score in known if isinstance(score, int | float)]
        return sum(values) / len(values) if values else None

    def plan(self) -> Iterator[WorkUnit]:
        """Yield the original replies first: nothing is to be compared against half of them."""
        for item in self.stage.items:
            yield self._unit(item.id, digest_text(self.stage.originals[item.id].text), ORIGINAL_REPLY)
        for item in self.stage.items:
            for name, stored in self._replies.items():
                if (key := stored.reply(item.id)) is not None:
                    yield self._unit(item.id, key.hex(), name)

    def _unit(self, item: str, target: str, candidate: str | None) -> RubricUnit:
        digest, judge = self.judge_digest, self.judge.name
        return RubricUnit(REPLAY, None, target, digest, part=item, judge=judge, candidate=candidate)

    async def run(self, unit: WorkUnit) -> tuple[RubricReply]:
        """Judge one reply in its state."""
        candidate, reply = cast("RubricUnit", unit).candidate, self.stage.originals[str(unit.part)]
        if candidate is not ORIGINAL_REPLY:
            reply = replaced(reply, self._run.text(bytes.fromhex(unit.target_digest)))
        (judged,) = await self.judge.judge(_request(reply))
        return (RubricReply(judged, str(unit.part), candidate, reply_length(reply.text)),)


def _request(reply: Reply) -> Request:
    """Return what is asked of a reply: it alone, in the conversation that ends with it."""
    return Request(reply.conversation, (reply,))
