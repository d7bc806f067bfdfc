"""What other users gave: one score for everybody, or one for each scenario."""

from __future__ import annotations

from collections.abc import Sequence

from dialogauge.calibrate import half_up
from dialogauge.judge.history.guess import Guess, NothingKnown, majority
from dialogauge.judge.personal import BlockView, Population

__all__ = ["global_majority", "global_mean", "task_majority", "task_mean"]


def global_mean(view: BlockView, population: Population) -> Sequence[Guess]:
    """The mean score of the training users, halves upward."""
    return _same(view, _mean(population.scores))


def global_majority(view: BlockView, population: Population) -> Sequence[Guess]:
    """The score that the training users gave most."""
    return _same(view, majority(population.scores))


def task_mean(view: BlockView, population: Population) -> Sequence[Guess]:
    """The mean score of the training users in the target's scenario, else in all."""
    return _same(view, _mean(population.scores_in(view.scenario) or population.scores))


def task_majority(view: BlockView, population: Population) -> Sequence[Guess]:
    """The score that the training users gave most in the target's scenario, else the rounded mean of all."""
    held = population.scores_in(view.scenario)
    return _same(view, majority(held) if held else half_up(_mean(population.scores)))


def _mean(scores: Sequence[float]) -> float:
    if not scores:
        raise NothingKnown
    return sum(scores) / len(scores)


def _same(view: BlockView, value: float) -> Sequence[Guess]:
    return [Guess(half_up(value), value, prior=not view.history)] * len(view.targets)
