"""Carrying a coroutine out from anywhere: in a script, inside a running loop, awaited.

In a script it runs in the main thread, where Ctrl-C asks it to end. Where a loop is running already (a
notebook), and where it is awaited, it runs in a thread with a loop of its own: the loop of the caller stays
free, and an interrupt or a cancellation asks the work to end, so that what was judged is stored and the files
are written.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from dialogauge.runs import StopSignal

T = TypeVar("T")

Work = Callable[[StopSignal], Coroutine[Any, Any, T]]
"""Starts the work; the signal asks it to end."""


def carry_out(work: Work[T]) -> T:
    """Do the work and return what came of it.

    Raises KeyboardInterrupt where work in a thread was interrupted; in a script the work itself says so.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work(StopSignal()))
    thread = _WorkThread(work)
    interrupted = False
    while True:
        try:
            result = thread.future.result()
        except KeyboardInterrupt:
            interrupted = True
            thread.ask_to_end()
            continue
        if interrupted:
            raise KeyboardInterrupt
        return result


async def carried_out(work: Work[T]) -> T:
    """Do the work in a thread, and return what came of it.

    Cancelled, it asks the work to end and waits for that; cancelled once more, it drops what is in flight.
    """
    thread = _WorkThread(work)
    future = asyncio.wrap_future(thread.future)
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.shield(asyncio.wait([future]))
        except asyncio.CancelledError as error:
            cancelled = error
            thread.ask_to_end()
    if cancelled is not None:
        future.exception()  # looked at: it is not the one to report
        raise cancelled
    return future.result()


class _WorkThread(Generic[T]):
    """A thread that does the work in a loop of its own."""

    def __init__(self, work: Work[T]) -> None:
        self.future: Future[T] = Future()
        self.future.set_running_or_notify_cancel()
        self._work = work
        self._stop = StopSignal()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._run, name="dialogauge", daemon=True).start()

    def ask_to_end(self) -> None:
        """Take no further units; asked a second time, drop what is in flight."""
        with contextlib.suppress(RuntimeError):  # the loop has ended by itself meanwhile
            self._loop.call_soon_threadsafe(self._stop.request)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                result = runner.run(self._work(self._stop))
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            self.future.set_exception(error)
        else:
            self.future.set_result(result)
