"""The `dialogauge` command and its one place for errors."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any, Final

import typer

from dialogauge.cli.agreement import agreement
from dialogauge.cli.annotate import annotate
from dialogauge.cli.arena import arena
from dialogauge.cli.check import check
from dialogauge.cli.compare import compare
from dialogauge.cli.demo import demo
from dialogauge.cli.doctor import doctor
from dialogauge.cli.export import export
from dialogauge.cli.fit import fit
from dialogauge.cli.init import init
from dialogauge.cli.judge import judge
from dialogauge.cli.options import GroupedCommand
from dialogauge.cli.pairs import pairs
from dialogauge.cli.replay import replay
from dialogauge.cli.report import report
from dialogauge.cli.runs import runs
from dialogauge.cli.satisfaction import satisfaction
from dialogauge.cli.show import show
from dialogauge.cli.success import success
from dialogauge.cli.trust import trust
from dialogauge.core.errors import DialogaugeError, UsageError, without_user_info
from dialogauge.core.version import __version__
from dialogauge.report import plain

_INTERRUPTED: Final = 130

app = typer.Typer(
    name="dialogauge",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    demo,
    judge,
    check,
    report,
    show,
    runs,
    compare,
    trust,
    agreement,
    export,
    pairs,
    fit,
    satisfaction,
    success,
    arena,
    doctor,
    init,
):
    app.command(cls=GroupedCommand)(command)
app.add_typer(annotate)
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
    """Find where conversations with an assistant went wrong, and how far to trust that.

    `dialogauge demo` shows what comes out; then `dialogauge judge` your log. `dialogauge COMMAND --help`
    names the options of a command.
    """


_Misuse: type[Exception] = typer.BadParameter.__mro__[2]
"""What click raises of words that it cannot take (`ClickException`); typer keeps click where it likes."""


def main() -> None:
    """Run the command line and exit with its code."""
    # A command makes many small objects and hardly a cycle: looking for cycles so often costs a tenth.
    gc.set_threshold(50_000, 20, 100)
    # Our arrays are small: a thread of numpy's for each core costs every command 50 ms and their memory.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - set, before numpy is loaded
    try:
        code = _run()
    finally:
        # All of it goes with the process: to look through it for cycles on the way out is wasted.
        gc.freeze()
    if code == _INTERRUPTED:
        _say("interrupted; stored results are kept, and the same command continues from there")
    sys.exit(code)


def _run() -> int:
    """Run the command that was typed, and return its exit code."""
    try:
        code = app(prog_name="dialogauge", standalone_mode=False) or 0
        sys.stdout.flush()
    except DialogaugeError as error:
        _say(str(error))
        return 2 if isinstance(error, UsageError) else 1
    except _Misuse as error:
        return _say_misuse(error)
    except BrokenPipeError:
        return 1  # whoever read has read enough
    except OSError as error:
        what = error.filename or "the output could not be printed"
        _say(f"{what}: {error.strerror or error}")
        return 1
    return code


def _say(text: str) -> None:
    typer.echo(f"dialogauge: {plain(text)}", err=True)


def _say_misuse(error: Any) -> int:  # noqa: ANN401 - of a class of click's
    """Say which word cannot be taken; for none at all, what there is."""
    context, message = error.ctx, without_user_info(error.format_message())
    if message.startswith("Missing ") and (what := getattr(error.param, "help", None)):
        message += f" {what}"
    if context is not None and message == context.get_help():
        typer.echo(message, err=True)
    else:
        if context is not None:
            typer.echo(f"{context.get_usage()}\nTry '{context.command_path} --help' for help.\n", err=True)
        typer.echo(f"Error: {plain(message)}", err=True)
    return int(error.exit_code)
