"""A judge against its users, raw and under each calibration, always beside its controls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dialogauge.stats import (
    CALIBRATIONS,
    Calibrated,
    CalibrationName,
    CalibrationRun,
    ScoreHistory,
    Ties,
    calibrate,
    half_up,
    mid_ranks,
)
from dialogauge.studies.satisfaction.answers import Answer, raw_scores
from dialogauge.studies.satisfaction.behaviour import Behaviour, Pictures, behaviour_of, pictures_of
from dialogauge.studies.satisfaction.comparison import PairedComparison, compare_pairs
from dialogauge.studies.satisfaction.figures import ORDINAL, Figures, Scored, figures_of, figures_of_deals
from dialogauge.studies.satisfaction.rationale import RationaleCheck

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
