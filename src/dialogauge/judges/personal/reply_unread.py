"""The user known, the reply unread: what a judge reaches that knows the user and reads not a word.

Expected rating = m + a + b (h - m) + c log(1 + length) + d log(1 + position), with m the mean rating of the
training users and h that of the user's history; by least squares on the training users, with a ridge that
only a handful of ratings feels; cut into whole scores by the predictions of training users who are left out.
What a judge reaches beyond this, it reaches by reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import DECIMALS
from dialogauge.core.protocols import BlockView, Population, RatedBlock
from dialogauge.stats import cuts_of, reply_length

Floats = NDArray[np.float64]

_RIDGE: Final = 1.0
"""Keeps the weights small where little is known."""


@dataclass(frozen=True, slots=True)
class ReplyUnread:
    """The fitted weights and cuts."""

    weights: Floats
    """Of the constant, the mean of the history, the length and the position, shape (4,)."""
    cuts: tuple[float, ...]
    """Four ascending values; a score is 1 and one more for each value exceeded."""
    centre: float
    """The training users' mean rating; also what stands for the mean of a history that there is none of."""

    def values(self, means: Sequence[float], lengths: Sequence[float], positions: Sequence[float]) -> Floats:
        """Return the expected ratings. All shapes (replies,).

        Args:
            means: Of the user's ratings elsewhere; NaN where there are none.
            lengths: Of the reply, in characters.
            positions: Its 0-based index among the assistant messages.
        """
        known = np.nan_to_num(np.asarray(means, dtype=np.float64) - self.centre)
        out: Floats = self.centre + _design(known, lengths, positions) @ self.weights
        return np.round(out, DECIMALS)

    def whole(self, values: Floats) -> Floats:
        """Return the whole scores of expected ratings, 1 to 5, shape (replies,)."""
        scores: Floats = 1.0 + (values[:, None] > np.array(self.cuts)).sum(axis=1)
        return scores

    def of_view(self, view: BlockView) -> Floats:
        """Return the expected ratings of a block's targets, shape (targets,)."""
        mean = sum(view.scores) / len(view.scores) if view.history else np.nan
        lengths = [reply_length(r.text) for r in view.targets]
        return self.values([mean] * len(lengths), lengths, [r.position for r in view.targets])


def fit_reply_unread(population: Population) -> ReplyUnread | None:
    """Fit to the training users; None where they have no ratings."""
    if not population.scores:
        return None
    centre = float(np.mean(population.scores))
    users: dict[str, list[tuple[Floats, Floats]]] = {}
    for block in population.blocks:
        if block.ratings:
            users.setdefault(block.view.user, []).append(_rows(block, centre))
    parts = [tuple(np.concatenate(column) for column in zip(*rows, strict=True)) for rows in users.values()]
    moments = [(x.T @ x, x.T @ y) for x, y in parts]
    square, shift = (np.sum(column, axis=0) for column in zip(*moments, strict=True))
    weights, alone = _solved(square, shift), len(parts) == 1
    predicted = [
        x @ (weights if alone else _solved(square - xx, shift - xy))
        for (x, _), (xx, xy) in zip(parts, moments, strict=True)
    ]
    cuts = cuts_of(centre + np.concatenate(predicted), centre + np.concatenate([y for _, y in parts]))
    return ReplyUnread(weights, cuts, centre)


def _rows(block: RatedBlock, centre: float) -> tuple[Floats, Floats]:
    scores = block.view.scores
    above = sum(scores) / len(scores) - centre if scores else 0.0
    lengths = [reply_length(r.reply.text) for r in block.ratings]
    design = _design(np.full(len(lengths), above), lengths, [r.reply.position for r in block.ratings])
    return design, np.array([r.score - centre for r in block.ratings], dtype=np.float64)


def _design(means: Floats, lengths: Sequence[float], positions: Sequence[float]) -> Floats:
    return np.column_stack([np.ones(means.size), means, np.log1p(lengths), np.log1p(positions)])


def _solved(square: Floats, shift: Floats) -> Floats:
    return np.asarray(np.linalg.solve(square + _RIDGE * np.eye(shift.size), shift), dtype=np.float64)
