"""`dialogauge trust`: how far a run's numbers can be trusted."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["trust"]


def trust(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory.")],
    scenario_sample: Annotated[
        int | None,
        typer.Option(min=1, help="Judge N conversations again without, and with another's, scenario."),
    ] = None,
    ratings: Annotated[str | None, typer.Option(help="People's ratings, joined by id.")] = None,
    map_file: Annotated[str | None, typer.Option("--map", help="TOML file: your field names.")] = None,
    model: Annotated[str | None, typer.Option(help="The run's model (else as the run says).")] = None,
    base_url: Annotated[str | None, typer.Option(help="Its endpoint.")] = None,
    api_key_env: Annotated[str | None, typer.Option(help="Variable that holds its key.")] = None,
    role: Annotated[list[str] | None, typer.Option(metavar="judge=M@U#K", help="As in judge.")] = None,
    config: Annotated[str | None, typer.Option(help="Configuration file (else ./dialogauge.toml).")] = None,
    prices: Annotated[str | None, typer.Option(help="TOML file of prices per million tokens.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    max_concurrency: Annotated[int, typer.Option(min=1, help="Requests in flight at most.")] = 64,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Stop after N calls.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Stop at this cost; needs prices.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not use the response cache.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check a finished run for known faults of its judge, and write what was found into its report.

    The thresholds are those of the [trust] table of the configuration file. Only --scenario-sample judges
    anything again: two judgements for each conversation of the sample, by the judge of the run.
    """
    from dialogauge.app.rechecking import RecheckOptions, recheck
    from dialogauge.cli.judge import model_reference
    from dialogauge.cli.printing import plain, print_json
    from dialogauge.report import trust_lines

    options = RecheckOptions(
        run=run,
        scenario_sample=scenario_sample,
        ratings_file=ratings,
        map_file=map_file,
        model=model_reference(model, base_url, api_key_env, role or []),
        config_file=config,
        prices_file=prices,
        seed=seed,
        max_concurrency=max_concurrency,
        max_calls=max_calls,
        max_cost=max_cost,
        cache=not no_cache,
    )
    found, view = recheck(options)
    if as_json:
        print_json(found.to_json())
    else:
        for line in trust_lines(view):
            typer.echo(plain(line))
