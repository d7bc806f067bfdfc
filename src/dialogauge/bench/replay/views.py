"""The three views of a score: raw, shifted, and by its rank among the scores of the original replies.

Source: PersTurnBench, section 5.1 and appendix D.1 (the reference block).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, get_args

import numpy as np

from dialogauge.bench.replay.items import ReplayItem
from dialogauge.bench.replay.table import ORIGINAL, ScoreTable
from dialogauge.calibrate import CalibrationName, RawScore, ScoreHistory, Ties, calibrate

__all__ = ["VIEWS", "Given", "View", "Viewer"]

View = Literal["raw", "mean-shift", "reference-cdf"]
VIEWS: Final[tuple[View, ...]] = get_args(View)
"""`raw`: as the evaluator says. `mean-shift`: moved by what brings the block's original replies to the mean
of the user's history. `reference-cdf`: the rank among the block's original replies, as a score of the
history; the published score."""

_METHODS: Final[Mapping[View, CalibrationName]] = {
    "mean-shift": "reference-mean-shift",
    "reference-cdf": "reference-cdf",
}


@dataclass(frozen=True, slots=True)
class Given:
    """What an evaluator, or a control, gave one reply."""

    id: str
    block: str
    position: int
    whole: int
    value: float


@dataclass(frozen=True, slots=True)
class Viewer:
    """Shows raw scores in each view."""

    items: tuple[ReplayItem, ...]
    reference: Sequence[Given]
    """The original replies of the touched blocks, all of them."""
    histories: Mapping[str, ScoreHistory]
    """By block."""
    ties: Ties = "mid"

    def tables(
        self, columns: Mapping[str, Mapping[str, Given]], *, original: bool = True
    ) -> dict[View, ScoreTable]:
        """Return a table of each view.

        Args:
            columns: By candidate and item; an item without a score is left out.
            original: Whether the original replies are shown as one more candidate, through the same map.
        """
        wanted = {i.id for i in self.items}
        own = {ORIGINAL: {g.id: g for g in self.reference if g.id in wanted}} if original else {}
        every = {**own, **columns}
        return {view: self._table(view, every) for view in VIEWS}

    def left_as_they_are(self, view: View) -> dict[str, int]:
        """Return how many touched blocks a view leaves as they are, by reason."""
        if view == "raw":
            return {}
        blocks = dict.fromkeys(i.block for i in self.items)
        probes = [RawScore("", 3.0, 0, block, "") for block in blocks]
        run = calibrate(
            probes, self.histories, _METHODS[view], ties=self.ties, reference=self._raw_reference()
        )
        return dict(run.identity)

    def _table(self, view: View, columns: Mapping[str, Mapping[str, Given]]) -> ScoreTable:
        shape = (len(columns), len(self.items))
        whole, value = np.full(shape, np.nan), np.full(shape, np.nan)
        for row, held in enumerate(columns.values()):
            places = [i for i, item in enumerate(self.items) if item.id in held]
            given = [held[self.items[i].id] for i in places]
            shown = self._shown(view, given)
            for place, (score, fraction) in zip(places, shown, strict=True):
                whole[row, place], value[row, place] = score, fraction
        again = partial(self._again, view, columns) if view == "reference-cdf" else None
        return ScoreTable(self.items, tuple(columns), whole, value, again)

    def _again(
        self,
        view: View,
        columns: Mapping[str, Mapping[str, Given]],
        names: Sequence[str],
        items: Collection[str],
    ) -> ScoreTable:
        return self._table(view, {name: {i: columns[name][i] for i in items} for name in names})

    def _shown(self, view: View, given: Sequence[Given]) -> list[tuple[float, float]]:
        if view == "raw":
            return [(float(g.whole), g.value) for g in given]
        scores = [RawScore(g.id, g.value, g.position, g.block) for g in given]
        run = calibrate(
            scores, self.histories, _METHODS[view], ties=self.ties, reference=self._raw_reference()
        )
        return [(float(c.rounded), c.value) for c in run.scores]

    def _raw_reference(self) -> list[RawScore]:
        return [RawScore(g.id, g.value, g.position, g.block) for g in self.reference]
