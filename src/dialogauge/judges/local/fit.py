"""Fit the satisfaction model of the local judge to rated turns: ridge regression in closed form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import Conversation, UsageError
from dialogauge.core.unit import words_digest
from dialogauge.data import RatedDimensions
from dialogauge.judges.local.evidence import load_evidence
from dialogauge.judges.local.model import (
    HIGHEST,
    LOWEST,
    Form,
    LocalCoefficients,
    ModeCoefficients,
    fit_reach,
    running_form,
)
from dialogauge.signals import Mode, Signal, feature_names, find_signals, read_dialogue, read_features
from dialogauge.stats import auc_draws, pearson, reply_length, spearman
from dialogauge.text import counted

Floats = NDArray[np.float64]

_RIDGES = (10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class _RatedTurns:
    """Rated turns: one row each."""

    features: Floats
    """In hindsight; those of foresight are the first."""
    lowered: Mapping[Mode, Floats]
    """By how much the named findings lower each turn."""
    scores: Floats
    groups: NDArray[np.int64]
    """Users where they are known, else conversations."""
    conversations: int
    lengths: Floats
    forms: tuple[Form, ...]
    """Of the replies up to each turn."""
    languages: tuple[str, ...]
    with_tools: int
    """Turns of conversations in which tools were called."""
    seen: frozenset[str]
    """`words_digest` of the conversations."""


def fit_local(
    conversations: Iterable[Conversation], *, dimension: str = "satisfaction", folds: int = _FOLDS
) -> LocalCoefficients:
    """Fit the satisfaction model of both modes to rated turns.

    Several raters of one turn are averaged. Scores and features are centred within each user (the within
    estimator): users differ in how they rate, and that must not be read as a difference of the replies.
    The ridge strength is the one with the least squared error within users left out (conversations where no
    user is known). What named findings weigh is taken off afterwards. The figures in `measured` are those of
    the same left-out predictions, beside a constant and the reply's length.

    Args:
        conversations: With turn-level ratings of `dimension` on 1-5; others are passed over.
        dimension: The name of the ratings' dimension.
        folds: Number of folds, at least 2.

    Raises:
        UsageError: fewer than 50 rated turns, fewer groups than folds, or ratings all alike.
    """
    rated = RatedDimensions()
    table = _table(rated.watch(conversations), dimension)
    groups = np.unique(table.groups).size
    size = f"{counted(table.scores.size, 'turn')} rated for {dimension!r} by {counted(groups, 'group')}"
    if table.scores.size < 50 or groups < max(2, folds):
        msg = f"too little to fit: {size}"
        least = f"at least 50 rated turns of {folds} users or conversations are needed"
        raise UsageError(msg, hint=rated.instead_of(dimension) or least)
    if float(np.ptp(table.scores)) == 0:
        msg = f"nothing to learn: {size}, all with the same score"
        raise UsageError(msg, hint="give ratings that differ")
    fold = group_folds(table.groups, folds)
    fitted, measured = {}, {}
    for mode in get_args(Mode):
        names = feature_names(mode)
        seen = replace(table, features=table.features[:, : len(names)])
        predictions = [(ridge, _left_out(seen, fold, ridge)) for ridge in _RIDGES]
        ridge, fitted_part = min(
            predictions, key=lambda one: float(np.mean(_within(one[1] - seen.scores, seen.groups) ** 2))
        )
        predicted = np.clip(fitted_part - table.lowered[mode], LOWEST, HIGHEST)
        model = _solve(seen.features, seen.scores, seen.groups, ridge, names)
        fitted[mode] = replace(model, thresholds=_thresholds(predicted, seen.scores))
        measured[mode] = _measure(predicted, seen, fold)
    return LocalCoefficients(
        fitted["hindsight"],
        fitted["foresight"],
        fit_reach(table.forms, table.languages, table.with_tools),
        dimension,
        int(table.scores.size),
        table.conversations,
        int(np.unique(table.groups).size),
        measured,
        dict(Counter(table.languages).most_common()),
        tuple(sorted(table.seen)),
    )


def _table(conversations: Iterable[Conversation], dimension: str) -> _RatedTurns:
    rows: list[tuple[tuple[float, ...], float, int, float, Form, str, float, float, bool]] = []
    evidence = load_evidence()
    index: dict[str, int] = {}
    seen: set[str] = set()
    names = feature_names("hindsight")
    count = 0
    for conversation in conversations:
        if not any(r.turn is not None and r.dimension == dimension for r in conversation.ratings):
            continue
        count += 1
        seen.add(words_digest(conversation))
        dialogue = read_dialogue(conversation)
        signals = find_signals(dialogue)
        features = read_features(dialogue, signals)
        named: dict[int, list[Signal]] = {t.number: [] for t in dialogue.replied}
        for signal in signals:
            named[signal.turn].append(signal)
        form = running_form(features, names)
        tools = any(t.called or t.tools for t in dialogue.turns)
        group = index.setdefault(conversation.user_id or f"\0{conversation.id}", len(index))
        lengths = {t.number: reply_length(t.reply.text) for t in dialogue.turns}
        rows += [
            (
                features[turn],
                score,
                group,
                lengths[turn],
                form[turn],
                dialogue.language,
                evidence.penalty(named[turn]),
                evidence.penalty(s for s in named[turn] if not s.hindsight),
                tools,
            )
            for turn, score in _turn_scores(conversation, dimension).items()
            if turn in features
        ]
    columns = zip(*rows, strict=True) if rows else ((),) * 9
    features_of, scores, groups, read, forms, languages, lowered, lowered_before, with_tools = columns
    return _RatedTurns(
        np.array(features_of, dtype=float).reshape(-1, len(names)),
        {"hindsight": np.array(lowered, dtype=float), "foresight": np.array(lowered_before, dtype=float)},
        np.array(scores, dtype=float),
        np.array(groups, dtype=np.int64),
        count,
        np.array(read, dtype=float),
        forms,
        languages,
        sum(with_tools),
        frozenset(seen),
    )


def _turn_scores(conversation: Conversation, dimension: str) -> dict[int, float]:
    out: dict[int, list[float]] = {}
    for rating in conversation.ratings:
        if rating.turn is not None and rating.dimension == dimension and not isinstance(rating.score, str):
            out.setdefault(rating.turn, []).append(float(rating.score))
    return {turn: sum(s) / len(s) for turn, s in out.items()}


def group_folds(groups: NDArray[np.int64], folds: int) -> NDArray[np.int64]:
    """Give each group a fold, the largest groups first to the smallest fold; no chance in it."""
    sizes = np.bincount(groups)
    load = np.zeros(folds)
    of_group = np.zeros(sizes.size, dtype=np.int64)
    for group in np.argsort(-sizes, kind="stable"):
        of_group[group] = int(np.argmin(load))
        load[of_group[group]] += sizes[group]
    return of_group[groups]


def _within(values: Floats, groups: NDArray[np.int64]) -> Floats:
    """Subtract from every row the mean of its group."""
    counts = np.maximum(np.bincount(groups), 1)
    if values.ndim == 1:
        means: Floats = np.bincount(groups, weights=values) / counts
        return values - means[groups]
    return np.column_stack([_within(column, groups) for column in values.T])


def _solve(
    features: Floats, scores: Floats, groups: NDArray[np.int64], ridge: float, names: tuple[str, ...]
) -> ModeCoefficients:
    centre, spread = features.mean(axis=0), features.std(axis=0)
    spread[spread < 1e-6] = 1.0
    z = _within((features - centre) / spread, groups)
    weights = np.linalg.solve(z.T @ z + ridge * np.eye(z.shape[1]), z.T @ _within(scores, groups))
    return ModeCoefficients(
        names,
        tuple(map(float, centre)),
        tuple(map(float, spread)),
        tuple(map(float, features.min(axis=0))),
        tuple(map(float, features.max(axis=0))),
        tuple(map(float, weights)),
        float(scores.mean()),
        ridge,
        (),
    )


def _thresholds(predicted: Floats, scores: Floats) -> tuple[float, ...]:
    """Cut the left-out predictions so that as many fall to each whole score as people gave."""
    shares = [float(np.mean(scores < whole + 0.5)) for whole in (1, 2, 3, 4)]
    return tuple(float(np.quantile(predicted, share)) for share in shares)


def _left_out(table: _RatedTurns, fold: NDArray[np.int64], ridge: float) -> Floats:
    predicted = np.empty_like(table.scores)
    for k in np.unique(fold):
        here = fold == k
        rest = table.features[~here], table.scores[~here], table.groups[~here]
        model = _solve(*rest, ridge, ())
        kept = np.clip(table.features[here], np.array(model.low), np.array(model.high))
        z = (kept - np.array(model.centre)) / np.array(model.spread)
        predicted[here] = np.clip(model.intercept + z @ np.array(model.weights), LOWEST, HIGHEST)
    return predicted


def _measure(predicted: Floats, table: _RatedTurns, fold: NDArray[np.int64]) -> dict[str, Any]:
    low = table.scores <= 3
    within = _within(table.scores, table.groups)
    constant = np.array([table.scores[fold != k].mean() for k in fold])
    return {
        "folds": int(np.unique(fold).size),
        "pearson": _round(pearson(predicted, table.scores)),
        "spearman": _round(spearman(predicted, table.scores)),
        "pearson_within_users": _round(pearson(_within(predicted, table.groups), within)),
        "auc_dissatisfied": _round(_auc(-predicted, low)),
        "dissatisfied": int(low.sum()),
        "mean_squared_error": _round(float(np.mean((predicted - table.scores) ** 2))),
        "control_constant": {
            "mean_squared_error": _round(float(np.mean((constant - table.scores) ** 2))),
            "auc_dissatisfied": 0.5,
        },
        "control_reply_length": {
            "spearman": _round(spearman(table.lengths, table.scores)),
            "pearson_within_users": _round(pearson(_within(table.lengths, table.groups), within)),
            "auc_dissatisfied": _round(_auc(-table.lengths, low)),
        },
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _auc(scores: Floats, positive: NDArray[np.bool_]) -> float | None:
    """Probability that a positive scores higher than a negative, ties half; None without both."""
    value = float(auc_draws(scores, positive, np.ones((1, scores.size)))[0])
    return value if np.isfinite(value) else None
