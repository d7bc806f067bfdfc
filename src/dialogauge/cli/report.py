"""`dialogauge report`: the page of a run, written anew."""

from __future__ import annotations

import typer

from dialogauge.app.settings import ReportSettings
from dialogauge.cli.options import takes


@takes(ReportSettings)
def report(settings: ReportSettings) -> None:
    """Write the report of a run anew, from what the run holds."""
    from dialogauge.app.report import rebuild_report

    typer.echo(f"report: {rebuild_report(settings.run, settings.out, settings.privacy)}")
