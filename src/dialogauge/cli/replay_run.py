"""`dialogauge replay run`: the whole benchmark in one go."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from dialogauge.cli import options as option
from dialogauge.cli import replay_options as of_replay
from dialogauge.cli.replay_asked import (
    Limits,
    code_of,
    collect_options,
    compare_options,
    data_options,
    judge_options,
    start,
)

__all__ = ["run"]


def run(
    inputs: option.RatedData,
    judge: of_replay.Judge,
    out: Annotated[str, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")],
    candidate: of_replay.Candidates = None,
    rule: of_replay.Rule = "hard",
    size: of_replay.Size = 300,
    context: of_replay.Context = "prefix",
    agents: of_replay.Agents = None,
    split: of_replay.Split = "test",
    split_file: option.SplitFile = None,
    dimension: option.Dimension = "satisfaction",
    ratings: option.Ratings = None,
    format: option.Format = None,
    map_file: option.Map = None,
    licence: of_replay.Licence = None,
    redact: option.Redact = False,
    hash_ids: option.HashIds = False,
    seed: of_replay.Seed = 0,
    strategy: of_replay.Strategy = None,
    k: of_replay.K = None,
    history: option.History = "all",
    lang: of_replay.Lang = None,
    model: of_replay.Model = None,
    base_url: of_replay.BaseUrl = None,
    api_key_env: of_replay.KeyEnv = None,
    role: option.Roles = None,
    reference: of_replay.Reference = None,
    judge_family: of_replay.Family = None,
    ties: option.Ties = "mid",
    margin: of_replay.Margin = 0.0,
    draws: of_replay.Draws = 1000,
    draw_seed: of_replay.DrawSeed = 42,
    config: option.Config = None,
    prices: option.Prices = None,
    max_concurrency: option.Concurrency = 64,
    max_calls: option.MaxCalls = None,
    max_cost: option.MaxCost = None,
    retry_failed: of_replay.RetryFailed = False,
    no_cache: option.NoCache = False,
    as_json: option.AsJson = False,
) -> None:
    """Run the whole benchmark in one directory: select, collect, score, compare.

    The same command again goes on where it stopped.
    """
    start()
    from dialogauge.app.replay.running import RunOptions, run_benchmark
    from dialogauge.app.replay.scoring import ScoreOptions
    from dialogauge.app.replay.selecting import SelectOptions
    from dialogauge.bench.replay import RULES, Rule
    from dialogauge.cli.replay_lines import print_run
    from dialogauge.cli.terminal import TerminalObserver

    option.check("--rule", rule, RULES)
    limits = Limits(config, prices, max_concurrency, max_calls, max_cost, retry_failed, not no_cache)
    asked = judge_options(
        judge,
        how=(strategy, k, history, lang),
        models=(model, base_url, api_key_env, role),
        limits=limits,
    )
    data = data_options(
        inputs,
        split=(split, split_file),
        ratings=(ratings, dimension),
        reading=(format, map_file),
        hiding=(redact, hash_ids),
        config=config,
    )
    options = RunOptions(
        out=out,
        select=SelectOptions(data, cast("Rule", rule), size, seed, licence),
        collect=collect_options(
            "",
            out,
            candidates=candidate,
            context=context,
            agents=agents,
            data=None,
            seed=seed,
            limits=limits,
        ),
        score=ScoreOptions(out, asked, reference=reference),
        compare=compare_options(
            runs=(out,),
            judge=None,
            family=judge_family,
            agents=agents,
            ties=ties,
            margin=margin,
            draws=draws,
            seed=draw_seed,
            out=None,
        ),
    )
    found = run_benchmark(options, TerminalObserver(quiet=as_json))
    print_run(found, as_json=as_json)
    collected = code_of(found.collected, bool(found.selected.faults or found.collected.faults))
    scored = 0 if found.scored is None else code_of(found.scored, bool(found.scored.faults))
    raise typer.Exit(min((c for c in (collected, scored) if c), default=0))
