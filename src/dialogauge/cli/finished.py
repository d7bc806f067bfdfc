"""`report`, `show`, `runs`, `export`: what is made of finished runs."""

from __future__ import annotations

import typer

from dialogauge.app.settings import ExportOptions, ReportOptions, RunsOptions, ShowOptions
from dialogauge.cli.options import AsJson, takes


@takes(ReportOptions)
def report(options: ReportOptions) -> None:
    """Rewrite the report of a run from its stored results."""
    from dialogauge.app.stored import rebuild_report
    from dialogauge.report import plain

    page = rebuild_report(options.run, options.out, options.privacy, options.turns)
    typer.echo(plain(f"report: {page}"))


@takes(ShowOptions)
def show(options: ShowOptions) -> None:
    """Print one conversation of a run.

    Each turn is shown with what people and the judge say about it.
    """
    from dialogauge.app.stored import conversation_of
    from dialogauge.cli.terminal import print_blocks

    print_blocks(conversation_of(options))


@takes(ExportOptions)
def export(options: ExportOptions) -> None:
    """Export the judgements of a run.

    The file extension sets the format.
    """
    from dialogauge.app.export import export_messages, export_run
    from dialogauge.report import plain
    from dialogauge.text import counted

    if options.messages:
        talks = export_messages(options.run, options.out, options.privacy)
        typer.echo(plain(f"{counted(talks, 'conversation')}: {options.out}"))
        return
    written = export_run(options.run, options.out, options.privacy)
    typer.echo(plain(f"{counted(written, 'row')}: {options.out}"))


@takes(RunsOptions)
def runs(options: RunsOptions, as_json: AsJson = False) -> None:
    """List the runs below a folder, newest first.

    For each: what was judged by what, how it ended, and one figure.
    """
    from dialogauge.app.runs import list_runs
    from dialogauge.cli.terminal import print_blocks, print_json
    from dialogauge.report import TableColumn, data_table, plain

    listed = list_runs(options)
    for why in listed.skipped:
        typer.echo(plain(f"dialogauge: skipped: {why}"), err=True)
    if as_json:
        print_json(listed)
        return
    if not listed.runs:
        typer.echo(plain(f"no runs below {options.folder}"))
        return
    texts = (
        TableColumn(name, "text") for name in ("study", "judge, rubric", "ended", "first figure", "written")
    )
    study, judge, ended, figure, written = texts
    rows = [
        (r.path, r.study, r.judge, r.conversations, r.ended, r.headline, r.written[:16].replace("T", " "))
        for r in listed.runs
    ]
    heads = ("run", study, judge, "conversations", ended, figure, written)
    print_blocks((data_table("Runs", heads, rows, captioned=False),))
