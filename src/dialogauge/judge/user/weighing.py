"""Which signals are read: those that help to tell training users who are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dialogauge.judge.user.left_out import Fit
from dialogauge.judge.user.signal import SignalColumns

__all__ = ["choose_signals"]

Floats = NDArray[np.float64]
Taken = tuple[SignalColumns, ...]


def choose_signals(
    offered: Sequence[SignalColumns], fit_with: Callable[[Taken], Fit], golds: Sequence[Floats]
) -> tuple[Taken, Fit]:
    """Take one signal after another, the most helpful first, as long as users left out are told better by it.

    It helps when their squared error falls by more than one standard error over users. A signal that says
    nothing is not read at all, and the judge is the one without it.

    Args:
        offered: The signals; may be empty.
        fit_with: Fits to the training users with some of them.
        golds: By training user, the ratings that the fits are held against.

    Returns:
        Those taken, and the fit with them.
    """
    taken: Taken = ()
    fit = fit_with(taken)
    left = list(offered) if len(golds) > 1 else []
    while left:
        fits = [fit_with((*taken, columns)) for columns in left]
        gains = [_surely(fit, other, golds) for other in fits]
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        taken, fit = (*taken, left.pop(best)), fits[best]
    return taken, fit


def _surely(fit: Fit, other: Fit, golds: Sequence[Floats]) -> float:
    """Return by how much the squared error of a user falls on average, less the standard error of that."""
    fallen = np.array(
        [
            float(((a - gold) ** 2 - (b - gold) ** 2).sum())
            for a, b, gold in zip(fit.left_out, other.left_out, golds, strict=True)
        ]
    )
    return float(fallen.mean() - fallen.std(ddof=1) / np.sqrt(fallen.size))
