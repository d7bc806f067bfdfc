"""`dialogauge compare`: two runs beside each other."""

from __future__ import annotations

from dataclasses import asdict
from typing import NoReturn

import typer

from dialogauge.app.settings import TwoRunsOptions
from dialogauge.cli.options import AsJson, DryRun, takes


@takes(TwoRunsOptions)
def compare(options: TwoRunsOptions, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Compare two runs of one rubric.

    Says what changed most, and how sure that is. Conversations are paired by id, else by task, else by
    scenario and user; else the runs are two samples. The judge of A also judges a sample of replies with
    planted faults, to say which it would not notice; a model does so with --planted only.
    """
    from dialogauge.app.compare import compare_runs
    from dialogauge.cli.terminal import print_blocks, print_json
    from dialogauge.report import plain
    from dialogauge.studies.compare.page import brief

    if dry_run:
        _print_plan(options, as_json=as_json)
    outcome = compare_runs(options)
    if as_json:
        print_json(outcome)
    else:
        print_blocks(
            brief(outcome.result, outcome.gates, outcome.few, paths=outcome.paths, verbose=options.verbose)
        )
        typer.echo()
        for file in outcome.files:
            typer.echo(plain(f"written: {file}"))
    raise typer.Exit(0 if outcome.met else 100)


def _print_plan(options: TwoRunsOptions, *, as_json: bool) -> NoReturn:
    from dialogauge.app.planted import count_planted
    from dialogauge.cli.terminal import print_asking, print_json

    only = None if options.candidates is None else options.candidates.partition(",")[0].strip()
    planted, asking = count_planted(options.a, options, only=only)
    if as_json:
        print_json({"planted": planted, **({} if asking is None else {"asking": asdict(asking)})})
    else:
        typer.echo(f"would judge {planted:,} replies with a planted fault")
        if asking is not None:
            print_asking(asking)
    raise typer.Exit
