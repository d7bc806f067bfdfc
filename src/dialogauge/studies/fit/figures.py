"""The figures of what is said of ratings against the majority of people's, with intervals by conversation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.stats import (
    auc_draws,
    average_recall,
    cohen_kappa,
    f1_below,
    interval_of_draws,
    mid_ranks,
    published_f1_below,
)

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

_LEVELS, _BELOW = 5, 2
FIGURES: Final = {
    "uar": "mean recall over the five ratings; one that nobody gave counts as 0",
    "kappa": "Cohen's kappa, unweighted",
    "f1_below3": "F1 of ratings below 3",
    "f1_below3_published": "2PR / max(P + R, 1): what the published code computes in its place",
    "auc_below3": "AUC of ratings below 3, by the unrounded share of votes up to 2",
    "auc_above3": "AUC of ratings above 3, by the unrounded share of votes above 3",
}
_BLOCK_CELLS = 4_000_000
"""Weights of single examples held at once: 32 MB, whatever the number of examples and draws."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a model or a control says of n examples."""

    called: Whole
    """Shape (n,), the rating, 1 to 5."""
    below: Floats | None = None
    """Shape (n,), the higher the likelier a rating below 3; None where nothing is said of that boundary."""
    above: Floats | None = None
    """Shape (n,), the higher the likelier a rating above 3; None likewise."""


def figures_of(
    gold: Whole, said: Said, clusters: Sequence[Hashable], *, draws: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """Return the figures with their intervals.

    Args:
        gold: Shape (n,), people's majority, 1 to 5.
        said: What is held against it.
        clusters: Shape (n,), the conversation of each: whole ones are drawn.
        draws: Bootstrap draws; none gives no intervals.
        seed: Of the draws.

    Returns:
        By name of `FIGURES` the figure, None where undefined; `intervals` with pairs; `n`, `clusters`,
        `called` and `gold` with the counts of 1 to 5.
    """
    codes: dict[Hashable, int] = {}
    owner = np.array([codes.setdefault(c, len(codes)) for c in clusters], dtype=np.int64)
    once = np.ones((1, len(codes)))
    out: dict[str, Any] = {name: _number(v[0]) for name, v in _all(gold, said, owner, once).items()}
    if draws:
        rng = np.random.default_rng(seed)
        weights = rng.multinomial(len(codes), np.full(len(codes), 1 / len(codes)), size=draws)
        drawn = _all(gold, said, owner, weights.astype(np.float64))
        found = {n: interval_of_draws(v, clusters=len(codes)) for n, v in drawn.items()}
        out["intervals"] = {n: [_number(i.low), _number(i.high)] for n, i in found.items()}
    counts = {
        name: np.bincount(values, minlength=_LEVELS + 1)[1:].tolist()
        for name, values in (("gold", gold), ("called", said.called))
    }
    return out | {"n": int(gold.size), "clusters": len(codes)} | counts


def _all(gold: Whole, said: Said, owner: Whole, weights: Floats) -> dict[str, Floats]:
    """Return every figure once per row of `weights`, shape (draws, clusters) -> (draws,) each."""
    cells = (gold - 1) * _LEVELS + said.called - 1
    counts = np.zeros((weights.shape[1], _LEVELS * _LEVELS))
    np.add.at(counts, (owner, cells), 1.0)
    tables = (weights @ counts).reshape(-1, _LEVELS, _LEVELS)
    return {
        "uar": average_recall(tables),
        "kappa": cohen_kappa(tables),
        "f1_below3": f1_below(tables, _BELOW),
        "f1_below3_published": published_f1_below(tables, _BELOW),
        "auc_below3": _auc(said.below, gold < 3, owner, weights),
        "auc_above3": _auc(said.above, gold > 3, owner, weights),
    }


def _auc(scores: Floats | None, positive: npt.NDArray[np.bool_], owner: Whole, weights: Floats) -> Floats:
    if scores is None:
        return np.full(weights.shape[0], np.nan)
    rows = max(1, _BLOCK_CELLS // owner.size)
    blocks = (weights[start : start + rows, owner] for start in range(0, weights.shape[0], rows))
    return np.concatenate([auc_draws(scores, positive.astype(np.float64), block) for block in blocks])


def _number(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 6)


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
