"""From what was read of a reply to the rows of the model: standardised, and weighted by what is expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import digest
from dialogauge.core.protocols import RatedReply, Reply
from dialogauge.judges.local_user.features import Reader, ReadReply, Topics, fit_topics
from dialogauge.judges.local_user.process import Rows

_WEIGHT: Final = 0.25
"""Variance of the weight that all users give a signal, in units of the variance of the ratings."""
_ALIKE: Final = 1e-6
"""A deviation up to which scores are all alike."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoreSignal:
    """The scores of a judge that reads no rating."""

    name: str
    """What it is called where something is said of it."""
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
        found = np.array([self.signal.scores.get(r.id, np.nan) for r in replies], dtype=np.float64)
        missing = np.isnan(found)
        told = (np.clip(found, *self.ends) - self.centre) / self.spread
        out: Floats = np.column_stack([np.where(missing, 0.0, told), missing]) * np.sqrt(_WEIGHT)
        return out

    def points(self, weight: float, spread: float) -> float:
        """Return by how many points the expected rating moves with one point of the signal.

        Args:
            weight: Of the first of the two numbers.
            spread: Deviation of the ratings.
        """
        return weight * float(np.sqrt(_WEIGHT)) * spread / self.spread


def columns_of_signal(signal: ScoreSignal, known: Sequence[RatedReply]) -> SignalColumns | None:
    """Take mean, deviation and ends from the training users' replies.

    Returns:
        None where they have no scores, or such as do not differ: nothing can be learnt of the signal.
    """
    held = [signal.scores[r.reply.id] for r in known if r.reply.id in signal.scores]
    spread = float(np.std(held)) if held else 0.0
    if spread <= _ALIKE:
        return None
    return SignalColumns(signal, float(np.mean(held)), spread, (min(held), max(held)))


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

    def form(self, told: Sequence[tuple[float, ...]]) -> Floats:
        """Standardise numbers of replies, all of them or those of foresight, shape (replies, numbers)."""
        if not told:
            return np.zeros((0, self.centre.size))
        numbers = np.array(told)
        width = numbers.shape[1]
        out: Floats = np.clip((numbers - self.centre[:width]) / self.spread[:width], -_FAR, _FAR)
        return out

    def rows(self, replies: Sequence[Reply], reader: Reader) -> Rows:
        """Return the rows of some replies of one user."""
        read = reader.read(replies)
        form = self.form([r.features for r in read])
        topics = [reader.topics_of(self.topics, r) for r in read]
        about = np.array(topics).reshape(len(read), self.topics.size)
        weight = np.sqrt(_FORM / self.centre.size)
        constant = np.full((len(read), 1), np.sqrt(_MEAN))
        said = [signal.of(replies) for signal in self.signals]
        return Rows(
            np.hstack([form * weight, about * np.sqrt(_TOPIC), constant, *said]),
            form,
            np.array([str(r.conversation.scenario) for r in replies], dtype=np.str_),
            np.array([r.conversation.id for r in replies], dtype=np.str_),
        )


def fit_columns(read: Sequence[ReadReply]) -> Columns:
    """Take means, deviations and topics from the known replies, at least one."""
    told = np.array([r.features for r in read])
    spread = told.std(axis=0)
    return Columns(told.mean(axis=0), np.where(spread > 1e-6, spread, 1.0), fit_topics(read))
