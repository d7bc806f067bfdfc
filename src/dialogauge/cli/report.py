"""`dialogauge report`: the page of a run, written anew."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli.judge import HASH_IDS, REDACT

__all__ = ["report"]


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory.")],
    out: Annotated[str | None, typer.Option("-o", "--out", help="Where to (else RUN/report.html).")] = None,
    redact: Annotated[bool, typer.Option("--redact", help=REDACT)] = False,
    hash_ids: Annotated[bool, typer.Option("--hash-ids", help=HASH_IDS)] = False,
) -> None:
    """Write the report of a run anew, from what the run holds."""
    from dialogauge.app.config import compute_in_one_thread

    compute_in_one_thread()  # before the next line loads numpy
    from dialogauge.app.privacy import Privacy
    from dialogauge.app.reporting import rebuild_report

    typer.echo(f"report: {rebuild_report(run, out, Privacy(redact, hash_ids))}")
