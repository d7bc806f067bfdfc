"""`dialogauge export`: the judgements of a run as a table."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["export"]


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory.")],
    out: Annotated[str, typer.Option("-o", "--out", help="x.jsonl, x.csv or x.parquet.")],
) -> None:
    """Export the judgements of a run; the ending of the file says the format."""
    from dialogauge.app.exporting import export_run

    written = export_run(run, out)
    typer.echo(f"{written} rows: {out}")
