"""`dialogauge doctor`: what an endpoint can do, and whether a model is fit to judge."""

from __future__ import annotations

import typer

from dialogauge.app.settings import DoctorOptions
from dialogauge.cli.options import AsJson, takes


@takes(DoctorOptions)
def doctor(options: DoctorOptions, as_json: AsJson = False) -> None:
    """Probe an endpoint: reachable, schemas, log-probabilities, latency; and ask it what we know.

    The known-answer set tells whether a model only returns the average of its turn scores.
    """
    from dialogauge.app.doctor import examine_endpoint
    from dialogauge.cli.tables import doctor_lines
    from dialogauge.cli.terminal import plain, print_json

    examined = examine_endpoint(options)
    if as_json:
        print_json(examined.to_json())
    else:
        for line in doctor_lines(examined):
            typer.echo(plain(line))
    raise typer.Exit(0 if examined.usable else 1)
