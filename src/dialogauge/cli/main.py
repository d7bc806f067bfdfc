"""The `dialogauge` command and its one place for errors."""

from __future__ import annotations

import gc
import os
import sys

import typer

from dialogauge.cli.check import check
from dialogauge.cli.doctor import doctor
from dialogauge.cli.export import export
from dialogauge.cli.fit import fit
from dialogauge.cli.init import init
from dialogauge.cli.judge import judge
from dialogauge.cli.meta import meta
from dialogauge.cli.pairs import pairs
from dialogauge.cli.replay import replay
from dialogauge.cli.report import report
from dialogauge.cli.satisfaction import satisfaction
from dialogauge.cli.trust import trust
from dialogauge.core.errors import DialogaugeError, UsageError
from dialogauge.core.version import __version__
from dialogauge.report import plain

app = typer.Typer(
    name="dialogauge",
    help="Measure multi-turn assistants the way their users meet them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (judge, check, report, trust, meta, export, pairs, fit, satisfaction, doctor, init):
    app.command()(command)
app.add_typer(replay)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"dialogauge {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Measure multi-turn assistants the way their users meet them."""


def main() -> None:
    """Run the command line and exit with its code."""
    # A command makes many small objects and hardly a cycle: looking for cycles so often costs a tenth.
    gc.set_threshold(50_000, 20, 100)
    # Our arrays are small: a thread of numpy's for each core costs every command 50 ms and their memory.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - set, before numpy is loaded
    try:
        app()
    except DialogaugeError as error:
        typer.echo(f"dialogauge: {plain(str(error))}", err=True)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        typer.echo("dialogauge: interrupted; what was stored is kept", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
    finally:
        # All of it goes with the process: to look through it for cycles on the way out is wasted.
        gc.freeze()
