"""What a model predicts of ratings against the majority of people's, beside the controls."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.stats import (
    ClusterDraws,
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
_BELOW: Final = {
    "uar": "uar",
    "kappa": "kappa",
    "f1_below3": "f1_dsat",
    "f1_below3_published": "f1_dsat_published",
    "auc_below3": "auc",
}
_ABOVE: Final = {"auc_above3": "auc"}
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
    predicted: PredictedRatings, *, draws: int = 1000, seed: int = 0, shuffles: int = 20
) -> dict[str, Any]:
    """Return the figures of the model and of every control, with their intervals.

    Args:
        predicted: The examples.
        draws: Bootstrap draws; none gives no intervals.
        seed: Of the draws and the deals.
        shuffles: Deals of the shuffled control.

    Returns:
        `metrics` of the model and `controls` by name. Each has by name of `FIGURES` the figure, None where
        undefined; `intervals` with pairs; `n`, `clusters`, `called` and `gold` with the counts of 1 to 5.
    """
    chance = ClusterDraws(draws, seed)
    low = None if predicted.below is None else -predicted.below
    columns, below = _sided(predicted, low, "<3", tuple(_BELOW.values()), chance, shuffles)
    _, above = _sided(predicted, predicted.above, ">3", tuple(_ABOVE.values()), chance, shuffles)
    out = {}
    for name, versions in columns.items():
        measured = {mine: (below[name], theirs) for mine, theirs in _BELOW.items()}
        measured |= {mine: (above[name], theirs) for mine, theirs in _ABOVE.items()}
        if name in (_MODEL, "shuffled"):
            # Without a boundary nothing is ranked by it.
            absent = {"auc_below3": predicted.below is None, "auc_above3": predicted.above is None}
            measured = {mine: measured[mine] for mine in measured if not absent.get(mine)}
        out[name] = _json(predicted.gold, versions[0], measured, below[name], draws)
    return {"metrics": out.pop(_MODEL), "controls": out}


def _sided(
    predicted: PredictedRatings,
    order: Floats | None,
    rule: str,
    measures: Sequence[str],
    chance: ClusterDraws,
    shuffles: int,
) -> tuple[dict[str, tuple[Scores, ...]], dict[str, Figures]]:
    """Return the columns and figures of model and controls, of one side of the scale."""
    p, of = predicted, parse_rule(rule)
    clusters, unit = cluster_labels(p.users, p.conversations)
    positions, lengths = (np.array(values, dtype=np.float64) for values in (p.positions, p.lengths))
    sources = {
        _MODEL: scores_of(p.called.astype(np.float64), order=order),
        _PEOPLE: scores_of(p.gold.astype(np.float64)),
    }
    table = ScoreTable(sources, clusters, unit, positions=positions, lengths=lengths)
    controls = controls_of(table, _MODEL, _PEOPLE, rule=of, shuffles=shuffles, seed=chance.seed)
    columns = {_MODEL: (sources[_MODEL],), **control_columns(controls)}
    return columns, figures_of(table, columns, _PEOPLE, measures, rule=of, draws=chance)


def _json(
    gold: Whole, column: Scores, measured: dict[str, tuple[Figures, str]], basis: Figures, draws: int
) -> dict[str, Any]:
    estimates = {name: figures.estimate(measure) for name, (figures, measure) in measured.items()}
    out: dict[str, Any] = dict.fromkeys(FIGURES)
    out |= {name: _number(e.value) for name, e in estimates.items()}
    if draws:
        out["intervals"] = {name: [None, None] for name in FIGURES}
        out["intervals"] |= {name: [_number(e.low), _number(e.high)] for name, e in estimates.items()}
    counts = {
        name: np.bincount(np.asarray(values, dtype=np.int64), minlength=6)[1:].tolist()
        for name, values in (("gold", gold), ("called", column.whole))
    }
    return out | {"n": basis.basis.n, "clusters": basis.basis.clusters} | counts


def _number(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
