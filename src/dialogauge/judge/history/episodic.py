"""Episodic retrieval: the scores of like turns, weighted by likeness (PersTurnBench's Table 2 at k = 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from dialogauge.calibrate import half_even
from dialogauge.judge.history.guess import Guess, Rule, prior
from dialogauge.judge.personal import BlockView, Population, RatedReply, Reply
from dialogauge.retrieval import TfidfIndex

__all__ = ["STRATEGIES", "Strategy", "episodic", "likeness", "pick", "retrieve", "weigh"]

Floats = NDArray[np.float64]

Strategy = Literal["topk", "boundary-paired", "score-balanced"]

MAX_FEATURES: Final = 50_000
_FLOOR: Final = 1e-3
"""Added to every weight, so that turns that are nothing like the target still count a little."""


def episodic(strategy: Strategy, k: int) -> Rule:
    """Return the rule: the mean score of k retrieved turns, weighted by cosine, halves to even.

    Texts are task context, request twice and reply; TF-IDF over character 2- to 5-grams, the 50,000 most
    frequent, fitted to the history of the block. Without history the training users' mean.
    """
    return partial(_episodic, strategy=strategy, k=k)


def _episodic(view: BlockView, population: Population, *, strategy: Strategy, k: int) -> Sequence[Guess]:
    if not view.history:
        value = prior(population)
        return [Guess(half_even(value), value, prior=True)] * len(view.targets)
    return [weigh(view, cosines, strategy, k) for cosines in likeness(view)]


def likeness(view: BlockView) -> Iterator[Floats]:
    """Yield for each target its cosine with every history turn, shape (turns,)."""
    texts = [_text(r.reply) for r in view.history]
    index = TfidfIndex(texts, shortest=2, longest=5, max_features=MAX_FEATURES)
    return (index.cosines(_text(target)) for target in view.targets)


def weigh(view: BlockView, cosines: Floats, strategy: Strategy, k: int) -> Guess:
    """Guess from k turns, each weighted by its cosine."""
    found = retrieve(view, cosines, strategy, k)
    weights = np.array([max(float(cosines[i]), 0.0) + _FLOOR for i in found])
    scores = np.array([view.history[i].score for i in found])
    value = float(weights @ scores / weights.sum())
    sources = tuple((view.history[i].reply.id, float(cosines[i])) for i in found)
    return Guess(half_even(value), value, sources=sources)


def retrieve(view: BlockView, cosines: Floats, strategy: Strategy, k: int) -> list[int]:
    """Choose k history turns by their cosines, as indices; of equal cosines the later turn comes first."""
    ranked = [int(i) for i in np.argsort(cosines, kind="stable")[::-1]]
    return pick(view.history, ranked, strategy, k)


def _text(reply: Reply) -> str:
    # The labels are part of the published text, and so of its n-grams.
    request = f"用户请求：{reply.request}"
    return "\n".join([f"任务背景：{reply.context}", request, request, f"助手回复：{reply.text}"])


def pick(history: Sequence[RatedReply], ranked: Sequence[int], strategy: Strategy, k: int) -> list[int]:
    """Choose k history turns, as indices.

    Args:
        history: The rated turns.
        ranked: Their indices, the most similar first.
        strategy: `topk`; `boundary-paired`: half of them dissatisfied, then satisfied ones; `score-balanced`:
            a third each of at most 3, 4 and 5. What is missing is filled with the most similar others.
        k: How many, 1 or more.
    """
    return STRATEGIES[strategy](history, ranked, k)


def _topk(history: Sequence[RatedReply], ranked: Sequence[int], k: int) -> list[int]:
    return list(ranked[:k])


def _boundary_paired(history: Sequence[RatedReply], ranked: Sequence[int], k: int) -> list[int]:
    low = [i for i in ranked if history[i].score < 4][: max(1, k // 2)]
    high = [i for i in ranked if history[i].score >= 4]
    return _filled((low + high)[:k], ranked, k)


def _score_balanced(history: Sequence[RatedReply], ranked: Sequence[int], k: int) -> list[int]:
    each = max(1, k // 3)
    sides: tuple[Callable[[float], bool], ...] = (
        lambda score: score < 4,
        lambda score: 4 <= score < 5,
        lambda score: score >= 5,
    )
    chosen = [i for side in sides for i in [i for i in ranked if side(history[i].score)][:each]]
    return _filled(chosen[:k], ranked, k)


def _filled(chosen: list[int], ranked: Sequence[int], k: int) -> list[int]:
    others = [i for i in ranked if i not in set(chosen)]
    return chosen + others[: max(0, k - len(chosen))]


STRATEGIES: Final[Mapping[Strategy, Callable[[Sequence[RatedReply], Sequence[int], int], list[int]]]] = {
    "topk": _topk,
    "boundary-paired": _boundary_paired,
    "score-balanced": _score_balanced,
}
"""How episodic retrieval chooses among the ranked turns."""
