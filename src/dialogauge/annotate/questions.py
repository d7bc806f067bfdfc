"""What people are asked: the dimensions of a rubric as questions, in one language."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from dialogauge.core import ONE_TO_FIVE, Level, Scale, UsageError
from dialogauge.rubrics import Dimension, Label, Rubric

Language = Literal["en", "zh"]

_MOST_SCORES: Final = 11
"""A longer scale has no key for each score, and reasons are not asked by score."""
NA: Final = "n/a"


@dataclass(frozen=True, slots=True)
class RatingQuestion:
    """One question: of each reply, of the whole conversation, or of a pair."""

    name: str
    """The dimension."""
    level: Level
    title: str
    text: str
    scale: Scale = ONE_TO_FIVE
    """Of a pair there is no score: left, right or tie."""
    na: bool = False
    """Whether it may not apply."""
    anchors: Mapping[str, str] = field(default_factory=dict)
    """Score -> its meaning."""
    reason_for: tuple[int, ...] = ()
    """The scores for which a reason is asked."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Name -> words of the reasons to choose from; empty where it is written freely."""

    def to_task(self) -> dict[str, Any]:
        """Write the question as a page takes it."""
        plain = {"name": self.name, "level": self.level, "title": self.title, "text": self.text}
        if self.level == "pair":
            return plain
        scale = {"low": self.scale.low, "high": self.scale.high, "integer": self.scale.integer, "na": self.na}
        asked = {"reason_for": list(self.reason_for), "reasons": list(self.reasons.values())}
        return {**plain, **scale, "anchors": dict(self.anchors), **asked}


_PREFERENCE: Final[Mapping[Language, tuple[str, str]]] = {
    "en": ("preference", "Which of the two serves the user better, all in all?"),
    "zh": ("偏好", "总的来说，哪一个对用户更有帮助？"),
}


def preference_question(language: Language) -> RatingQuestion:
    """Return the question that is asked of pairs where no rubric is named."""
    title, text = _PREFERENCE[language]
    return RatingQuestion("preference", "pair", title, text)


def questions_of(rubric: Rubric, language: Language, *, pairs: bool = False) -> tuple[RatingQuestion, ...]:
    """Return the questions of a rubric, those of replies before those of the whole.

    A label that belongs to a dimension is the reason for its score: it is asked for the scores that leave a
    choice of options. In a rubric without such labels a reason is written for scores in the lower half.

    Raises:
        UsageError: The rubric is not in the language, or scores nothing that people can be asked here.
    """
    if language not in rubric.languages:
        msg = f"the rubric {rubric.origin!r} is not in the language {language!r}"
        raise UsageError(msg, hint=f"it has {', '.join(rubric.languages)}: give --language, or translate it")
    levels: tuple[Level, ...] = ("pair",) if pairs else ("turn", "conversation")
    asked = [d for level in levels for d in rubric.asks_people(level)]
    if not asked:
        what = "two replies" if pairs else "replies or conversations"
        msg = f"the rubric {rubric.origin!r} is of the level {rubric.level!r} and scores no {what}"
        hint = "leave --rubric out, or name one of the level pair" if pairs else "name another --rubric"
        raise UsageError(msg, hint=hint)
    free = not any(label.of for label in rubric.labels)
    return tuple(_question(d, rubric, language, free=free) for d in asked)


def _question(dimension: Dimension, rubric: Rubric, language: Language, *, free: bool) -> RatingQuestion:
    title, text, scale = dimension.title[language], dimension.description[language], dimension.scale
    if dimension.level == "pair":
        return RatingQuestion(dimension.name, "pair", title, text)
    if not scale.integer and {*range(math.ceil(scale.low), math.floor(scale.high) + 1)} <= {
        *dimension.anchors[language]
    }:  # a judge adds it up; people choose a score that has a meaning
        scale = replace(scale, integer=True)
    label = next((x for x in rubric.labels if (x.level, x.of) == (dimension.level, dimension.name)), None)
    scores = range(math.ceil(scale.low), math.floor(scale.high) + 1)
    scores = scores if len(scores) <= _MOST_SCORES else range(0)
    reasons: dict[str, str] = {}
    reason_for = tuple(s for s in scores if free and scale.quality(s) <= 0.5)
    if label is not None:
        reason_for = tuple(s for s in scores if len(_fitting(label, s)) > 1)
        named = dict.fromkeys(name for s in reason_for for name in _fitting(label, s))
        in_words = {option.name: option.description[language] for option in label.options}
        reasons = {name: in_words[name] for name in named}
    return RatingQuestion(
        dimension.name,
        dimension.level,
        title,
        text,
        scale,
        dimension.allow_na,
        {f"{score:g}": words for score, words in sorted(dimension.anchors[language].items())},
        reason_for,
        reasons,
    )


def _fitting(label: Label, score: int) -> list[str]:
    return [o.name for o in label.options if o.fits is None or o.fits[0] <= score <= o.fits[1]]
