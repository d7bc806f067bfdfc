"""What most studies show of a finished run: a judged conversation, and figures in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.report import Block, Callout, words
from dialogauge.runs import StoredRun
from dialogauge.studies.evidence import evidence_of
from dialogauge.studies.judging.shown import show_conversation


def judged_conversation(run: StoredRun, id: str, turn: int | None) -> tuple[Block, ...]:
    """Return a judged conversation, and which of its scores are not checked."""
    evidence, transcripts = evidence_of(run), show_conversation(run, id, turn)
    if not run.dimensions:
        return (*transcripts, Callout(("Nobody has scored this run.",)))
    unchecked = [words.name(d.name) for d in run.dimensions if not evidence.of(d.name).checked]
    notice = f"Unchecked scores, to choose what to read: {', '.join(unchecked)}."
    return (*transcripts, Callout((notice,))) if unchecked else transcripts


Overview = tuple[Sequence[str], list[Sequence[str]]]
"""Columns and rows: each figure with its counts, beside its controls."""


def dimensions_overview(judge: str, summary: Mapping[str, Any]) -> Overview:
    """Return what a notebook shows of judgements: the checked dimensions; a mean is never without counts."""
    del judge
    columns = ("dimension", "level", "mean", "95 %", "n", "n/a", "failed", "bounds")
    counts = (summary.get("evidence") or {}).get("unchecked", False)
    rows: list[Sequence[str]] = []
    for name, of in (summary.get("dimensions") or {}).items():
        if counts or of.get("checked"):
            numbers = (str(of[key]) for key in ("n", "n_na", "n_failed"))
            mean, interval, bounds = number(of["mean"]), span(of["interval95"]), span(of["bounds"])
            rows.append((name, of["level"], mean, interval, *numbers, bounds))
    return columns, rows


def agreement_overview(measures: Sequence[str], judge: str, summary: Mapping[str, Any]) -> Overview:
    """Return what a notebook shows of scores that are held against people's."""
    sources = {judge: summary["metrics"], **summary["controls"]}
    sources |= {"ceiling": summary["ceiling"]} if "ceiling" in summary else {}
    return ("against people", *measures, "n"), [
        (name, *(with_interval(of[m], of["intervals"].get(m)) for m in measures), f"{of['n']:,}")
        for name, of in sources.items()
    ]


def with_interval(value: float | None, ends: Sequence[float] | None) -> str:
    """Write a figure and its interval."""
    return f"{number(value)} [{span(ends)}]" if ends else number(value)


def number(value: float | None) -> str:
    """Write a figure with two digits."""
    return "undefined" if value is None else f"{value:.2f}"


def span(ends: Sequence[float] | None) -> str:
    """Write both ends of an interval."""
    return "" if ends is None else f"{ends[0]:.2f} to {ends[1]:.2f}"
