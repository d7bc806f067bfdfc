"""Two checkouts in turns: the CPU and the memory of whole commands, as ratios of one pair after the other.

    python -m benchmarks.pairs OTHER_CHECKOUT [-n TIMES] [--data RECLLMSIM]

The ratio of a pair holds where the machine's speed drifts; its median is what to quote. Python's compiled
files are kept apart for either checkout. `--data` adds commands on rated conversations in a known format.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.conversations import write_log
from benchmarks.judging import stub
from benchmarks.process import CLI, ROOT, Cost, environment, measured
from benchmarks.replay_scale import write_benchmark


@dataclass(frozen=True)
class Case:
    """A command; `{run}` in its words is a directory of the checkout's own."""

    name: str
    words: tuple[str, ...]
    clears: str = ""
    """A directory within `{run}` that is deleted first."""


def cases(folder: Path, url: str, data: str | None) -> list[Case]:
    """Return the commands that are compared."""
    examples = str(ROOT / "src/dialogauge/samples")
    model = ("--model", "stub-model", "--base-url", url, "--no-cache", "-o", "{run}/model", "--fresh")
    log = folder / "log.jsonl"
    write_log(log, 1000)
    out = [
        Case("--help", ("--help",)),
        Case("check, examples", ("check", examples)),
        Case("judge, examples, local", ("judge", examples, "-o", "{run}/local", "--fresh")),
        Case("judge again, nothing left", ("judge", examples, "-o", "{run}/local")),
        Case("report", ("report", "{run}/local")),
        Case("export", ("export", "{run}/local", "-o", "{run}/rows.jsonl")),
        Case("judge, 1,000 by a model, 64 at once", ("judge", str(log), *model, "--max-concurrency", "64")),
        Case("judge, 1,000 by a model, 256 at once", ("judge", str(log), *model, "--max-concurrency", "256")),
    ]
    _, _, candidates = write_benchmark(folder, 2000, 10)
    out += [
        Case(
            "replay collect", ("replay", "collect", "items.json", *candidates, "-o", "{run}/replay"), "replay"
        ),
        Case("replay score, nothing left", ("replay", "score", "{run}/replay", "--judge", "local")),
        Case("replay compare", ("replay", "compare", "{run}/replay")),
    ]
    if data is not None:
        rated = ("satisfaction", data, "--fresh", "-o")
        out += [
            Case("judge, rated log, local", ("judge", data, "-o", "{run}/rated", "--fresh")),
            Case("satisfaction, history-mean", (*rated, "{run}/mean", "--judge", "history-mean")),
            Case("satisfaction, local-user", (*rated, "{run}/user", "--judge", "local-user")),
            Case("agreement", ("agreement", "{run}/mean", "{run}/user")),
        ]
    return out


def _cost(checkout: Path, case: Case, folder: Path) -> Cost:
    run = folder / f"run-{checkout.name}"
    run.mkdir(exist_ok=True)
    env = environment(
        PYTHONPATH=str(checkout / "src"),
        PYTHONPYCACHEPREFIX=str(folder / f"compiled-{checkout.name}"),
        DIALOGAUGE_CACHE=str(folder / "cache"),
    )
    words = [word.replace("{run}", str(run)) for word in case.words]
    if case.clears:
        shutil.rmtree(run / case.clears, ignore_errors=True)
    return measured([*CLI, *words], env=env, cwd=folder, expect=(0, 1, 3))


def compare(other: Path, times: int, data: str | None, only: Sequence[str] = ()) -> None:
    """Run every command in turns and print the ratios of this checkout to the other."""
    print(f"{'command':40s} {'CPU s':>7s} {'ratio':>7s} {'range':>15s} {'peak MB':>8s} {'ratio':>6s}")
    with tempfile.TemporaryDirectory() as name, stub() as url:
        folder = Path(name)
        for case in cases(folder, url, data):
            if only and not any(word in case.name for word in only):
                continue
            pairs = [(_cost(ROOT, case, folder), _cost(other, case, folder)) for _ in range(times + 1)][1:]
            ratios = sorted(a.cpu_s / b.cpu_s for a, b in pairs)
            cpu = statistics.median(a.cpu_s for a, _ in pairs)
            peak = statistics.median(a.peak_mb for a, _ in pairs)
            memory = statistics.median(a.peak_mb / b.peak_mb for a, b in pairs)
            span = f"[{ratios[0]:.2f}, {ratios[-1]:.2f}]"
            middle = statistics.median(ratios)
            print(f"{case.name:40s} {cpu:7.2f} {middle:7.2f} {span:>15s} {peak:8.0f} {memory:6.2f}")
            sys.stdout.flush()


def main() -> None:
    """Read the arguments and compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs")
    parser.add_argument("other", type=Path, help="another checkout, with its sources in src")
    parser.add_argument("-n", "--times", type=int, default=5, help="pairs after one that is not counted")
    parser.add_argument("--data", help="rated conversations, for satisfaction and agreement")
    parser.add_argument("--only", nargs="*", default=(), help="commands whose name has one of these words")
    given = parser.parse_args()
    compare(given.other.resolve(), given.times, given.data, given.only)


if __name__ == "__main__":
    main()
