"""Ratings that read nothing, dealt out as often as people gave them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from dialogauge.bench.fitting.figures import Said
from dialogauge.metrics import mid_ranks

__all__ = ["CONTROLS", "controls_of"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

CONTROLS: Final = {
    "constant": "always the most frequent rating",
    "reply length": "the longer the last reply the better, dealt as often as people gave each rating",
    "reply length, reversed": "the shorter the better, dealt likewise",
    "turn position": "the later the better, dealt likewise",
    "shuffled": "what the model says, dealt anew among all examples",
}
"""The controls, and what each does. All know how often people gave each rating, the judged included."""


def controls_of(
    gold: Whole, said: Said, lengths: Sequence[int], positions: Sequence[int], *, seed: int = 0
) -> dict[str, Said]:
    """Return what each control says of the n examples; what a control reads is also what it ranks by.

    Args:
        gold: Shape (n,), people's majority, 1 to 5.
        said: What the model says.
        lengths: Shape (n,), of the last reply.
        positions: Shape (n,), the place in the conversation.
        seed: Of the shuffled control.
    """
    nothing = np.zeros(gold.size)
    most = np.full(gold.size, int(np.argmax(np.bincount(gold, minlength=6))), dtype=np.int64)
    length = np.array(lengths, dtype=np.float64)
    return {
        "constant": Said(most, nothing, nothing),
        "reply length": _the_more_the_better(gold, length),
        "reply length, reversed": _the_more_the_better(gold, -length),
        "turn position": _the_more_the_better(gold, np.array(positions, dtype=np.float64)),
        "shuffled": _shuffled(said, np.random.default_rng([seed, 1])),
    }


def _the_more_the_better(gold: Whole, order: Floats) -> Said:
    """Deal the sorted ratings in the order given; equal places get the same rating."""
    places = np.floor(mid_ranks(order) - 0.5).astype(np.int64)
    return Said(np.sort(gold)[np.clip(places, 0, gold.size - 1)], -order, order)


def _shuffled(said: Said, rng: np.random.Generator) -> Said:
    order = rng.permutation(said.called.size)
    below, above = (None if s is None else s[order] for s in (said.below, said.above))
    return Said(said.called[order], below, above)
