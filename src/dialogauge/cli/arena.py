"""`dialogauge arena`: which agent does better on the same dialogues?"""

from __future__ import annotations

import typer

from dialogauge.app.arena.settings import ArenaOptions
from dialogauge.cli.options import AsJson, DryRun, takes


@takes(ArenaOptions)
def arena(options: ArenaOptions, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Rank agents by who did better on the same dialogue.

    Dialogues are matched by id. With one more agent, the same command compares only what is new.
    """
    import asyncio

    from dialogauge.app.arena.run import run_arena
    from dialogauge.cli.terminal import TerminalObserver, print_blocks, print_faults, print_json
    from dialogauge.report import plain
    from dialogauge.studies.arena.page import brief

    if dry_run:
        _print_plan(options, as_json=as_json)
    outcome = asyncio.run(run_arena(options, TerminalObserver(quiet=as_json)))
    print_faults(outcome.faults)
    if outcome.outcome.error is not None:
        typer.echo(f"dialogauge: {plain(str(outcome.outcome.error))}", err=True)
    if as_json:
        print_json(outcome.run.result.to_json())
    else:
        print_blocks(brief(outcome.run.result))
        for note in outcome.notes:
            typer.echo(plain(note))
        typer.echo(plain(f"report: {outcome.run.directory.file('report')}"))
    raise typer.Exit(outcome.exit_code)


def _print_plan(options: ArenaOptions, *, as_json: bool) -> None:
    from dialogauge.app.arena.run import plan_arena
    from dialogauge.cli.terminal import print_plan
    from dialogauge.text import counted

    plan = plan_arena(options)
    agents, all_meetings = counted(plan.counts["agents"], "agent"), plan.counts["meetings"]
    free = "" if plan.asking is not None else "; no model is asked"
    left = f"{plan.left:,} of " if plan.asking is not None else ""
    most = "at most " if options.schedule == "adaptive" else ""
    text = f"{agents}: would compare {most}{left}{counted(all_meetings, 'meeting')} by {plan.judge}{free}"
    print_plan(plan, text, as_json=as_json)
