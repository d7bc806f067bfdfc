from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from dialogauge.core import Record, WorkUnit
from dialogauge.runs import Progress, StopSignal, run_work, stop_on_interrupt
from talks import FakeJudge, talk, unit_of, work_of


async def test_ctrl_c_asks_to_stop_and_a_second_cancels() -> None:
    stop, heard = StopSignal(), list[bool]()
    task = asyncio.create_task(asyncio.Event().wait())
    stop.watch(task)  # type: ignore[arg-type]
    with stop_on_interrupt(stop, heard.append):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.01)
        assert stop.requested
        assert not task.done()
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.01)
    assert heard == [True, False]
    assert task.cancelled()


async def test_the_handler_is_taken_away_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with stop_on_interrupt(StopSignal(), lambda _: None):
        pass
    assert signal.getsignal(signal.SIGINT) in (before, signal.default_int_handler)


async def test_a_finished_worker_is_not_watched_any_more() -> None:
    stop = StopSignal()
    task = asyncio.create_task(asyncio.sleep(0))
    stop.watch(task)
    await task
    await asyncio.sleep(0)
    stop.request()
    stop.request()
    assert not task.cancelled()


async def test_ctrl_c_gets_through_to_a_judge_that_never_waits() -> None:
    class Sink:
        taken = 0

        def add(self, unit: WorkUnit, rows: Sequence[Record]) -> None:
            self.taken += 1
            if self.taken == 10:
                os.kill(os.getpid(), signal.SIGINT)

        def flush_if_due(self) -> None: ...

    conversation, stop, sink = talk("u: a", "a: b"), StopSignal(), Sink()
    units = (unit_of(conversation, repeat=n) for n in range(10**9))
    with stop_on_interrupt(stop, lambda _: None):
        async with asyncio.timeout(5):
            outcome = await run_work(
                units, work_of(FakeJudge()), sink, workers=1, progress=Progress(), stop=stop
            )
    assert outcome.ended == "interrupted"
    assert sink.taken < 1000


def test_outside_the_main_thread_there_is_no_handler_and_no_harm() -> None:
    code = """
import asyncio, threading
from dialogauge.runs import StopSignal, stop_on_interrupt
done = []
async def main():
    with stop_on_interrupt(StopSignal(), lambda _: None):
        done.append(True)
thread = threading.Thread(target=lambda: asyncio.run(main()))
thread.start()
thread.join()
print(done)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[True]"
    assert done.stderr == ""
