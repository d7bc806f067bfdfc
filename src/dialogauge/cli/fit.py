"""`dialogauge fit`: learn from people's ratings, and say how well it does on ratings left out."""

from __future__ import annotations

import typer

from dialogauge.app.settings import FitOptions
from dialogauge.cli.options import AsJson, takes


@takes(FitOptions)
def fit(options: FitOptions, as_json: AsJson = False) -> None:
    """Fit to rated conversations, and say how well it does on those left out.

    The figures are out of fold, beside controls that read nothing. With FILE.json the satisfaction model
    of the local judge is fitted: use it with `dialogauge judge LOG --local-model FILE.json`. With a
    directory the whole ratings before each point of a conversation are predicted, words included: use it
    with `dialogauge judge LOG --judge fitted --fitted-model RUN`.
    """
    from dialogauge.app.fit import fit_file, fit_run
    from dialogauge.cli.terminal import print_blocks, print_faults, print_json
    from dialogauge.studies.fit.page import file_brief, run_brief

    found = fit_run(options) if options.is_run else fit_file(options)
    print_faults(found["faults"])
    if as_json:
        print_json(found)
    else:
        print_blocks(run_brief(found) if options.is_run else file_brief(found))
        typer.echo(f"{'run' if options.is_run else 'coefficients'}: {options.out}")
    raise typer.Exit(1 if found["faults"] else 0)
