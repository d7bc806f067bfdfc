"""One judging run that is watched: memory, limit and cuts, ten times a second.

    python -m benchmarks.faults.observed LOG RUBRIC CONFIG RUN OUT

judges LOG with the role `stub` of CONFIG and writes the series and the exit code to OUT as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dialogauge.app.judge import judge_data
from dialogauge.app.merging import load_config
from dialogauge.app.settings import JudgeOptions
from dialogauge.llm import LimiterState
from dialogauge.runs import Progress

_EVERY_S = 0.1


class Watcher:
    """An observer that takes notes."""

    def __init__(self) -> None:
        self.series: list[dict[str, float]] = []

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

        began = time.monotonic()
        thread = threading.Thread(target=note, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Judge and write what was seen."""
    log, rubric, config, run, out = sys.argv[1:]
    role = load_config(config).roles["stub"]
    options = JudgeOptions(inputs=(log,), rubric=rubric, judge="llm", role=role, out=run, cache=False)
    watcher = Watcher()
    outcome = asyncio.run(judge_data(options, watcher))
    seen = {"code": outcome.exit_code, "series": watcher.series}
    Path(out).write_text(json.dumps(seen), encoding="utf-8")


if __name__ == "__main__":
    main()
