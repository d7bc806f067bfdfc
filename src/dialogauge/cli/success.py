"""`dialogauge success`: did the tasks come about?"""

from __future__ import annotations

import typer

from dialogauge.app.settings import SuccessOptions
from dialogauge.cli.options import AsJson, takes
from dialogauge.cli.terminal import TerminalObserver, print_blocks, print_faults, print_json
from dialogauge.report import plain


@takes(SuccessOptions)
def success(options: SuccessOptions, as_json: AsJson = False) -> None:
    """Check whether agents solved their tasks.

    Reads goals, databases and rewards; asks no model. multiwoz: Inform and Success as
    published. tau: the stored reward, the required outputs, and with --environment the database
    after the calls.
    """
    import asyncio

    from dialogauge.app.success import check_success
    from dialogauge.studies.success.page import success_brief
    from dialogauge.studies.success.study import SuccessResult

    outcome = asyncio.run(check_success(options, TerminalObserver(quiet=as_json)))
    print_faults(outcome.faults, ", listed in manifest.json")
    run, result = outcome.run, outcome.run.result
    if outcome.outcome.error is not None:
        typer.echo(f"dialogauge: {plain(str(outcome.outcome.error))}", err=True)
    if as_json:
        print_json(result.to_json())
    elif isinstance(result, SuccessResult) and result.success is not None:
        for note in outcome.notes:
            typer.echo(f"  {plain(note)}")
        print_blocks(success_brief(result.summary, result.success))
        for gate in result.gates:
            typer.echo(plain(gate.sentence))
        typer.echo(plain(f"report: {run.directory.file('report')}"))
    raise typer.Exit(outcome.exit_code)
