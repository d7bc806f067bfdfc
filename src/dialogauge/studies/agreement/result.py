"""What `meta` finds, as frozen records that say what they stand on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dialogauge.stats import BootstrapInterval
from dialogauge.studies.agreement.targets import DimensionPair, TargetCounts
from dialogauge.text import counted


@dataclass(frozen=True, slots=True)
class MetaSettings:
    """How figures are made sure of."""

    draws: int = 1000
    """Bootstrap draws."""
    shuffles: int = 20
    """Shuffled judges, of which the control is the mean."""
    seed: int = 0
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with intervals of a bootstrap that draws whole conversations, and whole users."""

    value: float | None
    by_conversation: BootstrapInterval
    by_user: BootstrapInterval | None
    """None where some target has no user, or there is only one."""

    def to_json(self) -> dict[str, Any]:
        """Write the figure."""
        return {
            "value": self.value,
            "by_conversation": asdict(self.by_conversation),
            "by_user": None if self.by_user is None else asdict(self.by_user),
        }


@dataclass(frozen=True, slots=True)
class Control:
    """One control beside a judge."""

    name: str
    description: str
    figures: Mapping[str, Estimate]
    gains: Mapping[str, Estimate]
    """By measure how much better than the control the judge is, from the same draws; above 0 is better."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The targets to which a judge gave one (rounded) score."""

    score: float
    n: int
    people_mean: float | None
    people: Mapping[float, int]
    """How often people gave each (rounded) score."""


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """One run, one pair of dimensions."""

    name: str
    run: str
    judge: str
    mode: str
    pair: DimensionPair
    counts: TargetCounts
    conversations: int
    users: int | None
    """None where some target has no user."""
    languages: Mapping[str, int]
    fractions: bool
    """Whether the judge's fractions were used where order and distance count."""
    rule: str | None
    """What counts as dissatisfied."""
    dissatisfied: int | None
    same_scale: bool
    figures: Mapping[str, Estimate]
    controls: tuple[Control, ...]
    bins: tuple[Bin, ...]
    fitted_to: int | None = None
    """Rated conversations whose very words the judge was fitted to; None for a judge that does not say."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before the figures."""
        if not self.fitted_to:
            return ()
        return (
            f"The judge was fitted to {counted(self.fitted_to, 'rated conversation')} of this run: "
            "its figures here tend to be better than on conversations it has not seen. Look at its left-out "
            "figures in place of them, or hold it against other ratings.",
        )

    def above(self, measure: str, *, user: bool = False) -> dict[str, bool | None]:
        """Say by control whether the judge is above it by an interval; None where that is undefined."""
        out: dict[str, bool | None] = {}
        for control in self.controls:
            gain = control.gains.get(measure)
            held = None if gain is None else gain.by_user if user else gain.by_conversation
            out[control.name] = None if held is None or held.low is None else held.low > 0
        return out

    def to_json(self) -> dict[str, Any]:
        """Write the agreement with its controls."""
        return {
            "name": self.name,
            "run": self.run,
            "judge": self.judge,
            "mode": self.mode,
            "dimension": self.pair.judge,
            "rated": self.pair.rated,
            "counts": asdict(self.counts),
            "conversations": self.conversations,
            "users": self.users,
            "languages": dict(self.languages),
            "fitted_to": self.fitted_to,
            "fractions": self.fractions,
            "dissatisfied_if": self.rule,
            "dissatisfied": self.dissatisfied,
            "same_scale": self.same_scale,
            "figures": {k: e.to_json() for k, e in self.figures.items()},
            "controls": [
                {
                    "name": c.name,
                    "description": c.description,
                    "figures": {k: e.to_json() for k, e in c.figures.items()},
                    "judge_better_by": {k: e.to_json() for k, e in c.gains.items()},
                }
                for c in self.controls
            ],
            "bins": [
                {"score": b.score, "n": b.n, "people_mean": b.people_mean, "people": _keys(b.people)}
                for b in self.bins
            ],
        }


def _keys(counts: Mapping[float, int]) -> dict[str, int]:
    return {f"{score:g}": n for score, n in counts.items()}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two judges on the targets that both scored."""

    a: str
    b: str
    pair: DimensionPair
    measure: str
    n: int
    conversations: int
    figure_a: float | None
    figure_b: float | None
    difference: Estimate
    """How much better a is than b; above 0 is better."""
    p: float | None
    p_holm: float | None
    """Adjusted over all comparisons of the same measure."""
    words: str

    def to_json(self) -> dict[str, Any]:
        """Write the comparison."""
        out = {f: getattr(self, f) for f in ("a", "b", "measure", "n", "conversations")}
        out |= {"rated": self.pair.rated, "figure_a": self.figure_a, "figure_b": self.figure_b}
        out |= {"a_better_by": self.difference.to_json(), "p": self.p, "p_holm": self.p_holm}
        return {**out, "words": self.words}


@dataclass(frozen=True, slots=True)
class MetaResult:
    """All that `meta` found."""

    judges: tuple[JudgeAgreement, ...]
    comparisons: tuple[Comparison, ...]
    settings: MetaSettings

    def to_json(self) -> dict[str, Any]:
        """Write everything as plain JSON values; what is undefined is null."""
        return {
            "settings": asdict(self.settings),
            "judges": [j.to_json() for j in self.judges],
            "comparisons": [c.to_json() for c in self.comparisons],
        }
