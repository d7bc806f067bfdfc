"""`check` and `formats`: what an input is, before anything is judged, and what inputs there are."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.app.settings import CheckOptions
from dialogauge.cli.options import AsJson, takes


@takes(CheckOptions)
def check(options: CheckOptions, as_json: AsJson = False) -> None:
    """Show how an input is read.

    Says what was assumed, what it contains, and what could not be read. Nothing is judged.
    """
    from dialogauge.app.check import check_input
    from dialogauge.cli.input_report import report_blocks
    from dialogauge.cli.terminal import print_blocks, print_json
    from dialogauge.report import plain

    report = check_input(options)
    if as_json:
        print_json(report)
    else:
        for note in report.notes:
            typer.echo(plain(str(note)))
        typer.echo()
        print_blocks(report_blocks(report))
        if report.fault_count:
            typer.echo(f"\nNOT READ: {report.fault_count:,}")
        for fault in report.faults:
            typer.echo(f"  {plain(fault)}")
        if more := report.fault_count - len(report.faults):
            typer.echo(f"  ... and {more:,} more")
    raise typer.Exit(1 if report.faults else 0)


def formats(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Print its entry.")] = None,
) -> None:
    """List the formats, or print the entry that describes one.

    An entry says in a few lines where a source keeps its messages. Copied to a file, it is a map (--map FILE)
    to change for a log of your own.
    """
    import tomllib

    from dialogauge.cli.terminal import print_blocks
    from dialogauge.data import entry_of, format_names
    from dialogauge.report import Definitions, Section

    if name is None:
        entries = {one: entry_of(one) for one in format_names()}
        sources = {one: [*tomllib.loads(entry)] for one, entry in entries.items() if entry is not None}
        described = (one if of == [one] else f"{one} ({', '.join(of)})" for one, of in sources.items())
        programs = (one for one in entries if one not in sources)
        lists = ("an entry", ", ".join(described)), ("a program", ", ".join(programs))
        print_blocks([Section("Formats, by what reads them", (Definitions(lists),))])
    elif (entry := entry_of(name)) is None:
        typer.echo(f"{name} is read by a program and has no entry: docs/file-formats.md shows a record of it")
    else:
        typer.echo(entry.rstrip())
