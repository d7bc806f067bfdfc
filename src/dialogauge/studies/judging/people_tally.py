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
from dialogauge.stats import Floats, divided, reply_length
from dialogauge.stats.rows import LEVELS as ROW_LEVELS
from dialogauge.stats.rows import Table
from dialogauge.stats.table import Codes
from dialogauge.studies.judging.people import Raters
from dialogauge.studies.rated import TargetRating

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

    def put(self, name: str, values: Floats) -> None:
        """Put a figure of all targets in, shape (n,)."""
        self.figures[name] = array("d", values.tobytes())

    def column(self, name: str) -> Floats:
        """Return a figure of the judge, shape (n,)."""
        return np.array(self.figures.get(name, [_NAN] * len(self.turns)), dtype=np.float64)


def judges_by_signals(judge: Mapping[str, Any]) -> bool:
    """Say of what a judge says of itself whether it is our local one, fitted anew or as it ships."""
    return judge.get("judge") == "local"


@dataclass(frozen=True, slots=True)
class _RatedConversation:
    """A rated conversation: what people said of its turns, and under None of the whole."""

    ratings: Mapping[int | None, Sequence[TargetRating]]
    lengths: Mapping[int | None, float]
    """Characters of the replies."""
    replied: frozenset[int]
    seen: bool
    """Whether the judge was fitted to it."""
    looked_at: bool


class PeopleTally:
    """The targets of a run with what people said of them, of all repeats; figures, no text."""

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
        self._rated: dict[tuple[str, str | None], _RatedConversation] = {}

    def rate(self, conversation: Conversation, ratings: Mapping[int | None, Sequence[TargetRating]]) -> None:
        """Take what people said of a conversation, by turn."""
        lengths: dict[int | None, float] = {t.number: reply_length(t.reply_text) for t in conversation.turns}
        lengths[None] = sum(lengths.values())
        replied = frozenset(turn.number for turn in conversation.replied_turns)
        seen = bool(self.fitted_to) and words_digest(conversation) in self.fitted_to
        looked = self.by_signals and looked_at(conversation)
        key = conversation.id, conversation.candidate
        self._rated[key] = _RatedConversation(ratings, lengths, replied, seen, looked)
        for rating in conversation.ratings:
            level: Level = "conversation" if rating.turn is None else "turn"
            who = rating.rater
            own = who is not None and who == conversation.user_id
            kind: Raters = "users" if own else "environment" if who == "environment" else "people"
            self.raters.setdefault((level, rating.dimension), set()).add(kind)

    def read(self, rows: Table) -> PeopleTally:
        """Take the targets of a judged run; what people said of them was taken before."""
        self.levels = {level: LevelTargets() for level in LEVELS}
        every, failure = rows.dialogues, rows.column("failure")
        ids, candidates, users = (
            rows.whose[name].take(every.numbers).list()
            for name in ("conversation_id", "candidate", "user_id")
        )
        self.users, self.names = users, [str(id) for id in ids]
        keys = enumerate(zip(self.names, candidates, strict=True))
        rated = {at: self._rated[key] for at, key in keys if key in self._rated}
        live = ~(failure.mask("no_reply") | failure.mask("absent"))
        at_turn, whole = (live & (rows.levels == ROW_LEVELS.index(level)) for level in LEVELS)
        width = int(rows.turn.max(initial=0)) + 2
        width = max([width, *(turn + 2 for one in rated.values() for turn in one.replied)])
        # Turns count that are rated and not judged: the judge may be asked about whole conversations alone.
        rated_turns = [at * width + t for at, one in rated.items() for t in one.replied if t in one.ratings]
        judged = every.of[at_turn] * width + rows.turn[at_turn]
        targets = np.unique(np.concatenate([judged, np.array(rated_turns, dtype=np.intp)]))
        dialogue, turn = targets // width, targets % width
        place = np.searchsorted(targets, judged)
        self._fill("turn", dialogue, turn, rows, np.flatnonzero(at_turn), place)
        # Of a rubric that judges turns alone, the turns speak for the whole.
        speaks = at_turn & ~every.any(whole & rows.scored)[every.of] | whole
        size = np.bincount(dialogue, minlength=every.size)
        self._fill(
            "conversation", np.arange(every.size), size, rows, np.flatnonzero(speaks), every.of[speaks]
        )
        ends = np.searchsorted(dialogue, np.arange(every.size + 1)).tolist()
        for at, one in rated.items():
            places = dict(
                zip(turn[ends[at] : ends[at + 1]].tolist(), range(ends[at], ends[at + 1]), strict=True)
            )
            self._rate(one, at, places)
        return self

    def _fill(
        self, level: Level, dialogue: Codes, turn: Codes, rows: Table, judged: Codes, place: Codes
    ) -> None:
        """Put the targets of a level in, with the mean of every score over the rows that judged each."""
        targets, size = self.levels[level], dialogue.size
        targets.conversations.frombytes(dialogue.astype(np.int64).tobytes())
        targets.turns.frombytes(turn.astype(np.float64).tobytes())
        targets.lengths.frombytes(np.full(size, _NAN).tobytes())
        own = level if level == "turn" else "conversation"
        quality, asked = np.zeros(judged.size), np.zeros(judged.size)
        for name in rows.dimensions:
            values, whole = rows.value(name)[judged], rows.whole(name)[judged]
            known = ~np.isnan(values)
            if not known.any():
                continue
            targets.put(name, _means(values[known], place[known], size))
            if (scale := self.scales.get((own, name)) or self.scales.get(("turn", name))) is not None:
                quality[known] += scale.quality(whole[known])  # type: ignore[arg-type]
                asked += known
        if asked.any():
            some = asked > 0
            targets.put(MEAN, _means(quality[some] / asked[some], place[some], size))

    def _rate(self, rated: _RatedConversation, conversation: int, places: Mapping[int, int]) -> None:
        by_level: dict[Level, Mapping[Any, int]] = {"turn": places, "conversation": {None: conversation}}
        for level, of_level in by_level.items():
            targets = self.levels[level]
            for turn, place in of_level.items():
                targets.lengths[place] = rated.lengths.get(turn, _NAN)
                for one in rated.ratings.get(turn, ()):
                    targets.ratings.setdefault(one.dimension, {})[place] = one.score
                    targets.counts[one.dimension] += one.raters
                    if one.weight is not None:
                        targets.weights.setdefault(one.dimension, {})[place] = one.weight
                    if one.raters > 1 and not isinstance(one.score, str):
                        targets.apart.setdefault(one.dimension, {})[place] = one.apart
                if turn in rated.ratings and rated.seen:
                    targets.seen.add(place)
                if turn in rated.ratings and rated.looked_at:
                    targets.looked_at.add(place)


def _means(values: Floats, places: Codes, size: int) -> Floats:
    sums = np.bincount(places, values, size).astype(np.float64)
    return divided(sums, np.bincount(places, minlength=size).astype(np.float64))
