"""`dialogauge runs`: the runs below a folder."""

from __future__ import annotations

import typer

from dialogauge.app.settings import RunsOptions
from dialogauge.cli.options import AsJson, takes


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
        print_json({"runs": [run.to_json() for run in listed.runs], "skipped": list(listed.skipped)})
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
