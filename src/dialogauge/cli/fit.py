"""`dialogauge fit`: learn from people's ratings, and say how well it does on ratings left out."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli import options as option

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
    from dialogauge.cli.terminal import print_blocks, print_faults, print_json
    from dialogauge.studies.fit.page import file_brief, run_brief

    files = (ratings, dimension, split_file, folds, format, map_file)
    options = FitOptions(inputs, out, *files, draws, seed, command_line())
    found = fit_run(options) if options.is_run else fit_file(options)
    print_faults(found["faults"])
    if as_json:
        print_json(found)
    else:
        print_blocks(run_brief(found) if options.is_run else file_brief(found))
        typer.echo(f"{'run' if options.is_run else 'coefficients'}: {out}")
    raise typer.Exit(1 if found["faults"] else 0)
