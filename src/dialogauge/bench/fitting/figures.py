"""The figures of whole ratings held against the majority of people's, with intervals by conversation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.metrics import (
    auc,
    average_recall,
    cohen_kappa,
    confusion,
    f1_below,
    interval_of_draws,
    published_f1_below,
)

__all__ = ["FIGURES", "figures_of"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

_LEVELS, _BELOW = 5, 2
FIGURES: Final = {
    "uar": "mean recall over the five ratings; one that nobody gave counts as 0",
    "kappa": "Cohen's kappa, unweighted",
    "f1_below3": "F1 of ratings below 3",
    "f1_below3_published": "2PR / max(P + R, 1): what the published code computes in its place",
}


def figures_of(
    gold: Whole, called: Whole, clusters: Sequence[Hashable], *, draws: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """Return the figures with their intervals.

    Args:
        gold: Shape (n,), people's majority, 1 to 5.
        called: Shape (n,), the predicted rating.
        clusters: Shape (n,), the conversation of each: whole ones are drawn.
        draws: Bootstrap draws; none gives no intervals.
        seed: Of the draws.

    Returns:
        By name of `FIGURES` the figure, None where undefined; `intervals` with pairs; `n`, `clusters`,
        `called` and `gold` with the counts of 1 to 5.
    """
    codes: dict[Hashable, int] = {}
    owner = np.array([codes.setdefault(c, len(codes)) for c in clusters], dtype=np.int64)
    cells = (gold - 1) * _LEVELS + called - 1
    tables = np.zeros((len(codes), _LEVELS * _LEVELS))
    np.add.at(tables, (owner, cells), 1.0)
    out: dict[str, Any] = {
        name: _number(value) for name, value in _all(confusion(gold - 1, called - 1, _LEVELS)).items()
    }
    if draws:
        rng = np.random.default_rng(seed)
        weights = rng.multinomial(len(codes), np.full(len(codes), 1 / len(codes)), size=draws)
        drawn = (weights @ tables).reshape(draws, _LEVELS, _LEVELS)
        found = {n: interval_of_draws(v, clusters=len(codes)) for n, v in _all(drawn).items()}
        out["intervals"] = {n: [_number(i.low), _number(i.high)] for n, i in found.items()}
    counts = {
        name: np.bincount(values, minlength=_LEVELS + 1)[1:].tolist()
        for name, values in (("gold", gold), ("called", called))
    }
    return out | {"n": int(gold.size), "clusters": len(codes)} | counts


def ranking_of(gold: Whole, low: Floats | None, high: Floats | None) -> dict[str, float | None]:
    """Return how well the unrounded shares rank: AUC of ratings below 3, and above 3; None without shares."""
    return {
        "auc_below3": _auc(low, gold < 3),
        "auc_above3": _auc(high, gold > 3),
    }


def _auc(scores: Floats | None, positive: npt.NDArray[np.bool_]) -> float | None:
    if scores is None or positive.all() or not positive.any():
        return None
    return _number(auc(scores.tolist(), positive.tolist()).value)


def _all(tables: Floats) -> dict[str, Floats]:
    return {
        "uar": average_recall(tables),
        "kappa": cohen_kappa(tables),
        "f1_below3": f1_below(tables, _BELOW),
        "f1_below3_published": published_f1_below(tables, _BELOW),
    }


def _number(value: float | Floats | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 6)
