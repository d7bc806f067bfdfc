"""`dialogauge satisfaction`: how satisfied will this user be with this reply?"""

from __future__ import annotations

from typing import Annotated, cast

import typer

__all__ = ["satisfaction"]

_JUDGE = (
    "global-mean, global-majority, task-mean, task-majority, history-mean, history-median, history-majority, "
    "history-cdf-hash, nearest-1, nearest-3, episodic-nearest, local, encoder, or encoder-ordinal."
)
_SPLIT = "Whose turns are judged. The training users are what the judges know of other users."
_CALIBRATE = "The map of the scores in the rows; the table shows every one."
_TIES = "Equal raw scores: kept equal, or ordered as the published calibrations do."


def satisfaction(
    inputs: Annotated[list[str], typer.Argument(metavar="DATA...", help="Rated conversations, or a run.")],
    judge: Annotated[str, typer.Option(metavar="NAME", help=_JUDGE)],
    split: Annotated[str, typer.Option(metavar="test|train|all", help=_SPLIT)] = "test",
    split_file: Annotated[
        str | None, typer.Option(help="JSON {train: [users], test: [users]}, else by seed.")
    ] = None,
    calibrate: Annotated[str, typer.Option(metavar="NAME", help=_CALIBRATE)] = "none",
    ties: Annotated[str, typer.Option(metavar="mid|turn-index|sample-id", help=_TIES)] = "mid",
    history: Annotated[
        str, typer.Option(metavar="all|prompt", help="The whole history, or what the published prompt keeps.")
    ] = "all",
    mode: Annotated[
        str,
        typer.Option(metavar="foresight|hindsight", help="Whether the next user message may be read."),
    ] = "foresight",
    strategy: Annotated[
        str | None,
        typer.Option(metavar="topk|boundary-paired|score-balanced", help="Of episodic-nearest (else topk)."),
    ] = None,
    k: Annotated[int | None, typer.Option(min=1, help="Turns that episodic-nearest takes (else 6).")] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="FOLDER|NAME", help="What encoder judges fine-tune (else bert-base-chinese)."),
    ] = None,
    dimension: Annotated[str, typer.Option(help="The rated dimension.")] = "satisfaction",
    ratings: Annotated[str | None, typer.Option(help="People's ratings, joined by id.")] = None,
    format: Annotated[str | None, typer.Option(help="Force a format instead of recognising it.")] = None,
    map_file: Annotated[str | None, typer.Option("--map", help="TOML file: your field names.")] = None,
    out: Annotated[
        str | None, typer.Option("-o", "--out", help="Run directory (else runs/NAME-JUDGE).")
    ] = None,
    draws: Annotated[int, typer.Option(min=0, help="Bootstrap draws for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the draws and the shuffled control.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Judge each reply for its own user, from what this user rated in other scenarios.

    Every judge stands raw and under each calibration, beside controls that read nothing and the ceiling:
    the users' own scores through the same map.
    """
    from dialogauge.app.config import compute_in_one_thread

    compute_in_one_thread()  # before the next line loads numpy
    from dialogauge.app.satisfaction import judge_satisfaction
    from dialogauge.app.satisfaction_options import SatisfactionOptions
    from dialogauge.bench.satisfaction import HistoryCut, Part
    from dialogauge.calibrate import CALIBRATIONS, TIES, CalibrationName, Ties
    from dialogauge.cli.judge import command_line
    from dialogauge.cli.printing import plain, print_json
    from dialogauge.cli.satisfaction_lines import satisfaction_lines
    from dialogauge.judge.personal import Sight

    _check("--split", split, ("test", "train", "all"))
    _check("--calibrate", calibrate, CALIBRATIONS)
    _check("--ties", ties, TIES)
    _check("--history", history, ("all", "prompt"))
    _check("--mode", mode, ("foresight", "hindsight"))
    options = SatisfactionOptions(
        inputs=tuple(inputs),
        judge=judge,
        part=cast("Part", split),
        split_file=split_file,
        calibrate=cast("CalibrationName", calibrate),
        ties=cast("Ties", ties),
        history=cast("HistoryCut", history),
        mode=cast("Sight", mode),
        strategy=strategy,
        k=k,
        encoder=encoder,
        dimension=dimension,
        ratings_file=ratings,
        format=format,
        map_file=map_file,
        out=out,
        draws=draws,
        seed=seed,
        command=command_line(),
    )
    outcome = judge_satisfaction(options)
    for fault in outcome.faults[:20]:
        typer.echo(f"dialogauge: {plain(str(fault))}", err=True)
    if as_json:
        print_json(outcome.to_json())
    else:
        for line in satisfaction_lines(outcome):
            typer.echo(plain(line))
    raise typer.Exit(1 if outcome.faults else 3 if outcome.mostly_failed else 0)


def _check(option: str, value: str, known: tuple[str, ...]) -> None:
    from dialogauge.core.errors import UsageError

    if value not in known:
        msg = f"{option} {value!r} is not known"
        raise UsageError(msg, hint=f"one of: {', '.join(known)}")
