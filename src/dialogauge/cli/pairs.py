"""`dialogauge pairs`: training data from what was judged."""

from __future__ import annotations

import typer

from dialogauge.app.settings import PairOptions
from dialogauge.cli.options import DryRun, takes

_MAX_FAILED = 0.05
"""Share of missing replies above which the exit code is 3."""


@takes(PairOptions)
def pairs(options: PairOptions, dry_run: DryRun = False) -> None:
    """Write training rows, or list what to label next.

    Rows are preference pairs, KTO or SFT, of runs, or of what people chose and wrote on rating pages.
    """
    from dialogauge.app.pairs import write_pairs
    from dialogauge.cli.terminal import TerminalObserver, print_asking
    from dialogauge.report import plain
    from dialogauge.studies.evidence import UNCHECKED_FIRST
    from dialogauge.text import counted

    result = write_pairs(options, TerminalObserver().interrupted, dry=dry_run)
    if result.unchecked:
        typer.echo(f"{UNCHECKED_FIRST} Such scores made {counted(result.unchecked, 'row')}.")
    written = f"{counted(result.written, 'row')}: {options.out}"
    typer.echo(plain(f"would write {written}" if dry_run else written))
    if result.asking is not None:
        print_asking(result.asking)
    for what, number in result.balance.items():
        typer.echo(plain(f"  {number:,} {what}"))
    for note in result.notes:
        typer.echo(plain(f"  {note}"))
    for reason, number in result.left_out.items():
        typer.echo(plain(f"  {number:,} left out: {reason}"))
    if result.error is not None:
        typer.echo(f"dialogauge: {plain(str(result.error))}", err=True)
    ended = 130 if result.interrupted else 1 if result.error else 0
    raise typer.Exit(ended or (3 if result.failed_share > _MAX_FAILED else 0))
