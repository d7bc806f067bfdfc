"""`dialogauge export`: the judgements of a run as a table."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli import options as option


def export(
    run: option.RunDirectory,
    out: Annotated[str, typer.Option("-o", "--out", help="x.jsonl, x.csv or x.parquet.")],
    redact: option.Redact = False,
    hash_ids: option.HashIds = False,
) -> None:
    """Export the judgements of a run; the ending of the file says the format."""
    from dialogauge.app.export import export_run
    from dialogauge.runs.privacy import Privacy
    from dialogauge.text import counted

    written = export_run(run, out, Privacy(redact, hash_ids))
    typer.echo(f"{counted(written, 'row')}: {out}")
