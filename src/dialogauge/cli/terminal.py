"""A terminal as the observer of a run: a live line where there is a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from dialogauge.report import plain

if TYPE_CHECKING:
    from dialogauge.llm import LimiterState
    from dialogauge.report import Block
    from dialogauge.runs import Progress


_WIDTH = 110
_FAULTS_SHOWN = 20


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print blocks, as wide as the terminal is; what is piped has the usual width and no colour."""
    from dialogauge.app.config import colour_wanted
    from dialogauge.report import to_text

    screen = sys.stdout.isatty()
    width = shutil.get_terminal_size((_WIDTH, 24)).columns if screen else _WIDTH
    typer.echo(to_text(blocks, width=width, colour=screen and colour_wanted()), nl=False)


def print_faults(faults: Sequence[object], more: str = "") -> None:
    """Print the first of what could not be used on standard error, and say how many there are beyond.

    `more` says where the others stand.
    """
    for fault in faults[:_FAULTS_SHOWN]:
        typer.echo(f"dialogauge: {plain(str(fault))}", err=True)
    if len(faults) > _FAULTS_SHOWN:
        typer.echo(f"dialogauge: ... and {len(faults) - _FAULTS_SHOWN:,} more{more}", err=True)


def print_json(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Print a value as indented JSON, with escapes for what a terminal would act on."""
    from dialogauge.runs.records import json_document  # with it comes SQLite, which `--help` does without

    sys.stdout.buffer.write(json_document(value))


_LIVE_SECONDS = 0.2
_PLAIN_SECONDS = 10.0


class TerminalObserver:
    """Shows progress on standard error; standard output stays for results."""

    def __init__(self, *, quiet: bool = False) -> None:
        """Say nothing but errors when `quiet`."""
        self._quiet = quiet
        self._live = sys.stderr.isatty() and not quiet

    def say(self, text: str) -> None:
        """Print a line for the user."""
        if not self._quiet:
            typer.echo(plain(text), err=True)

    def interrupted(self, first: bool) -> None:
        """Say what a Ctrl-C does."""
        self._clear()
        if first:
            typer.echo("finishing what is in flight; press Ctrl-C again to stop at once", err=True)
        else:
            typer.echo("stopping", err=True)

    @contextlib.contextmanager
    def watching(self, progress: Progress, limits: Callable[[], LimiterState | None]) -> Iterator[None]:
        """Show the progress from a thread of its own, so that a busy loop cannot hold it up."""
        if self._quiet:
            yield
            return
        over = threading.Event()

        def show() -> None:
            every = _LIVE_SECONDS if self._live else _PLAIN_SECONDS
            while not over.wait(every):
                self._show(progress_line(progress, limits()))

        thread = threading.Thread(target=show, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self._clear()

    def _show(self, line: str) -> None:
        if self._live:
            sys.stderr.write(f"\r\x1b[2K{line}")
            sys.stderr.flush()
        else:
            typer.echo(line, err=True)

    def _clear(self) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def progress_line(progress: Progress, limits: LimiterState | None) -> str:
    """Write the progress as one line: done, failed, cached, tokens, cost, time left, limiter."""
    known = progress.total if progress.total is not None else progress.expected
    total = f"{progress.planned}+" if known is None else str(known)
    usage = progress.usage
    tokens = usage.prompt_tokens + usage.completion_tokens
    parts = (
        f"{progress.resumed + progress.done}/{total} done",
        f"{progress.failed} failed" if progress.failed else "",
        f"{usage.cached} cached" if usage.cached else "",
        f"{tokens:,} tokens" if tokens else "",
        _cost(usage.cost),
        f"{progress.rate:.1f}/s",
        "" if progress.remaining_s is None else f"{_duration(progress.remaining_s)} left",
        "" if limits is None else _limits(limits),
    )
    return " · ".join(part for part in parts if part)


def _cost(cost: float | None) -> str:
    if cost is None:
        return "cost unknown"
    return f"cost {cost:.4f}" if cost else ""


def _limits(limits: LimiterState) -> str:
    text = f"{limits.in_flight} of {limits.limit} in flight"
    return f"{text} · waiting {limits.paused_for:.0f} s on the rate limit" if limits.paused_for > 0 else text


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
