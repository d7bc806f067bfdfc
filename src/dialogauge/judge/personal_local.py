"""The local judge of the main job as one of the personalised judges: it reads the reply and not the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dialogauge.core import Judged, JudgeFailure, Judgement
from dialogauge.judge.history.guess import DIMENSION
from dialogauge.judge.local import LocalJudge
from dialogauge.judge.local_reach import Log
from dialogauge.judge.personal import BlockView, Population, Reads, Reply

__all__ = ["LocalBlockJudge"]

_KNOWN = 10
"""Replies of the history that say what the log's replies are like."""


@dataclass(frozen=True, slots=True)
class LocalBlockJudge:
    """Judges every target by what can be read off its conversation.

    Of the history it takes language and form of the replies alone, which say whether the fitted cuts hold.
    """

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
        """No rating: its coefficients ship with the package, and of the history it sees the replies alone."""
        return frozenset()

    def describe(self) -> Mapping[str, Any]:
        """Return the settings of the local judge."""
        return self.local.describe()

    async def judge_block(self, view: BlockView, population: Population) -> tuple[Judged, ...]:
        """Judge each conversation once, as far as its last target shows it.

        In foresight a turn's score stands on what came before and the reply, so one pass serves all.
        """
        said = [rated.reply.text for rated in view.history[-_KNOWN:]]
        log = Log.of(said) if said else None
        longest: dict[str, Reply] = {}
        for reply in view.targets:
            longest[reply.conversation.id] = reply
        found: dict[tuple[str, int | None], Judged] = {}
        for reply in longest.values():
            for row in self.local.judge_now(reply.conversation, log=log):
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
