"""How well a yes or no agrees: precision, recall and F1 of the positives, once per row of weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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


Labels = Sequence[float] | Sequence[bool] | Floats | npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Classification:
    """Precision, recall and F1 of the positive class with the counts they stand on."""

    precision: float | None
    """None when nothing was called positive."""
    recall: float | None
    """None when nothing is positive."""
    f1: float | None
    """2 tp / (2 tp + fp + fn): 0 when no positive was found, None when there are none at all."""
    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int

    @property
    def n(self) -> int:
        """Pairs."""
        wrong = self.false_positives + self.false_negatives
        return self.true_positives + self.true_negatives + wrong


def classification(called: Labels, positive: Labels) -> Classification:
    """Compare what was called positive with what is; both shape (n,) of 0 and 1.

    Raises:
        ValueError: Lengths differ, or a label is neither 0 nor 1.
    """
    a, b = _labels(called, positive)
    tp, fp, fn = (int(v) for v in (a @ b, a @ (1 - b), (1 - a) @ b))
    return Classification(
        tp / (tp + fp) if tp + fp else None,
        tp / (tp + fn) if tp + fn else None,
        2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None,
        tp,
        fp,
        fn,
        int(a.size) - tp - fp - fn,
    )


def precision_draws(called: Labels, positive: Labels, weights: Floats) -> Floats:
    """Precision per row of `weights`, shape (draws, n) -> (draws,); NaN where nothing was called."""
    a, b = _labels(called, positive)
    return _share_of_sums(weights @ (a * b), weights @ a)


def recall_draws(called: Labels, positive: Labels, weights: Floats) -> Floats:
    """Recall per row of `weights`; NaN where nothing is positive."""
    a, b = _labels(called, positive)
    return _share_of_sums(weights @ (a * b), weights @ b)


def f1_draws(called: Labels, positive: Labels, weights: Floats) -> Floats:
    """F1 per row of `weights`; 0 where no positive was found."""
    a, b = _labels(called, positive)
    return _share_of_sums(2 * (weights @ (a * b)), weights @ (a + b))


def _labels(called: Labels, positive: Labels) -> tuple[Floats, Floats]:
    a, b = np.asarray(called, dtype=np.float64), np.asarray(positive, dtype=np.float64)
    if a.shape != b.shape:
        msg = f"columns of different length: {a.size} and {b.size}"
        raise ValueError(msg)
    if not (np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all()):
        msg = "labels are 0 or 1"
        raise ValueError(msg)
    return a, b


def _share_of_sums(top: Floats, bottom: Floats) -> Floats:
    out = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out
