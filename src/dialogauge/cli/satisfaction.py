"""`dialogauge satisfaction`: how satisfied will this user be with this reply?"""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli import options as option

__all__ = ["judge_models", "satisfaction"]

_JUDGE = (
    "global-mean, global-majority, task-mean, task-majority, history-mean, history-median, history-majority, "
    "history-cdf-hash, nearest-1, nearest-3, episodic-nearest, local, local-user; trained here: encoder, "
    "encoder-ordinal; with a model: memory, no-memory, zero-shot, few-shot, task-rubric, prometheus, rag, "
    "spur."
)
_LEVEL = "Replies, or sessions as a whole (the ratings without a turn)."
_SPLIT = "Whose turns are judged. The training users are what the judges know of other users."
_CALIBRATE = "The map of the scores in the rows; the table shows every one."
_SIGNAL = "Satisfaction run of a judge that reads no rating, for local-user to read too."
_REFERENCE = "Satisfaction run of the blocks' original replies, for reference-* (else the judged replies)."


def satisfaction(
    inputs: option.RatedData,
    judge: Annotated[str, typer.Option(metavar="NAME", help=_JUDGE)],
    level: Annotated[str, typer.Option(metavar="turn|session", help=_LEVEL)] = "turn",
    split: Annotated[str, typer.Option(metavar="test|train|all", help=_SPLIT)] = "test",
    split_file: option.SplitFile = None,
    calibrate: Annotated[str, typer.Option(metavar="NAME", help=_CALIBRATE)] = "none",
    ties: option.Ties = "mid",
    reference: Annotated[str | None, typer.Option(metavar="RUN", help=_REFERENCE)] = None,
    history: option.History = "all",
    mode: Annotated[
        str,
        typer.Option(metavar="foresight|hindsight", help="Whether the next user message may be read."),
    ] = "foresight",
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="topk|boundary-paired|score-balanced", help="Of episodic-nearest and rag (else topk)."
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option(min=1, help="Turns that episodic-nearest (else 6) and rag (else 4) take.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="FOLDER|NAME", help="What encoder judges fine-tune (else bert-base-chinese)."),
    ] = None,
    signal: Annotated[list[str] | None, typer.Option(metavar="RUN", help=_SIGNAL)] = None,
    dimension: option.Dimension = "satisfaction",
    ratings: option.Ratings = None,
    format: option.Format = None,
    map_file: option.Map = None,
    out: Annotated[
        str | None, typer.Option("-o", "--out", help="Run directory (else runs/NAME-JUDGE).")
    ] = None,
    draws: Annotated[int, typer.Option(min=0, help="Bootstrap draws for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the draws and the shuffled control.")] = 0,
    lang: Annotated[
        str | None, typer.Option(metavar="en|zh|auto", help="Language of the prompts, with a model.")
    ] = None,
    model: option.Model = None,
    base_url: option.BaseUrl = None,
    api_key_env: option.KeyEnv = None,
    role: option.Roles = None,
    config: option.Config = None,
    prices: option.Prices = None,
    max_concurrency: option.SetConcurrency = None,
    max_calls: option.MaxCalls = None,
    max_cost: option.MaxCost = None,
    max_failed: option.MaxFailed = None,
    retry_failed: option.RetryFailed = False,
    fresh: option.Fresh = False,
    no_cache: option.NoCache = False,
    redact: option.Redact = False,
    hash_ids: option.HashIds = False,
    dry_run: option.DryRun = False,
    as_json: option.AsJson = False,
) -> None:
    """Judge each reply for its own user, from what this user rated in other scenarios.

    Every judge stands raw and under each calibration, beside controls that read nothing and the ceiling:
    the users' own scores through the same map. With a model the same command again continues where it
    stopped.
    """
    from dialogauge.app.config import compute_in_one_thread

    compute_in_one_thread()  # before the next line loads numpy
    from dialogauge.app.satisfaction_merging import merge_satisfaction_options
    from dialogauge.calibrate import CALIBRATIONS, TIES
    from dialogauge.cli.judge import command_line
    from dialogauge.cli.satisfying import run_and_print

    option.check("--level", level, ("turn", "session"))
    option.check("--split", split, ("test", "train", "all"))
    option.check("--calibrate", calibrate, CALIBRATIONS)
    option.check("--ties", ties, TIES)
    option.check("--history", history, ("all", "prompt"))
    option.check("--mode", mode, ("foresight", "hindsight"))
    given = {
        "lang": lang,
        "max_concurrency": max_concurrency,
        "max_calls": max_calls,
        "max_cost": max_cost,
        "max_failed": max_failed,
        "prices": prices,
    }
    options = merge_satisfaction_options(
        judge,
        {k: v for k, v in given.items() if v is not None},
        config_file=config,
        models=judge_models(model, base_url, api_key_env, role or []),
        fixed={
            "inputs": tuple(inputs),
            "level": level,
            "part": split,
            "split_file": split_file,
            "calibrate": calibrate,
            "ties": ties,
            "reference": reference,
            "history": history,
            "mode": mode,
            "strategy": strategy,
            "k": k,
            "encoder": encoder,
            "signals": tuple(signal or ()),
            "dimension": dimension,
            "ratings_file": ratings,
            "format": format,
            "map_file": map_file,
            "out": out,
            "draws": draws,
            "seed": seed,
            "retry_failed": retry_failed,
            "fresh": fresh,
            "cache": not no_cache,
            "redact": redact,
            "hash_ids": hash_ids,
            "command": command_line(),
        },
    )
    raise typer.Exit(run_and_print(options, dry_run=dry_run, as_json=as_json))


def judge_models(
    model: str | None, base_url: str | None, api_key_env: str | None, roles: list[str]
) -> dict[str, str]:
    """Bring the short form and --role together: by role, how its model is given."""
    from dialogauge.cli.judge import model_reference, split_role

    builders = [text for text in roles if text.startswith("memory_builder=")]
    found = dict(split_role(text) for text in builders)
    judge = model_reference(model, base_url, api_key_env, [text for text in roles if text not in builders])
    return found if judge is None else {"judge": judge, **found}
