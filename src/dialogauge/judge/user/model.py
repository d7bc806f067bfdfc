"""The model of `local-user`: fitted to the training users, and then to each user's own history alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dialogauge.judge.personal import BlockView, Population, RatedReply
from dialogauge.judge.user.answering import Answering, expected, fit_answering, misplaced
from dialogauge.judge.user.columns import Columns, fit_columns
from dialogauge.judge.user.cuts import ROUNDING, cuts_of
from dialogauge.judge.user.kernel import NOISE
from dialogauge.judge.user.left_out import Fit, Known, fit_known
from dialogauge.judge.user.posterior import Belief, prior, pulls
from dialogauge.judge.user.reader import Reader, read_misplaced
from dialogauge.judge.user.signal import Signal, SignalColumns, columns_of_signal
from dialogauge.judge.user.weighing import choose_signals
from dialogauge.metrics import pearson

__all__ = ["Prediction", "UserModel", "fit_user_model"]

_HISTORY: Final = 512
"""Rated replies of one user that are read; of a longer history so many, evenly spread."""
_SOURCES: Final = 3
"""Turns of the history that are named beside a prediction."""
_ALIKE: Final = 1e-6
"""A deviation up to which ratings are all alike."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What is expected of one target."""

    value: float
    """The expected rating; it may lie a little beyond 1 to 5."""
    sources: tuple[tuple[str, float], ...]
    """The turns of the history that moved it most, each with by how much, in points; the strongest first."""
    answers: float = 1.0
    """How likely the reply is to answer what was asked, 0 to 1."""


@dataclass(frozen=True, slots=True)
class UserModel:
    """What is known of other users, ready to meet one user's history."""

    columns: Columns
    answering: Answering | None
    """None where too little is known to tell."""
    belief: Belief
    centre: float
    """Mean rating of the training users."""
    spread: float
    """Deviation of their ratings; 1 where they are all alike."""
    cuts: tuple[float, ...]
    """Four ascending values on the scale of the ratings."""
    users: int
    """Training users."""
    turns: int
    """Rated replies that were read of them."""
    left_out: float | None
    """Pearson of ratings with what is said of training users when their own ratings of the scenario are left
    out and they are no training users; None where it is undefined."""

    @property
    def signals(self) -> Mapping[str, float]:
        """By name of a signal that is read: by how many points the expected rating moves with one of its."""
        held = self.columns.signals
        first = self.belief.mean[self.columns.size - 2 * len(held) :: 2]
        return {
            columns.signal.name: columns.points(float(weight), self.spread)
            for columns, weight in zip(held, first, strict=True)
        }

    def predict(self, view: BlockView, reader: Reader) -> list[Prediction]:
        """Say of each target what rating is to be expected, and what moved it."""
        history = _thinned(view.history)
        past = self.columns.rows([r.reply for r in history], reader)
        targets = self.columns.rows(view.targets, reader)
        inward = (_scores(history) - self.centre) / self.spread
        moved = self.spread * pulls(self.belief, past, inward, targets, NOISE)
        values = self.centre + self.spread * prior(self.belief, targets) + moved.sum(axis=0)
        answers = _answers(self.answering, targets.form)
        values, moved = expected(values, answers), moved * answers
        return [
            Prediction(float(value), _strongest(history, column), float(share))
            for value, column, share in zip(values, moved.T, answers, strict=True)
        ]

    def score(self, value: float) -> int:
        """Return the whole score, 1 to 5, of a prediction; it depends on nothing else."""
        return 1 + sum(value > cut for cut in self.cuts)


def fit_user_model(
    population: Population,
    reader: Reader,
    alone: Sequence[RatedReply] = (),
    signals: Sequence[Signal] = (),
) -> UserModel:
    """Fit to the training users.

    Args:
        population: The training users; may be empty.
        reader: Reads the replies.
        alone: The history of the user at hand: what the model is scaled by where there is no population.
        signals: Scores of other judges; those are read that help to tell training users who are left out.

    Raises:
        ValueError: Neither the population nor the history has a rating.
    """
    users = _by_user(population)
    rated = [r for replies in users.values() for r in replies] or list(_thinned(alone))
    if not rated:
        msg = "there is no rating to start from"
        raise ValueError(msg)
    columns = fit_columns(reader.read([r.reply for r in rated]))
    scores = _scores(rated)
    centre, spread = float(scores.mean()), float(scores.std())
    spread = spread if spread > _ALIKE else 1.0
    golds = [(_scores(replies) - centre) / spread for replies in users.values()]

    def fit_with(taken: tuple[SignalColumns, ...]) -> Fit:
        told = replace(columns, signals=taken)
        rows = (told.rows([r.reply for r in replies], reader) for replies in users.values())
        return fit_known([Known(r, gold) for r, gold in zip(rows, golds, strict=True)], told.size)

    offered = [c for s in signals if (c := columns_of_signal(s, rated)) is not None] if users else []
    taken, fit = choose_signals(offered, fit_with, golds)
    answering = _answering(columns, users, reader)
    cuts: tuple[float, ...] = ROUNDING
    agreed = None
    if fit.left_out:
        read = (reader.read([r.reply for r in replies]) for replies in users.values())
        answers = [_answers(answering, columns.form([one.features for one in told])) for told in read]
        said = expected(centre + spread * np.concatenate(fit.left_out), np.concatenate(answers))
        cuts = cuts_of(said, scores)
        agreed = pearson(said, scores).value
    return UserModel(
        replace(columns, signals=taken),
        answering,
        Belief.of(fit.together),
        centre,
        spread,
        cuts,
        users=len(users),
        turns=scores.size if users else 0,
        left_out=agreed,
    )


def _answering(
    columns: Columns, users: Mapping[str, Sequence[RatedReply]], reader: Reader
) -> Answering | None:
    replies, texts = misplaced(users)
    given = columns.form([r.features for r in reader.read(replies)])
    return fit_answering(given, columns.form(read_misplaced(replies, texts)))


def _answers(answering: Answering | None, form: Floats) -> Floats:
    return np.ones(len(form)) if answering is None else answering.share(form)


def _strongest(history: Sequence[RatedReply], moved: Floats) -> tuple[tuple[str, float], ...]:
    order = np.argsort(-np.abs(moved), kind="stable")[:_SOURCES]
    return tuple((history[i].reply.id, float(moved[i])) for i in order)


def _by_user(population: Population) -> Mapping[str, Sequence[RatedReply]]:
    users: dict[str, list[RatedReply]] = {}
    for block in population.blocks:
        users.setdefault(block.view.user, []).extend(block.ratings)
    return {user: _thinned(rated) for user, rated in users.items() if rated}


def _thinned(rated: Sequence[RatedReply]) -> Sequence[RatedReply]:
    if len(rated) <= _HISTORY:
        return rated
    return [rated[i] for i in np.linspace(0, len(rated) - 1, _HISTORY).round().astype(int)]


def _scores(rated: Sequence[RatedReply]) -> Floats:
    return np.array([r.score for r in rated], dtype=np.float64)
