"""A judge against its users, raw and under each calibration, always beside its controls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import ONE_TO_FIVE
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.judges.personal.reply_unread import ReplyUnread
from dialogauge.stats import (
    CALIBRATIONS,
    Calibrated,
    CalibrationName,
    CalibrationRun,
    Comparison,
    ScoreHistory,
    Scores,
    ScoreTable,
    Ties,
    calibrate,
    compare_pairs,
    control_columns,
    controls_of,
    figures_of,
    mid_ranks,
    scores_of,
    thirds,
    whole_scores,
)
from dialogauge.stats import CONTROLS as COMMON_CONTROLS
from dialogauge.studies.satisfaction.answers import JudgedReply, raw_scores
from dialogauge.studies.satisfaction.behaviour import Behaviour, Pictures, behaviour_of, pictures_of
from dialogauge.studies.satisfaction.comparison import COMPARED
from dialogauge.studies.satisfaction.figures import (
    PEOPLE,
    RULE,
    Metrics,
    judge_scores,
    metrics_of,
    metrics_of_one,
    metrics_of_tables,
    rated_table,
)

CONTROLS: Final = {
    **COMMON_CONTROLS,
    "shuffled": "the judge's own scores, dealt anew within each block",
    "reply length, terciles": "3, 4 or 5 by the third of all replies that the length falls in",
    "user mean": "the rounded mean of the user's history",
    "reply unread": "the user known, the reply unread: history mean, length and position, by least squares "
    "on the training users",
}
"""The controls, and what each does."""
CEILING: Final = "the users' own scores through the same map"
_JUDGE, _CEILING = "judge", "ceiling"


UnreadFits = Callable[[str], ReplyUnread | None]
"""By user the fit to the training users, that user left out; None where there are none."""


def control_scores(
    answers: Sequence[JudgedReply],
    means: Mapping[str, float],
    unread: UnreadFits,
    *,
    shuffles: int = 20,
    seed: int = 0,
) -> dict[str, tuple[Scores, ...]]:
    """Return what each control gives the targets before any calibration; one column for each deal.

    Args:
        answers: The targets that the judge scored.
        means: By block the mean of the user's history.
        unread: Of the control `reply unread`, which is left out where one of the users has no fit.
        shuffles: Deals of the shuffled control.
        seed: Of the deals.
    """
    table = rated_table(answers).adding({_JUDGE: judge_scores(answers)})
    common = controls_of(table, _JUDGE, PEOPLE, rule=RULE, shuffles=shuffles, seed=seed)
    lengths = [a.length for a in answers]
    of_user = whole_scores([means.get(a.block, np.nan) for a in answers])
    constant = common["constant"].versions[0].values
    columns = control_columns(common) | {
        "reply length, terciles": (thirds(lengths, lengths, ONE_TO_FIVE),),
        "user mean": (scores_of(np.where(np.isnan(of_user), constant, of_user)),),
    }
    of_known = _unread_scores(answers, means, unread)
    if of_known is not None:
        columns["reply unread"] = (of_known,)
    return {name: columns[name] for name in CONTROLS if name in columns}


def _unread_scores(
    answers: Sequence[JudgedReply], means: Mapping[str, float], unread: UnreadFits
) -> Scores | None:
    values, whole = np.empty(len(answers)), np.empty(len(answers))
    members: dict[str, list[int]] = {}
    for i, answer in enumerate(answers):
        members.setdefault(answer.user, []).append(i)
    for user, at in members.items():
        fit, mine = unread(user), [answers[i] for i in at]
        if fit is None:
            return None
        histories = [means.get(a.block, np.nan) for a in mine]
        values[at] = fit.values(histories, [a.length for a in mine], [a.position for a in mine])
        whole[at] = fit.whole(values[at])
    return scores_of(values, whole=whole)


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """How the scores are calibrated and compared with the users'."""

    calibrate: CalibrationName = "none"
    """The calibration of the scores that rows and the main figures show."""
    ties: Ties = "mid"
    seed: int = 0
    shuffles: int = 20


@keys(run="calibration", judge="metrics")
@dataclass(frozen=True, slots=True)
class UnderCalibration:
    """The figures under one calibration."""

    run: CalibrationRun
    judge: Metrics
    controls: Mapping[str, Metrics]
    ceiling: Metrics


@dataclass
class _Work:
    """The judge, its controls and the ceiling, each through every calibration in the same way."""

    answers: Sequence[JudgedReply]
    """The targets that the judge scored."""
    histories: Mapping[str, ScoreHistory]
    failed: int
    settings: EvaluationSettings
    unread: UnreadFits
    reference: Sequence[JudgedReply] | None

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean of each block's history."""
        return {block: h.mean for block, h in self.histories.items() if h.mean is not None}

    @cached_property
    def table(self) -> ScoreTable:
        """The targets and what the users gave."""
        return rated_table(self.answers)

    @cached_property
    def everything(self) -> Sequence[JudgedReply]:
        """The targets, and after them the original replies where they are others."""
        return [*self.answers, *(self.reference or ())]

    @cached_property
    def columns(self) -> dict[str, tuple[Scores, ...]]:
        """Judge, controls and ceiling before any calibration, on targets and original replies together."""
        s = self.settings
        return {
            _JUDGE: (judge_scores(self.everything),),
            **control_scores(self.everything, self.means, self.unread, shuffles=s.shuffles, seed=s.seed),
            _CEILING: (scores_of([a.gold for a in self.everything]),),
        }

    def under_each(self) -> dict[CalibrationName, UnderCalibration]:
        """Compute every figure under each calibration; several of them often give the same scores."""
        runs: dict[CalibrationName, CalibrationRun] = {}
        keys: dict[CalibrationName, dict[str, tuple[bytes, ...]]] = {}
        columns: dict[tuple[bytes, ...], tuple[Scores, ...]] = {}
        for method in CALIBRATIONS:
            runs[method], shown = self.shown[method]
            keys[method] = {name: tuple(c.whole.tobytes() for c in of) for name, of in shown.items()}
            columns |= {keys[method][name]: of for name, of in shown.items()}
        names = {key: str(number) for number, key in enumerate(columns)}
        metrics = metrics_of(self.table, {names[key]: of for key, of in columns.items()}, failed=self.failed)

        def under(method: CalibrationName) -> UnderCalibration:
            of = {name: metrics[names[key]] for name, key in keys[method].items()}
            return UnderCalibration(runs[method], of.pop(_JUDGE), of, of.pop(_CEILING))

        return {method: under(method) for method in CALIBRATIONS}

    @cached_property
    def shown(self) -> dict[CalibrationName, tuple[CalibrationRun, dict[str, tuple[Scores, ...]]]]:
        """The calibration of the judge, and by name the whole scores of everyone, under each calibration."""
        return {method: self._shown(method) for method in CALIBRATIONS}

    def _shown(self, method: CalibrationName) -> tuple[CalibrationRun, dict[str, tuple[Scores, ...]]]:
        run, out = self.uncapped(method), {}
        capped = (
            c if a.cap is None or c.rounded <= a.cap else Calibrated(a.cap, int(a.cap))
            for a, c in zip(self.answers, run.scores, strict=True)
        )  # no score of the judge rises above what a condition allows that it found failed
        run = replace(run, scores=tuple(capped))
        for name, versions in self.columns.items():
            if method == "none":
                # A judge's own whole score counts: rounding is part of what it says.
                out[name] = type(versions)(v.take(np.arange(len(self.answers))).rounded() for v in versions)
            else:
                runs = (run if name == _JUDGE else self._calibrated(method, v) for v in versions)
                out[name] = type(versions)(scores_of([c.rounded for c in one.scores]) for one in runs)
        return run, out

    def against(self) -> tuple[Comparison, ...]:
        """Compare the judge with each control, under the calibration that was asked for."""
        _, columns = self.shown[self.settings.calibrate]
        names = [name for name in CONTROLS if name in columns]
        figures = figures_of(self.table, columns, PEOPLE, COMPARED, rule=RULE)
        return compare_pairs(figures, [(_JUDGE, name) for name in names], COMPARED)

    def _calibrated(self, method: CalibrationName, column: Scores) -> CalibrationRun:
        """Calibrate a column: what it gives the targets, then what it gives the original replies."""
        values, n = _raw(column).tolist(), len(self.answers)
        reference = None if self.reference is None else raw_scores(self.reference, values[n:])
        raw = raw_scores(self.answers, values[:n])
        return calibrate(raw, self.histories, method, ties=self.settings.ties, reference=reference)

    def uncapped(self, method: CalibrationName) -> CalibrationRun:
        """Calibrate the judge's scores, whatever it found failed."""
        return self._calibrated(method, self.columns[_JUDGE][0])


def _raw(column: Scores) -> npt.NDArray[np.float64]:
    """Return what is calibrated: the values; of a control that ranks finer than it scores, its order too.

    The order moves a score by less than half a point, so it rounds to the same.
    """
    if np.array_equal(column.order, column.values):
        return column.values
    places = mid_ranks(column.order) / (column.order.size + 1)
    return column.values + 0.9 * (places - 0.5)


@dataclass(frozen=True, slots=True)
class GuardCounts:
    """What a guard did to the targets that have a score and a history."""

    capped: int
    """Those with a failed condition."""
    lifted: int
    """Those of them that the calibration alone would have raised above the cap."""


@keys(
    settings=None,
    metrics="metrics",
    controls="controls",
    ceiling="ceiling",
    fractions="metrics_of_fractions",
    by="metrics_by",
    pictures=INSIDE,
    calibrated=None,
    guard=None,
)
@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures of one judge on users with a history; those without are counted apart."""

    settings: EvaluationSettings
    calibrations: Mapping[CalibrationName, UnderCalibration]
    fractions: Metrics
    """Of the scores with their fractions, under the calibration that was asked for."""
    by: Mapping[str, Mapping[str, Metrics]]
    """The same, in groups: by scenario, turn position, reason, the user's score."""
    behaviour: Behaviour
    """Stability and recovery."""
    pictures: Pictures
    """What the charts are drawn from."""
    against_controls: tuple[Comparison, ...]
    """The judge against each control; p adjusted over all of these comparisons."""
    without_history: Metrics
    calibrated: Mapping[str, Calibrated]
    """By turn id, under the calibration that was asked for; users without a history as they are."""
    guard: GuardCounts

    @property
    def chosen(self) -> UnderCalibration:
        """Under the calibration that was asked for."""
        return self.calibrations[self.settings.calibrate]

    @property
    def metrics(self) -> Metrics:
        """Of the judge, under the calibration that was asked for."""
        return self.chosen.judge

    @property
    def controls(self) -> Mapping[str, Metrics]:
        """The same of each control."""
        return self.chosen.controls

    @property
    def ceiling(self) -> Metrics:
        """The same of the users themselves."""
        return self.chosen.ceiling


def evaluate(
    answers: Sequence[JudgedReply],
    histories: Mapping[str, ScoreHistory],
    settings: EvaluationSettings,
    reference: Sequence[JudgedReply] | None = None,
    unread: UnreadFits = lambda _: None,
) -> Evaluation:
    """Compare a judge's answers with its users' ratings.

    Args:
        answers: One for each target.
        histories: By block, of the users that have one.
        settings: Which calibration is the main one, and how controls are made.
        reference: The blocks' original replies, where they are not the judged replies themselves.
        unread: Fits of the control that knows the user and reads no reply.
    """
    known = [a for a in answers if a.history]
    answered = [a for a in known if a.value is not None]
    work = _Work(answered, histories, len(known) - len(answered), settings, unread, reference)
    chosen, columns = work.shown[settings.calibrate]
    whole, values = columns[_JUDGE][0], np.array([c.value for c in chosen.scores])
    apart = [a for a in answers if not a.history]
    scored = [a for a in apart if a.score is not None]
    calibrated = {
        a.id: Calibrated(c.value, int(score))
        for a, c, score in zip(answered, chosen.scores, whole.values, strict=True)
    }
    for a in apart:
        if a.value is not None and a.score is not None:
            calibrated[a.id] = Calibrated(a.value, a.score)
    free = work.uncapped(settings.calibrate).scores
    caps = [(a.cap, c) for a, c in zip(answered, free, strict=True) if a.cap is not None]
    fractions = scores_of(values, whole=whole.values)
    return Evaluation(
        settings=settings,
        calibrations=work.under_each(),
        fractions=metrics_of_one(work.table, fractions, failed=work.failed),
        by=_by(answered, work.table, whole),
        behaviour=behaviour_of(answered, work.table, whole),
        pictures=pictures_of(answered, fractions, work.means),
        against_controls=work.against() if answered else (),
        without_history=metrics_of_one(
            rated_table(scored), judge_scores(scored).rounded(), failed=len(apart) - len(scored)
        ),
        calibrated=calibrated,
        guard=GuardCounts(len(caps), sum(c.rounded > cap for cap, c in caps)),
    )


_GROUPS: Mapping[str, Callable[[JudgedReply], str]] = {
    "scenario": lambda a: a.scenario,
    "turn_position": lambda a: str(a.position) if a.position < 5 else "5+",
    "reason": lambda a: a.reason or "none",
    "gold": lambda a: f"{a.gold:g}",
}


_MOST_GROUPS = 50
_REST = "(all others)"


def _by(answers: Sequence[JudgedReply], table: ScoreTable, scores: Scores) -> dict[str, dict[str, Metrics]]:
    members: dict[str, npt.NDArray[np.bool_]] = {}
    names: dict[str, dict[str, str]] = {}
    for name, of in _GROUPS.items():
        # Reasons may be free text, a different one each time: the rare ones are taken together.
        counts = Counter(of(a) for a in answers)
        often = {group for group, _ in counts.most_common(_MOST_GROUPS)}
        groups = np.array([group if (group := of(a)) in often else _REST for a in answers])
        names[name] = {group: f"{name} {group}" for group in sorted(set(groups.tolist()))}
        members |= {label: groups == group for group, label in names[name].items()}
    tables = {label: table.only(here) for label, here in members.items()}
    columns = {label: scores.take(here) for label, here in members.items()}
    metrics = metrics_of_tables(tables, columns, intervals=False)
    return {name: {group: metrics[label] for group, label in of.items()} for name, of in names.items()}
