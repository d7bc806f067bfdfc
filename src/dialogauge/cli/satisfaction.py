"""`dialogauge satisfaction`: how satisfied will this user be with this reply?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dialogauge.app.settings import SatisfactionOptions
from dialogauge.cli.options import AsJson, DryRun, takes
from dialogauge.cli.terminal import TerminalObserver, print_blocks, print_faults, print_json, print_plan
from dialogauge.report import plain
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.satisfaction import SatisfactionOutcome


@takes(SatisfactionOptions)
def satisfaction(options: SatisfactionOptions, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Judge each reply for its own user.

    A judge knows how this user rated other scenarios. The results show it raw and under each calibration,
    beside controls and the ceiling.
    """
    from dialogauge.app.satisfaction import judge_satisfaction
    from dialogauge.studies.satisfaction.page import brief

    if dry_run:
        _print_plan(options, as_json=as_json)
    outcome = judge_satisfaction(options, TerminalObserver(quiet=as_json))
    print_faults(outcome.faults)
    _print_end(outcome)
    run, result = outcome.run, outcome.run.result
    if as_json:
        print_json(result.to_json())
    else:
        for note in outcome.notes:
            typer.echo(plain(note))
        print_blocks(brief(result.figures, result.summary, run.manifest, run.ending, result.failures))
        typer.echo(plain(f"report: {run.directory.file('report')}"))
    raise typer.Exit(outcome.exit_code)


def _print_end(outcome: SatisfactionOutcome) -> None:
    """Say how the study ended, where it ended early, and what that means for its figures."""
    ending = outcome.run.ending
    if ending.outcome.error is not None:
        typer.echo(f"dialogauge: {plain(str(ending.outcome.error))}", err=True)
    if ending.pending:
        typer.echo(
            f"dialogauge: not judged yet: {counted(ending.pending, 'turn')}; the figures rest on the "
            "others, and the same command continues from here",
            err=True,
        )


def _print_plan(options: SatisfactionOptions, *, as_json: bool) -> None:
    from dialogauge.app.satisfaction import plan_satisfaction

    plan = plan_satisfaction(options)
    turns, left = plan.counts["turns"], plan.left
    text = f"would judge {left:,} of {counted(turns, 'turn')} ({turns - left:,} done already) by {plan.judge}"
    print_plan(plan, text, as_json=as_json)
