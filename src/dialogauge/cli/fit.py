"""`dialogauge fit`: learn from people's ratings, and say how well it does on ratings left out."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli import options as option

__all__ = ["fit"]

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
    from dialogauge.app.fit_run import fit_run
    from dialogauge.app.fitting import FitOptions, fit_file
    from dialogauge.cli.fit_lines import run_lines
    from dialogauge.cli.judge import command_line
    from dialogauge.cli.printing import plain, print_json
    from dialogauge.cli.tables import fit_lines

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
