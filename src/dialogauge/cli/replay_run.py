"""`dialogauge replay run`: the whole benchmark in one go."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from dialogauge.cli.replay_options import (
    Again,
    Agents,
    AsJson,
    BaseUrl,
    Calls,
    CandidateOption,
    Concurrency,
    Config,
    ContextOption,
    Cost,
    Data,
    Dimension,
    Draws,
    DrawSeed,
    Family,
    Format,
    History,
    JudgeOption,
    K,
    KeyEnv,
    Lang,
    Licence,
    Map,
    Margin,
    Model,
    NoCache,
    Prices,
    Ratings,
    Reference,
    Role,
    RuleOption,
    Seed,
    Size,
    Split,
    SplitFile,
    Strategy,
    Ties,
    check,
    code_of,
    compare_options,
    data_options,
    judge_options,
    start,
)

__all__ = ["run"]


def run(
    inputs: Data,
    judge: JudgeOption,
    out: Annotated[str, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")],
    candidate: CandidateOption = None,
    rule: RuleOption = "hard",
    size: Size = 300,
    context: ContextOption = "prefix",
    agents: Agents = None,
    split: Split = "test",
    split_file: SplitFile = None,
    dimension: Dimension = "satisfaction",
    ratings: Ratings = None,
    format: Format = None,
    map_file: Map = None,
    licence: Licence = None,
    seed: Seed = 0,
    strategy: Strategy = None,
    k: K = None,
    history: History = "all",
    lang: Lang = None,
    model: Model = None,
    base_url: BaseUrl = None,
    api_key_env: KeyEnv = None,
    role: Role = None,
    reference: Reference = None,
    judge_family: Family = None,
    ties: Ties = "mid",
    margin: Margin = 0.0,
    draws: Draws = 1000,
    draw_seed: DrawSeed = 42,
    config: Config = None,
    prices: Prices = None,
    max_concurrency: Concurrency = 64,
    max_calls: Calls = None,
    max_cost: Cost = None,
    retry_failed: Again = False,
    no_cache: NoCache = False,
    as_json: AsJson = False,
) -> None:
    """Run the whole benchmark in one directory: select, collect, score, compare.

    The same command again goes on where it stopped.
    """
    start()
    from dialogauge.app.replay.collecting import CollectOptions
    from dialogauge.app.replay.running import RunOptions, run_benchmark
    from dialogauge.app.replay.scoring import ScoreOptions
    from dialogauge.app.replay.selecting import SelectOptions
    from dialogauge.bench.replay import CONTEXTS, RULES, Context, Rule
    from dialogauge.cli.replay_lines import print_run
    from dialogauge.cli.terminal import TerminalObserver

    check("--rule", rule, RULES)
    check("--context", context, CONTEXTS)
    asked = judge_options(
        judge,
        how=(strategy, k, history, lang),
        models=(model, base_url, api_key_env, role or []),
        limits=(max_concurrency, max_calls, max_cost, prices),
        config=config,
        retry_failed=retry_failed,
        cache=not no_cache,
    )
    data = data_options(inputs, split, split_file, dimension, ratings, format, map_file)
    options = RunOptions(
        out=out,
        select=SelectOptions(data, cast("Rule", rule), size, seed, licence),
        collect=CollectOptions(
            items="",
            out=out,
            candidates=tuple(candidate or ()),
            context=cast("Context", context),
            agents_file=agents,
            config_file=config,
            prices_file=prices,
            seed=seed,
            max_concurrency=max_concurrency,
            max_calls=max_calls,
            max_cost=max_cost,
            retry_failed=retry_failed,
            cache=not no_cache,
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
    faults = bool(found.selected.faults)
    collected = code_of(found.collected, faults)
    scored = 0 if found.scored is None else code_of(found.scored, failed=False)
    raise typer.Exit(min((c for c in (collected, scored) if c), default=0))
