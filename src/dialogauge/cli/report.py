"""`dialogauge report`: the page of a run, written anew."""

from __future__ import annotations

import typer

from dialogauge.app.settings import ReportOptions
from dialogauge.cli.options import takes


@takes(ReportOptions)
def report(options: ReportOptions) -> None:
    """Rewrite the report of a run from its stored results."""
    from dialogauge.app.report import rebuild_report
    from dialogauge.report import plain

    typer.echo(plain(f"report: {rebuild_report(options.run, options.out, options.privacy)}"))
