"""One judging run that is watched: memory, limit and cuts, ten times a second, and how long it stands still.

    python -m benchmarks.faults.observed LOG RUBRIC CONFIG RUN OUT [busy]

judges LOG with the role `stub` of CONFIG and writes the series and the exit code to OUT as JSON. With `busy`
a thread of plain Python runs beside it: the control of what other threads do to the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.process import ROOT, environment
from dialogauge.app.judge import ENTRY
from dialogauge.app.merging import load_config
from dialogauge.app.settings import JudgeOptions
from dialogauge.llm import LimiterState
from dialogauge.runs import Progress

__all__ = ["observe"]

_EVERY_S = 0.1
_BEAT_S = 0.002


class Watcher:
    """An observer that takes notes."""

    def __init__(self, *, busy: bool = False) -> None:
        self.busy = busy
        self.series: list[dict[str, float]] = []
        self.standstill_s = 0.0
        """The longest standstill of the event loop between two beats, once one was judged.

        That is the CPU time of the process, or the time by the clock less that in which the loop was ready
        and others had the processor, whichever is less: what else the machine does can add to either alone.
        """

    def say(self, text: str) -> None:
        print(text, file=sys.stderr)

    def interrupted(self, first: bool) -> None: ...  # noqa: FBT001 - the protocol's signature

    @contextlib.contextmanager
    def watching(self, progress: Progress, limits: Callable[[], LimiterState | None]) -> Iterator[None]:
        over = threading.Event()

        def note() -> None:
            while not over.wait(_EVERY_S):
                state = limits()
                if state is not None:
                    self.series.append(
                        {
                            "s": time.monotonic() - began,
                            "done": progress.done,
                            "limit": state.limit,
                            "in_flight": state.in_flight,
                            "cuts": state.cuts,
                            "mb": _resident_mb(),
                        }
                    )

        def count() -> None:
            number = 0
            while not over.is_set():
                number += 1

        async def beat() -> None:
            last = _clocks()
            while True:
                await asyncio.sleep(_BEAT_S)
                now = _clocks()
                if progress.done:
                    passed = now[0] - last[0], now[1] - last[1] - _BEAT_S
                    self.standstill_s = max(self.standstill_s, min(passed))
                last = now

        beating = asyncio.get_running_loop().create_task(beat())
        began = time.monotonic()
        thread = threading.Thread(target=note, daemon=True)
        thread.start()
        if self.busy:
            threading.Thread(target=count, daemon=True).start()
        try:
            yield
        finally:
            beating.cancel()
            over.set()
            thread.join()


def observe(
    folder: Path, log: str, rubric: str, config: str, *, key: str = "", busy: bool = False
) -> dict[str, Any]:
    """Judge a log of this folder in a process of its own; return what was seen, and its error output."""
    words = [str(folder / word) for word in (log, rubric, config, "run", "seen.json")]
    words += ["busy"] if busy else []
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.faults.observed", *words],
        cwd=ROOT,
        env=environment(DIALOGAUGE_CACHE=str(folder / "cache"), STUB_KEY=key),
        check=True,
        timeout=3600,
        stderr=subprocess.PIPE,
        text=True,
    )
    seen: dict[str, Any] = json.loads((folder / "seen.json").read_text())
    return {**seen, "err": done.stderr}


def _clocks() -> tuple[float, float]:
    """Return the CPU time of the process, and the time without that for which this thread waited its turn."""
    try:
        waited = int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except OSError:  # another system says nothing of it
        waited = 0.0
    return time.process_time(), time.monotonic() - waited


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


def main() -> None:
    """Judge and write what was seen."""
    log, rubric, config, run, out, *more = sys.argv[1:]
    role = load_config(config).roles["stub"]
    options = JudgeOptions(inputs=(log,), rubric=rubric, judge="llm", role=role, out=run, cache=False)
    watcher = Watcher(busy=bool(more))
    outcome = ENTRY.carry_out(options, watcher)
    seen = {
        "code": outcome.exit_code,
        "series": watcher.series,
        "standstill_s": watcher.standstill_s,
        "peak_mb": _peak_mb(),
    }
    Path(out).write_text(json.dumps(seen), encoding="utf-8")


if __name__ == "__main__":
    main()
