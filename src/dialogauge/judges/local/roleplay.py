"""How a character is played, by signs that anybody can count: four dimensions, each a weighted sum.

`python -m benchmarks.roleplay fit` fits the weights to people's ratings. `roleplay.json` holds names of signs
and numbers. The usual reply among the rated ones has a 3, and a point is a standard deviation of people's
ratings. So the scores order sessions, and say nothing of their level.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from dialogauge.core import Evidence, JudgeFailure, Judgement, NotApplicable, Score, digest
from dialogauge.core.shape import read_as
from dialogauge.signals import Dialogue, find_signals

ROLEPLAY_DIMENSIONS: Final = (
    "interactive_ability",
    "human_likeness",
    "role_consistency",
    "contextual_coherence",
)
_USUAL: Final = 3.0
_FAR: Final = 3.0
"""Spreads beyond which a sign counts as at them."""
_LISTED: Final = 3
"""Signs of a dimension that are listed: those that move its score most."""


@dataclass(frozen=True, slots=True)
class RoleplayWeights:
    """What `roleplay.json` holds."""

    centre: Mapping[str, float]
    """By sign: the mean of the replies fitted to."""
    spread: Mapping[str, float]
    """By sign: the standard deviation."""
    weights: Mapping[str, Mapping[str, float]]
    """By dimension and sign: change of the score per spread."""
    fitted_on: Mapping[str, Any]
    """Counts of what was fitted to, and the dimensions that people rated."""
    measured: Mapping[str, Mapping[str, Any]]
    """By dimension: Pearson with people on characters left out, and the controls that it is not above."""

    def describe(self) -> dict[str, Any]:
        """Return what the manifest says of the weights."""
        weak = [n for n, of in self.measured.items() if of["not_above"]]
        named = ", ".join(weak)
        notes = [f"On people's ratings these are not above every control: {named}."] if weak else []
        notes.append("The weights are of English replies; in Chinese they were not compared with people.")
        weights = digest({"weights": self.weights, "centre": self.centre, "spread": self.spread})
        return {"fitted_on": self.fitted_on, "weights": weights, "checked_languages": [], "notes": notes}

    def effects(self, signs: Mapping[str, float]) -> dict[str, dict[str, float]]:
        """Return by dimension and sign by how many points the sign moves the score."""
        away = {n: (value - self.centre[n]) / self.spread[n] for n, value in signs.items()}
        near = {name: max(-_FAR, min(_FAR, z)) for name, z in away.items()}
        return {
            dimension: {name: weight * near[name] for name, weight in weights.items()}
            for dimension, weights in self.weights.items()
        }


@cache
def load_roleplay() -> RoleplayWeights:
    """Return the weights that ship with the package."""
    file = resources.files(__package__) / "roleplay.json"
    return read_as(json.loads(file.read_text(encoding="utf-8")), RoleplayWeights)


def judge_roleplay(dialogue: Dialogue, turns: Sequence[int]) -> Judgement | JudgeFailure:
    """Judge the replies of these turns together; what stands before them is their history.

    The scores are 1 to 5. Of the findings the named ones are quoted; the signs are in the details.
    """
    from dialogauge.signals import read_roleplay  # many patterns, for this rubric alone

    signals = [s for s in find_signals(dialogue, "foresight") if s.turn in turns]
    signs = read_roleplay(dialogue, signals, turns)
    if signs is None:
        return JudgeFailure("no_reply", "There is no reply of the character to judge.")
    scores: dict[str, Score | NotApplicable] = {}
    most: dict[str, dict[str, float]] = {}
    for dimension, effects in load_roleplay().effects(signs).items():
        scores[dimension] = Score(round(max(1.0, min(5.0, _USUAL + sum(effects.values()))), 3))
        first = sorted(effects.items(), key=lambda of: (-abs(of[1]), of[0]))[:_LISTED]
        most[dimension] = {name: round(effect, 3) for name, effect in first if round(effect, 3)}
    named = [s for s in signals if s.named]
    return Judgement(
        scores=scores,
        issues=tuple(dict.fromkeys(s.note for s in named)),
        evidence=tuple(Evidence(s.quote_turn or s.turn, s.quote, s.name, "signal") for s in named),
        details={
            "language": dialogue.language,
            "replies": len([t for t in dialogue.replied if t.number in turns]),
            "signs": most,
            "signals": [
                {"name": s.name, "strength": round(s.strength, 2), "turn": s.turn, "note": s.note}
                for s in named
            ],
        },
    )
