"""A judge against its users, raw and under each calibration, always beside its controls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dialogauge.bench.satisfaction.answers import Answer, raw_scores
from dialogauge.bench.satisfaction.behaviour import Behaviour, behaviour_of
from dialogauge.bench.satisfaction.controls import Control, ceiling, controls_of
from dialogauge.bench.satisfaction.figures import Figures, Scored, figures_of, figures_of_deals
from dialogauge.bench.satisfaction.paired import PairedComparison, compare_pairs
from dialogauge.bench.satisfaction.pictures import Pictures, pictures_of
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
    behaviour: Behaviour
    """Stability and recovery."""
    pictures: Pictures
    """What the charts are drawn from."""
    against_controls: tuple[PairedComparison, ...]
    """The judge against each control, on the same draws; p adjusted over the controls."""
    without_history: Figures
    calibrated: Mapping[str, Calibrated]
    """By turn id, under the calibration that was asked for; users without a history as they are."""

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
            "against_controls": [c.to_json() for c in self.against_controls],
            "behaviour": self.behaviour.to_json(),
            **self.pictures.to_json(),
            "without_history": self.without_history.to_json(),
            "metrics_by": {
                group: {name: f.to_json() for name, f in found.items()} for group, found in self.by.items()
            },
            "calibrations": {name: found.to_json() for name, found in self.calibrations.items()},
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
    values = [c.value for c in chosen.scores]
    chance = {"draws": settings.draws, "seed": settings.seed}
    return Evaluation(
        settings=settings,
        calibrations=found,
        fractions=work.figures(values),
        by=_by(scored, shown),
        behaviour=behaviour_of(scored, shown, **chance),
        pictures=pictures_of(scored, shown, values, work.means, **chance),
        against_controls=work.against(controls, shown),
        without_history=_apart(lonely, settings),
        calibrated=calibrated,
    )


@dataclass(frozen=True, slots=True)
class _Work:
    answers: Sequence[Answer]
    histories: Mapping[str, ScoreHistory]
    failed: int
    settings: EvaluationSettings
    known: dict[tuple[tuple[float, ...], ...], Figures] = field(default_factory=dict)
    """Figures by the scores they are of: several calibrations often give the same."""

    @property
    def means(self) -> dict[str, float]:
        """The mean of each block's history."""
        return {block: h.mean for block, h in self.histories.items() if h.mean is not None}

    def controls(self, population: Sequence[float]) -> tuple[Control, ...]:
        s = self.settings
        return controls_of(self.answers, population, self.means, shuffles=s.shuffles, seed=s.seed)

    def against(self, controls: Sequence[Control], shown: Sequence[int]) -> tuple[PairedComparison, ...]:
        """Hold the judge against each control, of the shuffled one against its first deal."""
        s = self.settings
        judges = {
            c.name: _scored(self.answers, _rounded(self.calibrated(s.calibration, c.columns[0])))
            for c in controls
        }
        judges["judge"] = _scored(self.answers, shown)
        pairs = [("judge", c.name) for c in controls]
        return compare_pairs(judges, pairs, draws=s.draws, seed=s.seed)

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
        return self.dealt([_rounded(self.calibrated(method, column)) for column in control.columns])

    def figures(self, values: Sequence[float]) -> Figures:
        return self.dealt([values])

    def dealt(self, columns: Sequence[Sequence[float]]) -> Figures:
        """Compute the figures of scores, or the mean over several deals; the same scores only once."""
        key, s = tuple(map(tuple, columns)), self.settings
        if key not in self.known:
            deals = [_scored(self.answers, column) for column in columns]
            chance = {"failed": self.failed, "draws": s.draws, "seed": s.seed}
            one = len(deals) == 1
            self.known[key] = figures_of(deals[0], **chance) if one else figures_of_deals(deals, **chance)
        return self.known[key]


def _rounded(run: CalibrationRun) -> list[int]:
    return [c.rounded for c in run.scores]


def _scored(answers: Sequence[Answer], values: Sequence[float]) -> list[Scored]:
    return [Scored(a.user, a.block, a.gold, v) for a, v in zip(answers, values, strict=True)]


_GROUPS: Mapping[str, Callable[[Answer], str]] = {
    "scenario": lambda a: a.scenario,
    "turn_position": lambda a: str(a.position) if a.position < 5 else "5+",
    "reason": lambda a: a.reason or "none",
    "gold": lambda a: f"{a.gold:g}",
}


_MOST_GROUPS = 50
_REST = "(all others)"


def _by(answers: Sequence[Answer], values: Sequence[float]) -> dict[str, dict[str, Figures]]:
    rows = _scored(answers, values)
    out: dict[str, dict[str, Figures]] = {}
    for name, of in _GROUPS.items():
        # Reasons may be free text, a different one each time: the rare ones are taken together.
        counts = Counter(of(a) for a in answers)
        often = {group for group, _ in counts.most_common(_MOST_GROUPS)}
        groups: defaultdict[str, list[Scored]] = defaultdict(list)
        for answer, row in zip(answers, rows, strict=True):
            groups[group if (group := of(answer)) in often else _REST].append(row)
        out[name] = {group: figures_of(groups[group], draws=0) for group in sorted(groups)}
    return out


def _apart(lonely: Sequence[Answer], settings: EvaluationSettings) -> Figures:
    held = [a for a in lonely if a.score is not None]
    scores = [float(a.score or 0) for a in held]
    return figures_of(
        _scored(held, scores), failed=len(lonely) - len(held), draws=settings.draws, seed=settings.seed
    )
