"""How often an interval for a mean holds the truth where users have several conversations each.

    PYTHON intervals.py WHO TRIALS

The same draws for everyone: users have a leaning of their own, and the share of good conversations over all
users is one half. Prints the share of trials whose 95 % interval holds it.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping

Draw = tuple[list[float], list[str]]
DESIGNS = {"20 users, 10 each": (20, 10), "10 users, 20 each": (10, 20), "200 users, 1 each": (200, 1)}
TRUTH = 0.5


def draw(design: str, trial: int) -> Draw:
    """Return scores of 0 and 1, and the user of each; a user's share of good ones is Beta(2, 2), mean 0.5."""
    users, each = DESIGNS[design]
    rng = random.Random(f"{design} {trial}")
    scores: list[float] = []
    owners: list[str] = []
    for user in range(users):
        share = rng.betavariate(2, 2)
        scores += [float(rng.random() < share) for _ in range(each)]
        owners += [f"u{user}"] * each
    return scores, owners


def _inspect(**settings: object) -> Callable[[Draw], tuple[float, float]]:
    from inspect_ai.scorer import SampleScore, Score, ci

    interval = ci(**settings)  # type: ignore[arg-type]

    def of(drawn: Draw) -> tuple[float, float]:
        rows = [
            SampleScore(score=Score(value=s), sample_id=i, sample_metadata={"user": u})
            for i, (s, u) in enumerate(zip(*drawn, strict=True))
        ]
        bounds = interval(rows)  # type: ignore[call-arg, arg-type]
        return bounds["lower"], bounds["upper"]  # type: ignore[index, return-value]

    return of


def _stderr() -> Callable[[Draw], tuple[float, float]]:
    """Return what model_graded_qa reports unasked, accuracy and stderr, as mean and 1.96 standard errors."""
    from inspect_ai.scorer import SampleScore, Score, mean, stderr

    def of(drawn: Draw) -> tuple[float, float]:
        rows = [SampleScore(score=Score(value=s), sample_id=i) for i, s in enumerate(drawn[0])]
        at, error = mean()(rows), stderr()(rows)  # type: ignore[call-arg, arg-type]
        return at - 1.96 * error, at + 1.96 * error  # type: ignore[operator, return-value]

    return of


def _dialogauge(*, users: bool) -> Callable[[Draw], tuple[float, float]]:
    from dialogauge.stats import mean_estimate

    def of(drawn: Draw) -> tuple[float, float]:
        interval = mean_estimate(drawn[0], drawn[1] if users else None).interval
        return interval if interval is not None else (0.0, 1.0)

    return of


WAYS: Mapping[str, Mapping[str, Callable[[], Callable[[Draw], tuple[float, float]]]]] = {
    "dialogauge": {
        "log with user ids": lambda: _dialogauge(users=True),
        "log without": lambda: _dialogauge(users=False),
    },
    "inspect": {
        "as reported: accuracy, stderr": _stderr,
        "ci()": _inspect,
        'ci(cluster="user")': lambda: _inspect(cluster="user"),
    },
}


def coverage(interval: Callable[[Draw], tuple[float, float]], design: str, trials: int) -> float:
    """Return the share of trials whose interval holds the truth."""
    bounds = [interval(draw(design, trial)) for trial in range(trials)]
    return sum(low <= TRUTH <= high for low, high in bounds) / trials


if __name__ == "__main__":
    who, trials = sys.argv[1:]
    found = {
        way: {design: coverage(made(), design, int(trials)) for design in DESIGNS}
        for way, made in WAYS[who].items()
    }
    print(json.dumps(found))
