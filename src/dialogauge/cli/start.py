"""`demo` and `init`: what a newcomer begins with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dialogauge.app.entries import listed_study
from dialogauge.app.settings import JudgeOptions
from dialogauge.cli.options import command_line
from dialogauge.cli.studies import carry_out

_SAMPLES = Path(__file__).resolve().parents[1] / "samples"


def demo(
    out: Annotated[str, typer.Option("-o", "--out", metavar="DIR", help="Run directory.")] = "runs/demo",
) -> None:
    """Judge the sample conversations; no model is needed.

    There are 111, written for this package.
    """
    options = JudgeOptions(inputs=(str(_SAMPLES),), out=out, command=command_line())
    carry_out(listed_study("judge"), options)


def init(
    directory: Annotated[str, typer.Argument(metavar="DIRECTORY", help="Where to.")] = ".",
) -> None:
    """Write a configuration and a sample log.

    The configuration is a commented dialogauge.toml. Existing files are kept.
    """
    from dialogauge.app.init import write_starter
    from dialogauge.report import plain

    for path, new in write_starter(directory):
        typer.echo(plain(f"{'wrote' if new else 'kept '} {path}"))
    typer.echo("next: dialogauge judge sample.jsonl")
