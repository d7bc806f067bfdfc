"""A judge that asks a model about one target at a time, as a judge of blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialogauge.core import Judged
from dialogauge.judge.personal import BlockView, Kept, Population, Reads, Reply, TurnJudge

__all__ = ["BlockBroken", "TurnsOfBlock"]


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
