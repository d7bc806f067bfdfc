"""How likely a reply is to answer what was asked, learnt without a rating.

The replies that the training users were given answer their requests, nearly always; what another user
was given in the same scenario, put in the place of one of them, does so by chance only. What tells the two
apart is how a reply stands to request, task and earlier messages. No such reply was rated, so what it would
be given is an assumption: at most a 2.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dialogauge.judge.personal import RatedReply, Reply
from dialogauge.judge.user.reading import relation_columns

__all__ = ["Answering", "expected", "fit_answering", "misplaced"]

_RARE: Final = 0.0025
"""Share of the replies that users are given which do not answer: one in 400."""
_UNANSWERED: Final = 2.0
"""The rating of a reply that does not answer; a lower expected one stays."""
_PAIRS: Final = 3000
"""Replies that are put in the place of others, evenly spread over all."""
_LEAST: Final = 50
"""Pairs below which nothing is told apart."""
_RIDGE, _ROUNDS, _SEED = 1.0, 50, 0

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Answering:
    """A logistic function of how a reply stands to what was said before it."""

    weights: Floats
    """By number of `relation_columns`, and last the constant."""

    def share(self, form: Floats) -> Floats:
        """Return how likely each reply is to answer, 0 to 1, shape (rows,).

        Args:
            form: Standardised numbers of replies, shape (rows, features).
        """
        logit = np.log((1 - _RARE) / _RARE) + _design(form) @ self.weights
        out: Floats = 1 / (1 + np.exp(-logit))
        return out


def expected(rating: Floats, answers: Floats) -> Floats:
    """Return the expected ratings of replies that answer with a given likelihood only, shape (rows,)."""
    return answers * rating + (1 - answers) * np.minimum(rating, _UNANSWERED)


def misplaced(users: Mapping[str, Sequence[RatedReply]]) -> tuple[list[Reply], list[str]]:
    """Draw for replies of the users, by a fixed seed, what another user was told in the same scenario.

    Returns:
        The replies, and for each the text to put in its place; none where a scenario has one user only.
    """
    told: dict[str, list[str]] = {}
    held: list[tuple[Reply, str, int, int]] = []
    for rated in users.values():
        own: dict[str, list[Reply]] = {}
        for one in rated:
            own.setdefault(str(one.reply.conversation.scenario), []).append(one.reply)
        for scenario, replies in own.items():
            start = len(told.setdefault(scenario, []))
            told[scenario] += [r.text for r in replies]
            held += [(r, scenario, start, len(replies)) for r in replies]
    held = [h for h in held if len(told[h[1]]) > h[3]]
    rng = random.Random(_SEED)
    texts = []
    held = held[:: max(1, -(-len(held) // _PAIRS))]
    for _, scenario, start, count in held:
        at = rng.randrange(len(told[scenario]) - count)
        texts.append(told[scenario][at if at < start else at + count])
    return [h[0] for h in held], texts


def fit_answering(given: Floats, instead: Floats) -> Answering | None:
    """Tell replies in their place from others put there, by ridge logistic regression.

    Args:
        given: Standardised numbers of the replies, shape (pairs, features).
        instead: The same of what was put in their places.

    Returns:
        None where there are too few pairs.
    """
    if len(given) < _LEAST:
        return None
    design = np.vstack([_design(given), -_design(instead)])
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
