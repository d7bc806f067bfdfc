"""`dialogauge demo`: the main job on the conversations that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dialogauge.app.settings import JudgeOptions
from dialogauge.cli.judge import judge_log
from dialogauge.cli.options import command_line

_SAMPLES = Path(__file__).resolve().parents[1] / "samples"


def demo(
    out: Annotated[str, typer.Option("-o", "--out", metavar="DIR", help="Run directory.")] = "runs/demo",
) -> None:
    """Judge the sample conversations; no model is needed.

    There are 111, written for this package.
    """
    judge_log(JudgeOptions(inputs=(str(_SAMPLES),), out=out, command=command_line()))
