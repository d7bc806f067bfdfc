"""`dialogauge fit`: the local judge's coefficients from people's ratings."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

__all__ = ["fit"]


def fit(
    inputs: Annotated[list[str], typer.Argument(metavar="DATA...", help="Rated conversations.")],
    out: Annotated[str, typer.Option("-o", "--out", help="Where the coefficients go (JSON).")],
    ratings: Annotated[str | None, typer.Option(help="Ratings in a file of their own, by id.")] = None,
    dimension: Annotated[str, typer.Option(help="The rated dimension to fit.")] = "satisfaction",
    dissatisfied: Annotated[
        float | None, typer.Option(help="Scores up to this are dissatisfied (else below 4 on a 1-5 scale).")
    ] = None,
    users: Annotated[
        str | None, typer.Option("--split-file", help="JSON {train: [users]}: fit on these users only.")
    ] = None,
    folds: Annotated[int, typer.Option("--cv", min=2, help="Folds of the cross-validation over users.")] = 5,
    format: Annotated[str | None, typer.Option(help="Force a format instead of recognising it.")] = None,
    map_file: Annotated[str | None, typer.Option("--map", help="TOML file: your field names.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the fit's figures as JSON.")] = False,
) -> None:
    """Fit the local judge's satisfaction model to rated conversations, and say how well it does.

    The figures are out of fold, by user where users are known, beside a constant and reply length.
    """
    import orjson

    from dialogauge.app.fitting import fit_file
    from dialogauge.cli.tables import fit_lines

    report = fit_file(
        inputs,
        out,
        ratings_file=ratings,
        dimension=dimension,
        dissatisfied=dissatisfied,
        split_file=users,
        folds=folds,
        format=format,
        map_file=map_file,
    )
    if as_json:
        sys.stdout.buffer.write(orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    else:
        for line in fit_lines(report):
            typer.echo(line)
        typer.echo(f"coefficients: {out}")
