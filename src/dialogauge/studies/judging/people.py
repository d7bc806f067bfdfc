"""What people said of the targets of a run, and whether the judge agrees with them: records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from dialogauge.core import Level, Scale
from dialogauge.core.shape import read_as
from dialogauge.core.values import Value
from dialogauge.runs import StoredRun
from dialogauge.stats import Estimate

Agreement = Literal["agrees", "which users", "which conversations", "does not", "cannot tell"]
"""`which users`: the judge tells which users are dissatisfied, and not with which of their turns."""
Grouping = Literal["users", "conversations"]
Weights = Literal["none", "used", "not of all"]
"""Whether ratings say how many targets they stand for; where some do not, none is used."""
Raters = Literal["users", "people", "environment"]
"""Who rated: the conversations' own users; others, or nobody knows; what the agent acted on."""


_NAMES: Final = 5


class PeopleFigure(Value):
    """What people said in one dimension at one level; no two of these are ever added."""

    dimension: str
    level: Level
    what: str
    """The dimension in words: `satisfaction`, `reward`."""
    scale: Scale | None
    """That the numbers are on; None of names."""
    raters: Raters
    n: int
    """Rated targets."""
    rated_conversations: int
    users: int | None
    """Who had these conversations; None where the user of some is not known."""
    mean: Estimate
    """Over targets, of the mean of a target's raters; undefined of names."""
    dissatisfied: Estimate | None
    """Share of targets, 0 to 1; None where no rule says what dissatisfied is."""
    rule: str = ""
    """What counts as dissatisfied, in words: `3 or less`."""
    ratings: int = 0
    """All of them, those of several raters of one target one by one."""
    apart: float | None = None
    """Mean over targets with several raters of the highest less the lowest; None without any."""
    cut: str = ""
    """The same as `--dissatisfied` takes it: `<=3`."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Of names: how often each was said."""
    weights: Weights = "none"
    """Whether mean and share are weighted by the chance of being chosen."""

    @property
    def commonest(self) -> tuple[tuple[str, int], ...]:
        """The names that were said most often, and how often the others were together."""
        first = tuple(sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_NAMES])
        others = self.n - sum(n for _, n in first)
        return (*first, ("(others)", others)) if others else first


class Within(Value):
    """How the judge ranks targets of one user, or turns of one conversation: who the user is says nothing."""

    of: Grouping
    judge: Estimate
    control: str
    """The control that the judge comes least far above here, in words; empty where none ranks anything."""
    difference: Estimate
    controls: Mapping[str, Estimate] = field(default_factory=dict)


class Light(Value):
    """Whether the judge agrees with people, and why that is said."""

    answer: Agreement
    sentence: str
    """Why, in plain words, with the figures."""
    dimension: str
    level: Level
    """Whose ratings it stands on."""
    judged_by: str
    """Which figure of the judge is compared, in words."""
    measure: str
    judge: Estimate
    control: str
    """The control that the judge comes least far above, in words."""
    difference: Estimate
    """The judge's figure less that control's, paired."""
    controls: Mapping[str, Estimate] = field(default_factory=dict)
    """The figure of every control."""
    within: tuple[Within, ...] = ()
    """The same within users and within conversations, where most targets have others beside them there."""
    looked_at: int = 0
    """Rated targets of conversations with a look at which the judge's signals were chosen."""


class Rectified(Value):
    """People's mean over all targets, of which they rated some and the judge scored all."""

    dimension: str
    level: Level
    targets: int
    """That the judge scored."""
    judge: Estimate
    """Mean of the judge's scores over all targets."""
    rated_only: Estimate
    """Mean of people's ratings over the rated targets."""
    rectified: Estimate
    """Of people's mean over all targets, made of both: a statement about people."""
    fitted: int = 0
    """Rated targets that the judge was fitted to: they do not say how far to use it."""
    weights: Weights = "none"
    """Whether people's ratings are weighted by the chance of being chosen."""

    @property
    def judge_is_used(self) -> bool:
        """Whether it was not fitted to all that are rated."""
        return self.fitted < self.rated_only.n


class People(Value):
    """What people said, and the judge beside it."""

    figures: tuple[PeopleFigure, ...]
    """By level and dimension, the one that the light stands on first."""
    light: Light
    rectified: tuple[Rectified, ...] = ()

    def over_all(self, figure: PeopleFigure) -> Rectified | None:
        """Return what belongs to a figure of which many targets are not rated; else None."""
        return next(
            (r for r in self.rectified if (r.dimension, r.level) == (figure.dimension, figure.level)), None
        )

    def main(self, level: Level) -> PeopleFigure | None:
        """Return the figure of a level that comes first of those that say who was dissatisfied."""
        return next((f for f in self.figures if f.level == level and f.cut), None)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> People:
        """Read what `to_json` wrote; ValueError for anything else."""
        return read_as(value, cls)


def stored_people(run: StoredRun) -> People | None:
    """Return what stands in the summary of a run, masked as the run is; None where nobody rated it.

    Raises:
        StoreError: The summary is not what a run writes.
    """
    mask = run.mask
    return run.part("people", lambda value: People.from_json(value if mask is None else mask.value(value)))
