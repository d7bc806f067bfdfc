"""`dialogauge satisfaction`: how satisfied will this user be with this reply?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dialogauge.cli import options as option
from dialogauge.cli.terminal import TerminalObserver, print_blocks, print_faults, print_json
from dialogauge.report import plain
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.satisfaction import SatisfactionOutcome
    from dialogauge.app.settings import SatisfactionOptions


def run_and_print(options: SatisfactionOptions, *, dry_run: bool, as_json: bool) -> int:
    """Run the study, print what a person or a machine wants to know, return the exit code."""
    from dialogauge.app.satisfaction import judge_satisfaction
    from dialogauge.studies.satisfaction.page import brief

    if dry_run:
        return _print_plan(options, as_json=as_json)
    outcome = judge_satisfaction(options, TerminalObserver(quiet=as_json))
    print_faults(outcome.faults)
    _print_end(outcome)
    run, result = outcome.run, outcome.run.result
    if as_json:
        print_json(result.to_json())
    else:
        for note in outcome.notes:
            typer.echo(plain(note))
        print_blocks(brief(result.figures, result.summary, run.manifest, run.ending, result.failures))
        typer.echo(f"report: {run.directory.file('report')}")
    if outcome.run.ending.outcome.ended == "interrupted":
        return 130
    if outcome.run.ending.outcome.error is not None or outcome.faults:
        return 1
    return 3 if outcome.mostly_failed else 0


def _print_end(outcome: SatisfactionOutcome) -> None:
    """Say how the study ended, where it ended early, and what that means for its figures."""
    ending = outcome.run.ending
    if ending.outcome.error is not None:
        typer.echo(f"dialogauge: {plain(str(ending.outcome.error))}", err=True)
    if ending.pending:
        typer.echo(
            f"dialogauge: not judged yet: {counted(ending.pending, 'turn')}; the figures stand on the "
            "others, and the same command goes on from here",
            err=True,
        )


def _print_plan(options: SatisfactionOptions, *, as_json: bool) -> int:
    from dialogauge.app.satisfaction import plan_satisfaction

    plan = plan_satisfaction(options)
    if as_json:
        value = {
            "run": str(plan.directory),
            "judge": plan.judge,
            "turns": plan.turns,
            "left": plan.left,
            "faults": [str(f) for f in plan.faults],
        }
        print_json(value)
    else:
        done = plan.turns - plan.left
        judge = plain(plan.judge)
        typer.echo(
            f"would judge {plan.left:,} of {counted(plan.turns, 'turn')} ({done:,} done already) by {judge}"
        )
        typer.echo(f"into {plan.directory}")
    print_faults(plan.faults)
    return 1 if plan.faults else 0


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
    from dialogauge.app.merging import merge_satisfaction_options
    from dialogauge.cli.judge import command_line
    from dialogauge.stats import CALIBRATIONS, TIES

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
