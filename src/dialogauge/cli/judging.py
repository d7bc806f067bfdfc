"""Running the main job in a terminal: what is said before, meanwhile and afterwards."""

from __future__ import annotations

import typer

from dialogauge.app.judge import JudgeOutcome, Plan, judge_log, plan_log
from dialogauge.app.settings import JudgeOptions
from dialogauge.cli.terminal import TerminalObserver, print_blocks, print_faults, print_json
from dialogauge.report import plain


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
    from dialogauge.studies.judging.brief import brief

    run = outcome.run
    for note in outcome.notes:
        typer.echo(f"  {plain(note)}")
    if run.progress.resumed:
        typer.echo(f"  {run.progress.resumed} already judged by an earlier run, taken from it")
    typer.echo()
    print_blocks(brief(run.result.summary, run.result.sample, run.result.trust, run.manifest))
    for gate in run.result.gates:
        typer.echo(plain(gate.sentence))
    typer.echo()
    typer.echo(f"report: {run.directory.file('report')}")


def _print_faults(outcome: JudgeOutcome) -> None:
    print_faults(outcome.faults, ", listed in manifest.json")
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
    print_faults(plan.faults)
    return 1 if plan.faults else 0
