"""The model of `local-user`: fitted to the training users, and then to each user's own history alone.

The numbers of a reply become a row: standardised, and weighted by the variance expected of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import digest
from dialogauge.core.protocols import BlockView, Population, RatedReply, Reply
from dialogauge.judges.local_user.features import (
    Reader,
    ReadReply,
    Topics,
    fit_topics,
    read_misplaced,
    relation_columns,
)
from dialogauge.judges.local_user.process import (
    Belief,
    ProcessFit,
    RatedRows,
    Rows,
    fit_process,
    prior,
    pulls,
)
from dialogauge.judges.local_user.substance import declines, takes_leave
from dialogauge.stats import ROUNDING, cuts_of, pearson

Floats = NDArray[np.float64]
Seen = NDArray[np.bool_]

_WEIGHT: Final = 0.25
"""Variance of the weight that all users give a signal, in units of the variance of the ratings."""
_ALIKE: Final = 1e-6
"""A deviation up to which scores or ratings are all alike."""


@dataclass(frozen=True, slots=True)
class ScoreSignal:
    """The scores of a judge that reads no rating."""

    name: str
    """Of the judge."""
    scores: Mapping[str, float]
    """By the reply's id; a reply without a score is not in it."""

    @property
    def digest(self) -> str:
        """Changes with the scores."""
        return digest(dict(self.scores))


@dataclass(frozen=True, slots=True)
class SignalColumns:
    """How the scores of a signal become numbers."""

    signal: ScoreSignal
    centre: float
    """Mean score of the training users' replies: what a missing one counts as."""
    spread: float
    """Their deviation, above 0."""
    ends: tuple[float, float]
    """The lowest and the highest of them; a score beyond counts as at them."""

    def of(self, replies: Sequence[Reply]) -> Floats:
        """Return for each reply its score in deviations and whether it is missing, shape (replies, 2).

        Both have the prior deviation of their weights in them.
        """
        scores = np.array([self.signal.scores.get(r.id, np.nan) for r in replies], dtype=np.float64)
        missing = np.isnan(scores)
        standard = (np.clip(scores, *self.ends) - self.centre) / self.spread
        out: Floats = np.column_stack([np.where(missing, 0.0, standard), missing]) * np.sqrt(_WEIGHT)
        return out

    def points(self, weight: float, spread: float) -> float:
        """Return by how many points the expected rating moves with one point of the signal.

        `weight` is that of the first of the two numbers, `spread` the deviation of the ratings.
        """
        return weight * float(np.sqrt(_WEIGHT)) * spread / self.spread


def columns_of_signal(signal: ScoreSignal, known: Sequence[RatedReply]) -> SignalColumns | None:
    """Take mean, deviation and ends from the training users' replies; None where no scores differ."""
    scores = [signal.scores[r.reply.id] for r in known if r.reply.id in signal.scores]
    spread = float(np.std(scores)) if scores else 0.0
    if spread <= _ALIKE:
        return None
    return SignalColumns(signal, float(np.mean(scores)), spread, (min(scores), max(scores)))


_FORM: Final = 0.05
"""Variance that all users' common view of the form explains, in units of the variance of the ratings."""
_TOPIC: Final = 0.08
"""The same of what replies are about."""
_MEAN: Final = 1.0
"""Variance of the mean of all ratings about the one that was seen."""
_FAR: Final = 3.0
"""Deviations beyond which a number counts as at them: nothing is extrapolated."""


@dataclass(frozen=True, slots=True)
class Columns:
    """How numbers of a reply become columns."""

    centre: Floats
    """By feature, shape (features,)."""
    spread: Floats
    topics: Topics
    signals: tuple[SignalColumns, ...] = ()
    """Scores of other judges that are read too, two shared columns each."""

    @property
    def size(self) -> int:
        """How many columns all users share; those of the signals are the last."""
        return self.centre.size + self.topics.size + 1 + 2 * len(self.signals)

    def form(self, features: Sequence[tuple[float, ...]]) -> Floats:
        """Standardise numbers of replies, all of them or those of foresight, shape (replies, numbers)."""
        if not features:
            return np.zeros((0, self.centre.size))
        numbers = np.array(features)
        width = numbers.shape[1]
        out: Floats = np.clip((numbers - self.centre[:width]) / self.spread[:width], -_FAR, _FAR)
        return out

    def rows(self, replies: Sequence[Reply], reader: Reader) -> Rows:
        """Return the rows of some replies of one user."""
        read = reader.read(replies)
        form = self.form([r.features for r in read])
        about = np.array([self.topics.of(r) for r in read]).reshape(len(read), self.topics.size)
        weight = np.sqrt(_FORM / self.centre.size)
        constant = np.full((len(read), 1), np.sqrt(_MEAN))
        scores = [signal.of(replies) for signal in self.signals]
        return Rows(
            np.hstack([form * weight, about * np.sqrt(_TOPIC), constant, *scores]),
            form,
            np.array([str(r.conversation.scenario) for r in replies], dtype=np.str_),
            np.array([r.conversation.id for r in replies], dtype=np.str_),
        )


def fit_columns(read: Sequence[ReadReply]) -> Columns:
    """Take means, deviations and topics from the known replies, at least one."""
    numbers = np.array([r.features for r in read])
    spread = numbers.std(axis=0)
    return Columns(numbers.mean(axis=0), np.where(spread > _ALIKE, spread, 1.0), fit_topics(read))


_RARE: Final = 0.0025
"""Share of replies that do not answer: one in 400."""
_UNANSWERED: Final = 2.0
"""The rating of a reply that does not answer; a lower expected one stays."""
_PARTED: Final = 4.5
"""The rating of a reply to thanks or a goodbye; a higher expected one stays."""
_PAIRS: Final = 3000
"""Replies that are put in the place of others, evenly spread over all."""
_LEAST: Final = 50
"""Fewer pairs, or ratings, are too few to fit to."""
_RIDGE, _ROUNDS, _SEED = 1.0, 50, 0


@dataclass(frozen=True, slots=True)
class Answering:
    """A logistic function of how a reply relates to the messages before it."""

    weights: Floats
    """By number of `relation_columns`, and last the constant."""

    def share(self, form: Floats) -> Floats:
        """Return how likely replies of a form, shape (rows, features), are to answer: 0 to 1, (rows,)."""
        logit = np.log((1 - _RARE) / _RARE) + _design(form) @ self.weights
        out: Floats = 1 / (1 + np.exp(-logit))
        return out


def expected(rating: Floats, answers: Floats, partings: Seen) -> Floats:
    """Return the expected ratings of replies that answer with some likelihood only, shape (rows,).

    A parting has nothing to answer.
    """
    out: Floats = answers * rating + (1 - answers) * np.minimum(rating, _UNANSWERED)
    return np.where(partings, np.maximum(rating, _PARTED), out)


def misplaced(users: Mapping[str, Sequence[RatedReply]]) -> tuple[list[Reply], list[str]]:
    """Draw for replies of the users, by a fixed seed, a reply to another user in the same scenario.

    Returns:
        The replies, and for each the text to put in its place; none where a scenario has one user only.
    """
    texts: dict[str, list[str]] = {}
    places: list[tuple[Reply, list[str], range]] = []
    """Each reply with the texts of its scenario, and which of them are to the same user."""
    for rated in users.values():
        own: dict[str, list[Reply]] = {}
        for one in rated:
            own.setdefault(str(one.reply.conversation.scenario), []).append(one.reply)
        for scenario, replies in own.items():
            start = len(of_scenario := texts.setdefault(scenario, []))
            of_scenario += [r.text for r in replies]
            places += [(r, of_scenario, range(start, len(of_scenario))) for r in replies]
    places = [place for place in places if len(place[1]) > len(place[2])]
    places = places[:: max(1, -(-len(places) // _PAIRS))]
    rng = random.Random(_SEED)
    drawn = []
    for _, of_scenario, same_user in places:
        at = rng.randrange(len(of_scenario) - len(same_user))
        drawn.append(of_scenario[at if at < same_user.start else at + len(same_user)])
    return [reply for reply, _, _ in places], drawn


def fit_answering(own: Floats, instead: Floats) -> Answering | None:
    """Tell replies in their place from others put there instead, by ridge logistic regression.

    Both are standardised numbers, shape (pairs, features). Returns None where there are too few pairs.
    """
    if len(own) < _LEAST:
        return None
    design = np.vstack([_design(own), -_design(instead)])
    weights = np.zeros(design.shape[1])
    loss = _loss(design, weights)
    for _ in range(_ROUNDS):
        wrong = 1 / (1 + np.exp(design @ weights))
        slope = design.T @ wrong - _RIDGE * weights
        curve = (design * (wrong * (1 - wrong))[:, None]).T @ design + _RIDGE * np.eye(weights.size)
        step = np.linalg.solve(curve, slope)
        while _loss(design, weights + step) > loss and np.abs(step).max() > 1e-9:
            step /= 2
        if np.abs(step).max() <= 1e-9:
            break
        weights = weights + step
        loss = _loss(design, weights)
    return Answering(weights)


def _design(form: Floats) -> Floats:
    columns = form[:, relation_columns()]
    return np.hstack([columns, np.ones((len(columns), 1))])


def _loss(design: Floats, weights: Floats) -> float:
    return float(np.logaddexp(0.0, -design @ weights).sum() + _RIDGE * (weights @ weights) / 2)


Taken = tuple[SignalColumns, ...]


def choose_signals(
    offered: Sequence[SignalColumns], fit_with: Callable[[Taken], ProcessFit], golds: Sequence[Floats]
) -> tuple[Taken, ProcessFit]:
    """Take one signal after another, the most helpful first, as long as it helps to predict users left out.

    It helps when their squared error falls by more than one standard error over users. A signal that does
    not help is not read at all.

    Args:
        offered: The signals; may be empty.
        fit_with: Fits to the training users with some of them.
        golds: By training user, the ratings that the fits are to predict.

    Returns:
        Those taken, and the fit with them.
    """
    taken: Taken = ()
    fit = fit_with(taken)
    left = list(offered) if len(golds) > 1 else []
    while left:
        fits = [fit_with((*taken, columns)) for columns in left]
        gains = [_gain(fit, other, golds) for other in fits]
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        taken, fit = (*taken, left.pop(best)), fits[best]
    return taken, fit


def _gain(fit: ProcessFit, other: ProcessFit, golds: Sequence[Floats]) -> float:
    """Return by how much the squared error of a user falls on average, less the standard error of that."""
    users = zip(fit.left_out, other.left_out, golds, strict=True)
    fall = np.array([float(((a - gold) ** 2 - (b - gold) ** 2).sum()) for a, b, gold in users])
    return float(fall.mean() - fall.std(ddof=1) / np.sqrt(fall.size))


_HISTORY: Final = 512
"""Rated replies of one user that are read; of a longer history so many, evenly spread."""
_SOURCES: Final = 3
"""Turns of the history that are named beside a prediction."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What is expected of one target."""

    value: float
    """The expected rating; it may lie a little beyond 1 to 5."""
    sources: tuple[tuple[str, float], ...]
    """The turns of the history that moved it most, each with by how much, in points; the strongest first."""
    answers: float
    """How likely the reply is to answer what was asked, 0 to 1."""


@dataclass(frozen=True, slots=True)
class UserModel:
    """The fit to other users, to which a user's own history is added."""

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
    """Pearson of the training users' ratings with predictions of a fit to the other users, which know of a
    user's own ratings those of the other scenarios; None where it is undefined."""

    @property
    def signals(self) -> Mapping[str, float]:
        """By name of a signal that is read: by how many points the expected rating moves with one of its."""
        signals = self.columns.signals
        weights = self.belief.mean[self.columns.size - 2 * len(signals) :: 2].tolist()
        return {s.signal.name: s.points(w, self.spread) for s, w in zip(signals, weights, strict=True)}

    def predict(self, view: BlockView, reader: Reader) -> list[Prediction]:
        """Predict the rating of each target, and name what moved the prediction."""
        history = _thinned(view.history)
        past = self.columns.rows([r.reply for r in history], reader)
        targets = self.columns.rows(view.targets, reader)
        rated = RatedRows(past, (_scores(history) - self.centre) / self.spread)
        moved = self.spread * pulls(self.belief, rated, targets)
        values = self.centre + self.spread * prior(self.belief, targets) + moved.sum(axis=0)
        answers, partings = _answers(self.answering, targets.form, view.targets)
        values, moved = expected(values, answers, partings), moved * np.where(partings, 0.0, answers)
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
    signals: Sequence[ScoreSignal] = (),
) -> UserModel:
    """Fit to the training users.

    Args:
        population: The training users; may be empty.
        reader: Reads the replies.
        alone: The history of the user at hand: what the model is scaled by where there is no population.
        signals: Scores of other judges; those are read that help to predict training users left out.

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

    def fit_with(taken: tuple[SignalColumns, ...]) -> ProcessFit:
        wide = replace(columns, signals=taken)
        rows = (wide.rows([r.reply for r in replies], reader) for replies in users.values())
        return fit_process([RatedRows(r, gold) for r, gold in zip(rows, golds, strict=True)], wide.size)

    offered = [c for s in signals if (c := columns_of_signal(s, rated)) is not None] if users else []
    taken, fit = choose_signals(offered, fit_with, golds)
    answering = _answering(columns, users, reader)
    cuts: tuple[float, ...] = ROUNDING
    agreed = None
    if fit.left_out:
        rated_replies = [r.reply for replies in users.values() for r in replies]
        answers, partings = _answers(
            answering, columns.form([r.features for r in reader.read(rated_replies)]), rated_replies
        )
        predicted = expected(centre + spread * np.concatenate(fit.left_out), answers, partings)
        cuts = cuts_of(predicted, scores)
        agreed = pearson(predicted, scores)
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
    own = columns.form([r.features for r in reader.read(replies)])
    return fit_answering(own, columns.form(read_misplaced(replies, texts)))


def _answers(answering: Answering | None, form: Floats, replies: Sequence[Reply]) -> tuple[Floats, Seen]:
    """Return how likely each reply is to answer, and which are partings."""
    share = np.ones(len(form)) if answering is None else answering.share(form)
    partings = np.array([takes_leave(reply) for reply in replies], dtype=np.bool_)
    return share * (1 - np.array([declines(reply) for reply in replies])), partings


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
