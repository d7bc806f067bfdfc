"""Which turns the fitted cuts hold for: those in a fitted language whose replies have the form of the fitted.

What moves the fitted satisfaction most from one data set to the next is what kind of replies there are: how
long, how varied in words, how much of them lists. That speaks neither for nor against a reply, and raters
call the same reply 3 here and 5 there. So cuts that were placed on one set say nothing of another.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dialogauge.signals import FORM_FEATURES, TextView, reply_form
from dialogauge.text import LanguageTally

__all__ = ["Form", "Log", "Reach", "fit_reach", "running_form"]

_WITHIN = 0.99
"""Share of the fitted turns that lie within reach."""
_LEAST_TURNS = 50
"""Fitted turns of a language: as many as a fit needs."""
_LEAST_SPREAD = 0.1
"""A tenth of a list, or of a length, is no other form, however alike the fitted replies are; nor is one
spread."""


Form = tuple[float, ...]
"""A value for each of `FORM_FEATURES`."""


@dataclass(frozen=True, slots=True)
class Log:
    """Other replies of the log that a conversation is from: what its replies are usually like."""

    language: str
    forms: tuple[Form, ...]

    @classmethod
    def of(cls, replies: Sequence[str]) -> Log:
        """Read some replies."""
        tally = LanguageTally()
        for text in replies:
            tally.add(text)
        return cls(tally.language(), tuple(reply_form(TextView(text)) for text in replies))


@dataclass(frozen=True, slots=True)
class Reach:
    """The languages and the form of the replies that cuts were fitted to."""

    languages: tuple[str, ...]
    centre: tuple[float, ...]
    """Mean of the fitted turns, in the order of `FORM_FEATURES`."""
    spread: tuple[float, ...]
    """Standard deviation of the fitted turns."""
    distance: float
    """How far from the centre a form may lie, in spreads (root mean square)."""

    def holds(self, language: str, form: Form) -> bool:
        """Say whether the cuts hold for a turn of that language whose replies so far have that form."""
        return language in self.languages and self._distance(form) <= self.distance

    def _distance(self, form: Form) -> float:
        away = [(f - c) / s for f, c, s in zip(form, self.centre, self.spread, strict=True)]
        return math.sqrt(sum(z * z for z in away) / len(away))


def running_form(
    features: Mapping[int, Sequence[float]], names: Sequence[str], earlier: Sequence[Form] = ()
) -> dict[int, Form]:
    """Return the mean form of the replies up to each turn; what follows has no part in it.

    Args:
        features: By turn, in the order of the turns.
        names: Of the features.
        earlier: The forms of replies that count as said before.
    """
    columns = [names.index(name) for name in FORM_FEATURES]
    sums = [sum(values) for values in zip(*earlier, strict=True)] or [0.0] * len(columns)
    out: dict[int, Form] = {}
    for count, (turn, values) in enumerate(features.items(), start=len(earlier) + 1):
        sums = [total + values[column] for total, column in zip(sums, columns, strict=True)]
        out[turn] = tuple(total / count for total in sums)
    return out


def fit_reach(forms: Sequence[Form], languages: Sequence[str]) -> Reach:
    """Return the reach of cuts that are fitted to turns of these forms and languages."""
    often = Counter(languages)
    table = np.array(forms)
    centre, spread = table.mean(axis=0), np.maximum(table.std(axis=0), _LEAST_SPREAD)
    away = np.sqrt((((table - centre) / spread) ** 2).mean(axis=1))
    return Reach(
        tuple(sorted(name for name, n in often.items() if n >= _LEAST_TURNS and name != "other")),
        tuple(map(float, centre)),
        tuple(map(float, spread)),
        max(1.0, float(np.quantile(away, _WITHIN))),
    )
