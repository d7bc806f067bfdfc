"""Running the main job in a terminal: what is said before, meanwhile and afterwards."""

from __future__ import annotations

import typer

from dialogauge.app.judge import JudgeOutcome, Plan, judge_log, plan_log
from dialogauge.app.settings import JudgeOptions
from dialogauge.cli.terminal import TerminalObserver, plain, print_json

_FAULTS_SHOWN = 20


def run_and_print(options: JudgeOptions, *, dry_run: bool, as_json: bool) -> int:
    """Run the main job, print what a person or a machine wants to know, return the exit code."""
    if dry_run:
        return _print_plan(plan_log(options), as_json=as_json)
    outcome = judge_log(options, TerminalObserver(quiet=as_json))
    _print_faults(outcome)
    run = outcome.run
    nothing = run.ending.outcome.error is not None and not run.progress.done + run.progress.resumed
    if as_json:
        print_json({**run.result.summary.to_json(), "trust": run.result.trust.to_json()})
    elif nothing:
        typer.echo("nothing was judged: mend what the error says, and give the same command again")
    else:
        _print_summary(outcome)
    return outcome.exit_code


def _print_summary(outcome: JudgeOutcome) -> None:
    from dialogauge.report import note_lines, summary_lines, trust_lines, weak_turn_lines
    from dialogauge.studies.judging import figures_of

    result, progress = outcome.run.result, outcome.run.progress
    for note in outcome.notes:
        typer.echo(f"  {plain(note)}")
    if progress.resumed:
        typer.echo(f"  {progress.resumed} already judged by an earlier run, taken from it")
    typer.echo()
    for line in summary_lines(figures_of(result.summary)):
        typer.echo(plain(line))
    notes = note_lines(result.view.about.notes)
    for line in ["", *notes] if notes else []:
        typer.echo(plain(line))
    weak = weak_turn_lines(result.view.weak_turns)
    for line in ["", *weak] if weak else []:
        typer.echo(plain(line))
    view = result.view.trust
    for line in ["", *trust_lines(view)] if view else []:
        typer.echo(plain(line))
    for gate in result.gates:
        typer.echo(plain(gate.sentence))
    typer.echo()
    typer.echo(f"report: {outcome.run.directory.file('report')}")


def _print_faults(outcome: JudgeOutcome) -> None:
    for fault in outcome.faults[:_FAULTS_SHOWN]:
        typer.echo(f"dialogauge: {plain(str(fault))}", err=True)
    more = len(outcome.faults) - _FAULTS_SHOWN
    if more > 0:
        typer.echo(f"dialogauge: ... and {more} more, listed in manifest.json", err=True)
    ended, done = outcome.run.ending.outcome, outcome.run.progress.done
    if ended.error is not None:
        typer.echo(f"dialogauge: {plain(str(ended.error))}", err=True)
        if done:
            typer.echo(f"dialogauge: the {done} judged before that are kept", err=True)
    if ended.ended == "interrupted":
        typer.echo("dialogauge: interrupted; the same command goes on from here", err=True)


def _print_plan(plan: Plan, *, as_json: bool) -> int:
    if as_json:
        value = {
            "run": str(plan.directory),
            "judge": plan.judge,
            "conversations": plan.conversations,
            "units": plan.units,
            "left": plan.left,
            "faults": [str(f) for f in plan.faults],
        }
        print_json(value)
    else:
        for note in plan.notes:
            typer.echo(f"  {plain(note)}")
        done = plan.units - plan.left
        typer.echo(f"would judge {plan.left} of {plan.units} ({done} done already) with {plain(plan.judge)}")
        typer.echo(f"into {plan.directory}")
    for fault in plan.faults[:_FAULTS_SHOWN]:
        typer.echo(f"dialogauge: {plain(str(fault))}", err=True)
    return 1 if plan.faults else 0
