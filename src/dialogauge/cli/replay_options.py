"""The options of `dialogauge replay`, each said once for the commands that share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from dialogauge.app.replay.comparing import CompareOptions
    from dialogauge.app.satisfaction_options import SatisfactionOptions

__all__ = [
    "Again",
    "Agents",
    "AsJson",
    "BaseUrl",
    "Calls",
    "CandidateOption",
    "Concurrency",
    "Config",
    "ContextOption",
    "Cost",
    "Data",
    "DataNow",
    "Dimension",
    "DrawSeed",
    "Draws",
    "Family",
    "Format",
    "History",
    "JudgeOption",
    "K",
    "KeyEnv",
    "Lang",
    "Licence",
    "Map",
    "Margin",
    "Model",
    "NoCache",
    "Prices",
    "Ratings",
    "Reference",
    "Role",
    "RuleOption",
    "Seed",
    "Size",
    "Split",
    "SplitFile",
    "Strategy",
    "Ties",
    "check",
    "code_of",
    "compare_options",
    "data_options",
    "judge_options",
    "start",
]

_CANDIDATE = (
    "MODEL@URL#KEYVAR, replies:FILE, pool:REF,REF, py:MODULE:NAME, file:PATH, or a name of agents.toml or "
    "the configuration; NAME= before it names it."
)
_JUDGE = "The evaluator: any judge of `satisfaction` (the reply is judged in foresight)."
_RULE = "How turns are chosen: hard is the published rule and looks at the ratings."
_CONTEXT = "What a candidate is shown beside the messages before the reply; prefix is nothing."
_TIES = "Equal raw scores: kept equal, or ordered as the published calibrations do."
_AGENTS = "agents.toml: organisation, version, licence and family of candidates, and where each is reached."
_MODEL = "The evaluator's model, where it asks one; short for --role judge=MODEL@URL#KEYVAR."
_ROLE = "judge=... or memory_builder=...: MODEL@URL#KEYVAR, NAME (from [roles]), file:PATH or py:MODULE:NAME."
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
Lang = Annotated[
    str | None, typer.Option(metavar="en|zh|auto", help="Language of the evaluator's prompts, with a model.")
]
Model = Annotated[str | None, typer.Option(help=_MODEL)]
BaseUrl = Annotated[str | None, typer.Option(help="The evaluator's endpoint.")]
KeyEnv = Annotated[str | None, typer.Option(help="Variable that holds the key of the evaluator's endpoint.")]
Role = Annotated[list[str] | None, typer.Option(metavar="ROLE=M@U#K", help=_ROLE)]
Reference = Annotated[str | None, typer.Option(metavar="RUN", help=_REFERENCE)]
DataNow = Annotated[list[str] | None, typer.Option("--data", metavar="PATH", help=_DATA)]
Ties = Annotated[str, typer.Option(metavar="mid|turn-index|sample-id", help=_TIES)]
Margin = Annotated[float, typer.Option(min=0, help="A difference of no more than this is a tie.")]
Draws = Annotated[int, typer.Option(min=100, help="Bootstrap draws of users.")]
DrawSeed = Annotated[int, typer.Option(help="Of the draws and of the shuffled control.")]
Family = Annotated[str | None, typer.Option(help="The evaluator's family of models, for self-preference.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


def data_options(
    inputs: list[str],
    split: str,
    split_file: str | None,
    dimension: str,
    ratings: str | None,
    format: str | None,
    map_file: str | None,
) -> SatisfactionOptions:
    """Say where rated conversations are, and whose turns are wanted."""
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


def judge_options(
    judge: str,
    *,
    how: tuple[str | None, int | None, str, str | None],
    models: tuple[str | None, str | None, str | None, list[str]],
    limits: tuple[int, int | None, float | None, str | None],
    config: str | None,
    retry_failed: bool,
    cache: bool,
) -> SatisfactionOptions:
    """Bring together who judges: the command line over the configuration file over defaults.

    Args:
        judge: Its name.
        how: Strategy, k, history and language.
        models: Model, endpoint and key variable of the short form, and roles.
        limits: Requests in flight, calls and cost at most, and the file of prices.
        config: The configuration file.
        retry_failed: Whether what failed is judged again.
        cache: Whether replies are kept.
    """
    from dialogauge.app.satisfaction_merging import merge_satisfaction_options
    from dialogauge.cli.satisfaction import judge_models

    strategy, k, history, lang = how
    check("--history", history, ("all", "prompt"))
    shared = dict(zip(("max_concurrency", "max_calls", "max_cost", "prices"), limits, strict=True))
    return merge_satisfaction_options(
        judge,
        {name: value for name, value in {**shared, "lang": lang}.items() if value is not None},
        config_file=config,
        models=judge_models(*models),
        fixed={
            "inputs": (),
            "strategy": strategy,
            "k": k,
            "history": history,
            "retry_failed": retry_failed,
            "cache": cache,
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
