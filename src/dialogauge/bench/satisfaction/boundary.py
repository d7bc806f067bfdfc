"""Figures of the boundary between satisfied (4 and more) and dissatisfied."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dialogauge.bench.satisfaction.cells import Cells, Measure, divided, over_users
from dialogauge.metrics import auc_draws, f1_draws, kappa_draws, precision_draws, recall_draws

__all__ = ["BOUNDARY", "boundary_measures", "two_sided_users"]

Floats = npt.NDArray[np.float64]

BOUNDARY = 4
"""The lowest score of a satisfied user; 3.9 is dissatisfied."""
MIN_TURNS = 3
_BY_USER = (
    "accuracy",
    "f1_macro",
    "f1_sat",
    "f1_dsat",
    "precision_sat",
    "recall_sat",
    "boundary_kappa",
    "auc",
)


def boundary_measures(cells: Cells) -> dict[str, Measure]:
    """Return the figures of the two classes: over all turns, user by user, and within users."""
    plain = _classes(cells)
    out: dict[str, Measure] = {name: _pooled(figure, cells) for name, figure in plain.items()}
    recall, miss = plain["recall_dsat"], plain["recall_sat"]
    out["false_sat"] = lambda w: 1 - recall(w @ cells.counts)
    out["false_dsat"] = lambda w: 1 - miss(w @ cells.counts)
    n, used = cells.counts.sum(axis=1), two_sided_users(cells)
    for name in _BY_USER:
        values = np.where(used, plain[name](cells.counts), np.nan)
        out[f"per_user_{name}"] = over_users(values, n)
    sat = (cells.gold >= BOUNDARY).astype(np.float64)
    # The confidence that the published evaluation makes of a score.
    sure = (np.floor(cells.score) - 1) / 4 * 0.8 + 0.1
    return out | {f"within_user_boundary_{k}": m for k, m in cells.centred(sat, sure).items()}


def _pooled(figure: Measure, cells: Cells) -> Measure:
    return lambda w: figure(w @ cells.counts)


def _classes(cells: Cells) -> dict[str, Measure]:
    """Return the figures as functions of how often each cell occurs, shape (rows, cells) -> (rows,)."""
    said, true = cells.score >= BOUNDARY, cells.gold >= BOUNDARY
    equal = (said == true).astype(np.float64)
    return {
        "accuracy": lambda c: divided(c @ equal, c.sum(axis=1)),
        "f1_macro": lambda c: (_zero(f1_draws(said, true, c)) + _zero(f1_draws(~said, ~true, c))) / 2,
        "f1_sat": lambda c: f1_draws(said, true, c),
        "f1_dsat": lambda c: f1_draws(~said, ~true, c),
        "precision_sat": lambda c: precision_draws(said, true, c),
        "recall_sat": lambda c: recall_draws(said, true, c),
        "precision_dsat": lambda c: precision_draws(~said, ~true, c),
        "recall_dsat": lambda c: recall_draws(~said, ~true, c),
        "boundary_kappa": lambda c: kappa_draws(said.astype(float), true.astype(float), c),
        "auc": lambda c: auc_draws(cells.score, true.astype(float), c),
    }


def _zero(values: Floats) -> Floats:
    return np.nan_to_num(values, nan=0.0)


def two_sided_users(cells: Cells) -> npt.NDArray[np.bool_]:
    """Say of each user whether they have both classes, and turns enough for figures of their own."""
    true = cells.gold >= BOUNDARY
    high, low = cells.counts @ true, cells.counts @ ~true
    used: npt.NDArray[np.bool_] = (high > 0) & (low > 0) & (high + low >= MIN_TURNS)
    return used
