"""`dialogauge fit`: learn from people's ratings, and say how well it does on ratings left out."""

from __future__ import annotations

import typer

from dialogauge.app.settings import FitOptions
from dialogauge.cli.options import AsJson, takes


@takes(FitOptions)
def fit(options: FitOptions, as_json: AsJson = False) -> None:
    """Fit a judge to rated conversations.

    The report says how well it does on held-out ones. `judge` takes FILE.json with
    --local-model, and a run with --fitted-model.
    """
    import asyncio

    from dialogauge.app.fit import fit_data, fit_file
    from dialogauge.cli.terminal import TerminalObserver, print_blocks, print_faults, print_json
    from dialogauge.report import plain
    from dialogauge.runs import Outcome
    from dialogauge.studies.fit.page import file_brief, run_brief

    outcome = None
    if options.is_run:
        outcome = asyncio.run(fit_data(options, TerminalObserver(quiet=as_json)))
    fitted = fit_file(options) if outcome is None else outcome.run.result.to_json()
    print_faults(fitted["faults"])
    if as_json:
        print_json(fitted)
    else:
        print_blocks(file_brief(fitted) if outcome is None else run_brief(fitted))
        typer.echo(plain(f"{'coefficients' if outcome is None else 'run'}: {options.out}"))
    ending = Outcome("finished") if outcome is None else outcome.outcome
    if ending.ended != "finished":
        why = "interrupted" if ending.error is None else str(ending.error)
        typer.echo(f"dialogauge: {plain(why)}; there is no model yet; the same command continues", err=True)
    raise typer.Exit(ending.exit_code(fitted["faults"]))
