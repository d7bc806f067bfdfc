"""Running the satisfaction study in a terminal: what is said meanwhile and afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dialogauge.cli.printing import plain, print_json
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.satisfaction import SatisfactionOutcome
    from dialogauge.app.satisfaction_options import SatisfactionOptions
    from dialogauge.core.errors import InputError

__all__ = ["run_and_print"]

_FAULTS_SHOWN = 20


def run_and_print(options: SatisfactionOptions, *, dry_run: bool, as_json: bool) -> int:
    """Run the study, print what a person or a machine wants to know, return the exit code."""
    from dialogauge.app.satisfaction import judge_satisfaction
    from dialogauge.bench.judging import figures_of
    from dialogauge.cli.satisfaction_lines import satisfaction_lines
    from dialogauge.cli.terminal import TerminalObserver
    from dialogauge.report import mended_and_spent

    if dry_run:
        return _print_plan(options, as_json=as_json)
    outcome = judge_satisfaction(options, TerminalObserver(quiet=as_json))
    _print_faults(outcome.faults)
    _print_end(outcome)
    if as_json:
        print_json(outcome.to_json())
    else:
        for line in (*satisfaction_lines(outcome), *mended_and_spent(figures_of(outcome.summary))):
            typer.echo(plain(line))
    if outcome.ended.ended == "interrupted":
        return 130
    if outcome.ended.error is not None or outcome.faults:
        return 1
    return 3 if outcome.mostly_failed else 0


def _print_faults(faults: tuple[InputError, ...]) -> None:
    for fault in faults[:_FAULTS_SHOWN]:
        typer.echo(f"dialogauge: {plain(str(fault))}", err=True)


def _print_end(outcome: SatisfactionOutcome) -> None:
    """Say how the study ended, where it ended early, and what that means for its figures."""
    if outcome.ended.error is not None:
        typer.echo(f"dialogauge: {plain(str(outcome.ended.error))}", err=True)
    if outcome.pending:
        typer.echo(
            f"dialogauge: not judged yet: {counted(outcome.pending, 'turn')}; the figures stand on the "
            "others, and the same command goes on from here",
            err=True,
        )


def _print_plan(options: SatisfactionOptions, *, as_json: bool) -> int:
    from dialogauge.app.satisfaction import plan_satisfaction

    plan = plan_satisfaction(options)
    if as_json:
        value = {
            "run": str(plan.directory),
            "judge": plan.judge,
            "turns": plan.turns,
            "left": plan.left,
            "faults": [str(f) for f in plan.faults],
        }
        print_json(value)
    else:
        done = plan.turns - plan.left
        judge = plain(plan.judge)
        typer.echo(
            f"would judge {plan.left:,} of {counted(plan.turns, 'turn')} ({done:,} done already) by {judge}"
        )
        typer.echo(f"into {plan.directory}")
    _print_faults(plan.faults)
    return 1 if plan.faults else 0
