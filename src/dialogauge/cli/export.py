"""`dialogauge export`: the judgements of a run as a table."""

from __future__ import annotations

import typer

from dialogauge.app.settings import ExportSettings
from dialogauge.cli.options import takes


@takes(ExportSettings)
def export(settings: ExportSettings) -> None:
    """Export the judgements of a run; the ending of the file says the format."""
    from dialogauge.app.export import export_run
    from dialogauge.text import counted

    written = export_run(settings.run, settings.out, settings.privacy)
    typer.echo(f"{counted(written, 'row')}: {settings.out}")
