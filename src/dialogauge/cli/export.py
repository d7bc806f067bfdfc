"""`dialogauge export`: the judgements of a run as a table."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli.judge import HASH_IDS, REDACT

__all__ = ["export"]


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory.")],
    out: Annotated[str, typer.Option("-o", "--out", help="x.jsonl, x.csv or x.parquet.")],
    redact: Annotated[bool, typer.Option("--redact", help=REDACT)] = False,
    hash_ids: Annotated[bool, typer.Option("--hash-ids", help=HASH_IDS)] = False,
) -> None:
    """Export the judgements of a run; the ending of the file says the format."""
    from dialogauge.app.exporting import export_run
    from dialogauge.app.privacy import Privacy

    written = export_run(run, out, Privacy(redact, hash_ids))
    typer.echo(f"{written} rows: {out}")
