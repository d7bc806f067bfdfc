"""What every coefficient of agreement costs, drawn 1,000 times: `python -m benchmarks raters`.

100,000 ratings: 10,000 targets by 10 raters, each target its own cluster; whole, with holes, and with a
judge of fractions among the raters. Beside it the intervals, and the products of matrices without which there
is no table of each pair of raters for each draw.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.tables import table
from dialogauge.stats import COEFFICIENTS, Categories, RatingGrid, coefficient_draws, coefficients_of

__all__ = ["run"]

_RATERS, _CATEGORIES = 10, 5


def grid(rng: np.random.Generator, targets: int) -> RatingGrid:
    """Draw ratings of 1 to 5, a point around what the target deserves."""
    deserved = rng.integers(1, _CATEGORIES + 1, (targets, 1))
    values = np.clip(deserved + rng.integers(-1, 2, (targets, _RATERS)), 1, _CATEGORIES).astype(float)
    names = tuple(range(targets))
    raters = tuple(f"rater {number}" for number in range(_RATERS))
    return RatingGrid(values, names, raters, Categories.parse(f"1-{_CATEGORIES}"), names)


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Time the draws and the intervals; print seconds and peak memory."""
    targets, draws = (1_000, 100) if quick else (10_000, 1_000)
    rng = np.random.default_rng(0)
    whole = grid(rng, targets)
    weights = rng.multinomial(targets, np.full(targets, 1 / targets), size=draws).astype(float)
    holes = replace(whole, values=np.where(rng.random(whole.values.shape) < 0.3, np.nan, whole.values))
    values = whole.values.copy()
    values[:, 0] = np.clip(values[:, 0] + rng.normal(0, 0.3, targets), 1, _CATEGORIES)
    judge = replace(whole, values=values)
    cells = rng.random((targets, _CATEGORIES**2))
    pairs = _RATERS * (_RATERS - 1) // 2
    work: dict[str, Callable[[], object]] = {
        "draws, whole": lambda: coefficient_draws(whole, weights),
        "draws, 30 % missing": lambda: coefficient_draws(holes, weights),
        "draws, one judge of fractions": lambda: coefficient_draws(judge, weights),
        "intervals": lambda: coefficients_of(whole),
        "the products alone": lambda: [weights @ cells for _ in range(pairs)],
    }
    rows = []
    for name, step in work.items():
        taken = [_seconds(step) for _ in range(times)]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append({"what": name, "s": statistics.median(taken), "peak MB so far": peak})
    title = f"{len(COEFFICIENTS)} coefficients, {targets * _RATERS:,} ratings, {draws:,} draws"
    print(table(title, list(rows[0]), [list(row.values()) for row in rows]))
    return {"ratings": targets * _RATERS, "draws": draws, "rows": rows}


def _seconds(step: Callable[[], object]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start
