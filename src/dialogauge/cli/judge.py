"""`dialogauge judge`: the main job."""

from __future__ import annotations

import typer

from dialogauge.app.settings import JudgeOptions
from dialogauge.cli.options import AsJson, DryRun, takes


@takes(JudgeOptions)
def judge(options: JudgeOptions, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Judge a log of conversations, turn by turn and whole, and write a report.

    Without a model the local judge is used: no key, no network. The same command again continues where
    it stopped.
    """
    from dialogauge.cli.judging import run_and_print

    raise typer.Exit(run_and_print(options, dry_run=dry_run, as_json=as_json))
