"""Through the calibrations: a judge, its controls and the ceiling, raw and under each map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dialogauge.bench.satisfaction.answers import Answer, raw_scores
from dialogauge.bench.satisfaction.controls import Control, ceiling, controls_of
from dialogauge.bench.satisfaction.figures import Figures, Scored, figures_of, figures_of_deals
from dialogauge.bench.satisfaction.paired import PairedComparison, compare_pairs
from dialogauge.calibrate import CalibrationName, CalibrationRun, ScoreHistory, Ties, calibrate

__all__ = ["EvaluationSettings", "UnderCalibration", "Work", "scored"]


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
    reference: tuple[Answer, ...] | None = None
    """The blocks' original replies, where they are not the judged replies themselves."""


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
class Work:
    """The judge, its controls and the ceiling, each through every calibration in the same way."""

    answers: Sequence[Answer]
    """The targets that the judge scored."""
    histories: Mapping[str, ScoreHistory]
    failed: int
    settings: EvaluationSettings
    known: dict[tuple[tuple[float, ...], ...], Figures] = field(default_factory=dict)
    """Figures by the scores they are of: several calibrations often give the same."""

    @property
    def means(self) -> dict[str, float]:
        """The mean of each block's history."""
        return {block: h.mean for block, h in self.histories.items() if h.mean is not None}

    @property
    def everything(self) -> Sequence[Answer]:
        """The targets, and after them the original replies where they are others."""
        return [*self.answers, *(self.settings.reference or ())]

    def controls(self, population: Sequence[float]) -> tuple[Control, ...]:
        """Return the raw scores of the controls, for targets and original replies together."""
        s = self.settings
        return controls_of(self.everything, population, self.means, shuffles=s.shuffles, seed=s.seed)

    def against(self, controls: Sequence[Control], shown: Sequence[int]) -> tuple[PairedComparison, ...]:
        """Hold the judge against each control, of the shuffled one against its first deal."""
        s = self.settings
        judges = {
            c.name: scored(self.answers, _rounded(self._of(s.calibration, c.columns[0]))) for c in controls
        }
        judges["judge"] = scored(self.answers, shown)
        pairs = [("judge", c.name) for c in controls]
        return compare_pairs(judges, pairs, draws=s.draws, seed=s.seed)

    def under(self, method: CalibrationName, controls: Sequence[Control]) -> UnderCalibration:
        """Compute every figure under one calibration."""
        run = self._of(method, [float(a.value or 0) for a in self.everything])
        return UnderCalibration(
            run,
            self.figures(self.shown(run)),
            {c.name: self._control(c, method) for c in controls},
            self._control(ceiling(self.everything), method),
        )

    def shown(self, run: CalibrationRun) -> list[int]:
        """Return the whole scores that rows show."""
        # A judge's own whole score counts where nothing is calibrated: rounding is part of what it says.
        return [int(a.score or 0) for a in self.answers] if run.method == "none" else _rounded(run)

    def figures(self, values: Sequence[float]) -> Figures:
        """Compute the figures of one column of scores."""
        return self._dealt([values])

    def _of(self, method: CalibrationName, column: Sequence[float]) -> CalibrationRun:
        """Calibrate a column of raw scores: those of the targets, then those of the original replies."""
        s, n = self.settings, len(self.answers)
        raw = raw_scores(self.answers, column[:n])
        reference = None if s.reference is None else raw_scores(s.reference, column[n:])
        return calibrate(raw, self.histories, method, ties=s.ties, reference=reference)

    def _control(self, control: Control, method: CalibrationName) -> Figures:
        return self._dealt([_rounded(self._of(method, column)) for column in control.columns])

    def _dealt(self, columns: Sequence[Sequence[float]]) -> Figures:
        """Compute the figures of scores, or the mean over several deals; the same scores only once."""
        key, s = tuple(map(tuple, columns)), self.settings
        if key not in self.known:
            deals = [scored(self.answers, column) for column in columns]
            chance = {"failed": self.failed, "draws": s.draws, "seed": s.seed}
            one = len(deals) == 1
            self.known[key] = figures_of(deals[0], **chance) if one else figures_of_deals(deals, **chance)
        return self.known[key]


def _rounded(run: CalibrationRun) -> list[int]:
    return [c.rounded for c in run.scores]


def scored(answers: Sequence[Answer], values: Sequence[float]) -> list[Scored]:
    """Lay scores beside what the users said."""
    return [Scored(a.user, a.block, a.gold, v) for a, v in zip(answers, values, strict=True)]
