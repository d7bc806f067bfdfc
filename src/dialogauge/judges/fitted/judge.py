"""The model of ratings as a judge of conversations that nobody rated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import (
    ONE_TO_FIVE,
    Conversation,
    Judged,
    JudgeFailure,
    Judgement,
    Level,
    PlainDimension,
    Request,
    Scale,
    Score,
    Target,
    digest,
)
from dialogauge.core.protocols import Reads
from dialogauge.data.ratings import LEVELS
from dialogauge.judges.fitted.features import RatedPlace
from dialogauge.judges.fitted.model import RatingsModel

_VERSION = 1
"""Raised when features or judgements change, so that stored judgements are not taken for new ones."""
_NO_VOTES = (0,) * LEVELS
_CHANCE = Scale(0, 1, integer=False)


class RatingsJudge:
    """Predicts how people would rate every reply, from the conversation up to it (foresight).

    Where it was fitted to ratings of whole conversations too, it also predicts that of the whole.
    """

    name = "fitted"
    mode = "foresight"
    reads: frozenset[Reads] = frozenset()
    together = True

    def __init__(self, model: RatingsModel) -> None:
        """Take a fitted model."""
        self.model = model

    @cached_property
    def digest(self) -> str:
        """Changes with the model."""
        return digest({"judge": self.name, "version": _VERSION, "reads": [], "model": self.model.to_json()})

    @property
    def dimensions(self) -> tuple[PlainDimension, ...]:
        """The fitted dimension of turns, and `..._whole` of conversations where such were fitted.

        Of ratings of whole conversations alone there is no dimension of turns, and that of the whole has
        their name. A reward, or thumbs, is on 0 to 1: the chance of the good side.
        """
        fitted, name = self.model.fitted_on, self.model.dimension
        scale = _CHANCE if fitted.two_sided else ONE_TO_FIVE
        if fitted.whole_only:
            return (PlainDimension(name, "conversation", scale),)
        turn = PlainDimension(name, "turn", scale)
        return (turn, PlainDimension(f"{name}_whole", "conversation", scale)) if fitted.whole else (turn,)

    def describe(self) -> Mapping[str, Any]:
        """Return the settings for the manifest."""
        fitted = self.model.fitted_on
        return {
            "judge": self.name,
            "version": _VERSION,
            "mode": self.mode,
            "dimension": self.model.dimension,
            "fitted_on": fitted.to_json(),
            "checked_languages": list(fitted.languages) if fitted.figures else [],
            "notes": list(fitted.sentences(self.model.dimension)),
        }

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge every replied turn, then the whole where such were fitted, or the targets alone.

        Repeat and seed change nothing.
        """
        names = {d.level: d.name for d in self.dimensions}
        if request.targets:
            if "turn" not in names:
                return request.failed("the judge fitted was fitted to ratings of whole conversations")
            replies = request.targets
            return self._rows([(r.target, r.conversation.blinded()) for r in replies], names)
        conversation = request.conversation.blinded()
        whole = Target(conversation.id, "conversation", None, conversation.candidate)
        if not conversation.replied_turns:
            failure = JudgeFailure("no_reply", "The conversation has no assistant reply to judge.")
            return (Judged(whole, failure),)
        replied = (t.number for t in conversation.replied_turns)
        turns = [Target(conversation.id, "turn", number, conversation.candidate) for number in replied]
        asked = [*(turns if "turn" in names else []), *([whole] if "conversation" in names else [])]
        return self._rows([(target, conversation) for target in asked], names)

    def _rows(
        self, asked: Sequence[tuple[Target, Conversation]], names: Mapping[Level, str]
    ) -> tuple[Judged, ...]:
        """Judge targets in their conversations; `names` are those of the dimensions, by level."""
        examples = [RatedPlace(conversation, target.turn, 0, _NO_VOTES) for target, conversation in asked]
        shares, called = self.model.predict(examples)
        rows = []
        likely = chances(shares, self.model.boundaries)
        for (target, _), score, chance in zip(asked, called, likely, strict=True):
            details: dict[str, Any] = {
                "chances": {str(k): round(float(p), 4) for k, p in enumerate(chance, start=1)}
            }
            if self.model.fitted_on.two_sided:
                one = Score(round(float(chance[-1]), 4), int(score == LEVELS))
            else:
                one = Score(round(float(chance @ np.arange(1, LEVELS + 1)), 4), int(score))
            rows.append(Judged(target, Judgement({names[target.level]: one}, details=details)))
        return tuple(rows)


def chances(shares: NDArray[np.float64], boundaries: tuple[int, ...]) -> NDArray[np.float64]:
    """Return how likely each rating is, shape (n, 5), rows summing to 1.

    Args:
        shares: Shape (n, boundaries), the predicted share of votes up to each boundary, 0..1. A share that
            is below that of a lower boundary counts as that one.
        boundaries: The ratings that have a column, ascending. Ratings below the first and above the last
            boundary were hardly ever given and get nothing.
    """
    up_to = np.zeros((shares.shape[0], LEVELS + 1))
    up_to[:, boundaries[-1] + 1 :] = 1.0
    up_to[:, list(boundaries)] = np.maximum.accumulate(shares, axis=1)
    return np.diff(up_to, axis=1)
