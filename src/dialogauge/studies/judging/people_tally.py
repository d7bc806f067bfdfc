"""What the figures of people stand on: every judged target, with what people said of it where they did."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from dialogauge.core import Conversation, DimensionSpec, Level, Scale
from dialogauge.core.unit import words_digest
from dialogauge.judges.local.evidence import looked_at
from dialogauge.stats import Floats, reply_length
from dialogauge.studies.judging.people import Raters
from dialogauge.studies.rated import TargetRating

Row = Mapping[str, Any]

LEVELS: Final[tuple[Level, ...]] = ("turn", "conversation")
MEAN: Final = "\0mean"
"""The figure of a judge that is the mean of a target's scores, each scaled to 0 (worst) to 1 (best)."""
_NAN: Final = math.nan


@dataclass(slots=True)
class LevelTargets:
    """The targets of one level, in the order of the input; arrays of shape (n,)."""

    conversations: array[int] = field(default_factory=lambda: array("l"))
    """Each target's conversation, as a number."""
    turns: array[float] = field(default_factory=lambda: array("d"))
    """Turn numbers; of a conversation how many turns it has."""
    lengths: array[float] = field(default_factory=lambda: array("d"))
    """Characters of the reply, of a conversation of all its replies; NaN in conversations nobody rated."""
    figures: dict[str, array[float]] = field(default_factory=dict)
    """By name what the judge says of the targets, NaN where it says nothing."""
    ratings: dict[str, dict[int, float | str]] = field(default_factory=dict)
    """Dimension -> place of a rated target -> what its raters say together."""
    counts: Counter[str] = field(default_factory=Counter)
    """Dimension -> ratings, those of several raters of one target one by one."""
    apart: dict[str, dict[int, float]] = field(default_factory=dict)
    """Dimension -> place of a target with several raters -> its highest rating less its lowest."""
    weights: dict[str, dict[int, float]] = field(default_factory=dict)
    """Dimension -> place of a rated target -> how many targets it stands for, where that is known."""
    seen: set[int] = field(default_factory=set)
    """Places of rated targets that the judge was fitted to."""
    looked_at: set[int] = field(default_factory=set)
    """Places of those at which somebody looked when the judge's signals were chosen."""

    def add(self, conversation: int, turn: float, length: float, figures: Mapping[str, float]) -> int:
        """Add a target; return its place."""
        place = len(self.turns)
        self.conversations.append(conversation)
        self.turns.append(turn)
        self.lengths.append(length)
        for name in figures.keys() - self.figures.keys():
            self.figures[name] = array("d", [_NAN] * place)
        for name, column in self.figures.items():
            column.append(figures.get(name, _NAN))
        return place

    def column(self, name: str) -> Floats:
        """Return a figure of the judge, shape (n,)."""
        return np.array(self.figures.get(name, [_NAN] * len(self.turns)), dtype=np.float64)


def judges_by_signals(judge: Mapping[str, Any]) -> bool:
    """Say of what a judge says of itself whether it is our local one, fitted anew or as it ships."""
    return judge.get("judge") == "local"


class PeopleTally:
    """Takes conversations with their rows of all repeats; keeps figures, no text."""

    def __init__(
        self,
        dimensions: Sequence[DimensionSpec],
        fitted_to: Collection[str] = (),
        *,
        by_signals: bool = False,
    ) -> None:
        """Begin before the first conversation.

        Args:
            dimensions: Of the judge.
            fitted_to: `words_digest` of the conversations that it was fitted to, where it says so.
            by_signals: Whether it judges by our signals, which were chosen with a look at some conversations.
        """
        self.by_signals = by_signals
        self.fitted_to = frozenset(fitted_to)
        self.scales: dict[tuple[Level, str], Scale] = {(d.level, d.name): d.scale for d in dimensions}
        self.levels: dict[Level, LevelTargets] = {level: LevelTargets() for level in LEVELS}
        self.users: list[str | None] = []
        """Of each conversation, by its number."""
        self.names: list[str] = []
        """The ids likewise."""
        self.raters: dict[tuple[Level, str], set[Raters]] = {}
        """By level and dimension who rated."""

    def take(
        self,
        rows: Sequence[Row],
        rated: Conversation | None = None,
        ratings: Mapping[int | None, Sequence[TargetRating]] | None = None,
    ) -> None:
        """Take one conversation.

        Args:
            rows: Its rows, of all repeats.
            rated: The conversation, where people rated it.
            ratings: What they said of each turn and, under None, of the whole.
        """
        number = len(self.users)
        self.users.append(rows[0]["user_id"])
        self.names.append(rows[0]["conversation_id"])
        lengths: dict[int | None, float] = {}
        if rated is not None:
            lengths = {turn.number: reply_length(turn.reply_text) for turn in rated.turns}
            lengths[None] = sum(lengths.values())
        by_target: dict[tuple[Level, int | None], list[Row]] = {}
        for row in rows:
            if row["level"] in LEVELS and (row["failure"] or {}).get("kind") not in ("no_reply", "absent"):
                by_target.setdefault((row["level"], row["turn"]), []).append(row)
        self._whole_of_turns(by_target, rows)
        replied = set() if rated is None else {turn.number for turn in rated.replied_turns}
        for turn in ratings or ():
            if turn in replied:  # also where the judge is asked about whole conversations alone
                by_target.setdefault(("turn", turn), [])
        places = {}
        turns = sum(level == "turn" for level, _ in by_target)
        for (level, turn), of_target in by_target.items():
            figures = self._figures(level, of_target)
            position = turns if turn is None else turn
            places[level, turn] = self.levels[level].add(number, position, lengths.get(turn, _NAN), figures)
        if rated is not None:
            self._rate(rated, ratings or {}, places)

    def _whole_of_turns(
        self, by_target: dict[tuple[Level, int | None], list[Row]], rows: Sequence[Row]
    ) -> None:
        """Of a rubric that judges turns alone, let the turns speak for the whole."""
        whole = by_target.setdefault(("conversation", None), [])
        if not any(row["scores"] for row in whole):
            whole += [{**row, "level": "conversation"} for row in rows if row["level"] == "turn"]

    def _figures(self, level: Level, rows: Sequence[Row]) -> dict[str, float]:
        """Return the mean of every score over the rows, and the mean of those that the rubric asks for."""
        values: dict[str, list[float]] = {}
        for row in rows:
            qualities = []
            for name, score in (row["scores"] or {}).items():
                if isinstance(score, str) or score is None:
                    continue
                values.setdefault(name, []).append(float(score))
                scale = self.scales.get((row["level"], name)) or self.scales.get(("turn", name))
                if scale is not None:
                    qualities.append(scale.quality(row["whole"].get(name, score)))
            if qualities:
                values.setdefault(MEAN, []).append(sum(qualities) / len(qualities))
        return {name: sum(of) / len(of) for name, of in values.items()}

    def _rate(
        self,
        conversation: Conversation,
        by_turn: Mapping[int | None, Sequence[TargetRating]],
        places: Mapping[tuple[Level, int | None], int],
    ) -> None:
        seen = self.fitted_to and words_digest(conversation) in self.fitted_to
        looked = self.by_signals and looked_at(conversation)
        for turn, ratings in by_turn.items():
            level: Level = "conversation" if turn is None else "turn"
            if (place := places.get((level, turn))) is not None:
                targets = self.levels[level]
                for one in ratings:
                    targets.ratings.setdefault(one.dimension, {})[place] = one.score
                    targets.counts[one.dimension] += one.raters
                    if one.weight is not None:
                        targets.weights.setdefault(one.dimension, {})[place] = one.weight
                    if one.raters > 1 and not isinstance(one.score, str):
                        targets.apart.setdefault(one.dimension, {})[place] = one.apart
                if seen:
                    targets.seen.add(place)
                if looked:
                    targets.looked_at.add(place)
        for rating in conversation.ratings:
            level = "conversation" if rating.turn is None else "turn"
            who = rating.rater
            own = who is not None and who == conversation.user_id
            kind: Raters = "users" if own else "environment" if who == "environment" else "people"
            self.raters.setdefault((level, rating.dimension), set()).add(kind)
