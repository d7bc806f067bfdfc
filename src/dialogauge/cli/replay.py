"""`dialogauge replay`: candidates in frozen states of real conversations, scored for the same users."""

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
    DataNow,
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
    inputs: Data,
    out: Annotated[str, typer.Option("-o", "--out", metavar="ITEMS", help="Item set to write (JSON).")],
    rule: RuleOption = "hard",
    size: Size = 300,
    seed: Seed = 0,
    split: Split = "test",
    split_file: SplitFile = None,
    dimension: Dimension = "satisfaction",
    ratings: Ratings = None,
    format: Format = None,
    map_file: Map = None,
    licence: Licence = None,
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

    check("--rule", rule, RULES)
    data = data_options(inputs, split, split_file, dimension, ratings, format, map_file)
    found = choose(SelectOptions(data, cast("Rule", rule), size, seed, licence, out))
    print_faults(found.faults)
    print_lines(select_lines(found))
    raise typer.Exit(1 if found.faults else 0)


@replay.command()
def collect(
    items: Annotated[str, typer.Argument(metavar="ITEMS", help="An item set.")],
    out: Annotated[str, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")],
    candidate: CandidateOption = None,
    context: ContextOption = "prefix",
    agents: Agents = None,
    data: DataNow = None,
    seed: Seed = 0,
    config: Config = None,
    prices: Prices = None,
    max_concurrency: Concurrency = 64,
    max_calls: Calls = None,
    max_cost: Cost = None,
    retry_failed: Again = False,
    no_cache: NoCache = False,
) -> None:
    """Collect candidates' replies: each is shown the fixed messages before the reply, and its context.

    A reply that fails is a failure, never the original. The same command again goes on where it stopped;
    further candidates join the same run.
    """
    start()
    from dialogauge.app.replay.collecting import CollectOptions
    from dialogauge.app.replay.collecting import collect as gather
    from dialogauge.bench.replay import CONTEXTS, Context
    from dialogauge.cli.replay_lines import collect_lines, print_faults, print_lines
    from dialogauge.cli.terminal import TerminalObserver

    check("--context", context, CONTEXTS)
    options = CollectOptions(
        items=items,
        out=out,
        candidates=tuple(candidate or ()),
        context=cast("Context", context),
        agents_file=agents,
        data=tuple(data or ()),
        config_file=config,
        prices_file=prices,
        seed=seed,
        max_concurrency=max_concurrency,
        max_calls=max_calls,
        max_cost=max_cost,
        retry_failed=retry_failed,
        cache=not no_cache,
    )
    found = gather(options, TerminalObserver())
    print_faults(found.faults)
    print_lines(collect_lines(found))
    raise typer.Exit(code_of(found, bool(found.faults)))


@replay.command()
def score(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory.")],
    judge: JudgeOption,
    strategy: Strategy = None,
    k: K = None,
    history: History = "all",
    reference: Reference = None,
    data: DataNow = None,
    lang: Lang = None,
    model: Model = None,
    base_url: BaseUrl = None,
    api_key_env: KeyEnv = None,
    role: Role = None,
    config: Config = None,
    prices: Prices = None,
    max_concurrency: Concurrency = 64,
    max_calls: Calls = None,
    max_cost: Cost = None,
    retry_failed: Again = False,
    no_cache: NoCache = False,
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
        models=(model, base_url, api_key_env, role or []),
        limits=(max_concurrency, max_calls, max_cost, prices),
        config=config,
        retry_failed=retry_failed,
        cache=not no_cache,
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
    judge_family: Family = None,
    agents: Agents = None,
    ties: Ties = "mid",
    margin: Margin = 0.0,
    draws: Draws = 1000,
    seed: DrawSeed = 42,
    out: Annotated[
        str | None, typer.Option("-o", "--out", help="Folder for summary and page (else a single run's own).")
    ] = None,
    as_json: AsJson = False,
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
