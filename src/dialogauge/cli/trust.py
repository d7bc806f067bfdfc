"""`dialogauge trust`: how far a run's numbers can be trusted."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli import options as option


def trust(
    run: option.RunDirectory,
    scenario_sample: Annotated[
        int | None,
        typer.Option(min=1, help="Judge N conversations again without, and with another's, scenario."),
    ] = None,
    ratings: option.Ratings = None,
    map_file: option.Map = None,
    model: Annotated[str | None, typer.Option(help="The run's model (else as the run says).")] = None,
    base_url: option.ItsBaseUrl = None,
    api_key_env: option.ItsKeyEnv = None,
    role: option.JudgeRole = None,
    config: option.Config = None,
    prices: option.Prices = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    max_concurrency: option.Concurrency = 64,
    max_calls: option.MaxCalls = None,
    max_cost: option.MaxCost = None,
    no_cache: option.NoCache = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check a finished run for known faults of its judge, and write what was found into its report.

    The thresholds are those of the [trust] table of the configuration file. Only --scenario-sample judges
    anything again: two judgements for each conversation of the sample, by the judge of the run.
    """
    from dialogauge.app.trust import RecheckOptions, recheck
    from dialogauge.cli.judge import model_reference
    from dialogauge.cli.terminal import print_blocks, print_json
    from dialogauge.studies.trust import trust_brief

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
    checks = recheck(options)
    if as_json:
        print_json(checks.to_json())
    else:
        print_blocks(trust_brief(checks))
