"""Ratings that read nothing, dealt out as often as people gave them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from dialogauge.metrics import mid_ranks

__all__ = ["CONTROLS", "controls_of"]

Whole = npt.NDArray[np.int64]

CONTROLS: Final = {
    "constant": "always the most frequent rating",
    "reply length": "the longer the last reply the better, dealt as often as people gave each rating",
    "reply length, reversed": "the shorter the better, dealt likewise",
    "turn position": "the later the better, dealt likewise",
    "shuffled": "the model's own ratings, dealt anew among all examples",
}
"""The controls, and what each does. All know how often people gave each rating, the judged included."""


def controls_of(
    gold: Whole, called: Whole, lengths: Sequence[int], positions: Sequence[int], *, seed: int = 0
) -> dict[str, Whole]:
    """Return the ratings of each control, shape (n,) each.

    Args:
        gold: Shape (n,), people's majority, 1 to 5.
        called: Shape (n,), the model's ratings.
        lengths: Shape (n,), of the last reply.
        positions: Shape (n,), the place in the conversation.
        seed: Of the shuffled control.
    """
    rng = np.random.default_rng([seed, 1])
    return {
        "constant": np.full(gold.size, int(np.argmax(np.bincount(gold, minlength=6))), dtype=np.int64),
        "reply length": _dealt(gold, np.array(lengths, dtype=np.float64)),
        "reply length, reversed": _dealt(gold, -np.array(lengths, dtype=np.float64)),
        "turn position": _dealt(gold, np.array(positions, dtype=np.float64)),
        "shuffled": rng.permutation(called),
    }


def _dealt(gold: Whole, order: npt.NDArray[np.float64]) -> Whole:
    """Deal the sorted ratings in the order given; equal places get the same rating."""
    ranks = mid_ranks(order.tolist())
    return np.sort(gold)[np.clip(np.floor(ranks - 0.5).astype(np.int64), 0, gold.size - 1)]
