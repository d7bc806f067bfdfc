"""What a model predicts of ratings against the majority of people's, beside the controls."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.stats import (
    Estimate,
    Figures,
    Scores,
    ScoreTable,
    cluster_labels,
    control_columns,
    controls_of,
    figures_of,
    parse_rule,
    scores_of,
)

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

FIGURES: Final = {
    "uar": "mean recall over the five ratings; one that nobody gave counts as 0",
    "kappa": "Cohen's kappa, unweighted",
    "f1_below3": "F1 of ratings below 3",
    "f1_below3_published": "2PR / max(P + R, 1): what the published code computes in its place",
    "auc_below3": "AUC of ratings below 3, by the unrounded share of votes up to 2",
    "auc_above3": "AUC of ratings above 3, by the unrounded share of votes above 3",
}
_MEASURES: Final = {
    "uar": ("<3", "uar"),
    "kappa": ("<3", "kappa"),
    "f1_below3": ("<3", "f1_dsat"),
    "f1_below3_published": ("<3", "f1_dsat_published"),
    "auc_below3": ("<3", "auc"),
    "auc_above3": (">3", "auc"),
}
"""By figure: the side of the scale that it is of, and what `stats` calls it."""
_MODEL, _PEOPLE = "model", "people"


@dataclass(frozen=True, slots=True, eq=False)
class PredictedRatings:
    """What a model predicts of n examples, and what is known of them. All sequences have shape (n,)."""

    gold: Whole
    """People's majority, 1 to 5."""
    called: Whole
    """The predicted rating, 1 to 5."""
    below: Floats | None
    """The higher the likelier a rating below 3; None where the model has no such boundary."""
    above: Floats | None
    """The higher the likelier a rating above 3; None likewise."""
    lengths: Sequence[int]
    """Characters of the last reply."""
    positions: Sequence[int]
    """The place in the conversation."""
    users: Sequence[str | None]
    conversations: Sequence[Hashable]


def figures_with_controls(
    predicted: PredictedRatings, *, seed: int = 0, shuffles: int = 20
) -> dict[str, Any]:
    """Return the figures of the model and of every control, with their intervals.

    Args:
        predicted: The examples.
        seed: Of the deals.
        shuffles: Deals of the shuffled control.

    Returns:
        `metrics` of the model and `controls` by name. Each has by name of `FIGURES` the figure, None where
        undefined; `intervals` with pairs; `n`, `clusters`, `called` and `gold` with the counts of 1 to 5.
    """
    p = predicted
    orders = {"<3": None if p.below is None else -p.below, ">3": p.above}
    of_side = {side: _of_side(p, side, order, seed, shuffles) for side, order in orders.items()}
    columns, basis = of_side["<3"]
    out = {}
    for name, versions in columns.items():
        # Without a boundary nothing is ranked by it.
        unranked = {s for s, order in orders.items() if order is None and name in (_MODEL, "shuffled")}
        estimates = {
            mine: of_side[side][1][name].estimate(measure)
            for mine, (side, measure) in _MEASURES.items()
            if measure != "auc" or side not in unranked
        }
        out[name] = _json(p.gold, versions[0], estimates, basis[name])
    return {"metrics": out.pop(_MODEL), "controls": out}


def _of_side(
    predicted: PredictedRatings, side: str, order: Floats | None, seed: int, shuffles: int
) -> tuple[dict[str, tuple[Scores, ...]], dict[str, Figures]]:
    """Return the columns and figures of model and controls, of one side of the scale."""
    p, rule = predicted, parse_rule(side)
    clusters, unit = cluster_labels(p.users, p.conversations)
    positions, lengths = (np.array(values, dtype=np.float64) for values in (p.positions, p.lengths))
    model = scores_of(p.called.astype(np.float64), order=order)
    sources = {_MODEL: model, _PEOPLE: scores_of(p.gold.astype(np.float64))}
    table = ScoreTable(sources, clusters, unit, positions=positions, lengths=lengths)
    controls = controls_of(table, _MODEL, _PEOPLE, rule=rule, shuffles=shuffles, seed=seed)
    columns = {_MODEL: (model,), **control_columns(controls)}
    measures = tuple(measure for of, measure in _MEASURES.values() if of == side)
    return columns, figures_of(table, columns, _PEOPLE, measures, rule=rule)


def _json(gold: Whole, column: Scores, estimates: Mapping[str, Estimate], figures: Figures) -> dict[str, Any]:
    out: dict[str, Any] = dict.fromkeys(FIGURES)
    out |= {name: _number(e.value) for name, e in estimates.items()}
    out["intervals"] = {name: [None, None] for name in FIGURES}
    out["intervals"] |= {name: [_number(e.low), _number(e.high)] for name, e in estimates.items()}
    out |= {"n": figures.basis.n, "clusters": figures.basis.clusters}
    for name, values in (("gold", gold), ("called", column.whole)):
        out[name] = np.bincount(np.asarray(values, dtype=np.int64), minlength=6)[1:].tolist()
    return out


def _number(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
