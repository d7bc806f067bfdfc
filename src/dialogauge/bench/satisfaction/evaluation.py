"""A judge against its users, raw and under each calibration, always beside its controls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dialogauge.bench.satisfaction.answers import Answer
from dialogauge.bench.satisfaction.behaviour import Behaviour, behaviour_of
from dialogauge.bench.satisfaction.calibrating import EvaluationSettings, UnderCalibration, Work, scored
from dialogauge.bench.satisfaction.figures import ORDINAL, Figures, Scored, figures_of
from dialogauge.bench.satisfaction.paired import PairedComparison
from dialogauge.bench.satisfaction.pictures import Pictures, pictures_of
from dialogauge.bench.satisfaction.rationale_result import RationaleCheck
from dialogauge.calibrate import (
    CALIBRATIONS,
    Calibrated,
    CalibrationName,
    ScoreHistory,
)

__all__ = ["Evaluation", "EvaluationSettings", "UnderCalibration", "evaluate"]


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
            "against_controls": [c.to_json() for c in self.against_controls],
            "behaviour": self.behaviour.to_json(),
            **self.pictures.to_json(),
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
    answered = [a for a in known if a.value is not None]
    work = Work(answered, histories, len(known) - len(answered), settings)
    controls = work.controls(population)
    found = {method: work.under(method, controls) for method in CALIBRATIONS}
    chosen = found[settings.calibration].run
    lonely = [a for a in answers if not a.history]
    shown = work.shown(chosen)
    calibrated = {
        a.id: Calibrated(c.value, s) for a, c, s in zip(answered, chosen.scores, shown, strict=True)
    }
    calibrated |= {a.id: Calibrated(float(a.value or 0), a.score) for a in lonely if a.score is not None}
    values = [c.value for c in chosen.scores]
    chance = {"draws": settings.draws, "seed": settings.seed}
    return Evaluation(
        settings=settings,
        calibrations=found,
        fractions=work.figures(values),
        by=_by(answered, shown),
        behaviour=behaviour_of(answered, shown, **chance),
        pictures=pictures_of(answered, shown, values, work.means, **chance),
        against_controls=work.against(controls, shown),
        without_history=_apart(lonely, settings),
        calibrated=calibrated,
    )


_GROUPS: Mapping[str, Callable[[Answer], str]] = {
    "scenario": lambda a: a.scenario,
    "turn_position": lambda a: str(a.position) if a.position < 5 else "5+",
    "reason": lambda a: a.reason or "none",
    "gold": lambda a: f"{a.gold:g}",
}


_MOST_GROUPS = 50
_REST = "(all others)"


def _by(answers: Sequence[Answer], values: Sequence[float]) -> dict[str, dict[str, Figures]]:
    rows = scored(answers, values)
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
        scored(held, scores), failed=len(lonely) - len(held), draws=settings.draws, seed=settings.seed
    )
