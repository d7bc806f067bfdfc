"""The scores of the history turns that are most like the target, by request and reply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dialogauge.calibrate import half_up
from dialogauge.judge.history.guess import Guess, Rule, prior
from dialogauge.judge.personal import BlockView, Population, Reply
from dialogauge.retrieval import TfidfIndex

__all__ = ["average", "likeness", "nearest"]

Floats = NDArray[np.float64]


def nearest(k: int) -> Rule:
    """Return the rule: the mean score of the k nearest turns, halves upward.

    Texts are the request twice and the reply; TF-IDF over character 2- to 4-grams, with sublinear term
    frequency, fitted to the history of the block. Without history the training users' mean.
    """
    return partial(_nearest, k=k)


def _nearest(view: BlockView, population: Population, *, k: int) -> Sequence[Guess]:
    if not view.history:
        value = prior(population)
        return [Guess(half_up(value), value, prior=True)] * len(view.targets)
    return [average(view, cosines, k) for cosines in likeness(view)]


def likeness(view: BlockView) -> Iterator[Floats]:
    """Yield for each target its cosine with every history turn, shape (turns,)."""
    index = TfidfIndex([_text(r.reply) for r in view.history], shortest=2, longest=4, sublinear=True)
    return (index.cosines(_text(target)) for target in view.targets)


def average(view: BlockView, cosines: Floats, k: int) -> Guess:
    """Guess the mean score of the k turns with the highest cosine."""
    found = [int(i) for i in np.argsort(cosines, kind="stable")[::-1][:k]]
    value = sum(view.history[i].score for i in found) / len(found)
    sources = tuple((view.history[i].reply.id, float(cosines[i])) for i in found)
    return Guess(half_up(value), value, sources=sources)


def _text(reply: Reply) -> str:
    return f"{reply.request} {reply.request} {reply.text}"
