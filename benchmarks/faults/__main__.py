"""The command `python -m benchmarks.faults`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.faults import disk, single
from benchmarks.faults.echoes import echoes
from benchmarks.faults.honesty import honesty
from benchmarks.faults.kills import kills
from benchmarks.faults.kills_all import kills_everywhere
from benchmarks.faults.large import FEW_BAITS, FEW_HEAPS, delays, memory
from benchmarks.faults.mixed import mixed
from benchmarks.faults.one_by_one import one_by_one
from benchmarks.faults.resume import resume
from benchmarks.faults.running import Command, Findings, command_in
from benchmarks.faults.stops import stops

Campaign = Callable[[Path, Command, bool], Iterator[Findings]]


def _single(folder: Path, command: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001 - long or short
    yield single.together(folder, command, attempt_s=0.5, item_s=2.0)
    if not short:
        yield single.each_by_itself(folder)


def _stops(folder: Path, command: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001
    yield stops(folder, command, item_s=0.4 if short else 5.0, few=short)


def _honesty(folder: Path, command: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001
    yield honesty(folder, command, item_s=0.5 if short else None)


def _mixed(folder: Path, _: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001
    yield mixed(folder, number=300, latency=0.02) if short else mixed(folder)


def _one_by_one(folder: Path, command: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001
    yield one_by_one(folder, command, service_s=0.3 if short else 3.0, number=8 if short else 20)


def _delays(folder: Path, _: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001
    yield delays(folder, FEW_BAITS) if short else delays(folder)


def _memory(folder: Path, _: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001
    yield memory(folder, FEW_HEAPS) if short else memory(folder)


def _disk(folder: Path, _: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001
    if disk.may_mount(folder):
        yield disk.disk_full(folder, sizes_kb=(300,) if short else (8, 40, *range(80, 1240, 40)))
    yield disk.file_limit(folder, sizes_kb=(120,) if short else (1, 20, 40, 80, 120, 160, 200, 300, 400))


def _kills(folder: Path, _: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001
    yield kills(folder, number=60, times=2) if short else kills(folder)


def _everywhere(folder: Path, _: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001
    yield kills_everywhere(folder, kills=4, others=2) if short else kills_everywhere(folder)


def _resume(folder: Path, _: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001
    yield resume(folder, seeds=range(1), steps=6) if short else resume(folder)


def _secrets(folder: Path, _: Command, short: bool) -> Iterator[Findings]:  # noqa: FBT001
    yield echoes(folder, rounds=1, users=1, few=True) if short else echoes(folder)


CAMPAIGNS: dict[str, Campaign] = {
    "single": _single,
    "stops": _stops,
    "honesty": _honesty,
    "mixed": _mixed,
    "one_by_one": _one_by_one,
    "delays": _delays,
    "memory": _memory,
    "disk": _disk,
    "kills": _kills,
    "everywhere": _everywhere,
    "resume": _resume,
    "secrets": _secrets,
}


def main() -> int:
    """Run the campaigns that are named, or all; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults")
    parser.add_argument(
        "names", nargs="*", metavar="CAMPAIGN", help=f"of {', '.join(CAMPAIGNS)}; default: all"
    )
    parser.add_argument("--short", action="store_true", help="as `make test-all` runs them")
    given = parser.parse_args()
    unknown = set(given.names) - set(CAMPAIGNS)
    if unknown:
        parser.error(f"no such campaign: {', '.join(sorted(unknown))}")
    wrong = 0
    for name in given.names or CAMPAIGNS:
        with tempfile.TemporaryDirectory() as folder:
            for findings in CAMPAIGNS[name](Path(folder), command_in(Path(folder)), given.short):
                findings.print()
                wrong += len(findings.wrong)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
