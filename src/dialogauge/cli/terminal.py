"""What a terminal is shown, made harmless."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, NoReturn, TextIO

import typer

from dialogauge.app.environment import colour_wanted
from dialogauge.app.progress import ProgressObserver
from dialogauge.core.json_keys import as_json
from dialogauge.report import plain, words
from dialogauge.text.counting import counted

if TYPE_CHECKING:
    from dialogauge.app.outcome import Plan
    from dialogauge.llm import Expected
    from dialogauge.report import Block

_WIDTH = 110
_NARROWEST = 20
_FAULTS_SHOWN = 20


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print blocks, as wide as the terminal is; what is piped has the usual width and no colour."""
    from dialogauge.report import to_text

    screen = sys.stdout.isatty()
    text = to_text(blocks, width=_width(), colour=screen and colour_wanted(), wrapped=screen)
    typer.echo(text, nl=False)


def print_folded(lead: str, text: str) -> None:
    """Print one line behind its lead, folded and indented where the terminal is narrow."""
    room = max(_width() - len(lead), _NARROWEST)
    typer.echo(lead + f"\n{' ' * len(lead)}".join(textwrap.wrap(text, room)))


def _width() -> int:
    return shutil.get_terminal_size((_WIDTH, 24)).columns if sys.stdout.isatty() else _WIDTH


def print_faults(faults: Sequence[object], more: str = "") -> None:
    """Print the first of what could not be used on standard error, and say how many there are beyond.

    `more` says where the others stand.
    """
    for fault in faults[:_FAULTS_SHOWN]:
        typer.echo(f"dialogauge: {plain(str(fault))}", err=True)
    if len(faults) > _FAULTS_SHOWN:
        typer.echo(f"dialogauge: ... and {len(faults) - _FAULTS_SHOWN:,} more{more}", err=True)


_KEPT: Final[ContextVar[TextIO | None]] = ContextVar("kept", default=None)


@contextmanager
def kept_for_json() -> Iterator[None]:
    """Keep standard output for `print_json`: what a function of the user's prints goes to standard error."""
    token = _KEPT.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _KEPT.reset(token)


def print_json(value: object) -> None:
    """Print a record or a JSON value as indented JSON, with escapes for what a terminal would act on."""
    from dialogauge.runs.records import json_document  # with it comes SQLite, which `--help` does without

    (_KEPT.get() or sys.stdout).buffer.write(json_document(as_json(value)))


def print_plan(plan: Plan, text: str, *, as_json: bool) -> NoReturn:
    """Print what a command would do, in words or with its counts as JSON, and exit."""
    if as_json:
        print_json(plan.to_json())
    else:
        for note in plan.notes:
            typer.echo(f"  {plain(note)}")
        typer.echo(plain(text))
        if plan.asking is not None:
            for line in _asking_words(plan.asking):
                typer.echo(plain(line))
        if plan.directory is not None:
            typer.echo(plain(f"into {plan.directory}"))
    print_faults(plan.faults)
    raise typer.Exit(1 if plan.faults else 0)


def _asking_words(asking: Expected) -> Iterator[str]:
    cost = "no price of the model is known (--prices)"
    if asking.cost is not None:
        cost = f"about {words.cost(asking.cost)} {asking.currency}"
    yield (
        f"{counted(asking.calls, 'call')}: about {_rounded(asking.prompt_tokens):,} tokens of prompts and "
        f"{_rounded(asking.completion_tokens):,} of replies; {cost}"
    )
    if asking.cached:
        yield f"{counted(asking.cached, 'answer')} more from the cache, which cost nothing"
    if asking.assumed:
        yield f"{asking.assumed:,} of the replies stand in later prompts, and are taken to be of usual length"
    if asking.calls:
        yield "retries, replies that have to be asked for again, and probes of a new endpoint come on top"


def _rounded(n: int) -> int:
    """Round an estimate to two digits."""
    return round(n, 2 - len(str(n)))


class TerminalObserver(ProgressObserver):
    """Shows the progress of a run in a terminal."""

    def shown(self, text: str) -> str:
        """Return a line that a terminal may be given."""
        return plain(text)
