"""From a summary to the figures that the page and the terminal show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dialogauge.bench.judging.extras import MARKS
from dialogauge.bench.judging.summary import DimensionSummary, GroupSummary, Spending, Summary, VerdictSummary
from dialogauge.metrics import ClusteredMean
from dialogauge.report import (
    ConversationTotals,
    CostLine,
    CurvePointView,
    DimensionView,
    Figure,
    GroupRow,
    GroupTable,
    HistogramBar,
    LabelCounts,
    RunFigures,
    VerdictCount,
    VerdictFigures,
    WindowNote,
)

__all__ = ["figures_of"]

_CURVE_TURNS: Final = 24


def figures_of(summary: Summary, *, curve_turns: int = _CURVE_TURNS) -> RunFigures:
    """Return what `render_report` and `summary_lines` show of a summary.

    Args:
        summary: The run's summary.
        curve_turns: How many turn numbers are drawn along the turns; the others are counted.
    """
    counts = summary.conversations
    curves = [p.turn for d in summary.dimensions for p in d.curve]
    shown = sorted(set(curves))
    return RunFigures(
        requested=summary.requested,
        scored=summary.scored,
        not_applicable=summary.not_applicable,
        failed=summary.failed,
        failures=tuple(summary.failures.items()),
        conversations=ConversationTotals(
            counts.requested,
            counts.judged,
            counts.failed,
            counts.without_reply,
            counts.unreadable,
            counts.pending,
        ),
        dimensions=tuple(_dimension(d, set(shown[:curve_turns])) for d in summary.dimensions),
        verdicts=None if summary.verdicts is None else _verdicts(summary.verdicts),
        repeats=summary.repeats,
        labels=tuple(_labels(name, counts) for name, counts in summary.labels.items()),
        marks=tuple((MARKS[name], n) for name, n in summary.marks.items()),
        windows=tuple(WindowNote(w.dimension, w.n, w.mean_absolute) for w in summary.windows),
        groups=_groups(summary),
        costs=tuple(_cost(role, s) for role, s in summary.by_role.items()),
        total_cost=_cost("total", summary.total),
        curve_left_out=max(len(shown) - curve_turns, 0),
    )


def _dimension(found: DimensionSummary, turns: set[int]) -> DimensionView:
    worst, best = found.bounds.worst, found.bounds.best
    bounds = None if worst is None or best is None else (worst, best)
    # On a scale from 0 to 1 two decimals would hide what they show on one from 1 to 5.
    decimals = 3 if found.scale.high - found.scale.low <= 1 else 2
    counts = (found.n, found.requested, found.n_na, found.n_failed)
    figure = Figure(found.mean.mean, found.mean.interval, *counts, bounds, decimals)
    return DimensionView(
        name=found.name,
        level=found.level,
        low=found.scale.low,
        high=found.scale.high,
        integer=found.scale.integer,
        higher_is_better=found.scale.higher_is_better,
        figure=figure,
        bars=tuple(HistogramBar(b.low, b.high, b.count) for b in found.bins),
        curve=tuple(
            CurvePointView(p.turn, p.mean.mean, p.mean.interval, p.mean.n)
            for p in found.curve
            if p.turn in turns and p.mean.mean is not None
        ),
        repeat_targets=0 if found.spread is None else found.spread.targets,
        repeat_sd=None if found.spread is None else found.spread.mean_sd,
        uncalibrated=found.uncalibrated,
        reasons=tuple(found.reasons.items()),
    )


def _labels(name: str, counts: Mapping[str, int]) -> LabelCounts:
    total = sum(counts.values())
    return LabelCounts(name, total, tuple((option, n, n / total) for option, n in counts.items()))


def _verdicts(found: VerdictSummary) -> VerdictFigures:
    asked = found.requested or 1
    counts = [VerdictCount(name, n, n / asked) for name, n in found.counts.items()]
    if found.missing:
        counts.append(VerdictCount(None, found.missing, found.missing / asked))
    return VerdictFigures(
        found.requested, tuple(counts), found.basis.get("partial", 0), found.compared, found.mismatched
    )


def _groups(summary: Summary) -> tuple[GroupTable, ...]:
    """The breakdowns that say something: those with at least two groups."""
    names = tuple(d.name for d in summary.dimensions)
    return tuple(
        GroupTable(
            field,
            names,
            tuple(_row(group, names) for group in groups),
            summary.groups_left_out.get(field, 0),
        )
        for field, groups in summary.by.items()
        if len(groups) > 1
    )


def _row(group: GroupSummary, names: tuple[str, ...]) -> GroupRow:
    figures = tuple(_group_figure(group.means[n], group.n_na[n], group.n_failed[n]) for n in names)
    return GroupRow(group.name, group.conversations, figures)


def _group_figure(mean: ClusteredMean, n_na: int, n_failed: int) -> Figure:
    return Figure(mean.mean, mean.interval, mean.n, mean.n + n_na + n_failed, n_na, n_failed, None)


def _cost(role: str, spent: Spending) -> CostLine:
    return CostLine(
        role,
        spent.calls,
        spent.cached,
        spent.prompt_tokens,
        spent.completion_tokens,
        spent.cost,
        spent.repeated_share,
    )
