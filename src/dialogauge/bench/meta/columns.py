"""People's column, the judge's, and those of the controls that need no judge.

A control is given every advantage that costs nothing: the constant is the score that people give most,
and reply length is dealt people's own scores in the order of length, in the direction that fits better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dialogauge.bench.meta.rule import DissatisfiedRule
from dialogauge.bench.meta.targets import RatedTarget
from dialogauge.core import Scale
from dialogauge.metrics import spearman

__all__ = ["CONTROLS", "Column", "People", "controls_of", "judge_column", "people_column"]

Floats = npt.NDArray[np.float64]

CONTROLS = ("constant", "always dissatisfied", "reply length", "shuffled")
"""The controls in the order in which tables show them."""


@dataclass(frozen=True, slots=True)
class People:
    """What people said of n targets."""

    scores: Floats | None
    """Mean over the raters; None when they named categories."""
    order: Floats | None
    """The same from bad to good: turned round where low is good."""
    dissatisfied: Floats | None
    """1 or 0; None without a rule."""
    on_scale: bool
    """Whether all ratings lie on the judge's scale, so that scores can be held against each other."""

    @property
    def rounded(self) -> Floats | None:
        """The scores as whole numbers, halves upward."""
        return None if self.scores is None else rounded(self.scores)


@dataclass(frozen=True, slots=True)
class Column:
    """What one judge, or a control, says of the n targets."""

    name: str
    order: Floats
    """What ranks the targets, from bad to good."""
    value: Floats
    """A score on the scale, with fractions."""
    whole: Floats
    """The score as a whole number."""
    called: Floats
    """1 where it calls the user dissatisfied."""

    def dealt(self, order: npt.NDArray[Any]) -> Column:
        """Return the column with its rows in another order."""
        return Column("shuffled", self.order[order], self.value[order], self.whole[order], self.called[order])


def rounded(values: Floats) -> Floats:
    """Round to whole numbers, halves upward."""
    out: Floats = np.floor(values + 0.5)
    return out


def people_column(targets: Sequence[RatedTarget], scale: Scale, rule: DissatisfiedRule | None) -> People:
    """Return what people said of the targets; ratings are all numbers or all names.

    Where both came in nevertheless, the names are taken to be what counts.
    """
    names = any(isinstance(t.people, str) for t in targets)
    scores = None if names else np.array([t.people for t in targets], dtype=np.float64)
    labels = None if rule is None else np.array([rule.holds(t.people) for t in targets], dtype=np.float64)
    inside = scores is not None and bool(((scores >= scale.low) & (scores <= scale.high)).all())
    return People(scores, None if scores is None else _from_bad(scores, rule), labels, inside)


def judge_column(targets: Sequence[RatedTarget], rule: DissatisfiedRule | None, name: str) -> Column:
    """Return the judge's column: its class by the same rule on its whole score, or as it named it."""
    value = np.array([t.score for t in targets], dtype=np.float64)
    whole = np.array([t.whole for t in targets], dtype=np.float64)
    if rule is None:
        called = np.zeros(value.size)
    elif rule.category is not None:
        called = np.array([t.called == rule.category for t in targets], dtype=np.float64)
    else:
        called = np.array([rule.holds(float(w)) for w in whole], dtype=np.float64)
    return Column(name, _from_bad(value, rule), value, whole, called)


def controls_of(
    targets: Sequence[RatedTarget], people: People, scale: Scale, rule: DissatisfiedRule | None
) -> tuple[Column, ...]:
    """Return the constant, the always dissatisfied (where there is a rule) and the reply length."""
    n = len(targets)
    out = [_constant(n, people, scale, rule)]
    if rule is not None:
        worst = scale.low if rule.lower else scale.high
        out.append(_flat("always dissatisfied", n, worst, called=True))
    out.append(_length(targets, people, scale, rule))
    return tuple(out)


def _constant(n: int, people: People, scale: Scale, rule: DissatisfiedRule | None) -> Column:
    if people.rounded is None or not n:
        return _flat("constant", n, scale.low, called=False)
    levels, counts = np.unique(people.rounded, return_counts=True)
    most = float(levels[int(np.argmax(counts))])
    called = rule is not None and rule.holds(most)
    return _flat("constant", n, most, called=called)


def _flat(name: str, n: int, score: float, *, called: bool) -> Column:
    return Column(name, np.zeros(n), np.full(n, score), np.full(n, score), np.full(n, float(called)))


def _length(
    targets: Sequence[RatedTarget], people: People, scale: Scale, rule: DissatisfiedRule | None
) -> Column:
    length = np.log1p(np.array([t.length for t in targets], dtype=np.float64))
    standard = people.scores if people.scores is not None else people.dissatisfied
    if standard is None or not length.size:
        lowest = np.full(length.size, scale.low)
        return Column("reply length", length, lowest, lowest, np.zeros(length.size))
    better = _from_bad(standard, rule) if people.scores is not None else -standard
    found = spearman(length, better).value
    order = length if found is None or found >= 0 else -length
    by_order = np.argsort(order, kind="stable")
    value, called = np.empty(length.size), np.zeros(length.size)
    ranked = np.argsort(better, kind="stable")
    value[by_order] = standard[ranked] if people.scores is not None else scale.low
    if people.dissatisfied is not None:
        called[by_order] = people.dissatisfied[ranked]
    return Column("reply length", order, value, rounded(value), called)


def _from_bad(values: Floats, rule: DissatisfiedRule | None) -> Floats:
    return values if rule is None or rule.lower else -values
