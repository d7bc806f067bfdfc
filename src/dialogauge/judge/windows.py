"""Windows over long conversations: where they lie, and how what they say becomes one.

The choices are argued in `docs/decisions/0002-windows.md`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from dialogauge.core.errors import UsageError
from dialogauge.core.scales import NOT_APPLICABLE, Scale, Score
from dialogauge.judge.parsed import ParsedPart, share
from dialogauge.prompts import Dimension, Rubric

__all__ = ["LARGEST", "SMALLEST", "merge_turn", "merge_whole", "plan_windows", "roll_up", "weakest_of"]

SMALLEST: Final = 4
LARGEST: Final = 6


def plan_windows(count: int, size: int = LARGEST) -> tuple[tuple[int, int], ...]:
    """Lay windows over `count` turns.

    Args:
        count: How many turns are judged.
        size: The longest window, 4 to 6 turns.

    Returns:
        Start (included) and stop (excluded) of each window, by position from 0. One window if all turns
        fit into it; otherwise as few as possible, evenly long, none shorter than 4, each sharing one or
        two turns with the next (three only where 5 turns are laid in windows of 4).
    """
    if not SMALLEST <= size <= LARGEST:
        msg = f"a window of {size} turns"
        raise UsageError(msg, hint=f"give {SMALLEST} to {LARGEST} turns")
    if count <= size:
        return ((0, count),)
    windows = math.ceil((count - 1) / (size - 1))
    total = max(count + windows - 1, SMALLEST * windows)
    sizes = _even(total, windows)
    overlaps = [*_even(total - count, windows - 1), 0]
    plan, start = [], 0
    for length, overlap in zip(sizes, overlaps, strict=True):
        plan.append((start, start + length))
        start += length - overlap
    return tuple(plan)


def _even(total: int, parts: int) -> list[int]:
    """Split a number into whole parts that differ by at most one, the larger first."""
    small, larger = divmod(total, parts)
    return [small + (i < larger) for i in range(parts)]


def merge_turn(parts: Sequence[ParsedPart]) -> tuple[ParsedPart, dict[str, float]]:
    """Merge what one or two windows say of the same turn.

    Returns the merged part (scores are means, so they need not be whole; a number goes before n/a) and
    by dimension the difference between the largest and the smallest score, where there were two.
    """
    first = parts[0]
    if len(parts) == 1:
        return first, {}
    scores: dict[str, Score] = {}
    differences: dict[str, float] = {}
    for name in first.scores:
        numbers = [v for p in parts if not isinstance(v := p.scores[name], str)]
        scores[name] = sum(numbers) / len(numbers) if numbers else NOT_APPLICABLE
        if len(numbers) > 1:
            differences[name] = max(numbers) - min(numbers)
    merged = replace(
        first,
        scores=scores,
        issues=tuple(dict.fromkeys(issue for p in parts for issue in p.issues)),
        quotes=tuple(dict.fromkeys(quote for p in parts for quote in p.quotes)),
    )
    return merged, differences


def roll_up(dimension: Dimension, scores: Sequence[Score], lengths: Sequence[int]) -> Score:
    """Make one score of the windows' scores, in the way that the rubric names for the dimension.

    n/a takes no part; if all are n/a, so is the whole. On a scale of whole numbers the result is rounded,
    halves towards the worse score.

    Args:
        dimension: What is scored.
        scores: One for each window, in order.
        lengths: How many turns each window has.
    """
    applicable = [(s, n) for s, n in zip(scores, lengths, strict=True) if not isinstance(s, str)]
    if not applicable:
        return NOT_APPLICABLE
    numbers = [s for s, _ in applicable]
    worst = min(numbers) if dimension.scale.higher_is_better else max(numbers)
    mean = sum(s * n for s, n in applicable) / sum(n for _, n in applicable)
    value = {
        "mean": mean,
        "minimum": worst,
        "pulled_mean": (mean + worst) / 2,
        "outcome": (numbers[-1] + worst) / 2,
    }[dimension.rollup]
    return _rounded(value, dimension.scale)


def _rounded(value: float, scale: Scale) -> float:
    if not scale.integer:
        return value
    # Sums of products are exact here only up to float noise: 3.5 must be a half on every machine.
    value = round(value, 9)
    return math.ceil(value - 0.5) if scale.higher_is_better else math.floor(value + 0.5)


def merge_whole(rubric: Rubric, parts: Sequence[ParsedPart], lengths: Sequence[int]) -> ParsedPart:
    """Roll up what the windows say of the conversation.

    Lists of items are joined, of an item that is named twice the later says how it stands, and their
    share is computed anew; labels are those of the last window.
    """
    level = rubric.level
    scores: dict[str, Score] = {
        d.name: roll_up(d, [p.scores[d.name] for p in parts], lengths) for d in rubric.asked(level)
    }
    items = {
        x.name: tuple(dict(entry for p in parts for entry in p.items[x.name]).items())
        for x in rubric.items
        if x.level == level
    }
    scores |= {x.dimension: share(x, items[x.name]) for x in rubric.items if x.level == level}
    return ParsedPart(scores, labels=parts[-1].labels, items=items)


def weakest_of(named: Sequence[int | None], turns: Mapping[int, Mapping[str, Score]]) -> int | None:
    """Choose among the weakest turns that the windows named: the one with the lowest scores.

    Compared by their lowest score, then by the mean, then the earlier turn; None if no window named one.
    """
    candidates = sorted({n for n in named if n is not None})
    return min(candidates, key=lambda n: (*_standing(turns.get(n, {})), n), default=None)


def _standing(scores: Mapping[str, Score]) -> tuple[float, float]:
    numbers = [v for v in scores.values() if not isinstance(v, str)]
    return (min(numbers), sum(numbers) / len(numbers)) if numbers else (math.inf, math.inf)
