"""Judging with a language model: a local stub with 50 ms latency, the whole process from start to exit."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.conversations import write_log
from benchmarks.process import CLI, Cost, environment, measured, median_of
from benchmarks.tables import table

__all__ = ["Judging", "run", "stub"]

_HERE = Path(__file__).resolve().parent
_SIZES = (20, 1000)
_BARS = "bars: marginal 1.0 ms (goal 0.5); 1,000 in 2.0 s at 64, 1.5 s at 256; 120 MB; 20 in 0.8 s; 6 MB"


@contextlib.contextmanager
def stub(latency: float = 0.05, *options: str) -> Iterator[str]:
    """Serve the stub in a process of its own; yield its base URL."""
    command = [sys.executable, str(_HERE / "stub.py"), "--latency", str(latency), *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


class Judging:
    """Whole runs of `dialogauge judge` on synthetic logs against one stub."""

    def __init__(self, folder: Path, url: str, rubric: str = "card") -> None:
        self.folder = folder
        self.url = url
        self.rubric = rubric
        self._runs = 0

    def log(self, number: int) -> Path:
        path = self.folder / f"log{number}.jsonl"
        if not path.exists():
            write_log(path, number)
        return path

    def judge(self, number: int, concurrency: int, *options: str) -> tuple[Cost, Path]:
        """Judge a log into a new run directory with an empty response cache."""
        log = self.log(number)
        self._runs += 1
        out = self.folder / f"run{self._runs}"
        env = environment(DIALOGAUGE_CACHE=str(self.folder / f"cache{self._runs}"))
        command = [
            *CLI, "judge", str(log), "--rubric", self.rubric, "--model", "stub-model", "--base-url", self.url,
            "-o", str(out), "--max-concurrency", str(concurrency), *options,
        ]  # fmt: skip
        return measured(command, env=env, cwd=self.folder), out

    def bare(self, number: int, concurrency: int) -> Cost:
        """Send the same requests without anything around them."""
        body = self.folder / "body.json"
        if not body.exists():
            root = self.url.removesuffix("/v1")
            with urllib.request.urlopen(f"{root}/request") as response:
                body.write_bytes(response.read())
        command = [sys.executable, str(_HERE / "bare.py"), self.url, str(body), str(number), str(concurrency)]
        return measured(command, env=environment(), cwd=self.folder)


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    with tempfile.TemporaryDirectory() as name, stub() as url:
        judging = Judging(Path(name), url)
        figures = _throughput(judging, times)
        if not quick:
            figures["50,000 judgements at 256"] = _many(judging)
    return figures


def _throughput(judging: Judging, times: int) -> dict[str, Any]:
    judging.judge(20, 64)  # writes byte code and shows the stub the shape of the requests
    found: dict[tuple[str, int, int], Cost] = {}
    size_mb = 0.0
    for concurrency in (64, 256):
        for number in _SIZES:

            def one(number: int = number, concurrency: int = concurrency) -> Cost:
                nonlocal size_mb
                cost, out = judging.judge(number, concurrency)
                size_mb = (out / "run.db").stat().st_size / 1e6
                return cost

            found["dialogauge", number, concurrency] = median_of(times, one)
            found["bare", number, concurrency] = median_of(
                times, lambda n=number, c=concurrency: judging.bare(n, c)
            )
    rows: list[tuple[object, ...]] = []
    figures: dict[str, Any] = {}
    for concurrency in (64, 256):
        marginal, wall = {}, {}
        for who in ("dialogauge", "bare"):
            few, many = found[who, 20, concurrency], found[who, 1000, concurrency]
            each = marginal[who] = (many.cpu_s - few.cpu_s) / 0.980
            wall[who] = many.wall_s
            times_taken = (few.wall_s, few.cpu_s, many.wall_s, many.cpu_s)
            rows.append((who, concurrency, *times_taken, each, many.peak_mb))
            figures[f"{who} at {concurrency}"] = {
                "20": vars(few),
                "1000": vars(many),
                "marginal_cpu_ms": each,
            }
        ratios = {name: v["dialogauge"] / v["bare"] for name, v in (("cpu", marginal), ("wall", wall))}
        rows.append(("ratio", concurrency, "", "", ratios["wall"], "", ratios["cpu"], ""))
        figures[f"ratio at {concurrency}"] = {"marginal_cpu": ratios["cpu"], "wall_1000": ratios["wall"]}
    head = ("who", "at once", "20: wall s", "CPU s", "1,000: wall s", "CPU s", "marginal CPU ms", "peak MB")
    print(table(f"Judging, stub at 50 ms, medians of {times} ({_BARS})", head, rows))
    print(f"run.db of 1,000 conversations: {size_mb:.2f} MB")
    return {**figures, "run_db_mb_per_1000": size_mb}


def _many(judging: Judging) -> dict[str, float]:
    cost, _ = judging.judge(50_000, 256)
    head = ("judgements", "wall s", "CPU s", "CPU ms each", "peak MB")
    rows = [(50_000, cost.wall_s, cost.cpu_s, cost.cpu_s / 50, cost.peak_mb)]
    print(table("Memory after 50,000 judgements at 256 (bar: 220 MB)", head, rows))
    return vars(cost)
