"""`dialogauge judge`: the main job."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import typer

from dialogauge.app.settings import JudgeOptions
from dialogauge.cli.options import AsJson, DryRun, takes
from dialogauge.cli.terminal import TerminalObserver, print_blocks, print_faults, print_json, print_plan
from dialogauge.report import plain, words
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.judge import JudgeOutcome


@takes(JudgeOptions)
def judge(options: JudgeOptions, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Judge a log, turn by turn and as a whole.

    Without a model the local judge is used: no key, no network.
    """
    if dry_run:
        _print_plan(options, as_json=as_json)
    judge_log(options, as_json=as_json)


def judge_log(options: JudgeOptions, *, as_json: bool = False) -> NoReturn:
    """Judge a log, print what came of it, and exit with its code."""
    import asyncio

    from dialogauge.app.judge import judge_data

    outcome = asyncio.run(judge_data(options, TerminalObserver(quiet=as_json)))
    _print_faults(outcome)
    run = outcome.run
    nothing = run.ending.outcome.error is not None and not run.progress.done + run.progress.resumed
    if as_json:
        print_json(run.result.to_json())
    elif nothing:
        typer.echo("nothing was judged: correct the error, then run the same command again")
    else:
        _print_summary(outcome)
    if outcome.exit_code == 3:
        share, of = run.result.summary.failed_share or 0.0, run.result.summary.replied
        sentence = f"{words.percent(share)} of {counted(of, 'target')} failed, more than --max-failed allows"
        typer.echo(f"dialogauge: {sentence} ({words.percent(outcome.max_failed)}): exit code 3", err=True)
    elif outcome.exit_code == 2:
        refused = sum(gate.refused for gate in run.result.gates)
        sentence = f"{counted(refused, 'gate')} on what is not checked; --unchecked takes it all the same"
        typer.echo(f"dialogauge: {sentence}: exit code 2", err=True)
    raise typer.Exit(outcome.exit_code)


def _print_summary(outcome: JudgeOutcome) -> None:
    from dialogauge.studies.judging.brief import brief

    run = outcome.run
    for note in outcome.notes:
        typer.echo(f"  {plain(note)}")
    if run.progress.resumed:
        typer.echo(f"  {run.progress.resumed} already judged by an earlier run and reused")
    typer.echo()
    print_blocks(brief(run.result.summary, run.result.sample, run.result.known, run.manifest))
    for gate in run.result.gates:
        typer.echo(plain(gate.sentence))
    typer.echo()
    typer.echo(plain(f"report: {run.directory.file('report')}"))


def _print_faults(outcome: JudgeOutcome) -> None:
    print_faults(outcome.faults, ", listed in manifest.json")
    ended, done = outcome.outcome, outcome.run.progress.done
    if ended.error is not None:
        typer.echo(f"dialogauge: {plain(str(ended.error))}", err=True)
        if done:
            typer.echo(f"dialogauge: the {done} judged before that are saved", err=True)


def _print_plan(options: JudgeOptions, *, as_json: bool) -> None:
    from dialogauge.app.judge import plan_log

    plan = plan_log(options)
    units = plan.counts["units"]
    text = f"would judge {plan.left} of {units} ({units - plan.left} done already) with {plan.judge}"
    print_plan(plan, text, as_json=as_json)
