"""`dialogauge report`: the page of a run, written anew."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli import options as option


def report(
    run: option.RunDirectory,
    out: Annotated[str | None, typer.Option("-o", "--out", help="Where to (else RUN/report.html).")] = None,
    redact: option.Redact = False,
    hash_ids: option.HashIds = False,
) -> None:
    """Write the report of a run anew, from what the run holds."""
    from dialogauge.app.config import compute_in_one_thread

    compute_in_one_thread()  # before the next line loads numpy
    from dialogauge.app.report import rebuild_report
    from dialogauge.runs.privacy import Privacy

    typer.echo(f"report: {rebuild_report(run, out, Privacy(redact, hash_ids))}")
