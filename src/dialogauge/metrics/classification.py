"""How well a yes or no agrees: precision, recall and F1 of the positives, once per row of weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "Classification",
    "classification",
    "f1_draws",
    "precision_draws",
    "recall_draws",
]

Floats = npt.NDArray[np.float64]
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
    return _share(weights @ (a * b), weights @ a)


def recall_draws(called: Labels, positive: Labels, weights: Floats) -> Floats:
    """Recall per row of `weights`; NaN where nothing is positive."""
    a, b = _labels(called, positive)
    return _share(weights @ (a * b), weights @ b)


def f1_draws(called: Labels, positive: Labels, weights: Floats) -> Floats:
    """F1 per row of `weights`; 0 where no positive was found."""
    a, b = _labels(called, positive)
    return _share(2 * (weights @ (a * b)), weights @ (a + b))


def _labels(called: Labels, positive: Labels) -> tuple[Floats, Floats]:
    a, b = np.asarray(called, dtype=np.float64), np.asarray(positive, dtype=np.float64)
    if a.shape != b.shape:
        msg = f"columns of different length: {a.size} and {b.size}"
        raise ValueError(msg)
    if not (np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all()):
        msg = "labels are 0 or 1"
        raise ValueError(msg)
    return a, b


def _share(top: Floats, bottom: Floats) -> Floats:
    out = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out
