"""Episodic retrieval: the scores of like turns, weighted by likeness (PersTurnBench's Table 2 at k = 6)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from statistics import median
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import (
    Judged,
    Judgement,
    PlainDimension,
    Request,
    Score,
    UsageError,
    digest,
    round_score,
    whole_score,
)
from dialogauge.core.protocols import BlockView, Population, RatedReply, Reads, Reply
from dialogauge.core.values import Value
from dialogauge.judges.personal.reply_unread import ReplyUnread, fit_reply_unread
from dialogauge.retrieval import TfidfIndex
from dialogauge.stats import half_even

SATISFACTION: Final = PlainDimension("satisfaction", "turn")
"""The one dimension of the judges that know the user."""
_VERSION = 1
"""Raised when a rule changes, so that stored judgements are not taken for new ones."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a rule says of one target."""

    score: int
    """1 to 5."""
    value: float
    """The same with its fraction, before rounding."""
    prior: bool = False
    """Whether it rests on other users alone, since this one has no history."""
    sources: tuple[tuple[str, float], ...] = ()
    """The history turns that it rests on, each with its cosine."""


NO_USER: Final = "this judge reads what the user rated before, and the request names no user"
NOTHING_KNOWN: Final = "the user has no history, and no other user is known"


class NothingKnown(LookupError):
    """Neither the user nor anybody else has rated anything: there is nothing to guess from."""


Rule = Callable[[BlockView, Population], Sequence[Guess]]


class HistoryJudge(Value):
    """A rule under a name."""

    name: str
    rule: Rule
    settings: Mapping[str, Any] = field(default_factory=dict)
    dimensions: ClassVar = (SATISFACTION,)
    reads: ClassVar[frozenset[Reads]] = frozenset({"history", "others"})
    together: ClassVar = True
    """Its index serves all targets of a block, and dealt scores need them all."""

    @property
    def digest(self) -> str:
        """Changes with the rule's name, settings and version."""
        rule = {"judge": self.name, "settings": dict(self.settings), "version": _VERSION}
        return digest({**rule, "reads": sorted(self.reads)})

    def describe(self) -> Mapping[str, Any]:
        """Return the settings."""
        return {"kind": "history", "settings": dict(self.settings)}

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge the targets; all fail when nobody's ratings are known, or the user is not."""
        view = request.view
        if view is None:
            return request.failed(NO_USER)
        try:
            guesses = self.rule(view, request.others)
        except NothingKnown:
            return request.failed(NOTHING_KNOWN)
        return tuple(_judged(r, g) for r, g in zip(view.targets, guesses, strict=True))


def _judged(reply: Reply, guess: Guess) -> Judged:
    details: dict[str, Any] = {"turn_id": reply.id}
    if guess.prior:
        details["prior"] = True
    if guess.sources:
        details["sources"] = [{"turn_id": name, "cosine": round(cosine, 6)} for name, cosine in guess.sources]
    return Judged(
        reply.target, Judgement({SATISFACTION.name: Score(guess.value, guess.score)}, details=details)
    )


def _known(scores: Sequence[float]) -> Sequence[float]:
    if not scores:
        raise NothingKnown
    return scores


def majority(scores: Sequence[float]) -> float:
    """Return the most frequent score, the lowest of several: no reward for optimism.

    Raises:
        NothingKnown: There is none.
    """
    counts = Counter(_known(scores))
    most = max(counts.values())
    return min(score for score, n in counts.items() if n == most)


def _mean(scores: Sequence[float]) -> float:
    return sum(_known(scores)) / len(scores)


Floats = NDArray[np.float64]

Strategy = Literal["topk", "boundary-paired", "score-balanced"]
"""How episodic retrieval chooses among the ranked turns."""

MAX_FEATURES: Final = 50_000
_FLOOR: Final = 1e-3
"""Added to every weight, so that turns that are nothing like the target still count a little."""


def episodic(view: BlockView, population: Population, *, strategy: Strategy, k: int) -> Sequence[Guess]:
    """The mean score of k retrieved turns, weighted by cosine, halves to even.

    Texts are task context, request twice and reply; TF-IDF over character 2- to 5-grams, the 50,000 most
    frequent, fitted to the history of the block. Without history the training users' mean.
    """
    if not view.history:
        value = _mean(population.scores)
        return [Guess(half_even(value), value, prior=True)] * len(view.targets)
    return [weigh(view, cosines, strategy, k) for cosines in likeness(view)]


def likeness(view: BlockView) -> Iterator[Floats]:
    """Yield for each target its cosine with every history turn, shape (turns,)."""
    texts = [_published_text(r.reply) for r in view.history]
    index = TfidfIndex(texts, shortest=2, longest=5, max_features=MAX_FEATURES)
    return (index.cosines(_published_text(target)) for target in view.targets)


def weigh(view: BlockView, cosines: Floats, strategy: Strategy, k: int) -> Guess:
    """Guess from k turns, each weighted by its cosine."""
    chosen = retrieve(view, cosines, strategy, k)
    weights = np.array([max(float(cosines[i]), 0.0) + _FLOOR for i in chosen])
    scores = np.array([view.history[i].score for i in chosen])
    value = round_score(float(weights @ scores / weights.sum()))
    return Guess(half_even(value), value, sources=_sources(view, cosines, chosen))


def _sources(view: BlockView, cosines: Floats, chosen: Sequence[int]) -> tuple[tuple[str, float], ...]:
    return tuple((view.history[i].reply.id, float(cosines[i])) for i in chosen)


def retrieve(view: BlockView, cosines: Floats, strategy: Strategy, k: int) -> list[int]:
    """Choose k history turns by their cosines, as indices; of equal cosines the later turn comes first."""
    ranked = [int(i) for i in np.argsort(cosines, kind="stable")[::-1]]
    return pick(view.history, ranked, strategy, k)


def _published_text(reply: Reply) -> str:
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
    chosen: list[int] = []
    if strategy == "boundary-paired":
        chosen += [i for i in ranked if history[i].score < 4][: max(1, k // 2)]
        chosen += [i for i in ranked if history[i].score >= 4]
    elif strategy == "score-balanced":
        for low, high in ((-inf, 4), (4, 5), (5, inf)):
            chosen += [i for i in ranked if low <= history[i].score < high][: max(1, k // 3)]
    chosen = chosen[:k]
    return chosen + [i for i in ranked if i not in chosen][: k - len(chosen)]


def nearest(view: BlockView, population: Population, *, k: int) -> Sequence[Guess]:
    """The mean score of the k nearest turns, halves upward.

    Texts are the request twice and the reply; TF-IDF over character 2- to 4-grams, with sublinear term
    frequency, fitted to the history of the block. Without history the training users' mean.
    """
    if not view.history:
        value = _mean(population.scores)
        return [Guess(whole_score(value), value, prior=True)] * len(view.targets)
    return [average(view, cosines, k) for cosines in likeness_of_exchanges(view)]


def likeness_of_exchanges(view: BlockView) -> Iterator[Floats]:
    """Yield for each target its cosine with every history turn, shape (turns,)."""
    index = TfidfIndex([_exchange(r.reply) for r in view.history], shortest=2, longest=4, sublinear=True)
    return (index.cosines(_exchange(target)) for target in view.targets)


def average(view: BlockView, cosines: Floats, k: int) -> Guess:
    """Guess the mean score of the k turns with the highest cosine."""
    chosen = retrieve(view, cosines, "topk", k)
    value = sum(view.history[i].score for i in chosen) / len(chosen)
    return Guess(whole_score(value), value, sources=_sources(view, cosines, chosen))


def _exchange(reply: Reply) -> str:
    return f"{reply.request} {reply.request} {reply.text}"


_BlockValue = Callable[[BlockView, Population], float]


def _majority(scores: Sequence[float], population: Population) -> float:
    return majority(scores) if scores else whole_score(_mean(population.scores))


_VALUES: Final[Mapping[str, _BlockValue]] = {
    "global-mean": lambda _, population: _mean(population.scores),
    "global-majority": lambda _, population: majority(population.scores),
    "task-mean": lambda view, population: _mean(population.scores_in(view.scenario) or population.scores),
    "task-majority": lambda view, population: _majority(population.scores_in(view.scenario), population),
    "history-mean": lambda view, population: _mean(view.scores or population.scores),
    "history-median": lambda view, population: float(median(_known(view.scores or population.scores))),
    "history-majority": lambda view, population: _majority(view.scores, population),
}
"""Of the training users, of these in the target's scenario, or of the user: one value for the whole block.

Without scores in the scenario, or without a history, all training users stand in; for a majority their
rounded mean.
"""


def _same(view: BlockView, population: Population, *, value: _BlockValue) -> Sequence[Guess]:
    """One value for all targets, halves upward."""
    number = value(view, population)
    return [Guess(whole_score(number), number, prior=not view.history)] * len(view.targets)


def _always(value: _BlockValue) -> Callable[[], Rule]:
    return lambda: partial(_same, value=value)


def history_cdf_hash(view: BlockView, population: Population) -> Sequence[Guess]:
    """The user's scores dealt to the targets in the order of the SHA-1 of their ids: reads nothing at all."""
    ordered = sorted(_known(view.scores or population.scores))
    hashes = [hashlib.sha1(r.id.encode(), usedforsecurity=False).hexdigest() for r in view.targets]
    rank = {name: i for i, name in enumerate(sorted(hashes))}
    scores = [quantile_at(ordered, (rank[name] + 0.5) / len(hashes)) for name in hashes]
    return [Guess(whole_score(score), score, prior=not view.history) for score in scores]


def quantile_at(ordered: Sequence[float], q: float) -> float:
    """Return the score at floor(q n) of sorted scores, the last one at most.

    At exact steps this differs from the inverse of the distribution that calibration uses.
    """
    return ordered[min(len(ordered) - 1, max(0, int(q * len(ordered))))]


@dataclass
class ReplyUnreadRule:
    """The history's mean, the reply's length and its place, weighed as fits the training users best.

    It is fitted when the first block comes, and anew when the population is another one.
    """

    _fitted: tuple[Population, ReplyUnread | None] | None = field(default=None, init=False)

    def __call__(self, view: BlockView, population: Population) -> Sequence[Guess]:
        """Guess the ratings of a block's targets."""
        if self._fitted is None or self._fitted[0] is not population:
            self._fitted = population, fit_reply_unread(population)
        _, fit = self._fitted
        if fit is None:
            return _same(view, population, value=_VALUES["history-mean"])
        values = fit.of_view(view)
        whole = fit.whole(values).tolist()
        return [
            Guess(int(score), value, prior=not view.history)
            for score, value in zip(whole, values.tolist(), strict=True)
        ]


_PLAIN: Final[Mapping[str, Callable[[], Rule]]] = {
    **{name: _always(value) for name, value in _VALUES.items()},
    "history-cdf-hash": lambda: history_cdf_hash,
    "reply-unread": ReplyUnreadRule,
    "nearest-1": lambda: partial(nearest, k=1),
    "nearest-3": lambda: partial(nearest, k=3),
}
"""By name what makes the rule of a judge: one that is fitted is each judge's own."""
_EPISODIC: Final = "episodic-nearest"

HISTORY_JUDGES: Final = (*_PLAIN, _EPISODIC)
"""Their names, the least informed first."""

_K: Final = 6
"""The published row."""


def build_history_judge(name: str, *, strategy: Strategy | None = None, k: int | None = None) -> HistoryJudge:
    """Build one of `HISTORY_JUDGES`; the defaults of `episodic-nearest` are the strategy `topk` and k = 6.

    Raises:
        UsageError: No judge is called so, or it takes no strategy or k.
    """
    if name == _EPISODIC:
        chosen, many = strategy or "topk", k or _K
        return HistoryJudge(name, partial(episodic, strategy=chosen, k=many), {"strategy": chosen, "k": many})
    if name not in _PLAIN:
        msg = f"no judge without a model is called {name!r}"
        raise UsageError(msg, hint=f"there are {', '.join(HISTORY_JUDGES)}")
    if strategy is not None or k is not None:
        msg = f"the judge {name} takes neither --strategy nor --k"
        raise UsageError(msg, hint=f"they belong to {_EPISODIC}")
    return HistoryJudge(name, _PLAIN[name]())
