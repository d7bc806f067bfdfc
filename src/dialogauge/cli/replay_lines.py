"""What `dialogauge replay` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from dialogauge.cli.terminal import print_blocks, print_faults, print_json
from dialogauge.report import Definitions, plain
from dialogauge.report.words import cost
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.replay.collect import Collected
    from dialogauge.app.replay.compare import Compared
    from dialogauge.app.replay.run_all import Ran
    from dialogauge.app.replay.score import Scored
    from dialogauge.app.replay.select import Selected


def print_run(run: Ran, *, as_json: bool) -> None:
    """Print what the parts of a whole benchmark came to."""
    selected, collected = run.selected, run.collected
    print_faults([*selected.faults, *(f for f in collected.faults if f not in selected.faults)])
    if as_json:
        print_json(None if run.compared is None else run.compared.to_json())
        return
    print_selected(selected)
    typer.echo()
    print_collected(collected)
    if run.scored is not None:
        typer.echo()
        print_scored(run.scored)
    if run.compared is not None:
        typer.echo()
        print_compared(run.compared)


def print_selected(selected: Selected) -> None:
    """Print the data card, and the mix of ratings against the whole."""
    from dialogauge.studies.replay.page import card_blocks

    for note in selected.notes:
        typer.echo(f"  {plain(str(note))}")
    print_blocks(card_blocks(selected.items))
    if selected.path is not None:
        typer.echo(f"item set: {selected.path}")


def print_collected(collected: Collected) -> None:
    """Print what became of each candidate's replies."""
    pairs = []
    for name, tally in collected.tallies.items():
        failed = "".join(f", {n:,} {kind.replace('_', ' ')}" for kind, n in tally.failures.items())
        replies = f"{tally.replied:,} of {counted(tally.requested, 'reply', 'replies')}"
        pairs.append((name, f"{replies}{failed}"))
    print_blocks((Definitions((*pairs, *_ending(collected))),))


def print_scored(scored: Scored) -> None:
    """Print what was scored."""
    original = f"{counted(scored.reference, 'reply', 'replies')} scored by {scored.judge}"
    pairs = [("original", original)]
    for name, (done, failed) in scored.candidates.items():
        replies = f"{counted(done, 'reply', 'replies')} scored"
        pairs.append((name, f"{replies}, {failed:,} failed" if failed else replies))
    print_blocks((Definitions((*pairs, *_ending(scored))),))


def print_compared(compared: Compared) -> None:
    """Print the leaderboard of every view, pairs, controls, lengths and warnings."""
    from dialogauge.studies.replay.page import brief

    blocks = brief(
        compared.comparison,
        compared.items,
        compared.candidates,
        compared.failures,
        compared.evaluator,
        compared.present,
    )
    print_blocks(blocks)
    if compared.files:
        typer.echo(f"report: {compared.files[-1]}")


def _ending(part: Collected | Scored) -> Iterator[tuple[str, str]]:
    """Say what the calls took, and how it ended where it ended early."""
    usage: Any = part.usage
    if usage.calls or usage.cached:
        yield (
            "calls",
            f"{counted(usage.calls, 'call')}, {usage.cached:,} cached, {usage.prompt_tokens:,} + "
            f"{usage.completion_tokens:,} tokens, cost {cost(usage.cost)}",
        )
    if part.error is not None:
        yield "ended early", str(part.error)
    elif part.ended == "interrupted":
        yield "interrupted", "the same command goes on from here"
