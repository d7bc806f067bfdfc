"""The board: what one evaluator gave every candidate on every item, as arrays of candidates by items.

It is read off the table of rows. Every figure of a benchmark is an expression over a board: of another view,
of constant candidates, of what length alone says, or of the candidates that are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from dialogauge.core import ONE_TO_FIVE, Scale
from dialogauge.stats import CalibrationName, CalibrationRun, Floats, RawScore, ScoreHistory, Ties, calibrate
from dialogauge.studies.replay.items import ORIGINAL, ReplayItem

Mask = npt.NDArray[np.bool_]

View = Literal["raw", "mean-shift", "reference-cdf"]
VIEWS: Final[tuple[View, ...]] = get_args(View)
"""`raw`: as the evaluator says. `mean-shift`: moved by what brings the block's original replies to the mean
of the user's history. `reference-cdf`: the rank among the block's original replies, as a score of the
history; the published score."""
_METHODS: Final[Mapping[View, CalibrationName]] = {
    "mean-shift": "reference-mean-shift",
    "reference-cdf": "reference-cdf",
}

EvaluatorKind = Literal["user", "rubric", "pair"]
"""Who scores: a judge of one user's satisfaction, a rubric, or a rubric that compares with the original."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What scores are on, and what they go together by."""

    scale: Scale = ONE_TO_FIVE
    unit: str = "users"
    """What a cluster is: users, or conversations where no user is known."""

    @property
    def levels(self) -> tuple[int, ...]:
        """The whole scores, the lowest first; none on a scale of fractions."""
        low, high = self.scale.low, self.scale.high
        return tuple(range(int(low), int(high) + 1)) if self.scale.integer else ()

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the scale."""
        return self.scale.low, self.scale.high

    @property
    def width(self) -> float:
        """How far two scores can lie apart."""
        return self.scale.high - self.scale.low

    def better(self, a: Floats, b: Floats) -> Floats:
        """Return how much better the first are, be they higher or lower."""
        return a - b if self.scale.higher_is_better else b - a


@dataclass(frozen=True, slots=True, eq=False)
class OriginalReplies:
    """The original replies of the touched blocks, all of them, be they items or not; arrays of shape (k,)."""

    scores: tuple[RawScore, ...]
    """Of those that have a score, by the ids of their turns."""
    lengths: Mapping[str, float]
    """Characters of every one that the evaluator was asked about."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """What was said to one item."""

    title: str
    """The item's id as it is shown."""
    request: str
    replies: dict[str, str]
    """By candidate, the original reply first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Board:
    """What one evaluator gave candidates, on one dimension; arrays of shape (candidates, items)."""

    items: tuple[ReplayItem, ...]
    """Those that are in the data."""
    names: tuple[str, ...]
    """The original replies, candidates, and planted candidates: one row each."""
    whole: Floats
    """Whole scores, on a scale of fractions the values; NaN where there is none."""
    value: Floats
    """The same with fractions."""
    skipped: Mask | None = None
    """Where the dimension does not apply: there is no score then, and no failure. None for nowhere."""
    lengths: Floats | None = None
    """Characters of the replies that the evaluator was asked about; NaN of others. None where nobody asks."""
    on: Ground = Ground()
    by: EvaluatorKind = "user"
    reference: OriginalReplies = OriginalReplies((), {})
    histories: Mapping[str, ScoreHistory] = field(default_factory=dict)
    """By block what its user rated in other scenarios."""
    ties: Ties = "mid"
    planted: tuple[str, ...] = ()
    """Candidates that test the evaluator, and take no part in the leaderboard."""
    about: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """By candidate what it is."""
    missing: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By candidate and item why there is no score."""
    cut_short: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By candidate the items whose replies ended early; nothing of one of which this is not known."""
    shown: Mapping[str, ShownItem] = field(default_factory=dict)
    """By item: some of them with every candidate's reply."""
    view: View = "raw"
    raw: Board | None = None
    """What it is a view of."""

    @property
    def candidates(self) -> tuple[str, ...]:
        """Those of the leaderboard but for the original replies."""
        return tuple(name for name in self.names if name != ORIGINAL and name not in self.planted)

    @property
    def leaderboard(self) -> Board:
        """The original replies and the candidates, without what was planted."""
        return self.take([name for name in self.names if name not in self.planted])

    @property
    def idle(self) -> bool:
        """Whether the dimension applies to no original reply."""
        if self.reference.scores or self.skipped is None:
            return False
        return bool(self.skipped[self.at(ORIGINAL)].any())

    def failures(self) -> dict[str, dict[str, int]]:
        """Count why items have no score, by candidate (the original replies are one) and kind."""
        kinds = {name: Counter(self.missing.get(name, {}).values()) for name in self.names}
        return {n: dict(counts.most_common()) for n, counts in kinds.items() if n not in self.planted}

    # Rows ------------------------------------------------------------------------------------------------

    def at(self, name: str) -> int:
        """Return the row of a candidate."""
        return self.names.index(name)

    def take(self, names: Sequence[str]) -> Board:
        """Return some candidates."""
        rows = [self.at(name) for name in names]
        return replace(
            self,
            names=tuple(names),
            whole=self.whole[rows],
            value=self.value[rows],
            skipped=None if self.skipped is None else self.skipped[rows],
            lengths=None if self.lengths is None else self.lengths[rows],
            raw=None if self.raw is None else self.raw.take(names),
        )

    def with_scores(self, names: Sequence[str], scores: Floats) -> Board:
        """Return the same items with other candidates, or other scores, of shape (names, items)."""
        return replace(self, names=tuple(names), whole=scores, value=scores, skipped=None, lengths=None)

    def applicable(self) -> Board:
        """Return the items to which the dimension applies for all of the candidates."""
        if self.skipped is None:
            return self
        kept = ~np.logical_or.reduce(self.skipped, axis=0)
        items = tuple(item for item, there in zip(self.items, kept, strict=True) if there)
        return replace(
            self,
            items=items,
            whole=self.whole[:, kept],
            value=self.value[:, kept],
            skipped=None,
            lengths=None,
            raw=None,
        )

    def groups(self, of: str) -> list[str]:
        """Return of every item its `user`, `scenario` or `block`."""
        return [str(getattr(item, of)) for item in self.items]

    # Views -----------------------------------------------------------------------------------------------

    @property
    def views(self) -> tuple[View, ...]:
        """Those that there are: of a rubric's scores the raw one alone."""
        return VIEWS if self.by == "user" else ("raw",)

    def viewed_as(self, view: View) -> Board:
        """Return a view of raw scores; each candidate is calibrated by itself."""
        if view == "raw":
            return self
        whole, value = np.full(self.whole.shape, np.nan), np.full(self.whole.shape, np.nan)
        places = np.argwhere(~np.isnan(self.whole)).tolist()
        raw = [
            RawScore(
                self.items[i].id, float(self.value[n, i]), self.items[i].position, self.items[i].block, str(n)
            )
            for n, i in places
        ]
        for (n, i), score in zip(places, self._calibrated(view, raw).scores, strict=True):
            whole[n, i], value[n, i] = score.rounded, score.value
        return replace(self, whole=whole, value=value, view=view, raw=self)

    def left_as_they_are(self, view: View) -> dict[str, int]:
        """Return how many touched blocks a view leaves as they are, by reason."""
        if view == "raw":
            return {}
        probes = [RawScore("", 3.0, 0, block, "") for block in dict.fromkeys(self.groups("block"))]
        return dict(self._calibrated(view, probes).identity)

    def _calibrated(self, view: View, scores: Sequence[RawScore]) -> CalibrationRun:
        reference = self.reference.scores
        return calibrate(scores, self.histories, _METHODS[view], ties=self.ties, reference=reference)

    def shared(self, names: Sequence[str]) -> Board:
        """Return some candidates, fit to be compared on the items that all of them have a score for.

        Where a view ranks a candidate's scores among each other, one that failed has other ranks for all of
        its replies: on the shared items they are ranked anew, as if there were no others.
        """
        some = self.take(names)
        known = ~np.isnan(some.whole)
        common = np.logical_and.reduce(known, axis=0)
        uneven = np.logical_or.reduce(known, axis=0) & ~common
        if some.view != "reference-cdf" or some.raw is None or not uneven.any():
            return some
        # Scores are ranked block by block: where nobody's is missing, or everybody's, ranks stay.
        blocks = some.groups("block")
        touched = {block for block, differs in zip(blocks, uneven, strict=True) if differs}
        moved = common & np.array([block in touched for block in blocks])
        only = replace(some.raw, whole=np.where(moved, some.raw.whole, np.nan)).viewed_as(some.view)
        whole, value = (
            np.where(moved, a, b) for a, b in ((only.whole, some.whole), (only.value, some.value))
        )
        return replace(some, whole=whole, value=value)
