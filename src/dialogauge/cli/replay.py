"""`dialogauge replay`: candidates in frozen states of real conversations, scored for the same users."""

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
from dialogauge.cli.replay_run import run

__all__ = ["replay"]

replay = typer.Typer(
    name="replay",
    help="Compare candidate models on frozen states of rated conversations.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@replay.command()
def select(
    inputs: option.RatedData,
    out: Annotated[str, typer.Option("-o", "--out", metavar="ITEMS", help="Item set to write (JSON).")],
    rule: of_replay.Rule = "hard",
    size: of_replay.Size = 300,
    seed: of_replay.Seed = 0,
    split: of_replay.Split = "test",
    split_file: option.SplitFile = None,
    dimension: option.Dimension = "satisfaction",
    ratings: option.Ratings = None,
    format: option.Format = None,
    map_file: option.Map = None,
    licence: of_replay.Licence = None,
    config: option.Config = None,
    redact: option.Redact = False,
    hash_ids: option.HashIds = False,
) -> None:
    """Choose the turns of a benchmark, and say what the choice does to the mix of ratings.

    The item set holds ids, ratings and digests, and no text: collecting and scoring read the conversations
    again.
    """
    start()
    from dialogauge.app.replay.selecting import SelectOptions
    from dialogauge.app.replay.selecting import select as choose
    from dialogauge.bench.replay import RULES, Rule
    from dialogauge.cli.replay_lines import print_faults, print_lines, select_lines

    option.check("--rule", rule, RULES)
    data = data_options(
        inputs,
        split=(split, split_file),
        ratings=(ratings, dimension),
        reading=(format, map_file),
        hiding=(redact, hash_ids),
        config=config,
    )
    found = choose(SelectOptions(data, cast("Rule", rule), size, seed, licence, out))
    print_faults(found.faults)
    print_lines(select_lines(found))
    raise typer.Exit(1 if found.faults else 0)


@replay.command()
def collect(
    items: Annotated[str, typer.Argument(metavar="ITEMS", help="An item set.")],
    out: Annotated[str, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")],
    candidate: of_replay.Candidates = None,
    context: of_replay.Context = "prefix",
    agents: of_replay.Agents = None,
    data: of_replay.DataNow = None,
    seed: of_replay.Seed = 0,
    config: option.Config = None,
    prices: option.Prices = None,
    max_concurrency: option.Concurrency = 64,
    max_calls: option.MaxCalls = None,
    max_cost: option.MaxCost = None,
    retry_failed: of_replay.RetryFailed = False,
    no_cache: option.NoCache = False,
) -> None:
    """Collect candidates' replies: each is shown the fixed messages before the reply, and its context.

    A reply that fails is a failure, never the original. The same command again goes on where it stopped;
    further candidates join the same run.
    """
    start()
    from dialogauge.app.replay.collecting import collect as gather
    from dialogauge.cli.replay_lines import collect_lines, print_faults, print_lines
    from dialogauge.cli.terminal import TerminalObserver

    limits = Limits(config, prices, max_concurrency, max_calls, max_cost, retry_failed, not no_cache)
    options = collect_options(
        items,
        out,
        candidates=candidate,
        context=context,
        agents=agents,
        data=data,
        seed=seed,
        limits=limits,
    )
    found = gather(options, TerminalObserver())
    print_faults(found.faults)
    print_lines(collect_lines(found))
    raise typer.Exit(code_of(found, bool(found.faults)))


@replay.command()
def score(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory.")],
    judge: of_replay.Judge,
    strategy: of_replay.Strategy = None,
    k: of_replay.K = None,
    history: option.History = "all",
    reference: of_replay.Reference = None,
    data: of_replay.DataNow = None,
    lang: of_replay.Lang = None,
    model: of_replay.Model = None,
    base_url: of_replay.BaseUrl = None,
    api_key_env: of_replay.KeyEnv = None,
    role: option.Roles = None,
    config: option.Config = None,
    prices: option.Prices = None,
    max_concurrency: option.Concurrency = 64,
    max_calls: option.MaxCalls = None,
    max_cost: option.MaxCost = None,
    retry_failed: of_replay.RetryFailed = False,
    no_cache: option.NoCache = False,
) -> None:
    """Score a run: every original reply of the touched blocks first, then the candidates'.

    The scores of the original replies are the reference of the calibrated views. The same command again goes
    on where it stopped.
    """
    start()
    from dialogauge.app.replay.scoring import ScoreOptions
    from dialogauge.app.replay.scoring import score as run_score
    from dialogauge.cli.replay_lines import print_faults, print_lines, score_lines
    from dialogauge.cli.terminal import TerminalObserver

    asked = judge_options(
        judge,
        how=(strategy, k, history, lang),
        models=(model, base_url, api_key_env, role),
        limits=Limits(config, prices, max_concurrency, max_calls, max_cost, retry_failed, not no_cache),
    )
    options = ScoreOptions(run, asked, tuple(data or ()), reference)
    found = run_score(options, TerminalObserver())
    print_faults(found.faults)
    print_lines(score_lines(found))
    raise typer.Exit(code_of(found, bool(found.faults)))


@replay.command()
def compare(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run directories of one item set.")],
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of several evaluators of a run; else the latest.")
    ] = None,
    judge_family: of_replay.Family = None,
    agents: of_replay.Agents = None,
    ties: option.Ties = "mid",
    margin: of_replay.Margin = 0.0,
    draws: of_replay.Draws = 1000,
    seed: of_replay.DrawSeed = 42,
    out: Annotated[
        str | None, typer.Option("-o", "--out", help="Folder for summary and page (else a single run's own).")
    ] = None,
    as_json: option.AsJson = False,
) -> None:
    """Compare candidates with the original replies and each other: raw, shifted, and by reference ranks.

    Writes summary.json, scores.jsonl and report.html.
    """
    start()
    from dialogauge.app.replay.comparing import compare_runs
    from dialogauge.cli.printing import print_json
    from dialogauge.cli.replay_lines import compare_lines, print_lines

    found = compare_runs(
        compare_options(
            runs=tuple(runs),
            judge=judge,
            family=judge_family,
            agents=agents,
            ties=ties,
            margin=margin,
            draws=draws,
            seed=seed,
            out=out,
        )
    )
    if as_json:
        print_json(found.to_json())
    else:
        print_lines(compare_lines(found))


replay.command()(run)
