"""The fitted model: which share of people would rate the conversation so far k or less, and the whole rating.

Up to four linear models over the same features, one for each boundary between two ratings with enough votes
on either side, fitted by ridge regression to the shares of the votes. The file holds hashed column numbers
and weights: no text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import product
from operator import add, sub
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import NotConverged, UsageError
from dialogauge.core.shape import read_as
from dialogauge.data.ratings import LEVELS
from dialogauge.judges.fitted.features import RatedPlace, SparseRows, features_digest, rows_of
from dialogauge.judges.local.model import read_model

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Objective = Callable[[Whole, Whole], float]
"""People's ratings and the predicted ones to what is to be large."""

_FACTORS = (0.5, 1.0, 1.5, 2.0, 3.0)
"""How often a rating beyond the usual one is given, against how often people give it."""


class _StoredCuts(TypedDict):
    usual: int
    below: dict[str, float]
    above: dict[str, float]


@dataclass(frozen=True, slots=True)
class Cuts:
    """When to depart from the usual rating."""

    usual: int
    """What people give most often."""
    below: dict[int, float]
    """By rating k below the usual: from this predicted share of votes up to k the rating is k or less."""
    above: dict[int, float]
    """By rating k from the usual on: from this predicted share of votes beyond k it is k + 1 or more."""

    @classmethod
    def from_json(cls, value: object) -> Cuts:
        """Read the fields, the ratings as texts; ValueError for anything else."""
        stored = read_as(value, _StoredCuts)
        at = {str(k): k for k in range(1, LEVELS)}
        if not {*stored["below"], *stored["above"]} <= at.keys():
            msg = "a cut lies at no boundary"
            raise ValueError(msg)
        below, above = ({at[k]: v for k, v in of.items()} for of in (stored["below"], stored["above"]))
        return cls(stored["usual"], below, above)


def decide(shares: Floats, boundaries: tuple[int, ...], cuts: Cuts) -> Whole:
    """Return whole ratings.

    Args:
        shares: Shape (n, boundaries), predicted share of votes up to each boundary.
        boundaries: The ratings k that have a column, ascending.
        cuts: When to depart from the usual rating. Where both sides would, the lower one is taken: a
            warning is worth more than praise.
    """
    out = np.full(shares.shape[0], cuts.usual, dtype=np.int64)
    at = {k: i for i, k in enumerate(boundaries)}
    for k in sorted(cuts.above):
        out[1 - shares[:, at[k]] >= cuts.above[k]] = k + 1
    for k in sorted(cuts.below, reverse=True):
        out[shares[:, at[k]] >= cuts.below[k]] = k
    return out


def place_cuts(
    shares: Floats, gold: Whole, boundaries: tuple[int, ...], factors: tuple[float, float], usual: int
) -> Cuts:
    """Place the cuts so that ratings beyond the usual are given `factors` times as often as by people."""
    below: dict[int, float] = {}
    above: dict[int, float] = {}
    for i, k in enumerate(boundaries):
        low = k < usual
        column = shares[:, i] if low else 1 - shares[:, i]
        share = float(np.mean(gold <= k if low else gold > k)) * factors[0 if low else 1]
        if share > 0:
            (below if low else above)[k] = float(np.quantile(column, max(0.0, 1 - share)))
    return Cuts(usual, below, above)


def choose_cuts(
    shares: Floats, gold: Whole, boundaries: tuple[int, ...], usual: int, objective: Objective
) -> Cuts:
    """Return the cuts whose ratings do best; the shares must be of examples left out of the fit."""
    offered = (place_cuts(shares, gold, boundaries, pair, usual) for pair in product(_FACTORS, _FACTORS))
    return max(offered, key=lambda cuts: objective(gold, decide(shares, boundaries, cuts)))


@dataclass(frozen=True, slots=True)
class FittedOn:
    """Counts and left-out figures of a fit; no text."""

    examples: int
    """Rated places."""
    conversations: int
    users: int
    """Conversations count as users where no user is known."""
    votes: int
    whole: int
    """Ratings of conversations as a whole among the places."""
    languages: tuple[str, ...] = ()
    """Languages of at least 50 places."""
    folds: int = 0
    """Parts of whole users or conversations that were left out in turn; 0 when nothing was measured."""
    figures: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """Of the left-out places: by `model` and control the `uar`, `kappa` and `f1_below3`."""
    spoken: Mapping[str, int] = field(default_factory=dict)
    """Places by language, most first; empty where they were not counted."""
    seen: tuple[str, ...] = ()
    """`words_digest` of the conversations, where they were kept."""
    two_sided: bool = False
    """Whether people could say good or bad alone: a reward or thumbs, which stand as the ratings 5 and 1."""

    @property
    def whole_only(self) -> bool:
        """Whether people rated nothing but whole conversations."""
        return self.whole == self.examples

    def to_json(self) -> dict[str, Any]:
        """Write as plain JSON values."""
        late = {"spoken", "seen", "two_sided"}  # a model that is older keeps its digest
        return {name: value for name, value in asdict(self).items() if value or name not in late}

    @classmethod
    def from_json(cls, value: object) -> FittedOn:
        """Read what `to_json` wrote; ValueError for anything else."""
        return read_as(value, cls)

    def sentences(self, dimension: str) -> tuple[str, ...]:
        """Say to the reader of the scores what they stand on."""
        named = " and ".join(self.languages)
        if len(self.spoken) > 1:
            named = ", ".join(f"{code} {n:,}" for code, n in self.spoken.items())
        languages = f", {named}" if named else ""
        fitted = (
            f"Fitted to {self.examples:,} rated places ({dimension}, {self.votes:,} votes{languages}) of "
            f"{self.conversations:,} conversations, {self.users:,} users or conversations without one."
        )
        if "model" not in self.figures:
            return (fitted,)
        figures = "; ".join(f"{name}: {_figures(of)}" for name, of in self.figures.items())
        left_out = (
            f"On those left out, {self.folds} parts of whole users or conversations: {figures}. "
            "This holds for logs like that one; hold them against ratings elsewhere "
            "(dialogauge agreement RUN --ratings FILE)."
        )
        return (fitted, left_out)


def _figures(of: Mapping[str, float | None]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {'undefined' if value is None else format(value, '.3f')}"
        for name, value in of.items()
    )


_STEPS, _TOLERANCE = 2000, 1e-4


@dataclass(frozen=True, slots=True)
class Sums:
    """What a ridge regression needs to know of some examples, c columns and k targets."""

    squares: NDArray[np.float32]
    """Shape (c, c): the sum of x x'."""
    products: Floats
    """Shape (c, k): the sum of x y'."""
    columns: Floats
    """Shape (c,): the sum of x."""
    targets: Floats
    """Shape (k,): the sum of y."""
    size: int

    def __add__(self, other: Sums) -> Sums:
        return self._with(add, other)

    def __sub__(self, other: Sums) -> Sums:
        return self._with(sub, other)

    def _with(self, operation: Callable[[Any, Any], Any], other: Sums) -> Sums:
        return Sums(*(operation(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)))


def sums_of(rows: SparseRows, targets: Floats, mask: NDArray[np.bool_]) -> Sums:
    """Sum over the rows of a mask; `targets` has the shape (n, k)."""
    c, k = rows.columns.size, targets.shape[1]
    out = Sums(np.zeros((c, c), np.float32), np.zeros((c, k)), np.zeros(c), np.zeros(k), 0)
    for indices, block in rows.dense(mask):
        here = targets[indices]
        products = (block.T @ here.astype(np.float32)).astype(np.float64)
        columns = block.sum(axis=0, dtype=np.float64)
        out += Sums(block.T @ block, products, columns, here.sum(axis=0), indices.size)
    return out


def solve_ridge(sums: Sums, ridge: float) -> tuple[Floats, Floats]:
    """Return the weights, shape (c, k), that minimise the squared error plus the penalty, and the means (k,).

    The targets are centred; the features are not, and there is no intercept besides the means. Solved by
    conjugate gradients, scaled by the diagonal. `ridge` is the penalty on the squared weights, above 0.

    Raises:
        NotConverged: The residual did not fall to a ten-thousandth.
    """
    prior: Floats = sums.targets / max(sums.size, 1)
    right = sums.products - np.outer(sums.columns, prior)
    scale = 1 / (np.diagonal(sums.squares).astype(np.float64) + ridge)[:, None]
    weights = np.zeros_like(right)
    residual = right.copy()
    direction = scale * residual
    squared = (residual * direction).sum(axis=0)
    aim = _TOLERANCE**2 * np.maximum(squared, 1e-300)
    for _ in range(_STEPS):
        if (squared <= aim).all():
            return weights, prior
        ahead = (sums.squares @ direction.astype(np.float32)).astype(np.float64) + ridge * direction
        step = squared / np.maximum((direction * ahead).sum(axis=0), 1e-300)
        weights += step * direction
        residual -= step * ahead
        before, squared = squared, (residual * (scale * residual)).sum(axis=0)
        direction = scale * residual + squared / np.maximum(before, 1e-300) * direction
    msg = f"the ridge regression did not settle in {_STEPS} steps"
    raise NotConverged(msg, hint="a ridge strength above 1 settles soon")


_FORMAT = "dialogauge-ratings/2"
_COEFFICIENTS = "dialogauge-local/"
_COLUMNS = 3000
"""The most frequent columns are kept; which they are depends on no rating."""
_RARE = 0.01
"""A boundary with less than this share of the votes on one side has no model of its own."""


@dataclass(frozen=True, slots=True)
class PlaceTable:
    """Examples as numbers."""

    rows: SparseRows
    shares: Floats
    """Shape (n, 4): share of the votes that are 1, up to 2, 3, 4."""
    gold: Whole
    """Shape (n,): the majority, the lower of several."""
    prior_only: NDArray[np.bool_]
    """Shape (n,): nothing was said before the rating."""


def table_of(examples: Sequence[RatedPlace]) -> PlaceTable:
    """Lay out examples; the features are read here, once."""
    votes = np.array([e.votes for e in examples], dtype=np.float64).reshape(-1, LEVELS)
    cumulated = np.cumsum(votes, axis=1)[:, :-1] / votes.sum(axis=1, keepdims=True)
    return PlaceTable(
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

    def predict(self, examples: Sequence[RatedPlace]) -> tuple[Floats, Whole]:
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
        """Read what `to_json` wrote; raises FileFault like `read_model`."""
        hint = "write it with: dialogauge fit DATA -o RUN"
        return read_model(text, _read, file=file, what="fitted model of ratings", hint=hint)


def _check_version(value: Mapping[str, Any]) -> None:
    """Refuse a file of ours that is not this model."""
    form = str(value.get("format"))
    hint = "fit it anew: dialogauge fit DATA -o RUN"
    if form.startswith(_COEFFICIENTS):
        msg = "no fitted model of ratings: these are coefficients of the local judge"
        hint = "give them with --local-model; a model comes of: dialogauge fit DATA -o RUN"
    elif form != _FORMAT:
        msg = f"no fitted model of ratings of this version: {form[:40]!r} instead of {_FORMAT!r}"
    elif value.get("features") != features_digest():
        msg = "the model was fitted to other features than this version reads"
    else:
        return
    raise UsageError(msg, hint=hint)


class _RatingsModelFile(TypedDict):
    """What `RatingsModel.to_json` writes."""

    dimension: str
    fitted_on: FittedOn
    ridge: float
    boundaries: tuple[int, ...]
    prior: tuple[float, ...]
    columns: tuple[int, ...]
    weights: tuple[tuple[float, ...], ...]


def _read(value: object) -> RatingsModel:
    _check_version(read_as(value, dict[str, Any]))
    stored = read_as(value, _RatingsModelFile)
    columns = np.array(stored["columns"], dtype=np.int64)
    boundaries, prior = stored["boundaries"], stored["prior"]
    if {len(prior), *map(len, stored["weights"])} != {len(boundaries)} or len(
        stored["weights"]
    ) != columns.size:
        msg = "not one weight for each column and boundary, or not one prior for each boundary"
        raise ValueError(msg)
    weights = np.array(stored["weights"], dtype=np.float64).reshape(columns.size, len(boundaries))
    cuts = Cuts.from_json(value)
    _check(boundaries, columns, cuts)
    known = (stored["ridge"], stored["dimension"], stored["fitted_on"])
    return RatingsModel(boundaries, columns, weights, prior, cuts, *known)


def _check(boundaries: tuple[int, ...], columns: Whole, cuts: Cuts) -> None:
    if not boundaries or list(boundaries) != sorted(set(boundaries) & set(range(1, LEVELS))):
        msg = f"the boundaries {boundaries} are not some of 1 to {LEVELS - 1}, ascending"
        raise ValueError(msg)
    if not {*cuts.below, *cuts.above} <= set(boundaries) or not 1 <= cuts.usual <= LEVELS:
        msg = "a cut lies at no boundary"
        raise ValueError(msg)
    if (np.diff(columns) <= 0).any():
        msg = "the columns are not ascending"
        raise ValueError(msg)


def targets_of(table: PlaceTable, boundaries: tuple[int, ...]) -> Floats:
    """Return the shares that are fitted, shape (n, boundaries)."""
    return table.shares[:, [k - 1 for k in boundaries]]


def fit_ratings(
    table: PlaceTable,
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
