"""`dialogauge fit`: the local judge's coefficients from people's ratings."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["fit"]


def fit(
    inputs: Annotated[list[str], typer.Argument(metavar="DATA...", help="Rated conversations.")],
    out: Annotated[str, typer.Option("-o", "--out", help="Where the coefficients go (JSON).")],
    ratings: Annotated[str | None, typer.Option(help="Ratings in a file of their own, by id.")] = None,
    dimension: Annotated[str, typer.Option(help="The rated dimension to fit.")] = "satisfaction",
    split_file: Annotated[
        str | None, typer.Option(help="JSON {train: [users]}: fit on these users only.")
    ] = None,
    folds: Annotated[int, typer.Option("--cv", min=2, help="Folds of the cross-validation over users.")] = 5,
    format: Annotated[str | None, typer.Option(help="Force a format instead of recognising it.")] = None,
    map_file: Annotated[str | None, typer.Option("--map", help="TOML file: your field names.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the fit as JSON.")] = False,
) -> None:
    """Fit the local judge's satisfaction model to rated conversations, and say how well it does.

    The figures are out of fold, by user where users are known, beside a constant and reply length. Use
    the result with `dialogauge judge LOG --local-model FILE`.
    """
    from dialogauge.app.fitting import FitOptions, fit_file
    from dialogauge.cli.printing import plain, print_json
    from dialogauge.cli.tables import fit_lines

    found = fit_file(FitOptions(inputs, out, ratings, dimension, split_file, folds, format, map_file))
    for fault in found["faults"][:20]:
        typer.echo(f"dialogauge: {plain(fault)}", err=True)
    if as_json:
        print_json(found)
    else:
        for line in fit_lines(found):
            typer.echo(plain(line))
        typer.echo(f"coefficients: {out}")
    raise typer.Exit(1 if found["faults"] else 0)
