"""Which rated replies criteria are induced from."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final, Literal

from dialogauge.judge.personal import Population, RatedReply

__all__ = ["BOUNDARY", "SIDES", "Side", "draw_examples"]

Side = Literal["satisfied", "dissatisfied"]

SIDES: Final[tuple[Side, ...]] = ("satisfied", "dissatisfied")
BOUNDARY: Final = 4
"""The lowest score of a satisfied user."""


def draw_examples(
    population: Population, *, most: int = 150, seed: int = 42
) -> Mapping[Side, tuple[RatedReply, ...]]:
    """Draw up to `most` rated replies of each side, without replacement.

    The draw of the published code: one generator, the satisfied ones first, rows in the order of the blocks.
    """
    rows = [rated for block in population.blocks for rated in block.ratings]
    generator = random.Random(seed)
    sides = {
        "satisfied": [r for r in rows if r.score >= BOUNDARY],
        "dissatisfied": [r for r in rows if r.score < BOUNDARY],
    }
    return {side: tuple(generator.sample(sides[side], min(most, len(sides[side])))) for side in SIDES}
