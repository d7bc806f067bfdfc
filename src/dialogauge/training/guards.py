"""Guards of training on rewards: what is gamed stops the run, and is named.

Source: DynSess 2.2 of the specification saw policies babble to the cap; the seed (4.3) saw the automatic
score rise while people's fell.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

_STEPS: Final = 5
"""Steps whose mean a guard looks at."""
_ASKED: Final = 6
"""The last so many times that the second judge was asked."""
_T: Final = 2.776
"""Student's t at .975 with four degrees of freedom: of a line through six points."""

# From where a guard stops the run:
_CAP_SHARE: Final = 0.9
"""Mean length of a reply, as a share of the cap."""
_TRUNCATED: Final = 0.5
"""Share of replies that the cap cut off."""
_LENGTH_PAYS: Final = 0.8
"""Correlation of score and length within groups, where replies have grown."""
_GROWN: Final = 1.25
"""Length of replies by that of the first steps."""
_SECOND_FALL: Final = 0.25
"""Points that the second judge has fallen by."""


@dataclass(frozen=True, slots=True)
class RewardFigures:
    """What the sessions of a step came to."""

    step: int
    """From 1."""
    reward: float | None
    """Mean of what sessions were worth, costs taken off; None where every one failed."""
    length: float
    """Mean sampled tokens of a reply."""
    truncated: float
    """Share of replies that the cap cut off."""
    repeated: float = 0.0
    """Share of replies that repeat an earlier one."""
    length_pays: float | None = None
    """Correlation of the scores of sessions with their sampled tokens, within groups; None without spread."""
    failed: int = 0
    """Sessions without a score."""
    skipped: int = 0
    """Groups that are left out: without spread, or with too few scores."""
    dropped: int = 0
    """Sessions whose oldest turns did not fit."""
    second: float | None = None
    """Mean score of the second judge, in the steps in which it is asked."""


class RewardGuard:
    """Watches the steps of a run."""

    def __init__(self, cap: int) -> None:
        """Start with nothing seen; the cap is of the tokens of a reply."""
        self.cap = cap
        self._steps: list[RewardFigures] = []

    def observe(self, figures: RewardFigures) -> str | None:
        """Take a step, and say why the run has to stop; None where it goes on."""
        self._steps.append(figures)
        return self._length() or self._second_judge()

    def _length(self) -> str | None:
        last = self._steps[-_STEPS:]
        if len(last) < _STEPS:
            return None
        length = statistics.fmean(s.length for s in last)
        truncated = statistics.fmean(s.truncated for s in last)
        over = f"over the last {_STEPS} steps"
        if length >= _CAP_SHARE * self.cap:
            return f"replies fill the cap: {length:.1f} of {self.cap} tokens on average {over}"
        if truncated >= _TRUNCATED:
            return f"replies do not end: the cap of {self.cap} tokens cut {truncated:.0%} of them off {over}"
        pays = [s.length_pays for s in last if s.length_pays is not None]
        at_first = statistics.fmean(s.length for s in self._steps[:_STEPS])
        if pays and statistics.fmean(pays) >= _LENGTH_PAYS and length >= _GROWN * at_first:
            return (
                f"the reward pays for length: it goes with the tokens of a session by a correlation of "
                f"{statistics.fmean(pays):.2f} {over}, and replies grew from {at_first:.1f} to {length:.1f}"
            )
        return None

    def _second_judge(self) -> str | None:
        asked = [s for s in self._steps if s.second is not None and s.reward is not None][-_ASKED:]
        if len(asked) < _ASKED or self._steps[-1] is not asked[-1]:
            return None
        steps = [s.step for s in asked]
        rewards, seconds = [s.reward or 0.0 for s in asked], [s.second or 0.0 for s in asked]
        fell = seconds[0] - seconds[-1] >= _SECOND_FALL
        if fell and _slope(steps, rewards)[0] > 0 > _slope(steps, seconds)[1]:
            return (
                f"the second judge falls while the reward rises: since step {steps[0]} the reward went from "
                f"{rewards[0]:.2f} to {rewards[-1]:.2f}, the second judge from {seconds[0]:.2f} to "
                f"{seconds[-1]:.2f}"
            )
        return None


def _slope(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the slope of a least-squares line, each as long as `_ASKED`."""
    at, values = np.array(x, dtype=float), np.array(y, dtype=float)
    at -= at.mean()
    squares = float(at @ at)
    slope = float(at @ values) / squares
    rest = values - values.mean() - slope * at
    half = _T * float(np.sqrt(rest @ rest / (len(x) - 2) / squares))
    return slope - half, slope + half
