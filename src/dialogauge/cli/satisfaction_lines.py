"""What `dialogauge satisfaction` prints: the judge, raw and under each calibration, beside its controls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from dialogauge.cli.rationale_lines import rationale_lines
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.satisfaction import SatisfactionOutcome
    from dialogauge.bench.satisfaction import Figures, UnderCalibration

__all__ = ["satisfaction_lines"]

_COLUMNS: Mapping[str, str] = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "qwk": "QWK",
    "f1_dsat": "F1 DSAT ≤3",
    "mae": "MAE",
    "per_user_pearson": "per user",
    "within_user_pearson": "within",
    "within_block_pearson": "block",
}
_WIDTH = 26
_FAILURES_SHOWN = 5


def satisfaction_lines(outcome: SatisfactionOutcome) -> Iterator[str]:
    """Write what was judged, the main figures with intervals, and the table of calibrations."""
    from dialogauge.bench.satisfaction import finding

    yield from outcome.notes
    yield from _counts(outcome)
    if not outcome.evaluation.chosen.judge.n:
        yield "nothing is scored: there are no figures to show"
        yield f"report: {outcome.directory.file('report')}"
        return
    yield ""
    titles = _titles(outcome)
    yield from _main(outcome, titles)
    shown: dict[str, UnderCalibration] = {}
    for name, found in outcome.evaluation.calibrations.items():
        yield ""
        same = next((other for other, above in shown.items() if _same(above, found)), None)
        if same is not None:
            yield f"{name}: the same figures as {same}"
            continue
        shown[name] = found
        yield from _calibration(name, found, outcome.judge, titles)
    if outcome.evaluation.rationale is not None:
        yield ""
        yield from rationale_lines(outcome.evaluation.rationale)
    yield ""
    if outcome.evaluation.settings.boundary_only:
        yield "* boundary only: the judge says satisfied (4) or dissatisfied (3), and nothing finer"
    yield finding(outcome.judge, [c.to_json() for c in outcome.evaluation.against_controls])
    yield "within: Pearson after each user's own mean is taken away; block: that of each user and scenario"
    yield f"report: {outcome.directory.file('report')}"


def _counts(outcome: SatisfactionOutcome) -> Iterator[str]:
    from dialogauge.bench.satisfaction import signal_words

    study, chosen = outcome.study, outcome.evaluation.chosen.judge
    known = [b for b in study.blocks if b.view.history]
    turns = sum(len(b.view.targets) for b in known)
    waiting = f", {outcome.pending:,} waiting" if outcome.pending else ""
    yield (
        f"{counted(turns, 'turn')} of {counted(len({b.view.user for b in known}), 'user')} in "
        f"{counted(len(known), 'block')} judged by {outcome.judge}: {chosen.n:,} scored, "
        f"{chosen.n_failed:,} failed{waiting}"
    )
    for message, n in list(outcome.failures.items())[:_FAILURES_SHOWN]:
        yield f"failed: {n:,}, {message}"
    users = {b.view.user for b in study.others.blocks}
    turns_known = counted(len(study.others.scores), "turn")
    yield f"known of others: {turns_known} of {counted(len(users), 'training user')}"
    apart = outcome.evaluation.without_history
    if apart.n + apart.n_failed:
        yield (
            f"counted apart: {counted(apart.n + apart.n_failed, 'turn')} of users without a history, who get "
            f"the training users' prior ({apart.n:,} scored, mean error {_number(apart.values['mae'])})"
        )
    for why, n in study.left_out.items():
        yield f"left out: {n:,}, {why}"
    method, run = outcome.evaluation.settings.calibration, outcome.evaluation.chosen.run
    if method != "none" and not run.calibrated_blocks:
        yield (
            f"--calibrate {method} changed nothing: no block has a history to calibrate to, and the scores "
            "stand as the judge gave them"
        )
    yield from map(signal_words, outcome.signals)
    yield from _warnings(outcome)


def _warnings(outcome: SatisfactionOutcome) -> Iterator[str]:
    """Say where history and target differ."""
    from dialogauge.bench.satisfaction import drift_of

    s, study = outcome.evaluation.settings, outcome.study
    found = drift_of(study.blocks, study.population, draws=s.draws, seed=s.seed)
    yield from (f"warning: {words}" for words in found.warnings)


def _titles(outcome: SatisfactionOutcome) -> Mapping[str, str]:
    """Return the titles of the columns; what a judge of two scores cannot fill is marked."""
    from dialogauge.bench.satisfaction import ORDINAL

    marked = ORDINAL if outcome.evaluation.settings.boundary_only else ()
    return {name: title + "*" * (name in marked) for name, title in _COLUMNS.items()}


def _main(outcome: SatisfactionOutcome, titles: Mapping[str, str]) -> Iterator[str]:
    figures = outcome.evaluation.chosen.judge
    method = outcome.evaluation.settings.calibration
    yield f"{outcome.judge}, calibration: {method} (95 % intervals by users)"
    for name, title in titles.items():
        held = figures.intervals.get(name)
        between = f"  [{held[0]:z.3f}, {held[1]:z.3f}]" if held else ""
        yield f"  {title:<12}{_number(figures.values[name]):>8}{between}"


def _same(one: UnderCalibration, other: UnderCalibration) -> bool:
    """Say whether judge, controls and ceiling have the same figures under both."""
    return (one.judge, one.controls, one.ceiling) == (other.judge, other.controls, other.ceiling)


def _calibration(name: str, found: UnderCalibration, judge: str, titles: Mapping[str, str]) -> Iterator[str]:
    told = (
        "" if name == "none" else f": {found.run.calibrated_blocks} of {counted(found.run.blocks, 'block')}"
    )
    left = "".join(f", {n} left as they are ({why})" for why, n in found.run.identity.items())
    yield f"{name}{told}{'' if name == 'none' else left}"
    yield f"  {'':<{_WIDTH}}" + "".join(f"{title:>10}" for title in titles.values())
    yield _row(judge, found.judge)
    for control, figures in found.controls.items():
        yield _row(control, figures)
    yield _row("ceiling: people's own", found.ceiling)


def _row(name: str, figures: Figures) -> str:
    return f"  {name:<{_WIDTH}}" + "".join(f"{_number(figures.values[key]):>10}" for key in _COLUMNS)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:z.4f}"  # z: no -0.0000
