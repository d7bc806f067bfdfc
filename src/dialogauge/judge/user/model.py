"""The model of `local-user`: fitted to the training users, and then to each user's own history alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dialogauge.judge.personal import BlockView, Population, RatedReply
from dialogauge.judge.user.answering import Answering, expected, fit_answering, misplaced
from dialogauge.judge.user.columns import Columns, fit_columns
from dialogauge.judge.user.cuts import ROUNDING, cuts_of
from dialogauge.judge.user.kernel import NOISE, Rows
from dialogauge.judge.user.posterior import Belief, Evidence, evidence_of, predict, prior, pulls
from dialogauge.judge.user.reader import Reader, read_misplaced
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

    def predict(self, view: BlockView, reader: Reader) -> list[Prediction]:
        """Say of each target what rating is to be expected, and what moved it."""
        history = _thinned(view.history)
        past = self.columns.rows([r.reply for r in history], reader)
        targets = self.columns.rows(view.targets, reader)
        inward = (_scores(history) - self.centre) / self.spread
        moved = self.spread * pulls(self.belief, past, inward, targets, NOISE)
        values = self.centre + self.spread * prior(self.belief, targets) + moved.sum(axis=0)
        answers = _answers(self.answering, targets)
        values, moved = expected(values, answers), moved * answers
        return [
            Prediction(float(value), _strongest(history, column), float(share))
            for value, column, share in zip(values, moved.T, answers, strict=True)
        ]

    def score(self, value: float) -> int:
        """Return the whole score, 1 to 5, of a prediction; it depends on nothing else."""
        return 1 + sum(value > cut for cut in self.cuts)


@dataclass(frozen=True, slots=True)
class _Known:
    """One training user: all rated replies."""

    rows: Rows
    scores: Floats


def fit_user_model(population: Population, reader: Reader, alone: Sequence[RatedReply] = ()) -> UserModel:
    """Fit to the training users.

    Args:
        population: The training users; may be empty.
        reader: Reads the replies.
        alone: The history of the user at hand: what the model is scaled by where there is no population.

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
    known = [
        _Known(columns.rows([r.reply for r in replies], reader), (_scores(replies) - centre) / spread)
        for replies in users.values()
    ]
    answering = _answering(columns, users, reader)
    evidence = [evidence_of(user.rows, user.scores, NOISE) for user in known]
    together = Evidence.together(evidence, columns.size)
    cuts: tuple[float, ...] = ROUNDING
    agreed = None
    if len(known) > 1:
        beliefs = (Belief.of(together.without(own)) for own in evidence)
        left_out = np.concatenate([_left_out(u, b) for u, b in zip(known, beliefs, strict=True)])
        answers = np.concatenate([_answers(answering, user.rows) for user in known])
        said = expected(centre + spread * left_out, answers)
        cuts = cuts_of(said, scores)
        agreed = pearson(said, scores).value
    turns = scores.size if known else 0
    return UserModel(columns, answering, Belief.of(together), centre, spread, cuts, len(known), turns, agreed)


def _answering(
    columns: Columns, users: Mapping[str, Sequence[RatedReply]], reader: Reader
) -> Answering | None:
    replies, texts = misplaced(users)
    given = columns.form([r.features for r in reader.read(replies)])
    return fit_answering(given, columns.form(read_misplaced(replies, texts)))


def _answers(answering: Answering | None, rows: Rows) -> Floats:
    return np.ones(len(rows.form)) if answering is None else answering.share(rows.form)


def _left_out(user: _Known, belief: Belief) -> Floats:
    """Say of a training user's ratings what all others and the user's own other scenarios make expect."""
    found = np.empty_like(user.scores)
    for scenario in np.unique(user.rows.scenarios):
        here = np.flatnonzero(user.rows.scenarios == scenario)
        past = np.flatnonzero(user.rows.scenarios != scenario)
        history, targets = user.rows.take(past), user.rows.take(here)
        found[here] = predict(belief, history, user.scores[past], targets, NOISE)
    return found


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
