"""The measures of agreement, each over draws: what it needs, which way is better, how it is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from dialogauge.bench.meta.columns import Column, People
from dialogauge.metrics import (
    auc_draws,
    f1_draws,
    kappa_draws,
    mean_draws,
    pearson_draws,
    precision_draws,
    recall_draws,
    spearman_draws,
)

__all__ = ["COMPARED", "MEASURES", "Measure", "Need", "measures_for", "signed_gain", "title_of"]

Floats = npt.NDArray[np.float64]
Need = Literal["numbers", "scale", "classes", "ranking"]
Better = Literal["high", "low", "zero"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of agreement."""

    name: str
    title: str
    need: Need
    """Ratings that are numbers, that lie on the judge's scale, classes (a rule), or classes to rank."""
    better: Better
    null: float | None
    """What a judge that says nothing has where its own figure is undefined; None where there is none."""
    draws: Callable[[Column, People, Floats], Floats]
    """Per row of weights, shape (draws, n) -> (draws,)."""


def _have(values: Floats | None) -> Floats:
    return np.empty(0) if values is None else values


def _pearson(c: Column, p: People, w: Floats) -> Floats:
    return pearson_draws(c.order, _have(p.order), w)


def _spearman(c: Column, p: People, w: Floats) -> Floats:
    return spearman_draws(c.order, _have(p.order), w)


def _kappa(c: Column, p: People, w: Floats) -> Floats:
    return kappa_draws(c.whole, _have(p.rounded), w)


def _exact(c: Column, p: People, w: Floats) -> Floats:
    return mean_draws((c.whole == _have(p.rounded)).astype(np.float64), w)


def _within_one(c: Column, p: People, w: Floats) -> Floats:
    return mean_draws((np.abs(c.whole - _have(p.rounded)) <= 1).astype(np.float64), w)


def _error(c: Column, p: People, w: Floats) -> Floats:
    return mean_draws(np.abs(c.value - _have(p.scores)), w)


def _bias(c: Column, p: People, w: Floats) -> Floats:
    return mean_draws(c.value - _have(p.scores), w)


def _f1(c: Column, p: People, w: Floats) -> Floats:
    return f1_draws(c.called, _have(p.dissatisfied), w)


def _precision(c: Column, p: People, w: Floats) -> Floats:
    return precision_draws(c.called, _have(p.dissatisfied), w)


def _recall(c: Column, p: People, w: Floats) -> Floats:
    return recall_draws(c.called, _have(p.dissatisfied), w)


def _auc(c: Column, p: People, w: Floats) -> Floats:
    return auc_draws(-c.order, _have(p.dissatisfied), w)


MEASURES: Final = (
    Measure("pearson", "Pearson", "numbers", "high", 0.0, _pearson),
    Measure("spearman", "Spearman", "numbers", "high", 0.0, _spearman),
    Measure("kappa", "quadratic kappa", "scale", "high", 0.0, _kappa),
    Measure("exact", "exact", "scale", "high", None, _exact),
    Measure("within_one", "within one", "scale", "high", None, _within_one),
    Measure("mae", "mean absolute error", "scale", "low", None, _error),
    Measure("bias", "bias", "scale", "zero", None, _bias),
    Measure("f1", "F1 of dissatisfied", "classes", "high", None, _f1),
    Measure("precision", "precision", "classes", "high", None, _precision),
    Measure("recall", "recall", "classes", "high", None, _recall),
    Measure("auc", "AUC of dissatisfied", "ranking", "high", 0.5, _auc),
)
COMPARED: Final = ("spearman", "kappa", "auc")
"""The measures by which two judges are held against each other: few, for each test costs power."""


def title_of(name: str, rule: str | None) -> str:
    """Return the title of a measure; of one that needs classes, with what counts as dissatisfied.

    Args:
        name: Of the measure.
        rule: What counts as dissatisfied, such as `<3`; None where nothing does.
    """
    measure = next(m for m in MEASURES if m.name == name)
    return f"{measure.title} ({rule})" if rule and measure.need in ("classes", "ranking") else measure.title


def measures_for(people: People, *, named_classes: bool) -> tuple[Measure, ...]:
    """Return the measures that the ratings allow.

    Classes need a rule; and the same rule must fit the judge's scores: ratings on its scale, or
    categories that the judge names itself.
    """
    numbers = people.scores is not None
    scale = numbers and people.on_scale
    classes = people.dissatisfied is not None
    able: dict[Need, bool] = {
        "numbers": numbers,
        "scale": scale,
        "classes": classes and (scale or named_classes),
        "ranking": classes,
    }
    return tuple(m for m in MEASURES if able[m.need])


def signed_gain(measure: Measure, mine: Floats, other: Floats) -> Floats:
    """How much better `mine` is than `other`: positive is better, whichever way the measure points.

    Where the other's figure is undefined (a constant ranks nothing) the measure's null stands for it.
    """
    if measure.null is not None:
        other = np.where(np.isfinite(other), other, measure.null)
    if measure.better == "high":
        return mine - other
    if measure.better == "low":
        return other - mine
    return np.abs(other) - np.abs(mine)
