"""`dialogauge compare`: two runs beside each other."""

from __future__ import annotations

import typer

from dialogauge.app.settings import TwoRunsOptions
from dialogauge.cli.options import AsJson, takes


@takes(TwoRunsOptions)
def compare(options: TwoRunsOptions, as_json: AsJson = False) -> None:
    """Compare two runs of one rubric.

    Says what became better, what worse, and how sure that is. Conversations are paired by id, else by
    task, else by scenario and user; else the runs are two samples.
    """
    from dialogauge.app.compare import compare_runs
    from dialogauge.cli.terminal import print_blocks, print_json
    from dialogauge.report import plain
    from dialogauge.studies.compare.page import brief

    outcome = compare_runs(options)
    if as_json:
        print_json(outcome)
    else:
        print_blocks(brief(outcome.result, outcome.gates, outcome.few))
        typer.echo()
        for file in outcome.files:
            typer.echo(plain(f"written: {file}"))
    raise typer.Exit(0 if outcome.met else 100)
