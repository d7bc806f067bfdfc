"""The fitted model: which share of people would rate what was said so far k or less, and the whole rating.

Two to four linear models over the same features, one for each boundary between two ratings that is voted
across often enough, fitted by ridge regression to the shares of the votes. What is stored are hashed
column numbers and weights: no text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import FileFault, Place
from dialogauge.judge.ratings.decision import Cuts, decide
from dialogauge.judge.ratings.examples import LEVELS, Example
from dialogauge.judge.ratings.features import features_digest, rows_of
from dialogauge.judge.ratings.fitted_on import FittedOn
from dialogauge.judge.ratings.ridge import solve_ridge, sums_of
from dialogauge.judge.ratings.rows import SparseRows

__all__ = ["RatingsModel", "Table", "boundaries_of", "fit_ratings", "table_of"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_FORMAT = "dialogauge-ratings/2"
_COEFFICIENTS = "dialogauge-local/"
_COLUMNS = 3000
"""The most frequent columns are kept; which they are hangs on no rating."""
_RARE = 0.01
"""A boundary with less than this share of the votes on one side has no model of its own."""


@dataclass(frozen=True, slots=True)
class Table:
    """Examples as numbers."""

    rows: SparseRows
    shares: Floats
    """Shape (n, 4): share of the votes that are 1, up to 2, 3, 4."""
    gold: Whole
    """Shape (n,): the majority, the lower of several."""
    prior_only: NDArray[np.bool_]
    """Shape (n,): nothing was said before the rating."""


def table_of(examples: Sequence[Example]) -> Table:
    """Lay out examples; the features are read here, once."""
    votes = np.array([e.votes for e in examples], dtype=np.float64).reshape(-1, LEVELS)
    cumulated = np.cumsum(votes, axis=1)[:, :-1] / votes.sum(axis=1, keepdims=True)
    return Table(
        SparseRows(rows_of(examples), most=_COLUMNS),
        cumulated,
        np.array([e.majority for e in examples], dtype=np.int64),
        np.array([e.nothing_said for e in examples], dtype=bool),
    )


def boundaries_of(shares: Floats) -> tuple[int, ...]:
    """Return the ratings k with enough votes up to k and beyond it."""
    mean = shares.mean(axis=0)
    return tuple(k + 1 for k in range(LEVELS - 1) if _RARE <= mean[k] <= 1 - _RARE)


def usual_of(gold: Whole) -> int:
    """Return the most frequent majority, the lower of several."""
    return int(np.argmax(np.bincount(gold, minlength=LEVELS + 1)))


@dataclass(frozen=True, slots=True)
class RatingsModel:
    """A fitted model."""

    boundaries: tuple[int, ...]
    columns: NDArray[np.int64]
    weights: Floats
    """Shape (columns, boundaries)."""
    prior: tuple[float, ...]
    """The mean share of votes up to each boundary."""
    cuts: Cuts
    ridge: float
    dimension: str
    fitted_on: FittedOn

    def predict(self, examples: Sequence[Example]) -> tuple[Floats, Whole]:
        """Return the predicted shares, shape (n, boundaries), and the whole ratings, shape (n,).

        Where nothing was said yet both are the prior.
        """
        rows = SparseRows(rows_of(examples), columns=self.columns)
        shares = np.clip(rows.times(self.weights) + np.array(self.prior), 0.0, 1.0)
        whole = decide(shares, self.boundaries, self.cuts)
        whole[[e.nothing_said for e in examples]] = self.cuts.usual
        return shares, whole

    def to_json(self) -> str:
        """Write as JSON text."""
        value = {
            "format": _FORMAT,
            "dimension": self.dimension,
            "fitted_on": self.fitted_on.to_json(),
            "features": features_digest(),
            "ridge": self.ridge,
            "boundaries": self.boundaries,
            "prior": [round(p, 6) for p in self.prior],
            "usual": self.cuts.usual,
            "below": {str(k): round(v, 6) for k, v in self.cuts.below.items()},
            "above": {str(k): round(v, 6) for k, v in self.cuts.above.items()},
            "columns": self.columns.tolist(),
            "weights": np.round(self.weights, 6).tolist(),
        }
        return json.dumps(value) + "\n"

    @classmethod
    def from_json(cls, text: str, *, file: str = "model") -> RatingsModel:
        """Read what `to_json` wrote.

        Raises:
            FileFault: It is no such file, or one of another version; says what it is and what to do.
        """
        hint = "write it with: dialogauge fit DATA -o RUN"
        try:
            value: dict[str, Any] = json.loads(text)
            found = _refusal(value)
            if found is not None:
                raise FileFault(found[0], place=Place(file), hint=found[1])
            return _read(cls, value)
        except FileFault:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
            msg = f"no fitted model of ratings: {type(error).__name__}: {error}"
            raise FileFault(msg, place=Place(file), hint=hint) from error


def _refusal(value: dict[str, Any]) -> tuple[str, str] | None:
    """Return why a file of ours is not this model, and what to do; None when it is."""
    found = str(value["format"])
    if found.startswith(_COEFFICIENTS):
        msg = "no fitted model of ratings: these are coefficients of the local judge"
        return msg, "give them with --local-model; a model comes of: dialogauge fit DATA -o RUN"
    again = "fit it anew: dialogauge fit DATA -o RUN"
    if found != _FORMAT:
        return f"no fitted model of ratings of this version: {found[:40]!r} instead of {_FORMAT!r}", again
    if value["features"] != features_digest():
        return "the model was fitted to other features than this version reads", again
    return None


def _read(cls: type[RatingsModel], value: dict[str, Any]) -> RatingsModel:
    columns = np.array(value["columns"], dtype=np.int64)
    boundaries = tuple(int(k) for k in value["boundaries"])
    weights = np.array(value["weights"], dtype=np.float64).reshape(columns.size, len(boundaries))
    prior = tuple(float(p) for p in value["prior"])
    below, above = ({int(k): float(v) for k, v in value[s].items()} for s in ("below", "above"))
    cuts = Cuts(int(value["usual"]), below, above)
    _check(boundaries, columns, (*weights.ravel().tolist(), *prior, *below.values(), *above.values()), cuts)
    if len(prior) != len(boundaries):
        msg = "not one prior for each boundary"
        raise ValueError(msg)
    known = (float(value["ridge"]), str(value["dimension"]), FittedOn.from_json(value["fitted_on"]))
    return cls(boundaries, columns, weights, prior, cuts, *known)


def _check(boundaries: tuple[int, ...], columns: Whole, numbers: Sequence[float], cuts: Cuts) -> None:
    if not boundaries or list(boundaries) != sorted(set(boundaries) & set(range(1, LEVELS))):
        msg = f"the boundaries {boundaries} are not some of 1 to {LEVELS - 1}, ascending"
        raise ValueError(msg)
    if not {*cuts.below, *cuts.above} <= set(boundaries) or not 1 <= cuts.usual <= LEVELS:
        msg = "a cut lies at no boundary"
        raise ValueError(msg)
    if not all(map(math.isfinite, numbers)):
        msg = "a weight is no number"
        raise ValueError(msg)
    if (np.diff(columns) <= 0).any():
        msg = "the columns are not ascending"
        raise ValueError(msg)


def targets_of(table: Table, boundaries: tuple[int, ...]) -> Floats:
    """Return the shares that are fitted, shape (n, boundaries)."""
    return table.shares[:, [k - 1 for k in boundaries]]


def fit_ratings(
    table: Table,
    cuts: Cuts,
    boundaries: tuple[int, ...],
    ridge: float,
    *,
    dimension: str,
    fitted_on: FittedOn,
) -> RatingsModel:
    """Fit the model to all examples, with cuts that were chosen on left-out predictions."""
    sums = sums_of(table.rows, targets_of(table, boundaries), ~table.prior_only)
    weights, prior = solve_ridge(sums, ridge)
    known = (tuple(map(float, prior)), cuts, ridge, dimension, fitted_on)
    return RatingsModel(boundaries, table.rows.columns, weights, *known)
