"""From what was read of a reply to the rows of the model: standardised, and weighted by what is expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dialogauge.judge.personal import Reply
from dialogauge.judge.user.kernel import Rows
from dialogauge.judge.user.reader import Reader
from dialogauge.judge.user.reading import ReadReply
from dialogauge.judge.user.signal import SignalColumns
from dialogauge.judge.user.topics import Topics, fit_topics

__all__ = ["Columns", "fit_columns"]

_FORM: Final = 0.05
"""Variance that all users' common view of the form explains, in units of the variance of the ratings."""
_TOPIC: Final = 0.08
"""The same of what replies are about."""
_MEAN: Final = 1.0
"""Variance of the mean of all ratings about the one that was seen."""
_FAR: Final = 3.0
"""Deviations beyond which a number counts as at them: nothing is extrapolated."""

Floats = NDArray[np.float64]


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
