"""`dialogauge doctor`: what an endpoint can do, and whether a model is fit to judge."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli import options as option


def doctor(
    model: Annotated[str | None, typer.Option(help="Model at an OpenAI-compatible endpoint.")] = None,
    base_url: option.BaseUrl = None,
    api_key_env: option.KeyEnv = None,
    role: option.JudgeRole = None,
    config: option.Config = None,
    known_answers: Annotated[
        bool, typer.Option("--known-answers/--no-known-answers", help="Ask the known-answer set too.")
    ] = True,
    as_json: option.AsBareJson = False,
) -> None:
    """Probe an endpoint: reachable, schemas, log-probabilities, latency; and ask it what we know.

    The known-answer set tells whether a model only returns the average of its turn scores.
    """
    from dialogauge.app.doctor import examine_endpoint
    from dialogauge.cli.judge import model_reference
    from dialogauge.cli.tables import doctor_lines
    from dialogauge.cli.terminal import plain, print_json

    examined = examine_endpoint(
        model_reference(model, base_url, api_key_env, role or []),
        config_file=config,
        with_known_answers=known_answers,
    )
    if as_json:
        print_json(examined.to_json())
    else:
        for line in doctor_lines(examined):
            typer.echo(plain(line))
    raise typer.Exit(0 if examined.usable else 1)
