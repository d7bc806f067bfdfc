"""`dialogauge export`: the judgements of a run as a table."""

from __future__ import annotations

import typer

from dialogauge.app.settings import ExportOptions
from dialogauge.cli.options import takes


@takes(ExportOptions)
def export(options: ExportOptions) -> None:
    """Export the judgements of a run.

    The file extension sets the format.
    """
    from dialogauge.app.export import export_run
    from dialogauge.report import plain
    from dialogauge.text import counted

    written = export_run(options.run, options.out, options.privacy)
    typer.echo(plain(f"{counted(written, 'row')}: {options.out}"))
