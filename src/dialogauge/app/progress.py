"""The progress of a run on standard error: a live line in terminals and notebooks, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dialogauge.llm import LimiterState
    from dialogauge.runs import Progress

_LIVE_SECONDS = 0.2
_PLAIN_SECONDS = 10.0
_CLEAR = "\r\x1b[2K"


class ProgressObserver:
    """Shows progress on standard error; standard output stays for results."""

    def __init__(self, *, quiet: bool = False, live: bool | None = None) -> None:
        """Say nothing but errors when `quiet`; write over one line when `live`, as in a terminal."""
        self._quiet = quiet
        self._live = not quiet and (shows_live() if live is None else live)
        self._width = 0

    def say(self, text: str) -> None:
        """Print a line for the user."""
        if not self._quiet:
            _write(f"{self.shown(text)}\n")

    def shown(self, text: str) -> str:
        """Return a line as it is written; a terminal makes it harmless."""
        return text

    def interrupted(self, first: bool) -> None:  # noqa: FBT001 - as observers are told
        """Say what a Ctrl-C does."""
        self._clear()
        if first:
            _write("finishing what is in flight; press Ctrl-C again to stop at once\n")
        else:
            _write("stopping\n")

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
        with contextlib.suppress(RuntimeError):  # the system gives no more threads: then nothing is shown
            thread.start()
        try:
            yield
        finally:
            over.set()
            if thread.ident is not None:
                thread.join()
            self._clear()

    def _show(self, line: str) -> None:
        _write(f"{self._cleared()}{line}" if self._live else f"{line}\n")
        self._width = len(line)

    def _clear(self) -> None:
        if self._live:
            _write(self._cleared())

    def _cleared(self) -> str:
        """Return what takes the live line away: a notebook would keep escape codes as text."""
        return _CLEAR if shows_live() else f"\r{' ' * self._width}\r"


def shows_live() -> bool:
    """Say whether standard error is a terminal; a process may have none at all."""
    return sys.stderr is not None and sys.stderr.isatty()


def _write(text: str) -> None:
    """Write on standard error, where there is one that takes it: no work ends for a line of progress."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)
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
        "cost unknown" if usage.cost is None else f"cost {usage.cost:.4f}" if usage.cost else "",
        f"{progress.rate:.1f}/s",
        "" if progress.remaining_s is None else f"{_duration(progress.remaining_s)} left",
        "" if limits is None else f"{limits.in_flight} of {limits.limit} in flight",
        f"waiting {limits.paused_for:.0f} s on the rate limit" if limits and limits.paused_for > 0 else "",
    )
    return " · ".join(part for part in parts if part)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
