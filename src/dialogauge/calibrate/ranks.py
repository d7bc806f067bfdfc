"""Where a score stands among others: its rank as a quantile, and what becomes of equal scores."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Literal

from dialogauge.calibrate.scores import RawScore

__all__ = ["TIES", "Ties", "quantiles"]

Ties = Literal["mid", "turn-index", "sample-id"]
TIES: tuple[Ties, ...] = ("mid", "turn-index", "sample-id")
"""`mid`: equal raw scores stay equal. The others order them, and so let a judge that always says the same
profit from when a turn comes (`turn-index`, the order of the published block calibration) or from how it is
called (`sample-id`, the order of the published reference calibration)."""

_ORDER: dict[Ties, Callable[[RawScore, int], tuple[float, int | str, int]]] = {
    "turn-index": lambda score, kind: (score.value, score.turn, kind),
    "sample-id": lambda score, kind: (score.value, score.id, kind),
}


def quantiles(
    scores: Sequence[RawScore], ties: Ties, reference: Sequence[RawScore] = ()
) -> tuple[float, ...]:
    """Return the quantile of each score among all of them and the reference, each in (0, 1).

    With `mid`: (number below + half the number of equals, itself among them) / n. Otherwise
    (0-based rank + 1/2) / n in the order of raw score and tie-breaker; a reference comes before an equal
    target, and what is equal in everything stays in the order given.
    """
    n = len(scores) + len(reference)
    if ties == "mid":
        ordered = sorted(s.value for s in (*reference, *scores))
        return tuple((bisect_left(ordered, s.value) + bisect_right(ordered, s.value)) / 2 / n for s in scores)
    key = _ORDER[ties]
    pool = [(r, 0, -1) for r in reference] + [(s, 1, i) for i, s in enumerate(scores)]
    pool.sort(key=lambda item: key(item[0], item[1]))
    out = [0.0] * len(scores)
    for rank, (_, _, index) in enumerate(pool):
        if index >= 0:
            out[index] = (rank + 0.5) / n
    return tuple(out)
