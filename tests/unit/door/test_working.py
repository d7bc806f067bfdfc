from __future__ import annotations

import asyncio
import threading

import pytest

from dialogauge.door.working import carried_out, carry_out
from dialogauge.runs import StopSignal


async def until_asked(stop: StopSignal) -> str:
    while not stop.requested:  # noqa: ASYNC110 - as workers look at it
        await asyncio.sleep(0.005)
    return "stored"


async def where(_: StopSignal) -> str:
    return threading.current_thread().name


async def broken(_: StopSignal) -> str:
    msg = "no"
    raise ValueError(msg)


def test_a_script_works_in_its_own_thread() -> None:
    assert carry_out(where) == threading.current_thread().name
    with pytest.raises(ValueError, match="no"):
        carry_out(broken)


async def test_within_a_running_loop_a_thread_works() -> None:
    assert carry_out(where) == "dialogauge"
    with pytest.raises(ValueError, match="no"):
        carry_out(broken)


async def test_awaited_it_leaves_the_loop_free() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    async def slow(_: StopSignal) -> str:
        import time

        time.sleep(0.1)  # noqa: ASYNC251 - as a judge that never waits
        return "done"

    ticking = asyncio.create_task(tick())
    assert await carried_out(slow) == "done"
    ticking.cancel()
    assert ticks > 5
    with pytest.raises(ValueError, match="no"):
        await carried_out(broken)


async def test_cancelled_it_lets_the_work_end() -> None:
    ended = []

    async def work(stop: StopSignal) -> None:
        ended.append(await until_asked(stop))

    task = asyncio.create_task(carried_out(work))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["stored"]


async def test_interrupted_within_a_running_loop_it_lets_the_work_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from concurrent.futures import Future

    result, interrupts = Future.result, [True]

    def interrupted(future: Future[object], timeout: float | None = None) -> object:
        if interrupts and threading.current_thread() is threading.main_thread():
            interrupts.pop()
            raise KeyboardInterrupt
        return result(future, timeout)

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        carry_out(until_asked)
