"""Votes by a rubric of pairs: every candidate's reply beside the original one, in both orders.

The referee is that of `dialogauge arena`: where it disagrees with itself in the other order, it is a tie.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, asdict, dataclass
from functools import cached_property
from typing import Any, Final, cast

from dialogauge.core import Scale, Usage, WorkUnit, conversation_digest, digest
from dialogauge.core.protocols import DimensionSpec, PlainDimension
from dialogauge.runs import Row
from dialogauge.stats import reply_length
from dialogauge.studies.arena.meetings import SCORE, AskedTwice, Meeting, MeetingVote
from dialogauge.studies.replay.items import ORIGINAL, replaced
from dialogauge.studies.replay.rubric_scores import RubricUnit
from dialogauge.studies.replay.scoring import ScoringStudy
from dialogauge.studies.replay.stored import REPLAY
from dialogauge.studies.replay.study import stored_usage

PREFERRED: Final = PlainDimension("preferred", "turn", Scale(0, 1, integer=False))
"""1 where a reply is preferred to the original one, 0 where the original is, 0.5 for a tie."""


@dataclass(frozen=True, slots=True)
class VotedReply:
    """What a referee said of one reply beside the original one; a record of a study."""

    vote: MeetingVote
    """Of the candidate, `a`, and the original, `b`."""
    item: str
    lengths: tuple[int, int]
    """Characters of the reply, and of the original one."""

    @property
    def failed(self) -> bool:
        """Whether there is no vote."""
        return self.vote.failed

    @property
    def usage(self) -> Usage:
        """What it took."""
        return self.vote.usage

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write the vote, with what was said in either order."""
        del unit
        v, (length, original) = self.vote, self.lengths
        row: dict[str, Any] = {
            "candidate": v.meeting.a,
            "item": self.item,
            "conversation_id": v.meeting.dialogue,
            "length": length,
            "original_length": original,
            "orders": [asdict(one) for one in v.orders],
        }
        if v.failure is None:
            row["winner"] = v.winner
        else:
            row["failure"] = dict(zip(("kind", "message"), v.failure, strict=True))
        usage = stored_usage(self.usage)
        return row if usage is None else {**row, "usage": usage}


@dataclass
class PairScoresStudy(ScoringStudy):
    """Puts every candidate's reply beside the original one."""

    _: KW_ONLY
    referee: AskedTwice

    even = SCORE["tie"]

    @property
    def dimensions(self) -> tuple[DimensionSpec, ...]:
        """Whether a reply is preferred to the original one."""
        return (PREFERRED,)

    @cached_property
    def judge_digest(self) -> str:
        """Changes with the referee, and with all that it sees of the original conversations."""
        seen = [conversation_digest(self.stage.originals[i.id].conversation) for i in self.stage.items]
        return digest(["pair", self.referee.digest, *seen])

    @property
    def expected(self) -> int:
        """Replies of candidates that there are."""
        return sum(1 for _ in self.plan())

    def described(self) -> dict[str, Any]:
        """Return what the judge says of itself."""
        return dict(self.referee.describe())

    @property
    def judge_name(self) -> str:
        """The judge's."""
        return self.referee.name

    def apart(self, row: Row) -> float | None:
        """Return what the candidate got."""
        return SCORE[row["winner"]] if "winner" in row else None

    def plan(self) -> Iterator[WorkUnit]:
        """Yield a unit for each reply of a candidate, item by item."""
        judge_digest, judge = self.judge_digest, self.referee.name
        for item in self.stage.items:
            for name, stored in self._replies.items():
                if (key := stored.reply(item.id)) is not None:
                    yield RubricUnit(
                        REPLAY, None, key.hex(), judge_digest, part=item.id, judge=judge, candidate=name
                    )

    async def run(self, unit: WorkUnit) -> tuple[VotedReply]:
        """Ask which reply is better, in both orders."""
        original = self.stage.originals[str(unit.part)]
        reply = replaced(original, self._run.text(bytes.fromhex(unit.target_digest)))
        name = str(cast("RubricUnit", unit).candidate)
        both = reply.conversation, original.conversation
        vote = await self.referee.vote(Meeting(original.conversation.id, name, ORIGINAL, both))
        lengths = reply_length(reply.text), reply_length(original.text)
        return (VotedReply(vote, str(unit.part), lengths),)
