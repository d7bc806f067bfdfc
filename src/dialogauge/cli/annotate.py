"""`dialogauge annotate`: pages on which people rate, and what came of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dialogauge.app.annotate.settings import AnnotateImportOptions, AnnotateMakeOptions, AnnotateStatusOptions
from dialogauge.cli.options import AsJson, GroupedCommand, takes
from dialogauge.cli.terminal import print_blocks, print_faults, print_json
from dialogauge.report import plain
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.annotate.collect import ImportedAnswers, RatingStatus
    from dialogauge.app.annotate.make import MadePlan

annotate = typer.Typer(
    name="annotate",
    help="Have people rate conversations, on offline pages.\n\nFirst make, then import, then status; "
    "`dialogauge agreement DIR` and `judge --ratings DIR` take the folder.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@annotate.command(cls=GroupedCommand)
@takes(AnnotateMakeOptions)
def make(options: AnnotateMakeOptions) -> None:
    """Choose conversations, and write a page for each rater.

    A page is one file that works offline in a browser and saves a file to send back.
    """
    from dialogauge.app.annotate.make import make_plan

    made = make_plan(options)
    print_faults(made.faults)
    _print_made(made)
    raise typer.Exit(1 if made.faults else 0)


def _print_made(made: MadePlan) -> None:
    plan = made.plan
    noun = "pair" if plan.pairs else "conversation"
    whys: dict[str, int] = {}
    for item in plan.items:
        whys[item.why] = whys.get(item.why, 0) + 1
    chosen = ", ".join(f"{n:,} {why}" for why, n in whys.items() if why != "all")
    own = sorted({len(rater.items) - len(plan.shared) for rater in plan.raters})
    each = f"{own[0]:,}" if len(own) == 1 else f"{own[0]:,} or {own[-1]:,}"
    lines = [
        f"plan {plan.id}: {len(plan.items):,} of {counted(plan.eligible, noun)}"
        + (f" ({chosen})" if chosen else ""),
        f"{counted(len(plan.raters), 'rater')}: {len(plan.shared):,} shared by all, {each} for each alone",
        f"asked: {', '.join(f'{q.name} ({q.level})' for q in plan.questions)}",
        *made.notes,
    ]
    for line in lines:
        typer.echo(plain(line))
    typer.echo(plain(f"pages to send out: {made.folder / 'pages'}"))
    typer.echo(plain(f"guideline: {made.folder / 'guideline.html'}"))
    typer.echo(plain(f"then: dialogauge annotate import {made.folder} FILES (what raters send back)"))


@annotate.command(cls=GroupedCommand, name="import")
@takes(AnnotateImportOptions)
def import_(options: AnnotateImportOptions) -> None:
    """Import what raters saved.

    Ratings are written with the true ids. Importing a file again changes nothing; of two answers of a rater
    to one question the one that is imported last counts.
    """
    from dialogauge.app.annotate.collect import import_answers

    imported = import_answers(options)
    _print_imported(imported)
    print_faults(imported.faults)
    raise typer.Exit(1 if imported.faults else 0)


def _print_imported(imported: ImportedAnswers) -> None:
    noun = "choice" if imported.plan.pairs else "rating"
    at_work = [one for one in imported.raters if one.done or one.begun or one.skipped]
    typer.echo(f"{counted(imported.ratings, noun)} by {counted(len(at_work), 'rater')}")
    for one in imported.raters:
        aside = [f"{n:,} {what}" for n, what in ((one.skipped, "skipped"), (one.flagged, "flagged")) if n]
        left = f"{one.left:,} to go" if one.left else "complete"
        begun = f" ({one.begun:,} of them begun)" if one.begun else ""
        done = f"{one.done:,} of {counted(one.assigned, 'item')} done, {left}{begun}"
        typer.echo(plain(f"  {one.rater}: {', '.join([done, *aside])}"))
    if imported.corrections:
        better = counted(imported.corrections, "better reply", "better replies")
        typer.echo(f"{better}: `dialogauge pairs` makes training rows of them")
    if imported.twice:
        again = f"{counted(imported.twice, 'item')} rated twice by one rater: what was imported last counts"
        typer.echo(again)
    if imported.backwards:
        older = counted(imported.backwards, "answer")
        typer.echo(f"{older} replaced one with a later time: if that is wrong, import the newest file again")
    if imported.faults:
        typer.echo(f"{counted(len(imported.faults), 'row or file', 'rows or files')} refused")
    written = "nothing was imported" if imported.written is None else f"{noun}s: {imported.written}"
    typer.echo(plain(written))


@annotate.command(cls=GroupedCommand)
@takes(AnnotateStatusOptions)
def status(options: AnnotateStatusOptions, as_json: AsJson = False) -> None:
    """Show who has rated what, and how far raters agree.

    Also says what would make these figures more certain.
    """
    from dialogauge.app.annotate.collect import rating_status

    now = rating_status(options)
    if as_json:
        print_json(now)
    else:
        _print_status(now)


def _print_status(status: RatingStatus) -> None:
    from dialogauge.report import Cell, Number, data_table

    heads = ("rater", "items", "done", "to go", "skipped", "flagged", "median seconds")
    rows = [
        (one.rater, one.assigned, one.done, one.left, one.skipped, one.flagged, Number(one.seconds, 0))
        for one in status.raters
    ]
    print_blocks([data_table(f"Plan {status.plan}", heads, rows)])
    if status.agreement:
        heads = ("agreement on shared items", "AC1", "alpha", "exact", "targets", "items", "raters")
        figures: list[tuple[Cell, ...]] = [
            (
                f"{one.dimension} ({one.level})",
                *(Number(f.value, 2, f.interval) for f in one.figures.values()),
                one.targets,
                one.items,
                one.raters,
            )
            for one in status.agreement
        ]
        typer.echo()
        print_blocks([data_table("Agreement so far", heads, figures)])
    typer.echo()
    typer.echo(plain(status.advice))
