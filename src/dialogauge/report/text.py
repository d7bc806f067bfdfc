"""The summary on a terminal: plain text, the same figures as on the page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from dialogauge.report.view import RunFigures, WeakTurn
from dialogauge.report.words import bounds, cost, interval, mean, name, number, share
from dialogauge.text import counted

__all__ = ["mended_and_spent", "note_lines", "summary_lines", "weak_turn_lines"]

_WEAK_SHOWN = 5
_WIDTH = 110


def summary_lines(figures: RunFigures) -> list[str]:
    """Write the figures of a run as lines of at most about 100 columns, without colour."""
    lines = [_conversation_line(figures), *_target_lines(figures), ""]
    lines += _table(
        ("dimension", "level", "mean", "95 % interval", "scored", "n/a", "failed", "bounds"),
        [_dimension_cells(figures, i) for i in range(len(figures.dimensions))],
    )
    lines += _verdict_lines(figures)
    lines += _footing(figures)
    return lines


def note_lines(notes: Sequence[str]) -> list[str]:
    """Write what the reader should know of the judge, wrapped."""
    return [
        line for note in notes for line in textwrap.wrap(f"note: {note}", _WIDTH, subsequent_indent="      ")
    ]


def weak_turn_lines(weak: Sequence[WeakTurn]) -> list[str]:
    """Write the weakest turns, worst first: where each is, and the first thing that is wrong with it."""
    if not weak:
        return []
    shown = weak[:_WEAK_SHOWN]
    width = max(len(f"{w.conversation_id}, turn {w.turn}") for w in shown)
    lines = [f"weakest turns (worst {len(shown)} shown):" if len(weak) > len(shown) else "weakest turns:"]
    for turn in shown:
        place = f"{turn.conversation_id}, turn {turn.turn}"
        reason = turn.issues[0] if turn.issues else turn.reply
        line = f"  {place:<{width}}  {' '.join(reason.split())}"
        lines.append(line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…")
    return lines


def _conversation_line(figures: RunFigures) -> str:
    totals = figures.conversations
    parts = [f"conversations: {number(totals.requested)} requested, {number(totals.judged)} judged"]
    for count, words in (
        (totals.failed, "failed"),
        (totals.without_reply, "without a reply"),
        (totals.unreadable, "unreadable"),
        (totals.pending, "pending"),
    ):
        if count:
            parts.append(f"{number(count)} {words}")
    return ", ".join(parts)


def _target_lines(figures: RunFigures) -> list[str]:
    lines = [
        f"targets:       {number(figures.requested)} requested, {number(figures.scored)} scored, "
        f"{number(figures.not_applicable)} n/a, {number(figures.failed)} failed"
    ]
    if figures.failures:
        reasons = ", ".join(f"{name(kind)} {number(n)}" for kind, n in figures.failures)
        lines.append(f"failed, by reason: {reasons}")
    return lines


def _dimension_cells(figures: RunFigures, position: int) -> tuple[str, ...]:
    dimension = figures.dimensions[position]
    figure = dimension.figure
    return (
        name(dimension.name),
        dimension.level,
        mean(figure.mean, figure.decimals),
        interval(figure.interval, figure.decimals) if figure.n else "–",
        f"{number(figure.n)}/{number(figure.requested)}",
        number(figure.n_na),
        number(figure.n_failed),
        bounds(figure),
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    return [line(header), line(["-" * w for w in widths]), *(line(row) for row in rows)]


def _verdict_lines(figures: RunFigures) -> list[str]:
    verdicts = figures.verdicts
    if verdicts is None:
        return []
    told = ", ".join(
        f"{v.name or 'no verdict'} {number(v.count)} ({share(v.share)})" for v in verdicts.counts
    )
    lines = ["", f"verdicts: {told}"]
    if verdicts.partial:
        lines.append(f"          on an incomplete set of scores: {number(verdicts.partial)}")
    if verdicts.compared:
        lines.append(
            f"          {number(verdicts.mismatched)} of {number(verdicts.compared)} "
            "differ from the verdict that the model gave itself"
        )
    return lines


def _footing(figures: RunFigures) -> list[str]:
    lines = []
    for label in figures.labels:
        told = ", ".join(f"{option} {number(n)} ({share(part)})" for option, n, part in label.options)
        lines.append(f"{name(label.name)}: {told}")
    for window in figures.windows:
        lines.append(
            f"windows:  {name(window.dimension)} of {counted(window.n, 'turn')} judged twice, "
            f"mean difference {window.mean_absolute:.2f}"
        )
    for dimension in figures.dimensions:
        if dimension.repeat_sd is not None:
            lines.append(
                f"repeats:  {name(dimension.name)} spreads by {dimension.repeat_sd:.2f} (mean sd within a "
                f"target, {counted(dimension.repeat_targets, 'target')})"
            )
    lines += mended_and_spent(figures)
    return ["", *lines] if lines else lines


def mended_and_spent(figures: RunFigures) -> list[str]:
    """Write what was mended or cut, and what each role took."""
    lines = [f"mended:   {number(n)} {words}" for words, n in figures.marks]
    for line in figures.costs:
        lines.append(
            f"{line.role}: {counted(line.calls, 'call')}, {number(line.cached)} cached, "
            f"{number(line.prompt_tokens)} + {number(line.completion_tokens)} tokens, cost {cost(line.cost)}"
        )
        if line.repeated_share is not None:
            lines.append(f"          {share(line.repeated_share)} of the prompts repeat the one before")
    return lines
