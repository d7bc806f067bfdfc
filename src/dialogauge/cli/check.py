"""`dialogauge check`: what an input is, before anything is judged."""

from __future__ import annotations

import typer

from dialogauge.app.settings import CheckOptions
from dialogauge.cli.options import AsJson, takes


@takes(CheckOptions)
def check(options: CheckOptions, as_json: AsJson = False) -> None:
    """Say what was recognised and assumed in an input, and what is in it."""
    from dialogauge.app.check import check_input
    from dialogauge.cli.tables import report_lines
    from dialogauge.cli.terminal import plain, print_json

    report = check_input(options)
    if as_json:
        print_json(report.to_json())
    else:
        for line in report_lines(report):
            typer.echo(plain(line))
    raise typer.Exit(1 if report.faults else 0)
