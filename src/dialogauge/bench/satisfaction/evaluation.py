"""A judge against its users, raw and under each calibration, always beside its controls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dialogauge.bench.satisfaction.answers import Answer, raw_scores
from dialogauge.bench.satisfaction.controls import Control, ceiling, controls_of
from dialogauge.bench.satisfaction.figures import FIGURES, ORDINAL, Figures, Scored, figures_of
from dialogauge.bench.satisfaction.rationale_result import RationaleCheck
from dialogauge.calibrate import (
    CALIBRATIONS,
    Calibrated,
    CalibrationName,
    CalibrationRun,
    ScoreHistory,
    Ties,
    calibrate,
)

__all__ = ["Evaluation", "EvaluationSettings", "UnderCalibration", "evaluate"]


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """How a judge is held against its users."""

    calibration: CalibrationName = "none"
    """Of the scores that rows and the main figures show."""
    ties: Ties = "mid"
    draws: int = 1000
    seed: int = 0
    shuffles: int = 20
    boundary_only: bool = False
    """Whether the judge says no more than on which side of the boundary a turn lies."""


@dataclass(frozen=True, slots=True)
class UnderCalibration:
    """The figures under one calibration."""

    run: CalibrationRun
    judge: Figures
    controls: Mapping[str, Figures]
    ceiling: Figures

    def to_json(self) -> dict[str, object]:
        """Write the figures of judge, controls and ceiling."""
        return {
            "calibration": self.run.to_json(),
            "metrics": self.judge.to_json(),
            "controls": {name: f.to_json() for name, f in self.controls.items()},
            "ceiling": self.ceiling.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures of one judge on users with a history; those without are counted apart."""

    settings: EvaluationSettings
    calibrations: Mapping[CalibrationName, UnderCalibration]
    fractions: Figures
    """Of the scores with their fractions, under the calibration that was asked for."""
    by: Mapping[str, Mapping[str, Figures]]
    """The same, in groups: by scenario, turn position, reason, the user's score."""
    without_history: Figures
    calibrated: Mapping[str, Calibrated]
    """By turn id, under the calibration that was asked for; users without a history as they are."""
    rationale: RationaleCheck | None = None
    """Reasons and rationales against people's; None when the judge gives neither."""

    @property
    def chosen(self) -> UnderCalibration:
        """Under the calibration that was asked for."""
        return self.calibrations[self.settings.calibration]

    def to_json(self) -> dict[str, object]:
        """Write everything; `metrics` and `controls` are those under the calibration asked for."""
        chosen = self.chosen.to_json()
        return {
            "metrics": chosen["metrics"],
            "controls": chosen["controls"],
            "ceiling": chosen["ceiling"],
            "metrics_of_fractions": self.fractions.to_json(),
            "without_history": self.without_history.to_json(),
            "metrics_by": {
                group: {name: f.to_json() for name, f in found.items()} for group, found in self.by.items()
            },
            "calibrations": {name: found.to_json() for name, found in self.calibrations.items()},
            "boundary_only": list(ORDINAL) if self.settings.boundary_only else None,
            "rationale": None if self.rationale is None else self.rationale.to_json(),
        }


def evaluate(
    answers: Sequence[Answer],
    histories: Mapping[str, ScoreHistory],
    population: Sequence[float],
    settings: EvaluationSettings,
) -> Evaluation:
    """Hold a judge's answers against its users' ratings.

    Args:
        answers: One for each target.
        histories: By block, of the users that have one.
        population: The training users' scores.
        settings: Which calibration is the main one, and how intervals are made.
    """
    known = [a for a in answers if a.history]
    scored = [a for a in known if a.value is not None]
    work = _Work(scored, histories, len(known) - len(scored), settings)
    controls = work.controls(population)
    found = {method: work.under(method, controls) for method in CALIBRATIONS}
    chosen = found[settings.calibration].run
    lonely = [a for a in answers if not a.history]
    shown = work.shown(chosen)
    calibrated = {a.id: Calibrated(c.value, s) for a, c, s in zip(scored, chosen.scores, shown, strict=True)}
    calibrated |= {a.id: Calibrated(float(a.value or 0), a.score) for a in lonely if a.score is not None}
    return Evaluation(
        settings=settings,
        calibrations=found,
        fractions=work.figures([c.value for c in chosen.scores]),
        by=_by(scored, shown),
        without_history=_apart(lonely, settings),
        calibrated=calibrated,
    )


@dataclass(frozen=True, slots=True)
class _Work:
    answers: Sequence[Answer]
    histories: Mapping[str, ScoreHistory]
    failed: int
    settings: EvaluationSettings

    def controls(self, population: Sequence[float]) -> tuple[Control, ...]:
        means = {block: h.mean for block, h in self.histories.items() if h.mean is not None}
        s = self.settings
        return controls_of(self.answers, population, means, shuffles=s.shuffles, seed=s.seed)

    def under(self, method: CalibrationName, controls: Sequence[Control]) -> UnderCalibration:
        run = self.calibrated(method, [float(a.value or 0) for a in self.answers])
        return UnderCalibration(
            run,
            self.figures(self.shown(run)),
            {c.name: self.of_control(c, method) for c in controls},
            self.of_control(ceiling(self.answers), method),
        )

    def shown(self, run: CalibrationRun) -> list[int]:
        # A judge's own whole score counts where nothing is calibrated: rounding is part of what it says.
        return [int(a.score or 0) for a in self.answers] if run.method == "none" else _rounded(run)

    def calibrated(self, method: CalibrationName, values: Sequence[float]) -> CalibrationRun:
        return calibrate(raw_scores(self.answers, values), self.histories, method, ties=self.settings.ties)

    def of_control(self, control: Control, method: CalibrationName) -> Figures:
        columns = [_rounded(self.calibrated(method, column)) for column in control.columns]
        if len(columns) == 1:
            return self.figures(columns[0])
        return _mean_of([self.figures(column, draws=0) for column in columns])

    def figures(self, values: Sequence[float], draws: int | None = None) -> Figures:
        return figures_of(
            _scored(self.answers, values),
            failed=self.failed,
            draws=self.settings.draws if draws is None else draws,
            seed=self.settings.seed,
        )


def _rounded(run: CalibrationRun) -> list[int]:
    return [c.rounded for c in run.scores]


def _scored(answers: Sequence[Answer], values: Sequence[float]) -> list[Scored]:
    return [Scored(a.user, a.block, a.gold, v) for a, v in zip(answers, values, strict=True)]


def _mean_of(several: Sequence[Figures]) -> Figures:
    """Average the deals of a control; a figure is undefined when it is in any of them."""
    first = several[0]
    columns = {name: [f.values[name] for f in several] for name in FIGURES}
    means: dict[str, float | None] = {}
    for name, column in columns.items():
        held = [v for v in column if v is not None]
        means[name] = float(np.mean(held)) if len(held) == len(several) else None
    return Figures(first.n, first.n_failed, first.users, means, {}, first.users_used)


_GROUPS: Mapping[str, Callable[[Answer], str]] = {
    "scenario": lambda a: a.scenario,
    "turn_position": lambda a: str(a.position) if a.position < 5 else "5+",
    "reason": lambda a: a.reason or "none",
    "gold": lambda a: f"{a.gold:g}",
}


def _by(answers: Sequence[Answer], values: Sequence[float]) -> dict[str, dict[str, Figures]]:
    rows = _scored(answers, values)
    out: dict[str, dict[str, Figures]] = {}
    for name, of in _GROUPS.items():
        groups: defaultdict[str, list[Scored]] = defaultdict(list)
        for answer, row in zip(answers, rows, strict=True):
            groups[of(answer)].append(row)
        out[name] = {group: figures_of(groups[group], draws=0) for group in sorted(groups)}
    return out


def _apart(lonely: Sequence[Answer], settings: EvaluationSettings) -> Figures:
    held = [a for a in lonely if a.score is not None]
    scores = [float(a.score or 0) for a in held]
    return figures_of(
        _scored(held, scores), failed=len(lonely) - len(held), draws=settings.draws, seed=settings.seed
    )
