"""How well whole classes agree: unweighted average recall, Cohen's kappa, and F1 of the lower classes.

All stand on the confusion table, so that draws of clusters are sums of their tables.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["average_recall", "cohen_kappa", "confusion", "f1_below", "published_f1_below"]

Floats = npt.NDArray[np.float64]
Classes = npt.NDArray[np.int64]


def confusion(gold: Classes, called: Classes, classes: int) -> Floats:
    """Return the table of counts, shape (classes, classes): rows are gold; classes count from 0."""
    if gold.shape != called.shape:
        msg = f"columns of different length: {gold.size} and {called.size}"
        raise ValueError(msg)
    cells = np.bincount(gold * classes + called, minlength=classes * classes)
    table: Floats = cells.reshape(classes, classes).astype(np.float64)
    return table


def average_recall(tables: Floats) -> Floats:
    """Return the mean recall over all classes, shape (..., c, c) -> (...); that of an absent class is 0.

    So it is in the published evaluations of USS (Sun et al., 2021): the mean is over all five ratings.
    """
    rows = tables.sum(axis=-1)
    recall: Floats = _share(np.diagonal(tables, axis1=-2, axis2=-1), rows, otherwise=0.0)
    mean: Floats = recall.mean(axis=-1)
    return mean


def cohen_kappa(tables: Floats) -> Floats:
    """Return the unweighted kappa of Cohen (1960), shape (..., c, c) -> (...); NaN where chance is all."""
    total = tables.sum(axis=(-2, -1))
    observed = _share(np.trace(tables, axis1=-2, axis2=-1), total)
    chance = _share((tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1), total**2)
    return _share(observed - chance, np.where(1 - chance > 1e-12, 1 - chance, 0.0))


def f1_below(tables: Floats, boundary: int) -> Floats:
    """Return F1 of classes below `boundary` (from 0), shape (..., c, c) -> (...); NaN without any."""
    hits, called, there = _below(tables, boundary)
    return _share(2 * hits, called + there)


def published_f1_below(tables: Floats, boundary: int) -> Floats:
    """Return what the published code of USS takes for F1: 2PR / max(P + R, 1), never above F1."""
    hits, called, there = _below(tables, boundary)
    precision, recall = _share(hits, called, otherwise=0.0), _share(hits, there, otherwise=0.0)
    value: Floats = 2 * precision * recall / np.maximum(precision + recall, 1)
    return value


def _below(tables: Floats, boundary: int) -> tuple[Floats, Floats, Floats]:
    low = tables[..., :boundary, :]
    return (
        low[..., :boundary].sum(axis=(-2, -1)),
        tables[..., :, :boundary].sum(axis=(-2, -1)),
        low.sum(axis=(-2, -1)),
    )


def _share(top: Floats, bottom: Floats, *, otherwise: float = np.nan) -> Floats:
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), otherwise)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out
