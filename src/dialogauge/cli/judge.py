"""`dialogauge judge`: the main job."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from dialogauge.cli import options as option
from dialogauge.core.errors import UsageError

_ROLE = "judge=MODEL@URL#KEYVAR, judge=NAME (from [roles]), judge=file:PATH or judge=py:MODULE:NAME."
_JUDGE = "Without a model, with one, or by a model of ratings that was fitted to your own."
_FITTED = "Model of ratings for the judge fitted: the run that `dialogauge fit` wrote, or its model.json."
_RUBRIC = "Shipped rubric (card, satisfaction, session, session-guarded, task, single, factuality), or a file"
_GATE = "A condition on the result, e.g. 'verdict>=good:0.9'; exit code 100 when it is not met."


def judge(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT... | RUN", help="Files, folders, - for stdin, or a run.")
    ],
    rubric: Annotated[str | None, typer.Option(help=_RUBRIC)] = None,
    judge_kind: Annotated[
        str | None, typer.Option("--judge", metavar="local|llm|fitted", help=_JUDGE)
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(metavar="hindsight|foresight", help="Whether the next user message may be read."),
    ] = None,
    format: option.Format = None,
    map_file: option.Map = None,
    ratings: option.Ratings = None,
    lang: Annotated[str | None, typer.Option(metavar="en|zh|auto", help="Language of the judging.")] = None,
    model: option.Model = None,
    base_url: option.BaseUrl = None,
    api_key_env: option.KeyEnv = None,
    role: Annotated[list[str] | None, typer.Option(metavar="judge=M@U#K", help=_ROLE)] = None,
    local_model: Annotated[
        str | None, typer.Option(help="Coefficients for the local judge, as `dialogauge fit` wrote them.")
    ] = None,
    fitted_model: Annotated[str | None, typer.Option(metavar="RUN|FILE.json", help=_FITTED)] = None,
    source: Annotated[
        str | None, typer.Option(help="Text file that claims are checked against (rubric factuality).")
    ] = None,
    config: option.Config = None,
    prices: option.Prices = None,
    out: Annotated[str | None, typer.Option("-o", "--out", help="Run directory (else runs/NAME).")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N conversations.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="N conversations at random.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Judge everything N times.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of sampling and of the model.")] = None,
    window: Annotated[
        int | None, typer.Option(min=4, max=6, help="Turns in a window of a long conversation.")
    ] = None,
    max_concurrency: option.SetConcurrency = None,
    max_calls: option.MaxCalls = None,
    max_cost: option.MaxCost = None,
    max_failed: option.MaxFailed = None,
    gate: Annotated[list[str] | None, typer.Option(metavar="EXPR", help=_GATE)] = None,
    retry_failed: option.RetryFailed = False,
    fresh: option.Fresh = False,
    no_cache: option.NoCache = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first oddity in the input.")] = False,
    dry_run: option.DryRun = False,
    redact: option.Redact = False,
    hash_ids: option.HashIds = False,
    as_json: option.AsJson = False,
) -> None:
    """Judge a log of conversations, turn by turn and whole, and write a report.

    Without a model the local judge is used: no key, no network. The same command again continues where
    it stopped.
    """
    from dialogauge.app.config import compute_in_one_thread
    from dialogauge.app.merging import merge_judge_options

    compute_in_one_thread()  # before the next line loads numpy
    from dialogauge.cli.judging import run_and_print

    given = {
        "rubric": rubric,
        "judge": judge_kind,
        "mode": mode,
        "lang": lang,
        "repeats": repeats,
        "seed": seed,
        "window": window,
        "max_concurrency": max_concurrency,
        "max_calls": max_calls,
        "max_cost": max_cost,
        "max_failed": max_failed,
        "prices": prices,
        "gate": gate,
        "redact": redact or None,
        "hash_ids": hash_ids or None,
    }
    options = merge_judge_options(
        {k: v for k, v in given.items() if v is not None},
        config_file=config,
        model=model_reference(model, base_url, api_key_env, role or []),
        fixed={
            "inputs": tuple(inputs),
            "format": format,
            "map_file": map_file,
            "ratings_file": ratings,
            "local_model": local_model,
            "fitted_model": fitted_model,
            "source_file": source,
            "out": out,
            "limit": limit,
            "sample": sample,
            "retry_failed": retry_failed,
            "fresh": fresh,
            "cache": not no_cache,
            "strict": strict,
            "command": command_line(),
        },
    )
    raise typer.Exit(run_and_print(options, dry_run=dry_run, as_json=as_json))


def command_line() -> str:
    """Return the command as it was typed, without what may be secret."""
    return shlex.join(["dialogauge", *(_without_secrets(word) for word in sys.argv[1:])])


def _without_secrets(word: str) -> str:
    """Cut user info and query out of a URL; a key variable behind `#` stays."""
    before, scheme, url = word.partition("://")
    if not scheme:
        return word
    address, mark, key = url.partition("#")
    host, slash, path = address.partition("?")[0].partition("/")
    return f"{before}{scheme}{host.rpartition('@')[2]}{slash}{path}{mark}{key}"


def model_reference(
    model: str | None, base_url: str | None, api_key_env: str | None, roles: list[str], role: str = "judge"
) -> str | None:
    """Bring the short form and --role to one reference; None when no model is given.

    Args:
        model: The model's name, of the short form.
        base_url: Its endpoint, of the short form.
        api_key_env: The variable of its key, of the short form.
        roles: What `--role` was given, each `ROLE=REFERENCE`.
        role: The command's only role.
    """
    named = dict(split_role(text) for text in roles)
    unknown = sorted(set(named) - {role})
    if unknown:
        msg = f"--role {unknown[0]}=...: this command has only the role {role}"
        raise UsageError(msg)
    if model is None:
        if base_url or api_key_env:
            msg = "--base-url and --api-key-env need --model"
            raise UsageError(msg, hint="add --model NAME, or give --role judge=MODEL@URL#KEYVAR")
        return named.get(role)
    if named:
        msg = f"the model is given twice, by --model and by --role {role}=..."
        raise UsageError(msg, hint="keep one of the two")
    at = f"@{base_url}" if base_url else ""
    return f"{model}{at}{'#' + api_key_env if api_key_env else ''}"


def split_role(text: str) -> tuple[str, str]:
    """Read what `--role` was given into role and reference; UsageError when it is not of that form."""
    name, equals, reference = text.partition("=")
    if not equals or not name or not reference:
        msg = f"--role {text!r} has not the form ROLE=MODEL@URL#KEYVAR"
        raise UsageError(msg, hint="for example --role judge=qwen2.5-7b@http://localhost:8000/v1#MY_KEY")
    return name, reference
