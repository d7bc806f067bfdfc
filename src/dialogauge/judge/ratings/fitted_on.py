"""What a model of ratings was fitted to, and how well it did on what was left out: it goes with the model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["FittedOn"]


@dataclass(frozen=True, slots=True)
class FittedOn:
    """Counts and left-out figures of a fit; no text."""

    examples: int
    """Rated places."""
    conversations: int
    users: int
    """Conversations count as users where no user is known."""
    votes: int
    whole: int
    """Ratings of conversations as a whole among the places."""
    languages: tuple[str, ...] = ()
    """Languages of at least 50 places."""
    folds: int = 0
    """Parts of whole users or conversations that were left out in turn; 0 when nothing was measured."""
    figures: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """Of the left-out places: by `model` and control the `uar`, `kappa` and `f1_below3`."""
    spoken: Mapping[str, int] = field(default_factory=dict)
    """Places by language, most first; empty where they were not counted."""
    seen: tuple[str, ...] = ()
    """`words_digest` of the conversations, where they were kept."""

    def to_json(self) -> dict[str, Any]:
        """Write as plain JSON values."""
        late = {"spoken", "seen"}  # a model that is older keeps its digest
        return {name: value for name, value in asdict(self).items() if value or name not in late}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> FittedOn:
        """Read what `to_json` wrote; KeyError, TypeError or ValueError when it is something else."""
        counts = {name: int(value[name]) for name in ("examples", "conversations", "users", "votes", "whole")}
        figures = {
            str(name): {str(k): None if v is None else float(v) for k, v in found.items()}
            for name, found in value["figures"].items()
        }
        if not all(v is None or math.isfinite(v) for found in figures.values() for v in found.values()):
            msg = "a left-out figure is no number"
            raise ValueError(msg)
        languages = tuple(str(code) for code in value["languages"])
        spoken = {str(code): int(n) for code, n in value.get("spoken", {}).items()}
        seen = tuple(str(one) for one in value.get("seen", ()))
        folds = int(value["folds"])
        return cls(**counts, languages=languages, folds=folds, figures=figures, spoken=spoken, seen=seen)

    def sentences(self, dimension: str) -> tuple[str, ...]:
        """Say it to the reader of the scores."""
        named = " and ".join(self.languages)
        if len(self.spoken) > 1:
            named = ", ".join(f"{code} {n:,}" for code, n in self.spoken.items())
        languages = f", {named}" if named else ""
        fitted = (
            f"Fitted to {self.examples:,} rated places ({dimension}, {self.votes:,} votes{languages}) of "
            f"{self.conversations:,} conversations, {self.users:,} users or conversations without one."
        )
        if "model" not in self.figures:
            return (fitted,)
        told = "; ".join(f"{name}: {_figures(found)}" for name, found in self.figures.items())
        left_out = (
            f"On those left out, {self.folds} parts of whole users or conversations: {told}. This holds for "
            "logs like that one; hold them against ratings elsewhere (dialogauge meta RUN --ratings FILE)."
        )
        return (fitted, left_out)


def _figures(found: Mapping[str, float | None]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {'undefined' if value is None else format(value, '.3f')}"
        for name, value in found.items()
    )
