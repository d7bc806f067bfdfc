"""`dialogauge trust`: how far a run's numbers can be trusted."""

from __future__ import annotations

import typer

from dialogauge.app.settings import RecheckOptions
from dialogauge.cli.options import AsJson, DryRun, takes

_NOTHING = "would make the checks anew; nothing is judged"


@takes(RecheckOptions)
def trust(options: RecheckOptions, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Check a run for known faults of its judge.

    The results are written into its report. The thresholds are in the [trust] table of the configuration
    file. The judge of the run judges a sample of replies with planted faults, and says which it would not
    notice; a model does so with --planted only. --scenario-sample takes two judgements per conversation.
    """
    import asyncio

    from dialogauge.app.trust import recheck_run
    from dialogauge.cli.terminal import TerminalObserver, print_blocks, print_json
    from dialogauge.report import plain
    from dialogauge.studies.trust.page import trust_brief

    if dry_run:
        _print_plan(options, as_json=as_json)
    outcome = asyncio.run(recheck_run(options, TerminalObserver(quiet=as_json)))
    checks, error = outcome.run.result.trust, outcome.outcome.error
    if as_json:
        print_json(checks)
    else:
        print_blocks(trust_brief(checks))
    if error is not None:
        typer.echo(f"dialogauge: {plain(str(error))}", err=True)
    if outcome.exit_code:
        typer.echo("dialogauge: what was judged is saved; the same command continues from here", err=True)
    raise typer.Exit(outcome.exit_code)


def _print_plan(options: RecheckOptions, *, as_json: bool) -> None:
    from dialogauge.app.trust import plan_recheck
    from dialogauge.cli.terminal import print_plan

    plan = plan_recheck(options)
    variants, planted = plan.counts["variants"], plan.counts["planted"]
    parts = [f"{plan.left - planted} of {variants} conversations with another scenario or none"] * (
        variants > 0
    )
    parts += [f"{planted} replies with a planted fault"] * (planted > 0)
    text = f"would judge {' and '.join(parts)}, by {plan.judge}" if parts else _NOTHING
    print_plan(plan, text, as_json=as_json)
