"""`dialogauge replay`: candidates in frozen states of real conversations, scored for the same users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from dialogauge.cli import options as option

if TYPE_CHECKING:
    from dialogauge.app.replay.collect import CollectOptions
    from dialogauge.app.replay.compare import CompareOptions
    from dialogauge.app.settings import SatisfactionOptions
    from dialogauge.studies.replay import Context, Rule


def data_options(
    inputs: list[str],
    *,
    split: tuple[str, str | None],
    ratings: tuple[str | None, str],
    reading: tuple[str | None, str | None],
    hiding: tuple[bool, bool],
    config: str | None,
) -> SatisfactionOptions:
    """Say where rated conversations are, whose turns are wanted, and what is hidden of them.

    Args:
        inputs: Files, folders or a run.
        split: Whose turns, and the file of the split.
        ratings: The file of the ratings, and the rated dimension.
        reading: The format and the file of field names.
        hiding: Whether personal data and whether ids are hidden; the configuration may ask for it too.
        config: The configuration file.
    """
    from dialogauge.app.config import load_config
    from dialogauge.app.merging import merge_privacy
    from dialogauge.app.settings import SatisfactionOptions
    from dialogauge.studies.satisfaction import Part

    part, split_file = split
    option.check("--split", part, ("test", "train", "all"))
    hidden = merge_privacy(load_config(config), dict(zip(("redact", "hash_ids"), hiding, strict=True)))
    return SatisfactionOptions(
        inputs=tuple(inputs),
        judge="",
        part=cast("Part", part),
        split_file=split_file,
        dimension=ratings[1],
        ratings_file=ratings[0],
        format=reading[0],
        map_file=reading[1],
        redact=hidden["redact"],
        hash_ids=hidden["hash_ids"],
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """What candidates and the evaluator may take, and what of theirs is kept."""

    config: str | None
    prices: str | None
    max_concurrency: int
    max_calls: int | None
    max_cost: float | None
    retry_failed: bool
    cache: bool
    """Whether replies are kept."""


def collect_options(
    items: str,
    out: str,
    *,
    candidates: list[str] | None,
    context: str,
    agents: str | None,
    data: list[str] | None,
    seed: int,
    limits: Limits,
) -> CollectOptions:
    """Bring together who replies to which items, and what they are shown."""
    from dialogauge.app.replay.collect import CollectOptions
    from dialogauge.studies.replay import CONTEXTS

    option.check("--context", context, CONTEXTS)
    return CollectOptions(
        items=items,
        out=out,
        candidates=tuple(candidates or ()),
        context=cast("Context", context),
        agents_file=agents,
        data=tuple(data or ()),
        config_file=limits.config,
        prices_file=limits.prices,
        seed=seed,
        max_concurrency=limits.max_concurrency,
        max_calls=limits.max_calls,
        max_cost=limits.max_cost,
        retry_failed=limits.retry_failed,
        cache=limits.cache,
    )


def judge_options(
    judge: str,
    *,
    how: tuple[str | None, int | None, str, str | None],
    models: tuple[str | None, str | None, str | None, list[str] | None],
    limits: Limits,
) -> SatisfactionOptions:
    """Bring together who judges: the command line over the configuration file over defaults.

    Args:
        judge: Its name.
        how: Strategy, k, history and language.
        models: Model, endpoint and key variable of the short form, and roles.
        limits: What it may take.
    """
    from dialogauge.app.merging import merge_satisfaction_options
    from dialogauge.cli.satisfaction import judge_models

    strategy, k, history, lang = how
    option.check("--history", history, ("all", "prompt"))
    model, base_url, key_env, roles = models
    given = {
        "lang": lang,
        "max_concurrency": limits.max_concurrency,
        "max_calls": limits.max_calls,
        "max_cost": limits.max_cost,
        "prices": limits.prices,
    }
    return merge_satisfaction_options(
        judge,
        {name: value for name, value in given.items() if value is not None},
        config_file=limits.config,
        models=judge_models(model, base_url, key_env, roles or []),
        fixed={
            "inputs": (),
            "strategy": strategy,
            "k": k,
            "history": history,
            "retry_failed": limits.retry_failed,
            "cache": limits.cache,
        },
    )


def start() -> None:
    """Settle what must be settled before numpy is loaded."""
    from dialogauge.app.config import compute_in_one_thread

    compute_in_one_thread()


_MAX_FAILED = 0.05


def code_of(found: Any, failed: bool) -> int:  # noqa: ANN401 - a collection or a scoring
    """Say how a part ended: interrupted, with an error or a fault, with many failures, or well."""
    if found.ended == "interrupted":
        return 130
    if failed or found.ended != "finished":
        return 1
    return 3 if found.failed_share > _MAX_FAILED else 0


def compare_options(**given: Any) -> CompareOptions:  # noqa: ANN401 - options of several commands
    """Bring together what `compare` and `run` are given."""
    from dialogauge.app.replay.compare import CompareOptions
    from dialogauge.cli.judge import command_line
    from dialogauge.stats import TIES
    from dialogauge.studies.replay.comparison import CompareSettings

    option.check("--ties", given["ties"], TIES)
    settings = CompareSettings(
        draws=given["draws"], seed=given["seed"], ties=given["ties"], margin=given["margin"]
    )
    return CompareOptions(
        runs=given["runs"],
        judge=given["judge"],
        judge_family=given["family"],
        agents_file=given["agents"],
        out=given["out"],
        settings=settings,
        command=command_line(),
    )


_CANDIDATE = (
    "MODEL@URL#KEYVAR, replies:FILE, pool:REF,REF, py:MODULE:NAME, file:PATH, or a name of agents.toml or "
    "the configuration; NAME= before it names it."
)
_JUDGE = "The evaluator: any judge of `satisfaction` (the reply is judged in foresight)."
_RULE = "How turns are chosen: hard is the published rule and looks at the ratings."
_CONTEXT = "What a candidate is shown beside the messages before the reply; prefix is nothing."
_AGENTS = "agents.toml: organisation, version, licence and family of candidates, and where each is reached."
_MODEL = "The evaluator's model, where it asks one; short for --role judge=MODEL@URL#KEYVAR."
_REFERENCE = "A run whose scores of the original replies are taken over; it must be of this very evaluator."
_DATA = "Where the conversations are now, if not where they were selected from; repeatable."

RuleOption = Annotated[str, typer.Option(metavar="hard|random|stratified|all", help=_RULE)]
Size = Annotated[int, typer.Option("-n", "--size", min=1, help="Turns at most.")]
Split = Annotated[str, typer.Option(metavar="test|train|all", help="Whose turns are chosen from.")]
Licence = Annotated[str | None, typer.Option(help="Licence of the data, for the card.")]
Seed = Annotated[int, typer.Option(help="Of the selection, and of pools and repeats of candidates.")]
Candidates = Annotated[list[str] | None, typer.Option(metavar="[NAME=]REF", help=_CANDIDATE)]
ContextOption = Annotated[
    str,
    typer.Option(metavar="prefix|task|profile|memory-tfidf|memory-diverse|memory-compressed", help=_CONTEXT),
]
Agents = Annotated[str | None, typer.Option(help=_AGENTS)]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Do again what failed.")]
Judge = Annotated[str, typer.Option(metavar="NAME", help=_JUDGE)]
Strategy = Annotated[
    str | None,
    typer.Option(metavar="topk|boundary-paired|score-balanced", help="Of episodic-nearest (else topk)."),
]
K = Annotated[int | None, typer.Option(min=1, help="Turns that episodic-nearest takes (else 6).")]
Lang = Annotated[
    str | None, typer.Option(metavar="en|zh|auto", help="Language of the evaluator's prompts, with a model.")
]
Model = Annotated[str | None, typer.Option(help=_MODEL)]
BaseUrl = Annotated[str | None, typer.Option(help="The evaluator's endpoint.")]
KeyEnv = Annotated[str | None, typer.Option(help="Variable that holds the key of the evaluator's endpoint.")]
Reference = Annotated[str | None, typer.Option(metavar="RUN", help=_REFERENCE)]
DataNow = Annotated[list[str] | None, typer.Option("--data", metavar="PATH", help=_DATA)]
Margin = Annotated[float, typer.Option(min=0, help="A difference of no more than this is a tie.")]
Draws = Annotated[int, typer.Option(min=100, help="Bootstrap draws of users.")]
DrawSeed = Annotated[int, typer.Option(help="Of the draws and of the shuffled control.")]
Family = Annotated[str | None, typer.Option(help="The evaluator's family of models, for self-preference.")]


def run(
    inputs: option.RatedData,
    judge: Judge,
    out: Annotated[str, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")],
    candidate: Candidates = None,
    rule: RuleOption = "hard",
    size: Size = 300,
    context: ContextOption = "prefix",
    agents: Agents = None,
    split: Split = "test",
    split_file: option.SplitFile = None,
    dimension: option.Dimension = "satisfaction",
    ratings: option.Ratings = None,
    format: option.Format = None,
    map_file: option.Map = None,
    licence: Licence = None,
    redact: option.Redact = False,
    hash_ids: option.HashIds = False,
    seed: Seed = 0,
    strategy: Strategy = None,
    k: K = None,
    history: option.History = "all",
    lang: Lang = None,
    model: Model = None,
    base_url: BaseUrl = None,
    api_key_env: KeyEnv = None,
    role: option.Roles = None,
    reference: Reference = None,
    judge_family: Family = None,
    ties: option.Ties = "mid",
    margin: Margin = 0.0,
    draws: Draws = 1000,
    draw_seed: DrawSeed = 42,
    config: option.Config = None,
    prices: option.Prices = None,
    max_concurrency: option.Concurrency = 64,
    max_calls: option.MaxCalls = None,
    max_cost: option.MaxCost = None,
    retry_failed: RetryFailed = False,
    no_cache: option.NoCache = False,
    as_json: option.AsJson = False,
) -> None:
    """Run the whole benchmark in one directory: select, collect, score, compare.

    The same command again goes on where it stopped.
    """
    start()
    from dialogauge.app.replay.run_all import RunOptions, run_benchmark
    from dialogauge.app.replay.score import ScoreOptions
    from dialogauge.app.replay.select import SelectOptions
    from dialogauge.cli.replay_lines import print_run
    from dialogauge.cli.terminal import TerminalObserver
    from dialogauge.studies.replay import RULES

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
    rule: RuleOption = "hard",
    size: Size = 300,
    seed: Seed = 0,
    split: Split = "test",
    split_file: option.SplitFile = None,
    dimension: option.Dimension = "satisfaction",
    ratings: option.Ratings = None,
    format: option.Format = None,
    map_file: option.Map = None,
    licence: Licence = None,
    config: option.Config = None,
    redact: option.Redact = False,
    hash_ids: option.HashIds = False,
) -> None:
    """Choose the turns of a benchmark, and say what the choice does to the mix of ratings.

    The item set holds ids, ratings and digests, and no text: collecting and scoring read the conversations
    again.
    """
    start()
    from dialogauge.app.replay.select import SelectOptions
    from dialogauge.app.replay.select import select as choose
    from dialogauge.cli.replay_lines import print_selected
    from dialogauge.cli.terminal import print_faults
    from dialogauge.studies.replay import RULES

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
    print_selected(found)
    raise typer.Exit(1 if found.faults else 0)


@replay.command()
def collect(
    items: Annotated[str, typer.Argument(metavar="ITEMS", help="An item set.")],
    out: Annotated[str, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")],
    candidate: Candidates = None,
    context: ContextOption = "prefix",
    agents: Agents = None,
    data: DataNow = None,
    seed: Seed = 0,
    config: option.Config = None,
    prices: option.Prices = None,
    max_concurrency: option.Concurrency = 64,
    max_calls: option.MaxCalls = None,
    max_cost: option.MaxCost = None,
    retry_failed: RetryFailed = False,
    no_cache: option.NoCache = False,
) -> None:
    """Collect candidates' replies: each is shown the fixed messages before the reply, and its context.

    A reply that fails is a failure, never the original. The same command again goes on where it stopped;
    further candidates join the same run.
    """
    start()
    from dialogauge.app.replay.collect import collect as gather
    from dialogauge.cli.replay_lines import print_collected
    from dialogauge.cli.terminal import TerminalObserver, print_faults

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
    print_collected(found)
    raise typer.Exit(code_of(found, bool(found.faults)))


@replay.command()
def score(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory.")],
    judge: Judge,
    strategy: Strategy = None,
    k: K = None,
    history: option.History = "all",
    reference: Reference = None,
    data: DataNow = None,
    lang: Lang = None,
    model: Model = None,
    base_url: BaseUrl = None,
    api_key_env: KeyEnv = None,
    role: option.Roles = None,
    config: option.Config = None,
    prices: option.Prices = None,
    max_concurrency: option.Concurrency = 64,
    max_calls: option.MaxCalls = None,
    max_cost: option.MaxCost = None,
    retry_failed: RetryFailed = False,
    no_cache: option.NoCache = False,
) -> None:
    """Score a run: every original reply of the touched blocks first, then the candidates'.

    The scores of the original replies are the reference of the calibrated views. The same command again goes
    on where it stopped.
    """
    start()
    from dialogauge.app.replay.score import ScoreOptions
    from dialogauge.app.replay.score import score as run_score
    from dialogauge.cli.replay_lines import print_scored
    from dialogauge.cli.terminal import TerminalObserver, print_faults

    asked = judge_options(
        judge,
        how=(strategy, k, history, lang),
        models=(model, base_url, api_key_env, role),
        limits=Limits(config, prices, max_concurrency, max_calls, max_cost, retry_failed, not no_cache),
    )
    options = ScoreOptions(run, asked, tuple(data or ()), reference)
    found = run_score(options, TerminalObserver())
    print_faults(found.faults)
    print_scored(found)
    raise typer.Exit(code_of(found, bool(found.faults)))


@replay.command()
def compare(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run directories of one item set.")],
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of several evaluators of a run; else the latest.")
    ] = None,
    judge_family: Family = None,
    agents: Agents = None,
    ties: option.Ties = "mid",
    margin: Margin = 0.0,
    draws: Draws = 1000,
    seed: DrawSeed = 42,
    out: Annotated[
        str | None, typer.Option("-o", "--out", help="Folder for summary and page (else a single run's own).")
    ] = None,
    as_json: option.AsJson = False,
) -> None:
    """Compare candidates with the original replies and each other: raw, shifted, and by reference ranks.

    Writes summary.json, scores.jsonl and report.html.
    """
    start()
    from dialogauge.app.replay.compare import compare_runs
    from dialogauge.cli.replay_lines import print_compared
    from dialogauge.cli.terminal import print_json

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
        print_compared(found)


replay.command()(run)
