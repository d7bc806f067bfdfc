"""`dialogauge fit`: learn from people's ratings, and say how well it does on ratings left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer

from dialogauge.app.settings import FitOptions
from dialogauge.cli.options import AsJson, takes
from dialogauge.text import counted

_TABLES = (("uar", "kappa", "f1_below3", "f1_below3_published"), ("auc_below3", "auc_above3"))
"""The figures of whole ratings, and below them those of the ranking."""
_WIDTH = 24
"""Two negative ends and a negative figure take 23 places."""
_VIEWS = {
    "all": "all examples",
    "without_whole": "without ratings of the whole",
    "whole_only": "ratings of the whole only",
}


def run_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Write the summary of a fitted run."""
    yield (
        f"fitted {summary['dimension']} on {counted(summary['examples'], 'rated place')} of "
        f"{counted(summary['conversations'], 'conversation')} ({counted(summary['votes'], 'vote')}; "
        f"{summary['whole_conversations']:,} of the whole, {summary['nothing_said']:,} before any turn)"
    )
    for name, part in summary["parts"].items():
        yield ""
        yield f"{summary['folds']} parts of {name}: {part['what']}{_across(part['split_conversations'])}"
        everything = part["all"]["metrics"]["n"]
        for view, title in _VIEWS.items():
            if view == "all" or (view in part and part[view]["metrics"]["n"] < everything):
                yield from _view(title, part[view])
    yield ""
    for name, what in summary["figures"].items():
        yield f"{name}: {what}"


def _across(split: int) -> str:
    """Say how many conversations lie across two parts, where any does."""
    if not split:
        return ""
    return f" ({counted(split, 'conversation does', 'conversations do')})"


def _view(title: str, view: Mapping[str, Any]) -> Iterator[str]:
    head = f"{title}, n = {view['metrics']['n']:,}"
    for columns in _TABLES:
        yield f"{head:<44}" + "".join(f"{c:>{_WIDTH}}" for c in columns)
        yield _row("model", view["metrics"], columns)
        for name, figures in view["controls"].items():
            yield _row(f"  {name}", figures, columns)
        head = ""


def _row(name: str, figures: Mapping[str, Any], columns: Sequence[str]) -> str:
    return f"{name:<44}" + "".join(f"{_cell(figures, c):>{_WIDTH}}" for c in columns)


def _cell(figures: Mapping[str, Any], column: str) -> str:
    value = figures[column]
    if value is None:
        return "-"
    low, high = figures.get("intervals", {}).get(column, (None, None))
    return f"{value:z.3f}" if low is None else f"{value:z.3f} [{low:z.3f}, {high:z.3f}]"


@takes(FitOptions)
def fit(options: FitOptions, as_json: AsJson = False) -> None:
    """Fit to rated conversations, and say how well it does on those left out.

    The figures are out of fold, beside controls that read nothing. With FILE.json the satisfaction model
    of the local judge is fitted: use it with `dialogauge judge LOG --local-model FILE.json`. With a
    directory the whole ratings before each point of a conversation are predicted, words included: use it
    with `dialogauge judge LOG --judge fitted --fitted-model RUN`.
    """
    from dialogauge.app.fit import fit_file, fit_run
    from dialogauge.cli.tables import fit_lines
    from dialogauge.cli.terminal import TerminalObserver, plain, print_json

    outcome = fit_run(options, TerminalObserver(quiet=as_json)) if options.is_run else None
    found = fit_file(options) if outcome is None else outcome.run.result.to_json()
    for fault in found["faults"][:20]:
        typer.echo(f"dialogauge: {plain(fault)}", err=True)
    if as_json:
        print_json(found)
    else:
        for line in fit_lines(found) if outcome is None else run_lines(found):
            typer.echo(plain(line))
        typer.echo(f"{'coefficients' if outcome is None else 'run'}: {options.out}")
    if outcome is not None and outcome.run.ending.outcome.ended != "finished":
        error = outcome.run.ending.outcome.error
        why = "interrupted" if error is None else str(error)
        typer.echo(f"dialogauge: {plain(why)}; there is no model yet, the same command goes on", err=True)
    raise typer.Exit(int(bool(found["faults"])) if outcome is None else outcome.exit_code)
