"""`dialogauge replay`: candidates in frozen states of real conversations, scored for the same users."""

from __future__ import annotations

from typing import Any

import typer

from dialogauge.app.settings import (
    BenchmarkOptions,
    CollectOptions,
    CompareOptions,
    ScoreOptions,
    SelectOptions,
)
from dialogauge.cli.options import AsJson, takes

_MAX_FAILED = 0.05


def code_of(part: Any, failed: bool) -> int:  # noqa: ANN401 - a collection or a scoring
    """Say how a part ended: interrupted, with an error or a fault, with many failures, or well."""
    if part.ended == "interrupted":
        return 130
    if failed or part.ended != "finished":
        return 1
    return 3 if part.failed_share > _MAX_FAILED else 0


replay = typer.Typer(
    name="replay",
    help="Compare candidate models on frozen states of rated conversations.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@replay.command()
@takes(SelectOptions)
def select(options: SelectOptions) -> None:
    """Choose the turns of a benchmark, and say what the choice does to the mix of ratings.

    The item set holds ids, ratings and digests, and no text: collecting and scoring read the conversations
    again.
    """
    from dialogauge.app.replay.select import select as choose
    from dialogauge.cli.replay_lines import print_faults, print_lines, select_lines

    selected = choose(options)
    print_faults(selected.faults)
    print_lines(select_lines(selected))
    raise typer.Exit(1 if selected.faults else 0)


@replay.command()
@takes(CollectOptions)
def collect(options: CollectOptions) -> None:
    """Collect candidates' replies: each is shown the fixed messages before the reply, and its context.

    A reply that fails is a failure, never the original. The same command again goes on where it stopped;
    further candidates join the same run.
    """
    from dialogauge.app.replay.collect import collect as gather
    from dialogauge.cli.replay_lines import collect_lines, print_faults, print_lines
    from dialogauge.cli.terminal import TerminalObserver

    collected = gather(options, TerminalObserver())
    print_faults(collected.faults)
    print_lines(collect_lines(collected))
    raise typer.Exit(code_of(collected, bool(collected.faults)))


@replay.command()
@takes(ScoreOptions)
def score(options: ScoreOptions) -> None:
    """Score a run: every original reply of the touched blocks first, then the candidates'.

    The scores of the original replies are the reference of the calibrated views. The same command again goes
    on where it stopped.
    """
    from dialogauge.app.replay.score import score as run_score
    from dialogauge.cli.replay_lines import print_faults, print_lines, score_lines
    from dialogauge.cli.terminal import TerminalObserver

    scored = run_score(options, TerminalObserver())
    print_faults(scored.faults)
    print_lines(score_lines(scored))
    raise typer.Exit(code_of(scored, bool(scored.faults)))


@replay.command()
@takes(CompareOptions)
def compare(options: CompareOptions, as_json: AsJson = False) -> None:
    """Compare candidates with the original replies and each other: raw, shifted, and by reference ranks.

    Writes summary.json, scores.jsonl and report.html.
    """
    from dialogauge.app.replay.compare import compare_runs
    from dialogauge.cli.replay_lines import compare_lines, print_lines
    from dialogauge.cli.terminal import print_json

    compared = compare_runs(options)
    if as_json:
        print_json(compared.to_json())
    else:
        print_lines(compare_lines(compared))


@replay.command()
@takes(BenchmarkOptions)
def run(options: BenchmarkOptions, as_json: AsJson = False) -> None:
    """Run the whole benchmark in one directory: select, collect, score, compare.

    The same command again goes on where it stopped.
    """
    from dialogauge.app.replay.run_all import run_benchmark
    from dialogauge.cli.replay_lines import print_run
    from dialogauge.cli.terminal import TerminalObserver

    parts = run_benchmark(options, TerminalObserver(quiet=as_json))
    print_run(parts, as_json=as_json)
    collected = code_of(parts.collected, bool(parts.selected.faults or parts.collected.faults))
    scored = 0 if parts.scored is None else code_of(parts.scored, bool(parts.scored.faults))
    raise typer.Exit(min((c for c in (collected, scored) if c), default=0))
