"""A judge that asks a model about one target at a time, as a judge of blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dialogauge.core import Judged
from dialogauge.judge.personal import BlockView, Kept, Population, Reads, TurnJudge

__all__ = ["TurnsOfBlock"]


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

        Raises `EndpointError` or `BudgetSpent` once every request that is under way has ended.
        """
        known = replace(view, targets=(*self.whole[view.id].targets, *view.targets))
        asked = (self.judge.judge_turn(known, reply, population, self.kept) for reply in view.targets)
        found = await asyncio.gather(*asked, return_exceptions=True)
        rows = []
        for row in found:
            if isinstance(row, BaseException):
                raise row
            rows.append(row)
        return tuple(rows)
