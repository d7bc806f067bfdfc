"""The small satisfaction model of the local judge: named signals, standardised, ridge regression.

Fitted by `fit.fit_local`. What ships is `coefficients.json`: names and numbers, no text of any data set.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache
from importlib import resources
from typing import Any, NotRequired, TypedDict, TypeVar

import numpy as np

from dialogauge.core import FileFault, Place, UsageError
from dialogauge.core.shape import read_as
from dialogauge.core.values import Value
from dialogauge.signals import FORM_FEATURES, Mode, TextView, feature_names, reply_form
from dialogauge.text import detect_language

_WITHIN = 0.99
"""Share of the fitted turns that lie within reach."""
_LEAST_TURNS = 50
"""Fitted turns of a language: as many as a fit needs."""
_LEAST_SPREAD = 0.1
"""A tenth of a list, or of a length, is no other form, however alike the fitted replies are; nor is one
spread."""

Form = tuple[float, ...]
"""A value for each of `FORM_FEATURES`."""


class Log(Value):
    """Other replies of the log that a conversation is from: what its replies are usually like."""

    language: str
    forms: tuple[Form, ...]

    @classmethod
    def of(cls, replies: Sequence[str]) -> Log:
        """Read some replies."""
        return cls(detect_language(*replies), tuple(reply_form(TextView(text)) for text in replies))


class Reach(Value):
    """The languages and the form of the replies that cuts were fitted to."""

    languages: tuple[str, ...]
    centre: tuple[float, ...]
    """Mean of the fitted turns, in the order of `FORM_FEATURES`."""
    spread: tuple[float, ...]
    """Standard deviation of the fitted turns."""
    distance: float
    """How far from the centre a form may lie, in spreads (root mean square)."""
    tools: bool = True
    """Whether enough of the fitted turns were of conversations in which tools were called."""

    def holds(self, language: str, form: Form) -> bool:
        """Say whether the cuts hold for a turn of that language whose replies so far have that form."""
        if language not in self.languages:
            return False
        away = [(f - c) / s for f, c, s in zip(form, self.centre, self.spread, strict=True)]
        return math.sqrt(sum(z * z for z in away) / len(away)) <= self.distance


def running_form(
    features: Mapping[int, Sequence[float]], names: Sequence[str], earlier: Sequence[Form] = ()
) -> dict[int, Form]:
    """Return the mean form of the replies up to each turn.

    `features` is in the order of the turns; the `earlier` forms count as those of replies before the first.
    """
    columns = [names.index(name) for name in FORM_FEATURES]
    sums = [sum(values) for values in zip(*earlier, strict=True)] or [0.0] * len(columns)
    out: dict[int, Form] = {}
    for count, (turn, values) in enumerate(features.items(), start=len(earlier) + 1):
        sums = [total + values[column] for total, column in zip(sums, columns, strict=True)]
        out[turn] = tuple(total / count for total in sums)
    return out


def fit_reach(forms: Sequence[Form], languages: Sequence[str], with_tools: int = 0) -> Reach:
    """Return the reach of a fit to turns of these forms and languages, `with_tools` of them beside tools."""
    often = Counter(languages)
    table = np.array(forms)
    centre, spread = table.mean(axis=0), np.maximum(table.std(axis=0), _LEAST_SPREAD)
    away = np.sqrt((((table - centre) / spread) ** 2).mean(axis=1))
    return Reach(
        tuple(sorted(name for name, n in often.items() if n >= _LEAST_TURNS and name != "other")),
        tuple(map(float, centre)),
        tuple(map(float, spread)),
        max(1.0, float(np.quantile(away, _WITHIN))),
        with_tools >= _LEAST_TURNS,
    )


_FORMAT = "dialogauge-local/2"
LOWEST, HIGHEST = 1.0, 5.0
_COLUMNS = ("centre", "spread", "low", "high", "weight")
"""What the file has of a signal, in the order of `ModeCoefficients`."""


class ModeCoefficients(Value):
    """A linear model of the satisfaction, 1..5, over the named features of one mode."""

    names: tuple[str, ...]
    centre: tuple[float, ...]
    spread: tuple[float, ...]
    low: tuple[float, ...]
    """Least and greatest value seen: beyond them a feature counts as at them, nothing is extrapolated."""
    high: tuple[float, ...]
    weights: tuple[float, ...]
    """Change of the score per deviation of the feature."""
    intercept: float
    ridge: float
    thresholds: tuple[float, ...]
    """Four ascending values of the prediction; with them whole scores are as frequent as people's were.

    They hold within the reach of the coefficients.
    """

    def predict(self, features: Sequence[float], *, by_form: bool = True) -> float:
        """Return the satisfaction of one turn, unrounded; without `by_form` the form takes no part."""
        total = self.intercept
        rows = zip(
            self.names, features, self.centre, self.spread, self.low, self.high, self.weights, strict=True
        )
        for name, value, centre, spread, low, high, weight in rows:
            if by_form or name not in FORM_FEATURES:
                seen = low if value < low else high if value > high else value
                total += weight * (seen - centre) / spread
        return total

    def score(self, prediction: float) -> int:
        """Return the whole-number score, 1..5, of a prediction."""
        return 1 + sum(prediction > threshold for threshold in self.thresholds)


class LocalCoefficients(Value):
    """The models of both modes and how they did on held-out users."""

    hindsight: ModeCoefficients
    foresight: ModeCoefficients
    reach: Reach
    """The turns for which the thresholds hold."""
    dimension: str = "satisfaction"
    turns: int = 0
    conversations: int = 0
    groups: int = 0
    measured: Mapping[str, Any] = field(default_factory=dict)
    """Out-of-fold figures with their controls, by mode."""
    spoken: Mapping[str, int] = field(default_factory=dict)
    """Fitted turns by language, most first; empty where they were not counted."""
    seen: tuple[str, ...] = ()
    """`words_digest` of the conversations fitted to, where they were kept."""

    def mode(self, mode: Mode) -> ModeCoefficients:
        """Return the model of one mode."""
        return self.hindsight if mode == "hindsight" else self.foresight

    def to_json(self) -> str:
        """Write as JSON text: names and numbers only."""
        value = {
            "format": _FORMAT,
            "dimension": self.dimension,
            "fitted_on": {
                "turns": self.turns,
                "conversations": self.conversations,
                "groups": self.groups,
                **({"languages": dict(self.spoken)} if self.spoken else {}),
                **({"seen": list(self.seen)} if self.seen else {}),
            },
            "measured": self.measured,
            "cuts_hold_for": _reach_json(self.reach),
            "hindsight": _mode_json(self.hindsight),
            "foresight": _mode_json(self.foresight),
        }
        return json.dumps(value, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, *, file: str = "coefficients") -> LocalCoefficients:
        """Read what `to_json` wrote; raises FileFault like `read_model`."""
        hint = "write the file with: dialogauge fit DATA -o MODEL.json"
        return read_model(text, _read, file=file, what="coefficients of the local judge", hint=hint)


Model = TypeVar("Model")


def read_model(text: str, read: Callable[[Any], Model], *, file: str, what: str, hint: str) -> Model:
    """Read the JSON text of a file that should hold `what`; `read` raises ValueError to refuse it.

    Raises:
        FileFault: It is no such file; says which key is missing or wrong.
    """
    try:
        return read(json.loads(text))
    except UsageError as error:
        raise FileFault(error.message, place=Place(file), hint=error.hint) from error
    except (ValueError, RecursionError) as error:
        why = "it is nested without end" if isinstance(error, RecursionError) else error
        msg = f"no {what}: {why}"
        raise FileFault(msg, place=Place(file), hint=hint) from error


class _StoredSignal(TypedDict):
    centre: float
    spread: float
    low: float
    high: float
    weight: float


class _StoredMode(TypedDict):
    intercept: float
    ridge: float
    thresholds: tuple[float, ...]
    signals: dict[str, _StoredSignal]


class _Spread(TypedDict):
    centre: float
    spread: float


class _StoredReach(TypedDict):
    languages: tuple[str, ...]
    distance: float
    tools: NotRequired[bool]
    form: dict[str, _Spread]


class _FittedToTurns(TypedDict):
    turns: int
    conversations: int
    groups: int
    languages: NotRequired[dict[str, int]]
    seen: NotRequired[tuple[str, ...]]


class CoefficientsFile(TypedDict):
    """What `LocalCoefficients.to_json` writes."""

    dimension: str
    fitted_on: _FittedToTurns
    measured: dict[str, Any]
    cuts_hold_for: _StoredReach
    hindsight: _StoredMode
    foresight: _StoredMode


def _read(value: Any) -> LocalCoefficients:  # noqa: ANN401 - any JSON value
    form = value.get("format") if isinstance(value, dict) else None
    if form != _FORMAT:
        hint = "fit it anew: dialogauge fit DATA -o MODEL.json"
        if str(form).startswith("dialogauge-ratings/"):
            hint = "it is a model of ratings: give it with --judge fitted --fitted-model"
        msg = f"the file does not have the format {_FORMAT!r}"
        raise UsageError(msg, hint=hint)
    stored = read_as(value, CoefficientsFile)
    fitted = stored["fitted_on"]
    return LocalCoefficients(
        _mode_from(stored["hindsight"], "hindsight"),
        _mode_from(stored["foresight"], "foresight"),
        _reach_from(stored["cuts_hold_for"]),
        stored["dimension"],
        fitted["turns"],
        fitted["conversations"],
        fitted["groups"],
        stored["measured"],
        fitted.get("languages", {}),
        fitted.get("seen", ()),
    )


def _mode_json(mode: ModeCoefficients) -> dict[str, Any]:
    columns = (mode.centre, mode.spread, mode.low, mode.high, mode.weights)
    signals = zip(mode.names, *columns, strict=True)
    return {
        "intercept": round(mode.intercept, 6),
        "ridge": mode.ridge,
        "thresholds": [round(t, 6) for t in mode.thresholds],
        "signals": {
            name: dict(zip(_COLUMNS, (round(v, 6) for v in values), strict=True)) for name, *values in signals
        },
    }


def _mode_from(value: _StoredMode, mode: Mode) -> ModeCoefficients:
    signals: Mapping[str, Mapping[str, float]] = value["signals"]  # type: ignore[assignment] # read by name
    centre, spread, low, high, weights = (tuple(s[c] for s in signals.values()) for c in _COLUMNS)
    _check_spread(spread)
    if tuple(signals) != feature_names(mode):
        msg = "the coefficients were fitted on other signals than this version reads"
        raise UsageError(msg, hint="fit them anew: dialogauge fit DATA -o MODEL.json")
    known = (value["intercept"], value["ridge"], value["thresholds"])
    return ModeCoefficients(tuple(signals), centre, spread, low, high, weights, *known)


def _reach_json(reach: Reach) -> dict[str, Any]:
    form = zip(FORM_FEATURES, reach.centre, reach.spread, strict=True)
    return {
        "languages": list(reach.languages),
        "distance": round(reach.distance, 6),
        "tools": reach.tools,
        "form": {name: {"centre": round(c, 6), "spread": round(s, 6)} for name, c, s in form},
    }


def _reach_from(value: _StoredReach) -> Reach:
    form = value["form"]
    if not set(FORM_FEATURES) <= form.keys():
        msg = f"cuts_hold_for.form lacks {min(set(FORM_FEATURES) - form.keys())}"
        raise ValueError(msg)
    centre = tuple(form[name]["centre"] for name in FORM_FEATURES)
    spread = tuple(form[name]["spread"] for name in FORM_FEATURES)
    _check_spread(spread)
    return Reach(value["languages"], centre, spread, value["distance"], value.get("tools", True))


def _check_spread(spread: Iterable[float]) -> None:
    if not all(s > 0 for s in spread):
        msg = "a spread is not above 0"
        raise ValueError(msg)


@cache
def load_coefficients() -> LocalCoefficients:
    """Return the coefficients that ship with the package."""
    file = resources.files("dialogauge.judges.local") / "coefficients.json"
    return LocalCoefficients.from_json(file.read_text(encoding="utf-8"), file=file.name)
