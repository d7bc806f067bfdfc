"""`dialogauge check`: what an input is, before anything is judged."""

from __future__ import annotations

import typer

from dialogauge.app.settings import CheckOptions
from dialogauge.cli.options import AsJson, takes


@takes(CheckOptions)
def check(options: CheckOptions, as_json: AsJson = False) -> None:
    """Show how an input is read.

    Says what was assumed, what it contains, and what could not be read. Nothing is judged.
    """
    from dialogauge.app.check import check_input
    from dialogauge.cli.input_report import report_blocks
    from dialogauge.cli.terminal import print_blocks, print_json
    from dialogauge.report import plain

    report = check_input(options)
    if as_json:
        print_json(report)
    else:
        for note in report.notes:
            typer.echo(plain(str(note)))
        typer.echo()
        print_blocks(report_blocks(report))
        if report.fault_count:
            typer.echo(f"\nNOT READ: {report.fault_count:,}")
        for fault in report.faults:
            typer.echo(f"  {plain(fault)}")
        if more := report.fault_count - len(report.faults):
            typer.echo(f"  ... and {more:,} more")
    raise typer.Exit(1 if report.faults else 0)
