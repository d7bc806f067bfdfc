"""Worked examples of other users for a generic judge: the same ones for every turn, two of each score.

The draw is the published one (PersTurnBench, few-shot judge): the training users' rated turns are pooled by
score in their order, each pool is shuffled with seed 42, the first ceil(n / 5) of each are taken, and these
are shuffled and cut to n.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.calibrate import half_up
from dialogauge.core import JudgeFailure, digest
from dialogauge.judge.personal import BlockView, Kept, Population, RatedReply, Reads, Reply
from dialogauge.judge.personal_rubric import Told
from dialogauge.judge.rated_lines import rated_line
from dialogauge.prompts import phrase

__all__ = ["FewShotKnowledge", "draw_examples"]

_SEED: Final = 42
_SCORES: Final = (1, 2, 3, 4, 5)
_REQUEST: Final = 400
_REPLY: Final = 1200
"""Characters of a text that are shown; the middle of a longer one is cut."""


def draw_examples(population: Population, n: int = 10) -> tuple[RatedReply, ...]:
    """Draw n rated turns, as many of each score as there are alike; fewer where a score is rare."""
    rng = random.Random(_SEED)
    pools: dict[int, list[RatedReply]] = {score: [] for score in _SCORES}
    for block in population.blocks:
        for rated in block.ratings:
            pools[half_up(rated.score)].append(rated)
    drawn: list[RatedReply] = []
    for score in _SCORES:
        rng.shuffle(pools[score])
        drawn += pools[score][: -(-n // len(_SCORES))]
    rng.shuffle(drawn)
    return tuple(drawn[:n])


@dataclass
class FewShotKnowledge:
    """Fills `rated_examples`; implements `judge.personal_rubric.Knowledge`."""

    n: int = 10
    reads: frozenset[Reads] = frozenset({"others"})
    _written: tuple[int, str, str] | None = None
    """Of the population that was asked about last: its identity, the examples, and their digest."""

    def describe(self) -> Mapping[str, Any]:
        """Return the number and the draw."""
        return {"examples": self.n, "seed": _SEED, "cut": [_REQUEST, _REPLY]}

    async def tell(
        self, view: BlockView, reply: Reply, population: Population, kept: Kept, language: str
    ) -> tuple[Told, JudgeFailure | None]:
        """Return the examples, one JSON object a line."""
        del view, reply, kept
        if self._written is None or self._written[0] != id(population):
            text = "\n".join(
                rated_line(rated, request_chars=_REQUEST, reply_chars=_REPLY)
                for rated in draw_examples(population, self.n)
            )
            self._written = id(population), text, digest(text)
        _, text, name = self._written
        return Told({"rated_examples": text or phrase(language, "none")}, {"examples": name}), None
