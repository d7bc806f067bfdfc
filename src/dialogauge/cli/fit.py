"""`dialogauge fit`: learn from people's ratings, and say how well it does on ratings left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer

from dialogauge.cli import options as option
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


_OUT = "FILE.json: coefficients of the local judge. Else a run directory with a model of the ratings."


def fit(
    inputs: Annotated[list[str], typer.Argument(metavar="DATA...", help="Rated conversations.")],
    out: Annotated[str, typer.Option("-o", "--out", metavar="FILE.json|RUN", help=_OUT)],
    ratings: Annotated[str | None, typer.Option(help="Ratings in a file of their own, by id.")] = None,
    dimension: Annotated[str, typer.Option(help="The rated dimension to fit.")] = "satisfaction",
    split_file: Annotated[
        str | None, typer.Option(help="JSON {train: [users]}: fit on these users only.")
    ] = None,
    folds: Annotated[int, typer.Option("--cv", min=2, help="Parts of the cross-validation.")] = 5,
    format: option.Format = None,
    map_file: option.Map = None,
    draws: Annotated[int, typer.Option(min=0, help="Bootstrap draws for the intervals of a run.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the draws and the shuffled control.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the fit as JSON.")] = False,
) -> None:
    """Fit to rated conversations, and say how well it does on those left out.

    The figures are out of fold, beside controls that read nothing. With FILE.json the satisfaction model
    of the local judge is fitted: use it with `dialogauge judge LOG --local-model FILE.json`. With a
    directory the whole ratings before each point of a conversation are predicted, words included: use it
    with `dialogauge judge LOG --judge fitted --fitted-model RUN`.
    """
    from dialogauge.app.config import compute_in_one_thread

    compute_in_one_thread()  # before the next line loads numpy
    from dialogauge.app.fit import FitOptions, fit_file, fit_run
    from dialogauge.cli.judge import command_line
    from dialogauge.cli.tables import fit_lines
    from dialogauge.cli.terminal import plain, print_json

    files = (ratings, dimension, split_file, folds, format, map_file)
    options = FitOptions(inputs, out, *files, draws, seed, command_line())
    found = fit_run(options) if options.is_run else fit_file(options)
    for fault in found["faults"][:20]:
        typer.echo(f"dialogauge: {plain(fault)}", err=True)
    if as_json:
        print_json(found)
    else:
        for line in run_lines(found) if options.is_run else fit_lines(found):
            typer.echo(plain(line))
        typer.echo(f"{'run' if options.is_run else 'coefficients'}: {out}")
    raise typer.Exit(1 if found["faults"] else 0)
