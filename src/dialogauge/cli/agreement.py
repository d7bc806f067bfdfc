"""`dialogauge agreement`: judges against people."""

from __future__ import annotations

import typer

from dialogauge.app.settings import AgreementOptions
from dialogauge.cli.options import AsJson, takes


@takes(AgreementOptions)
def agreement(options: AgreementOptions, as_json: AsJson = False) -> None:
    """Measure how well raters and judges agree.

    Intervals are clustered by user, else by conversation. Several runs are compared on their common targets;
    satisfaction runs under every calibration.
    """
    from dialogauge.app.agreement import measure_agreement
    from dialogauge.cli.terminal import print_blocks, print_faults, print_json
    from dialogauge.report import plain
    from dialogauge.studies.agreement.page import brief
    from dialogauge.studies.satisfaction.several_page import several_brief

    outcome = measure_agreement(options)
    print_faults(outcome.faults)
    if as_json:
        print_json(outcome)
    else:
        for note in outcome.notes:
            typer.echo(plain(note))
        judges = () if outcome.satisfaction is None else several_brief(outcome.satisfaction)
        print_blocks((*outcome.first, *judges, *brief(outcome.result, outcome.verdicts)))
        typer.echo()
        for file in outcome.files:
            typer.echo(plain(f"written: {file}"))
    raise typer.Exit(1 if outcome.faults else 0)
