"""`dialogauge check`: what an input is, before anything is judged."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli import options as option


def check(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT...", help="Files, folders, or - for stdin.")],
    format: option.Format = None,
    map_file: option.Map = None,
    ratings: option.Ratings = None,
    min_turns: Annotated[int, typer.Option(min=0, help="Fewer turns than this count as very short.")] = 2,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first oddity.")] = False,
    pii: Annotated[
        bool, typer.Option("--pii", help="Count what looks like personal data, without printing it.")
    ] = False,
    as_json: option.AsBareJson = False,
) -> None:
    """Say what was recognised and assumed in an input, and what is in it."""
    from dialogauge.app.check import check_input
    from dialogauge.cli.tables import report_lines
    from dialogauge.cli.terminal import plain, print_json

    report = check_input(
        inputs,
        format=format,
        map_file=map_file,
        ratings_file=ratings,
        min_turns=min_turns,
        strict=strict,
        personal=pii,
    )
    if as_json:
        print_json(report.to_json())
    else:
        for line in report_lines(report):
            typer.echo(plain(line))
    raise typer.Exit(1 if report.faults else 0)
