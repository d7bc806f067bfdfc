"""`dialogauge replay`: candidates in frozen states of real conversations, scored for the same users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

import typer

from dialogauge.app.replay.settings import (
    BenchmarkOptions,
    CollectOptions,
    CompareOptions,
    ScoreOptions,
    SelectOptions,
)
from dialogauge.cli.options import AsJson, DryRun, GroupedCommand, takes
from dialogauge.cli.terminal import TerminalObserver, print_blocks, print_faults, print_json, print_plan
from dialogauge.report import plain
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.outcome import Plan
    from dialogauge.app.replay.collect import Collected
    from dialogauge.app.replay.compare import Compared
    from dialogauge.app.replay.run_all import Ran
    from dialogauge.app.replay.score import ScoredAnswers
    from dialogauge.app.replay.select import Selected
    from dialogauge.core import InputError, Usage
    from dialogauge.runs import Outcome

_MAX_FAILED = 0.05


def code_of(outcome: Outcome, faults: Sequence[InputError], failed_share: float) -> int:
    """Return the exit code of a part: 3 where nothing is wrong but that many replies or scores failed."""
    return outcome.exit_code(faults) or (3 if failed_share > _MAX_FAILED else 0)


replay = typer.Typer(
    name="replay",
    help="Compare candidate models on fixed points in conversations.\n\nrun does all of it; select, collect, "
    "score and compare are its steps, in this order.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@replay.command(cls=GroupedCommand)
@takes(SelectOptions)
def select(options: SelectOptions) -> None:
    """Choose the turns of a benchmark.

    The item set holds ids, ratings and digests, and no text: collecting and scoring read the conversations
    again.
    """
    from dialogauge.app.replay.select import select as choose

    selected = choose(options)
    print_faults(selected.faults)
    _print_selected(selected)
    raise typer.Exit(1 if selected.faults else 0)


@replay.command(cls=GroupedCommand)
@takes(CollectOptions)
def collect(options: CollectOptions, dry_run: DryRun = False) -> None:
    """Collect the replies of candidates.

    Each is shown the fixed messages before the reply, and its context. A reply that fails is a failure, never
    the original. Further candidates join the same run.
    """
    import asyncio

    from dialogauge.app.replay.collect import collect as gather
    from dialogauge.app.replay.plan import plan_collect

    if dry_run:
        _print_plan(plan_collect(options))
    collected = asyncio.run(gather(options, TerminalObserver()))
    print_faults(collected.faults)
    _print_collected(collected)
    raise typer.Exit(code_of(collected.outcome, collected.faults, collected.failed_share))


@replay.command(cls=GroupedCommand)
@takes(ScoreOptions)
def score(options: ScoreOptions, dry_run: DryRun = False) -> None:
    """Score the original replies, then those of candidates.

    The scores of the original replies are the reference of the calibrated views.
    """
    import asyncio

    from dialogauge.app.replay.plan import plan_score
    from dialogauge.app.replay.score import score as run_score

    if dry_run:
        _print_plan(plan_score(options))
    scored = asyncio.run(run_score(options, TerminalObserver()))
    print_faults(scored.faults)
    _print_scored(scored)
    raise typer.Exit(_code_of_scoring(scored))


@replay.command(cls=GroupedCommand)
@takes(CompareOptions)
def compare(options: CompareOptions, as_json: AsJson = False) -> None:
    """Compare candidates with the original replies.

    And with each other: raw, shifted, and by reference ranks.

    Writes summary.json, scores.jsonl and report.html.
    """
    from dialogauge.app.replay.compare import compare_runs

    compared = compare_runs(options)
    if as_json:
        print_json(compared.to_json())
    else:
        _print_compared(compared)


@replay.command(cls=GroupedCommand)
@takes(BenchmarkOptions)
def run(options: BenchmarkOptions, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Run the whole benchmark in one directory.

    Selects, collects, scores and compares. The same command again goes on where it stopped.
    """
    import asyncio

    from dialogauge.app.replay.plan import plan_benchmark
    from dialogauge.app.replay.run_all import run_benchmark

    if dry_run:
        _print_plan(plan_benchmark(options), as_json=as_json)
    parts = asyncio.run(run_benchmark(options, TerminalObserver(quiet=as_json)))
    _print_run(parts, as_json=as_json)
    replies, scored = parts.collected, parts.scored
    codes = (
        code_of(replies.outcome, parts.faults, replies.failed_share),
        0 if scored is None else _code_of_scoring(scored),
    )
    raise typer.Exit(min((c for c in codes if c), default=0))


def _print_plan(plan: Plan, *, as_json: bool = False) -> NoReturn:
    of, parts = plan.counts, []
    if of["items"]:
        whom = f"{counted(of['candidates'], 'candidate')}, to {counted(of['items'], 'item')}"
        parts.append(f"collect {counted(of['replies'], 'reply', 'replies')} of {whom}")
    if plan.judge:
        parts.append(f"score {counted(of['scores'], 'reply', 'replies')} by {plan.judge}")
    print_plan(plan, f"would {', and '.join(parts)}", as_json=as_json)


def _code_of_scoring(scored: ScoredAnswers) -> int:
    return code_of(scored.outcome, scored.faults, scored.failed_share)


def _print_run(parts: Ran, *, as_json: bool) -> None:
    """Print what the parts of a whole benchmark came to."""
    print_faults(parts.faults)
    if as_json:
        print_json(None if parts.compared is None else parts.compared.to_json())
        return
    _print_selected(parts.selected)
    typer.echo()
    _print_collected(parts.collected)
    if parts.scored is not None:
        typer.echo()
        _print_scored(parts.scored)
        if parts.compared is None and parts.scored.outcome.ended == "finished":
            typer.echo("nothing is compared: no original reply has a score (--retry-failed asks again)")
    if parts.compared is not None:
        typer.echo()
        _print_compared(parts.compared)


def _print_selected(selected: Selected) -> None:
    """Print the data card, and the mix of ratings against the whole."""
    from dialogauge.studies.replay.page_parts import card_blocks

    for note in selected.notes:
        typer.echo(f"  {plain(str(note))}")
    print_blocks(card_blocks(selected.items))
    if selected.path is not None:
        typer.echo(plain(f"item set: {selected.path}"))


def _print_collected(collected: Collected) -> None:
    """Print what became of each candidate's replies."""
    pairs = []
    for name, tally in collected.tallies.items():
        failed = "".join(f", {n:,} {kind.replace('_', ' ')}" for kind, n in tally.failures.items())
        replies = f"{tally.replied:,} of {counted(tally.requested, 'reply', 'replies')}"
        pairs.append((name, f"{replies}{failed}"))
    _print_pairs((*pairs, *_ending(collected.outcome, collected.usage)))


def _print_scored(scored: ScoredAnswers) -> None:
    """Print what was scored."""
    pairs: list[tuple[str, str]] = []
    for name, (done, failed) in scored.counts.items():
        by = "" if pairs else f" by {scored.judge}"
        replies = f"{counted(done, 'reply', 'replies')} scored{by}"
        pairs.append((name, f"{replies}, {failed:,} failed" if failed else replies))
    _print_pairs((*pairs, *_ending(scored.outcome, scored.usage)))


def _print_compared(compared: Compared) -> None:
    """Print the leaderboard of every view, pairs, controls, lengths and warnings."""
    from dialogauge.studies.replay.page import brief

    print_blocks(brief(compared.candidates))
    if compared.files:
        typer.echo(plain(f"report: {compared.files[-1]}"))


def _ending(outcome: Outcome, usage: Usage) -> Iterator[tuple[str, str]]:
    """Say what the calls took, and how it ended where it ended early."""
    from dialogauge.report.words import cost

    if usage.calls or usage.cached:
        yield (
            "calls",
            f"{counted(usage.calls, 'call')}, {usage.cached:,} cached, {usage.prompt_tokens:,} + "
            f"{usage.completion_tokens:,} tokens, cost {cost(usage.cost)}",
        )
    if outcome.error is not None:
        yield "ended early", str(outcome.error)
    elif outcome.ended == "interrupted":
        yield "interrupted", "the same command continues from here"


def _print_pairs(pairs: tuple[tuple[str, str], ...]) -> None:
    from dialogauge.report import Definitions

    print_blocks((Definitions(pairs),))
