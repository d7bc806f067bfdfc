"""The local judge of the main job as one of the personalised judges: it reads the reply and not the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dialogauge.core import Judged, JudgeFailure, Judgement
from dialogauge.judge.history.guess import DIMENSION
from dialogauge.judge.local import LocalJudge
from dialogauge.judge.personal import BlockView, Population, Reads, Reply

__all__ = ["LocalBlockJudge"]


@dataclass(frozen=True, slots=True)
class LocalBlockJudge:
    """Judges every target by what can be read off its conversation; the history is not used."""

    local: LocalJudge

    @property
    def name(self) -> str:
        """`local`."""
        return self.local.name

    @property
    def digest(self) -> str:
        """That of the local judge."""
        return self.local.digest

    @property
    def reads(self) -> frozenset[Reads]:
        """Nothing: its coefficients ship with the package."""
        return frozenset()

    def describe(self) -> Mapping[str, Any]:
        """Return the settings of the local judge."""
        return self.local.describe()

    async def judge_block(self, view: BlockView, population: Population) -> tuple[Judged, ...]:
        """Judge each conversation once, as far as its last target shows it.

        In foresight a turn's score stands on what came before and the reply, so one pass serves all.
        """
        longest: dict[str, Reply] = {}
        for reply in view.targets:
            longest[reply.conversation.id] = reply
        found: dict[tuple[str, int | None], Judged] = {}
        for reply in longest.values():
            for row in self.local.judge_now(reply.conversation):
                found[row.target.conversation_id, row.target.turn] = row
        return tuple(_row(reply, found.get((reply.conversation.id, reply.turn))) for reply in view.targets)


def _row(reply: Reply, row: Judged | None) -> Judged:
    if row is None:
        return Judged(reply.target, JudgeFailure("no_reply", "the local judge judges replies to a user only"))
    outcome = row.outcome
    if isinstance(outcome, JudgeFailure):
        return Judged(reply.target, outcome)
    details = {"turn_id": reply.id, **outcome.details}
    return Judged(reply.target, Judgement({DIMENSION: outcome.scores[DIMENSION]}, details=details))
