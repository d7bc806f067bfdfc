"""Judges that read nothing: what a figure is worth shows beside theirs, through the same calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dialogauge.bench.satisfaction.answers import Answer
from dialogauge.calibrate import ScoreHistory, half_up
from dialogauge.metrics import mid_ranks

__all__ = ["CEILING", "CONTROLS", "Control", "ceiling", "controls_of"]

CONTROLS: Final = {
    "constant": "always says the training users' rounded mean",
    "reply length": "the longer the better, by rank; scored as the training users did",
    "reply length, terciles": "3, 4 or 5 by the third of all replies that the length falls in",
    "turn position": "the later in the conversation the better, by rank",
    "shuffled": "the judge's own scores, dealt anew within each block",
    "user mean": "the rounded mean of the user's history",
}
"""The controls, and what each does."""
CEILING: Final = "the users' own scores through the same map"
_FALLBACK: Final = 4.0


@dataclass(frozen=True, slots=True)
class Control:
    """The raw scores of one control, one column for each deal."""

    name: str
    columns: tuple[tuple[float, ...], ...]


def controls_of(
    answers: Sequence[Answer],
    population: Sequence[float],
    means: dict[str, float],
    *,
    shuffles: int = 20,
    seed: int = 0,
) -> tuple[Control, ...]:
    """Return the raw scores that each control gives to the targets.

    Args:
        answers: The targets that the judge scored.
        population: The training users' scores.
        means: By block the mean of the user's history.
        shuffles: Deals of the shuffled control.
        seed: Of the deals.
    """
    level = float(half_up(sum(population) / len(population))) if population else _FALLBACK
    lengths = np.array([a.length for a in answers], dtype=np.float64)
    dealt = ScoreHistory.of(population) if population else ScoreHistory((1, 1, 1, 1, 1), 3.0, 5)
    columns = {
        "constant": ([level] * len(answers),),
        "reply length": (_ranked(lengths.tolist(), dealt),),
        "reply length, terciles": (_terciles(lengths.tolist()),),
        "turn position": (_ranked([a.position for a in answers], dealt),),
        "shuffled": _shuffled(answers, shuffles, seed),
        "user mean": ([float(half_up(means.get(a.block, level))) for a in answers],),
    }
    return tuple(Control(name, tuple(tuple(c) for c in columns[name])) for name in CONTROLS)


def ceiling(answers: Sequence[Answer]) -> Control:
    """Return the users' own scores as if a judge had given them: what no judge can exceed by much."""
    return Control("ceiling", (tuple(a.gold for a in answers),))


def _ranked(values: Sequence[float], dealt: ScoreHistory) -> list[float]:
    """Deal scores in the order of the values; equal values get equal scores, all others keep their order."""
    ranks = mid_ranks(list(values))
    return [dealt.smooth_quantile(float((r - 0.5) / len(values)), cut=False) for r in ranks]


def _terciles(lengths: Sequence[float]) -> list[float]:
    if not lengths:
        return []
    low, high = np.quantile(lengths, [1 / 3, 2 / 3])
    return [3.0 + (n > low) + (n > high) for n in lengths]


def _shuffled(answers: Sequence[Answer], shuffles: int, seed: int) -> tuple[list[float], ...]:
    rng = np.random.default_rng([seed, 1])
    blocks: dict[str, list[int]] = {}
    for index, answer in enumerate(answers):
        blocks.setdefault(answer.block, []).append(index)
    values = np.array([float(a.value or 0) for a in answers])
    out = []
    for _ in range(shuffles):
        column = values.copy()
        for indices in blocks.values():
            column[indices] = values[rng.permutation(indices)]
        out.append([float(v) for v in column])
    return tuple(out)
