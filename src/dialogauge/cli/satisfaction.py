"""`dialogauge satisfaction`: how satisfied will this user be with this reply?"""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli.judge import HASH_IDS, REDACT

__all__ = ["judge_models", "satisfaction"]

_JUDGE = (
    "global-mean, global-majority, task-mean, task-majority, history-mean, history-median, history-majority, "
    "history-cdf-hash, nearest-1, nearest-3, episodic-nearest, local, local-user; trained here: encoder, "
    "encoder-ordinal; with a model: memory, no-memory, zero-shot, few-shot, task-rubric, prometheus, rag, "
    "spur."
)
_MODEL = "Model at an OpenAI-compatible endpoint; short for --role judge=MODEL@URL#KEYVAR."
_ROLE = "judge=... or memory_builder=...: MODEL@URL#KEYVAR, NAME (from [roles]), file:PATH or py:MODULE:NAME."
_LEVEL = "Replies, or sessions as a whole (the ratings without a turn)."
_SPLIT = "Whose turns are judged. The training users are what the judges know of other users."
_CALIBRATE = "The map of the scores in the rows; the table shows every one."
_TIES = "Equal raw scores: kept equal, or ordered as the published calibrations do."
_SIGNAL = "Satisfaction run of a judge that reads no rating, for local-user to read too."
_REFERENCE = "Satisfaction run of the blocks' original replies, for reference-* (else the judged replies)."


def satisfaction(
    inputs: Annotated[list[str], typer.Argument(metavar="DATA...", help="Rated conversations, or a run.")],
    judge: Annotated[str, typer.Option(metavar="NAME", help=_JUDGE)],
    level: Annotated[str, typer.Option(metavar="turn|session", help=_LEVEL)] = "turn",
    split: Annotated[str, typer.Option(metavar="test|train|all", help=_SPLIT)] = "test",
    split_file: Annotated[
        str | None, typer.Option(help="JSON {train: [users], test: [users]}, else by seed.")
    ] = None,
    calibrate: Annotated[str, typer.Option(metavar="NAME", help=_CALIBRATE)] = "none",
    ties: Annotated[str, typer.Option(metavar="mid|turn-index|sample-id", help=_TIES)] = "mid",
    reference: Annotated[str | None, typer.Option(metavar="RUN", help=_REFERENCE)] = None,
    history: Annotated[
        str, typer.Option(metavar="all|prompt", help="The whole history, or what the published prompt keeps.")
    ] = "all",
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
    dimension: Annotated[str, typer.Option(help="The rated dimension.")] = "satisfaction",
    ratings: Annotated[str | None, typer.Option(help="People's ratings, joined by id.")] = None,
    format: Annotated[str | None, typer.Option(help="Force a format instead of recognising it.")] = None,
    map_file: Annotated[str | None, typer.Option("--map", help="TOML file: your field names.")] = None,
    out: Annotated[
        str | None, typer.Option("-o", "--out", help="Run directory (else runs/NAME-JUDGE).")
    ] = None,
    draws: Annotated[int, typer.Option(min=0, help="Bootstrap draws for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the draws and the shuffled control.")] = 0,
    lang: Annotated[
        str | None, typer.Option(metavar="en|zh|auto", help="Language of the prompts, with a model.")
    ] = None,
    model: Annotated[str | None, typer.Option(help=_MODEL)] = None,
    base_url: Annotated[str | None, typer.Option(help="The endpoint, e.g. http://localhost:8000/v1.")] = None,
    api_key_env: Annotated[str | None, typer.Option(help="Variable that holds the key.")] = None,
    role: Annotated[list[str] | None, typer.Option(metavar="ROLE=M@U#K", help=_ROLE)] = None,
    config: Annotated[str | None, typer.Option(help="Configuration file (else ./dialogauge.toml).")] = None,
    prices: Annotated[str | None, typer.Option(help="TOML file of prices per million tokens.")] = None,
    max_concurrency: Annotated[int | None, typer.Option(min=1, help="Requests in flight at most.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Stop after N calls.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Stop at this cost; needs prices.")] = None,
    max_failed: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of failures above which the exit code is 3.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Judge what failed again.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what the run holds.")] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not use the response cache.")] = False,
    redact: Annotated[bool, typer.Option("--redact", help=REDACT)] = False,
    hash_ids: Annotated[bool, typer.Option("--hash-ids", help=HASH_IDS)] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
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

    _check("--level", level, ("turn", "session"))
    _check("--split", split, ("test", "train", "all"))
    _check("--calibrate", calibrate, CALIBRATIONS)
    _check("--ties", ties, TIES)
    _check("--history", history, ("all", "prompt"))
    _check("--mode", mode, ("foresight", "hindsight"))
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


def _check(option: str, value: str, known: tuple[str, ...]) -> None:
    from dialogauge.core.errors import UsageError

    if value not in known:
        msg = f"{option} {value!r} is not known"
        raise UsageError(msg, hint=f"one of: {', '.join(known)}")
