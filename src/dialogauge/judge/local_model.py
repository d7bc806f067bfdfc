"""The small satisfaction model of the local judge: named signals, standardised, ridge regression.

Fitted by `fit_local` in closed form; the strength of the ridge is chosen by cross-validation over groups
of users. What ships is `local_coefficients.json`: names and numbers, no text of any data set.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import Conversation, FileFault, Place, UsageError
from dialogauge.signals import Mode, feature_names, find_signals, read_dialogue, read_features

__all__ = ["LocalCoefficients", "ModeCoefficients", "fit_local", "load_coefficients"]

Floats = NDArray[np.float64]

_FORMAT = "dialogauge-local/1"
_RIDGES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
_FOLDS = 5
_FAR = 3.0
"""Standardised features are cut at this many deviations: a style of talk never seen must not run away."""
_LOW, _HIGH = 1.0, 5.0


@dataclass(frozen=True, slots=True)
class ModeCoefficients:
    """A linear model of the satisfaction, 1..5, over the named features of one mode."""

    names: tuple[str, ...]
    centre: tuple[float, ...]
    spread: tuple[float, ...]
    weights: tuple[float, ...]
    """Change of the score per deviation of the feature."""
    intercept: float
    ridge: float

    def predict(self, features: Sequence[float]) -> float:
        """Return the satisfaction of one turn, 1..5, unrounded."""
        total = self.intercept
        for value, centre, spread, weight in zip(
            features, self.centre, self.spread, self.weights, strict=True
        ):
            total += weight * max(-_FAR, min(_FAR, (value - centre) / spread))
        return max(_LOW, min(_HIGH, total))

    def cut(self, names: tuple[str, ...]) -> None:
        """Refuse features other than the ones it was fitted on."""
        if names != self.names:
            msg = "the coefficients were fitted on other signals than this version reads"
            raise UsageError(msg, hint="fit them anew: dialogauge fit DATA -o MODEL")


@dataclass(frozen=True, slots=True)
class LocalCoefficients:
    """The models of both modes and how they did on held-out users."""

    hindsight: ModeCoefficients
    foresight: ModeCoefficients
    dimension: str = "satisfaction"
    turns: int = 0
    conversations: int = 0
    groups: int = 0
    measured: Mapping[str, Any] = field(default_factory=dict)
    """Out-of-fold figures with their controls, by mode."""

    def mode(self, mode: Mode) -> ModeCoefficients:
        """Return the model of one mode."""
        return self.hindsight if mode == "hindsight" else self.foresight

    def to_json(self) -> str:
        """Write as JSON text: names and numbers only."""
        value = {
            "format": _FORMAT,
            "dimension": self.dimension,
            "fitted_on": {
                "turns": self.turns,
                "conversations": self.conversations,
                "groups": self.groups,
            },
            "measured": self.measured,
            "hindsight": _mode_json(self.hindsight),
            "foresight": _mode_json(self.foresight),
        }
        return json.dumps(value, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, *, file: str = "coefficients") -> LocalCoefficients:
        """Read what `to_json` wrote.

        Raises:
            FileFault: it is no such file; says which key is missing or wrong.
        """
        try:
            value = json.loads(text)
            if value["format"] != _FORMAT:
                msg = f"format {value['format']!r} is not {_FORMAT!r}"
                raise FileFault(msg, place=Place(file), hint="fit it anew: dialogauge fit DATA -o MODEL")
            fitted = value["fitted_on"]
            return cls(
                _mode_from(value["hindsight"], "hindsight"),
                _mode_from(value["foresight"], "foresight"),
                str(value["dimension"]),
                int(fitted["turns"]),
                int(fitted["conversations"]),
                int(fitted["groups"]),
                value["measured"],
            )
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            msg = f"no coefficients of the local judge: {error}"
            raise FileFault(
                msg, place=Place(file), hint="write the file with: dialogauge fit DATA -o MODEL"
            ) from error


def _mode_json(mode: ModeCoefficients) -> dict[str, Any]:
    signals = zip(mode.names, mode.centre, mode.spread, mode.weights, strict=True)
    return {
        "intercept": round(mode.intercept, 6),
        "ridge": mode.ridge,
        "signals": {
            name: {"centre": round(c, 6), "spread": round(s, 6), "weight": round(w, 6)}
            for name, c, s, w in signals
        },
    }


def _mode_from(value: Mapping[str, Any], mode: Mode) -> ModeCoefficients:
    signals = value["signals"]
    out = ModeCoefficients(
        tuple(signals),
        tuple(float(s["centre"]) for s in signals.values()),
        tuple(float(s["spread"]) for s in signals.values()),
        tuple(float(s["weight"]) for s in signals.values()),
        float(value["intercept"]),
        float(value["ridge"]),
    )
    out.cut(feature_names(mode))
    return out


def load_coefficients() -> LocalCoefficients:
    """Read the coefficients that ship with the package."""
    file = resources.files("dialogauge.judge") / "local_coefficients.json"
    return LocalCoefficients.from_json(file.read_text(encoding="utf-8"), file="local_coefficients.json")


@dataclass(frozen=True, slots=True)
class _Table:
    """Rated turns: one row each."""

    features: Floats
    scores: Floats
    groups: NDArray[np.int64]
    """Users where they are known, else conversations."""
    conversations: int
    lengths: Floats


def fit_local(
    conversations: Iterable[Conversation], *, dimension: str = "satisfaction", folds: int = _FOLDS
) -> LocalCoefficients:
    """Fit the satisfaction model of both modes to rated turns.

    Several raters of one turn are averaged. The ridge strength is the one with the least squared error on
    users left out (five folds; conversations where no user is known). The figures in `measured` are those
    of the same left-out predictions, beside a constant and the reply's length.

    Args:
        conversations: With turn-level ratings of `dimension` on 1-5; others are passed over.
        dimension: The name of the ratings' dimension.
        folds: Number of folds, at least 2.

    Raises:
        UsageError: fewer than 50 rated turns, fewer groups than folds, or ratings all alike.
    """
    kept = [
        c for c in conversations if any(r.turn is not None and r.dimension == dimension for r in c.ratings)
    ]
    tables = {mode: _table(kept, dimension, mode) for mode in ("hindsight", "foresight")}
    _check(tables["hindsight"], folds, dimension)
    fitted, measured = {}, {}
    for mode, table in tables.items():
        fold = _folds(table.groups, folds)
        ridge, predicted = _choose_ridge(table, fold)
        fitted[mode] = _solve(table.features, table.scores, ridge, feature_names(cast(Mode, mode)))
        measured[mode] = _measure(predicted, table, fold)
    table = tables["hindsight"]
    groups = int(np.unique(table.groups).size)
    return LocalCoefficients(
        fitted["hindsight"],
        fitted["foresight"],
        dimension,
        int(table.scores.size),
        table.conversations,
        groups,
        measured,
    )


def _table(conversations: Sequence[Conversation], dimension: str, mode: str) -> _Table:
    rows: list[tuple[float, ...]] = []
    scores: list[float] = []
    groups: list[int] = []
    lengths: list[float] = []
    index: dict[str, int] = {}
    read = cast(Mode, mode)
    for conversation in conversations:
        dialogue = read_dialogue(conversation)
        features = read_features(dialogue, find_signals(dialogue, read), read)
        group = index.setdefault(conversation.user_id or f"\0{conversation.id}", len(index))
        units = {t.number: t.reply.units for t in dialogue.turns}
        for turn, score in _turn_scores(conversation, dimension).items():
            if turn in features:
                rows.append(features[turn])
                scores.append(score)
                groups.append(group)
                lengths.append(units[turn])
    width = len(feature_names(read))
    return _Table(
        np.array(rows, dtype=float).reshape(-1, width),
        np.array(scores, dtype=float),
        np.array(groups, dtype=np.int64),
        len(conversations),
        np.array(lengths, dtype=float),
    )


def _turn_scores(conversation: Conversation, dimension: str) -> dict[int, float]:
    out: dict[int, list[float]] = {}
    for rating in conversation.ratings:
        if rating.turn is not None and rating.dimension == dimension and not isinstance(rating.score, str):
            out.setdefault(rating.turn, []).append(float(rating.score))
    return {turn: sum(s) / len(s) for turn, s in out.items()}


def _check(table: _Table, folds: int, dimension: str) -> None:
    groups = np.unique(table.groups).size
    found = f"{table.scores.size} turns rated for {dimension!r} by {groups} groups"
    if table.scores.size < 50 or groups < max(2, folds):
        msg = f"too little to fit: {found}"
        raise UsageError(msg, hint=f"at least 50 rated turns of {folds} users or conversations are needed")
    if float(np.ptp(table.scores)) == 0:
        msg = f"nothing to learn: {found}, all with the same score"
        raise UsageError(msg, hint="give ratings that differ")


def _folds(groups: NDArray[np.int64], folds: int) -> NDArray[np.int64]:
    """Give each group a fold, the largest groups first to the smallest fold; no chance in it."""
    sizes = np.bincount(groups)
    load = np.zeros(folds)
    of_group = np.zeros(sizes.size, dtype=np.int64)
    for group in np.argsort(-sizes, kind="stable"):
        of_group[group] = int(np.argmin(load))
        load[of_group[group]] += sizes[group]
    return of_group[groups]


def _solve(features: Floats, scores: Floats, ridge: float, names: tuple[str, ...]) -> ModeCoefficients:
    centre = features.mean(axis=0)
    spread = features.std(axis=0)
    spread[spread < 1e-6] = 1.0
    z = np.clip((features - centre) / spread, -_FAR, _FAR)
    intercept = float(scores.mean())
    shift = z.mean(axis=0)
    gram = (z - shift).T @ (z - shift) + ridge * np.eye(z.shape[1])
    weights = np.linalg.solve(gram, (z - shift).T @ (scores - intercept))
    return ModeCoefficients(
        names,
        tuple(map(float, centre)),
        tuple(map(float, spread)),
        tuple(map(float, weights)),
        intercept - float(shift @ weights),
        ridge,
    )


def _choose_ridge(table: _Table, fold: NDArray[np.int64]) -> tuple[float, Floats]:
    best: tuple[float, float, Floats] | None = None
    for ridge in _RIDGES:
        predicted = np.empty_like(table.scores)
        for k in np.unique(fold):
            here = fold == k
            model = _solve(table.features[~here], table.scores[~here], ridge, ())
            predicted[here] = _apply(model, table.features[here])
        error = float(np.mean((predicted - table.scores) ** 2))
        if best is None or error < best[0]:
            best = (error, ridge, predicted)
    if best is None:
        msg = "no ridge strength to choose from"
        raise UsageError(msg)
    return best[1], best[2]


def _apply(model: ModeCoefficients, features: Floats) -> Floats:
    z = np.clip((features - np.array(model.centre)) / np.array(model.spread), -_FAR, _FAR)
    predicted: Floats = np.clip(model.intercept + z @ np.array(model.weights), _LOW, _HIGH)
    return predicted


def _measure(predicted: Floats, table: _Table, fold: NDArray[np.int64]) -> dict[str, Any]:
    low = table.scores <= 3
    constant = np.array([table.scores[fold != k].mean() for k in fold])
    return {
        "folds": int(np.unique(fold).size),
        "pearson": _round(_pearson(predicted, table.scores)),
        "spearman": _round(_pearson(_ranks(predicted), _ranks(table.scores))),
        "auc_dissatisfied": _round(_auc(-predicted, low)),
        "dissatisfied": int(low.sum()),
        "mean_squared_error": _round(float(np.mean((predicted - table.scores) ** 2))),
        "control_constant": {
            "mean_squared_error": _round(float(np.mean((constant - table.scores) ** 2))),
            "auc_dissatisfied": 0.5,
        },
        "control_reply_length": {
            "spearman": _round(_pearson(_ranks(table.lengths), _ranks(table.scores))),
            "auc_dissatisfied": _round(_auc(-table.lengths, low)),
        },
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, ties shared."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = np.cumsum(counts) - (counts - 1) / 2
    return ranks[inverse]


def _pearson(a: Floats, b: Floats) -> float | None:
    """None where one of the two does not vary."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def _auc(scores: Floats, positive: NDArray[np.bool_]) -> float | None:
    """Probability that a positive scores higher than a negative, ties half; None without both."""
    n, m = int(positive.sum()), int((~positive).sum())
    if not n or not m:
        return None
    return float((_ranks(scores)[positive].sum() - n * (n + 1) / 2) / (n * m))
