"""The `dialogauge` command and its one place for errors."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import Any, Final

import typer

from dialogauge.app.entries import ListedStudy, studies
from dialogauge.cli.annotate import annotate
from dialogauge.cli.chat import chat
from dialogauge.cli.check import check, formats
from dialogauge.cli.doctor import doctor
from dialogauge.cli.finished import export, report, runs, show
from dialogauge.cli.options import GroupedCommand
from dialogauge.cli.start import demo, init
from dialogauge.cli.studies import study_command, study_group
from dialogauge.core.errors import DialogaugeError, UsageError, without_user_info
from dialogauge.core.version import __version__
from dialogauge.report import plain

_INTERRUPTED: Final = 130


def command_line(typed: str = "") -> typer.Typer:
    """Make the command line: the commands of the table of studies, and those that read and prepare.

    Where `typed` names a command, this one alone: to make them all takes a tenth of a second. The version is
    printed whatever commands there are.
    """
    app = typer.Typer(
        name="dialogauge",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    first, *others = (study for study in studies() if not study.steps)
    commands: dict[str, Callable[..., None] | ListedStudy | typer.Typer] = {
        "demo": demo,
        first.name: first,
        "check": check,
        "formats": formats,
        "report": report,
        "show": show,
        "runs": runs,
        "export": export,
        **{study.name: study for study in others},
        "chat": chat,
        "doctor": doctor,
        "init": init,
        "annotate": annotate,
        **{study.name: study for study in studies() if study.steps},
    }
    typed = "demo" if typed == "--version" else typed
    for command in [commands[typed]] if typed in commands else commands.values():
        if isinstance(command, typer.Typer):
            app.add_typer(command)
        elif not isinstance(command, ListedStudy):
            app.command(cls=GroupedCommand)(command)
        elif command.steps:
            app.add_typer(study_group(command))
        else:
            app.command(cls=GroupedCommand)(study_command(command))
    return app


def _version(show: bool) -> None:
    if show:
        typer.echo(f"dialogauge {__version__}")
        raise typer.Exit


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
        app = command_line("".join(sys.argv[1:2]))
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
