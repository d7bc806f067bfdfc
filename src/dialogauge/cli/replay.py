"""`dialogauge replay`: candidates in frozen states of real conversations, scored for the same users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from dialogauge.app.satisfaction_options import SatisfactionOptions

__all__ = ["replay"]

replay = typer.Typer(
    name="replay",
    help="Compare candidate models on frozen states of rated conversations.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_CANDIDATE = (
    "MODEL@URL#KEYVAR, replies:FILE, pool:REF,REF, py:MODULE:NAME, file:PATH, or a name of agents.toml or "
    "the configuration; NAME= before it names it."
)
_JUDGE = "The evaluator: any judge of `satisfaction` (the reply is judged in foresight)."
_RULE = "How turns are chosen: hard is the published rule and looks at the ratings."
_CONTEXT = "What a candidate is shown beside the messages before the reply; prefix is nothing."
_TIES = "Equal raw scores: kept equal, or ordered as the published calibrations do."
_AGENTS = "agents.toml: organisation, version, licence and family of candidates, and where each is reached."
_REFERENCE = "A run whose scores of the original replies are taken over; it must be of this very evaluator."
_DATA = "Where the conversations are now, if not where they were selected from; repeatable."

Data = Annotated[list[str], typer.Argument(metavar="DATA...", help="Rated conversations, or a run.")]
RuleOption = Annotated[str, typer.Option(metavar="hard|random|stratified|all", help=_RULE)]
Size = Annotated[int, typer.Option("-n", "--size", min=1, help="Turns at most.")]
Split = Annotated[str, typer.Option(metavar="test|train|all", help="Whose turns are chosen from.")]
SplitFile = Annotated[str | None, typer.Option(help="JSON {train: [users], test: [users]}, else by seed.")]
Dimension = Annotated[str, typer.Option(help="The rated dimension.")]
Ratings = Annotated[str | None, typer.Option(help="People's ratings, joined by id.")]
Format = Annotated[str | None, typer.Option(help="Force a format instead of recognising it.")]
Map = Annotated[str | None, typer.Option("--map", help="TOML file: your field names.")]
Licence = Annotated[str | None, typer.Option(help="Licence of the data, for the card.")]
Seed = Annotated[int, typer.Option(help="Of the selection, and of pools and repeats of candidates.")]
CandidateOption = Annotated[list[str] | None, typer.Option(metavar="[NAME=]REF", help=_CANDIDATE)]
ContextOption = Annotated[
    str,
    typer.Option(metavar="prefix|task|profile|memory-tfidf|memory-diverse|memory-compressed", help=_CONTEXT),
]
Agents = Annotated[str | None, typer.Option(help=_AGENTS)]
Config = Annotated[str | None, typer.Option(help="Configuration file (else ./dialogauge.toml).")]
Prices = Annotated[str | None, typer.Option(help="TOML file of prices per million tokens.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests in flight at most.")]
Calls = Annotated[int | None, typer.Option(min=0, help="Stop after N calls.")]
Cost = Annotated[float | None, typer.Option(min=0, help="Stop at this cost; needs prices.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Do not use the response cache.")]
Again = Annotated[bool, typer.Option("--retry-failed", help="Do again what failed.")]
JudgeOption = Annotated[str, typer.Option(metavar="NAME", help=_JUDGE)]
Strategy = Annotated[
    str | None,
    typer.Option(metavar="topk|boundary-paired|score-balanced", help="Of episodic-nearest (else topk)."),
]
K = Annotated[int | None, typer.Option(min=1, help="Turns that episodic-nearest takes (else 6).")]
History = Annotated[
    str, typer.Option(metavar="all|prompt", help="The whole history, or what the published prompt keeps.")
]
Reference = Annotated[str | None, typer.Option(metavar="RUN", help=_REFERENCE)]
DataNow = Annotated[list[str] | None, typer.Option("--data", metavar="PATH", help=_DATA)]
Ties = Annotated[str, typer.Option(metavar="mid|turn-index|sample-id", help=_TIES)]
Margin = Annotated[float, typer.Option(min=0, help="A difference of no more than this is a tie.")]
Draws = Annotated[int, typer.Option(min=100, help="Bootstrap draws of users.")]
DrawSeed = Annotated[int, typer.Option(help="Of the draws and of the shuffled control.")]
Family = Annotated[str | None, typer.Option(help="The evaluator's family of models, for self-preference.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


def _data(
    inputs: list[str],
    split: str,
    split_file: str | None,
    dimension: str,
    ratings: str | None,
    format: str | None,
    map_file: str | None,
) -> SatisfactionOptions:
    from dialogauge.app.satisfaction_options import SatisfactionOptions
    from dialogauge.bench.satisfaction import Part

    check("--split", split, ("test", "train", "all"))
    return SatisfactionOptions(
        inputs=tuple(inputs),
        judge="",
        part=cast("Part", split),
        split_file=split_file,
        dimension=dimension,
        ratings_file=ratings,
        format=format,
        map_file=map_file,
    )


def check(option: str, value: str, known: tuple[str, ...]) -> None:
    """Raise UsageError for a value that an option does not know."""
    from dialogauge.core.errors import UsageError

    if value not in known:
        msg = f"{option} {value!r} is not known"
        raise UsageError(msg, hint=f"one of: {', '.join(known)}")


def _start() -> None:
    from dialogauge.app.config import compute_in_one_thread

    compute_in_one_thread()  # before numpy is loaded


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
    _start()
    from dialogauge.app.replay.selecting import SelectOptions
    from dialogauge.app.replay.selecting import select as run
    from dialogauge.bench.replay import RULES, Rule
    from dialogauge.cli.replay_lines import print_faults, print_lines, select_lines

    check("--rule", rule, RULES)
    data = _data(inputs, split, split_file, dimension, ratings, format, map_file)
    found = run(SelectOptions(data, cast("Rule", rule), size, seed, licence, out))
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
    _start()
    from dialogauge.app.replay.collecting import CollectOptions
    from dialogauge.app.replay.collecting import collect as run
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
    found = run(options, TerminalObserver())
    print_faults(found.faults)
    print_lines(collect_lines(found))
    raise typer.Exit(_code(found, bool(found.faults)))


@replay.command()
def score(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory.")],
    judge: JudgeOption,
    strategy: Strategy = None,
    k: K = None,
    history: History = "all",
    reference: Reference = None,
    data: DataNow = None,
    retry_failed: Again = False,
) -> None:
    """Score a run: every original reply of the touched blocks first, then the candidates'.

    The scores of the original replies are the reference of the calibrated views. The same command again goes
    on where it stopped.
    """
    _start()
    from dialogauge.app.replay.scoring import ScoreOptions
    from dialogauge.app.replay.scoring import score as run_score
    from dialogauge.bench.satisfaction import HistoryCut
    from dialogauge.cli.replay_lines import print_faults, print_lines, score_lines
    from dialogauge.cli.terminal import TerminalObserver

    check("--history", history, ("all", "prompt"))
    options = ScoreOptions(
        run=run,
        judge=judge,
        strategy=strategy,
        k=k,
        history=cast("HistoryCut", history),
        data=tuple(data or ()),
        reference=reference,
        retry_failed=retry_failed,
    )
    found = run_score(options, TerminalObserver())
    print_faults(found.faults)
    print_lines(score_lines(found))
    raise typer.Exit(_code(found, bool(found.faults)))


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
    _start()
    from dialogauge.app.replay.comparing import compare_runs
    from dialogauge.cli.printing import print_json
    from dialogauge.cli.replay_lines import compare_lines, print_lines

    found = compare_runs(
        _compare_options(
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


def _compare_options(**given: Any) -> Any:  # noqa: ANN401 - the options, handed through
    from dialogauge.app.replay.comparing import CompareOptions
    from dialogauge.bench.replay.comparison import CompareSettings
    from dialogauge.calibrate import TIES
    from dialogauge.cli.judge import command_line

    check("--ties", given["ties"], TIES)
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


@replay.command("run")
def run_all(
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
    _start()
    from dialogauge.app.replay.collecting import CollectOptions
    from dialogauge.app.replay.running import RunOptions, run_benchmark
    from dialogauge.app.replay.scoring import ScoreOptions
    from dialogauge.app.replay.selecting import SelectOptions
    from dialogauge.bench.replay import CONTEXTS, RULES, Context, Rule
    from dialogauge.bench.satisfaction import HistoryCut
    from dialogauge.cli.replay_lines import print_run
    from dialogauge.cli.terminal import TerminalObserver

    check("--rule", rule, RULES)
    check("--context", context, CONTEXTS)
    check("--history", history, ("all", "prompt"))
    data = _data(inputs, split, split_file, dimension, ratings, format, map_file)
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
        score=ScoreOptions(
            run=out,
            judge=judge,
            strategy=strategy,
            k=k,
            history=cast("HistoryCut", history),
            reference=reference,
            retry_failed=retry_failed,
        ),
        compare=_compare_options(
            runs=(out,),
            judge=judge,
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
    collected = _code(found.collected, faults)
    scored = 0 if found.scored is None else _code(found.scored, failed=False)
    raise typer.Exit(min((c for c in (collected, scored) if c), default=0))


_MAX_FAILED = 0.05


def _code(found: Any, failed: bool) -> int:  # noqa: ANN401 - a collection or a scoring
    """Say how a part ended: interrupted, with an error or a fault, with many failures, or well."""
    if found.ended == "interrupted":
        return 130
    if failed or found.ended != "finished":
        return 1
    return 3 if found.failed_share > _MAX_FAILED else 0
