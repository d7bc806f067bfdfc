"""`local-user`: predicts how satisfied a user will be, from ratings of that user and of training users.

No language model, no network. It reads form and topic of a reply, its place, and what it takes up of the
conversation, without the courtesies around it; see `process` for the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from dialogauge.core import ONE_TO_FIVE, Judged, Judgement, Request, Score, digest
from dialogauge.core.protocols import Population, RatedBlock, Reads, Reply, Sight
from dialogauge.judges.local_user.features import Reader
from dialogauge.judges.local_user.model import Prediction, ScoreSignal, UserModel, fit_user_model
from dialogauge.judges.personal.baselines import NO_USER, NOTHING_KNOWN, SATISFACTION

_VERSION = 3
"""Raised when anything changes that can change a judgement."""


@dataclass
class LocalUserJudge:
    """Judges the targets of a block, each as if it stood alone.

    The model is fitted when the first block comes, and anew when the population changes.
    """

    name: ClassVar = "local-user"
    dimensions: ClassVar = (SATISFACTION,)
    reads: ClassVar[frozenset[Reads]] = frozenset({"history", "others"})
    together: ClassVar = True
    """The targets of a block share the user's part of the model."""

    mode: Sight = "foresight"
    signals: tuple[ScoreSignal, ...] = ()
    """Scores of the targets, the histories and the training users' replies by judges that read no rating."""
    _fitted: tuple[tuple[RatedBlock, ...], UserModel] | None = field(default=None, init=False)
    _user: str | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Set up the readers."""
        self._population, self._own = Reader(self.mode), Reader(self.mode)

    @cached_property
    def digest(self) -> str:
        """Changes with mode, version, and the scores of the signals."""
        known = {"judge": self.name, "mode": self.mode, "version": _VERSION, "reads": sorted(self.reads)}
        return digest({**known, "signals": [s.digest for s in self.signals]} if self.signals else known)

    def describe(self) -> Mapping[str, Any]:
        """Return the settings and, once it is fitted, to whom and how it agrees with users left out."""
        settings = {"kind": self.name, "settings": {"mode": self.mode, "version": _VERSION}}
        if self._fitted is None:
            return settings
        _, model = self._fitted
        fitted_on = {
            "users": model.users,
            "turns": model.turns,
            "left_out_pearson": None if model.left_out is None else round(model.left_out, 4),
            "knows_answers": model.answering is not None,
        }
        return {**settings, "fitted_on": fitted_on, **({"signals": self.weights} if self.signals else {})}

    @property
    def weights(self) -> Mapping[str, float]:
        """By signal, by how many points the expected rating moves with one of its points.

        0 where it is not read, as it does not help to predict training users who are left out; empty before
        the first block.
        """
        if self._fitted is None:
            return {}
        weights = self._fitted[1].signals
        return {s.name: round(weights.get(s.name, 0.0), 4) for s in self.signals}

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge the targets; all fail when nobody's ratings are known, or the user is not."""
        view, population = request.view, request.others
        if view is None:
            return request.failed(NO_USER)
        known = any(block.ratings for block in population.blocks)
        if not view.history and not known:
            return request.failed(NOTHING_KNOWN)
        if view.user != self._user:
            self._own, self._user = Reader(self.mode), view.user
        # Without training users, the user's own history is all there is.
        model = self._model(population) if known else fit_user_model(population, self._own, view.history)
        predictions = model.predict(view, self._own)
        return tuple(_judged(r, p, model) for r, p in zip(view.targets, predictions, strict=True))

    def _model(self, population: Population) -> UserModel:
        if self._fitted is None or not _same(self._fitted[0], population.blocks):
            model = fit_user_model(population, self._population, signals=self.signals)
            self._fitted = population.blocks, model
        return self._fitted[1]


def _same(one: tuple[RatedBlock, ...], other: tuple[RatedBlock, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _judged(reply: Reply, prediction: Prediction, model: UserModel) -> Judged:
    value = min(max(prediction.value, ONE_TO_FIVE.low), ONE_TO_FIVE.high)
    details: dict[str, Any] = {"turn_id": reply.id, "answers": round(prediction.answers, 4)}
    if prediction.sources:
        details["sources"] = [{"turn_id": name, "pull": round(pull, 4)} for name, pull in prediction.sources]
    else:
        details["prior"] = True
    score = Score(value, model.score(prediction.value))
    return Judged(reply.target, Judgement({SATISFACTION.name: score}, details=details))
