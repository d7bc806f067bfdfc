"""Stopping a run: once to finish what is in flight, twice to stop at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

__all__ = ["StopSignal", "stop_on_interrupt"]


class StopSignal:
    """Tells the workers of a run to take no further units, or to drop what they do."""

    def __init__(self) -> None:
        """Begin unset."""
        self.requested = False
        self._tasks: set[asyncio.Task[None]] = set()

    def watch(self, task: asyncio.Task[None]) -> None:
        """Register a worker that a second request cancels."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def request(self) -> None:
        """Ask to stop; asked a second time, cancel the workers."""
        if self.requested:
            for task in tuple(self._tasks):
                task.cancel()
        self.requested = True


@contextlib.contextmanager
def stop_on_interrupt(stop: StopSignal, notify: Callable[[bool], None]) -> Iterator[None]:
    """Turn Ctrl-C into `stop.request()` while the context lasts.

    Args:
        stop: What to set.
        notify: Called at each Ctrl-C, with whether it was the first.
    """

    def on_interrupt() -> None:
        notify(not stop.requested)
        stop.request()

    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, on_interrupt)
    except (NotImplementedError, RuntimeError, ValueError):
        # No signal handlers on this platform or outside the main thread: Ctrl-C then ends the process,
        # and what was stored is kept.
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
