"""Fuzzing of every reader: broken inputs by seeded chance, each of which must be read or refused by us.

    python -m benchmarks.fuzz --inputs 100000            # all cases, the inputs shared out by cost
    python -m benchmarks.fuzz --only "read *"            # the readers of logs
    python -m benchmarks.fuzz --only "read csv" --seed 5 --at 17  # one input again, with its traceback
    python -m benchmarks.fuzz -o fuzz.json --markdown fuzz.md

The inputs are new each time, drawn from the seed that is printed first. One passes when it is read, or
refused with an error of ours that says where; a command that is given one passes when it ends as any may
(`tests/fuzzing/commands.py`). A fault is any other exception, an error without a place, a word of Python's,
a broken file, or more than twenty seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import random
import secrets
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import filter as matching
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from fuzzing.files import FILES, SLOW
from fuzzing.shapes import SAMPLES
from fuzzing.targets import TARGETS as READERS
from fuzzing.world import world

TARGETS = READERS | SAMPLES | FILES | (SLOW if find_spec("torch") and find_spec("transformers") else {})

SECONDS = 20.0
_SHARES = (
    dict.fromkeys(READERS, 1.0)
    | dict.fromkeys(SAMPLES, 0.2)
    | dict.fromkeys(FILES, 0.05)
    | dict.fromkeys(SLOW, 0.002)
)
"""How many inputs each case gets: a command takes as long as twenty readers, an encoder much longer."""


class Hang(BaseException):
    """The time is up; no reader may catch it."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `Hang` in the block after so many seconds."""

    def ring(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def attempt(target: str, seed: int, at: int, folder: Path) -> tuple[str, str | None]:
    """Run one case; return what came of it, and the traceback of a fault."""
    rng = random.Random(f"{seed}/{target}/{at}")
    try:
        with limited(SECONDS):
            return TARGETS[target](rng, folder), None
    except Hang:
        return "FAULT: hang", traceback.format_exc(limit=-6)
    except Exception as error:  # noqa: BLE001 - finding these is what this is for
        return f"FAULT: {type(error).__name__}", traceback.format_exc(limit=-8)


def campaign(inputs: int, seed: int, names: Sequence[str]) -> dict[str, Any]:
    """Share the inputs out among the targets of these names and run them all."""
    results: dict[str, Any] = {}
    faults: list[dict[str, Any]] = []
    world()  # which takes seconds, and once
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        for name in names:
            number = max(1, round(inputs * _SHARES[name] / sum(_SHARES[n] for n in names)))
            outcomes: Counter[str] = Counter()
            slowest, start = 0.0, time.perf_counter()
            for at in range(number):
                before = time.perf_counter()
                outcome, trace = attempt(name, seed, at, Path(folder))
                slowest = max(slowest, time.perf_counter() - before)
                outcomes[outcome] += 1
                if trace is not None:
                    faults.append({"target": name, "at": at, "outcome": outcome, "trace": trace})
            results[name] = {
                "inputs": number,
                "outcomes": dict(outcomes.most_common()),
                "faults": sum(n for o, n in outcomes.items() if o.startswith("FAULT")),
                "slowest_ms": round(slowest * 1000, 1),
                "seconds": round(time.perf_counter() - start, 1),
            }
            print(f"{name:<26} {number:>7,} inputs  {results[name]['faults']:>5} faults", flush=True)
    return {
        "inputs": sum(r["inputs"] for r in results.values()),
        "seed": seed,
        "python": platform.python_version(),
        "seconds": round(time.perf_counter() - began, 1),
        "targets": results,
        "faults": faults,
    }


def _kinds(faults: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one fault of each kind, with how often it came: same exception, same line of code."""
    kinds: dict[tuple[str, str], dict[str, Any]] = {}
    for fault in faults:
        lines = [line for line in fault["trace"].splitlines() if line.lstrip().startswith("File ")]
        kind = kinds.setdefault((fault["outcome"], lines[-1]), {**fault, "times": 0})
        kind["times"] += 1
    return list(kinds.values())


def markdown(result: dict[str, Any]) -> str:
    """Write the result as a table."""
    lines = [
        "| case | inputs | read | refused, or read with faults named | faults | slowest (ms) | seconds |",
        "|---|---:|---:|---|---:|---:|---:|",
    ]
    for name, r in result["targets"].items():
        refused = ", ".join(
            f"{k} {n:,}" for k, n in r["outcomes"].items() if k != "read" and not k.startswith("FAULT")
        )
        read = r["outcomes"].get("read", 0)
        lines.append(
            f"| {name} | {r['inputs']:,} | {read:,} | {refused} "
            f"| {r['faults']} | {r['slowest_ms']} | {r['seconds']} |"
        )
    total = sum(r["faults"] for r in result["targets"].values())
    lines.append(f"| **all** | **{result['inputs']:,}** | | | **{total}** | | {result['seconds']} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run a campaign, or one input again."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32), help="default: a new one")
    parser.add_argument("--only", default="*", help="the cases of this name or pattern, such as 'read *'")
    parser.add_argument("--at", type=int, help="run this one input of --only and show what came of it")
    parser.add_argument("-o", "--out", type=Path, help="keep the result in this JSON file")
    parser.add_argument("--markdown", type=Path, help="and as a table in this one")
    given = parser.parse_args()
    names = matching(TARGETS, given.only)
    if not names:
        parser.error(f"no case is called {given.only}: {', '.join(TARGETS)}")
    warnings.simplefilter("error")
    print(f"seed {given.seed}", flush=True)
    if given.at is not None:
        with tempfile.TemporaryDirectory() as folder:
            outcome, trace = attempt(names[0], given.seed, given.at, Path(folder))
            print(outcome, trace or "", sep="\n")
            for path in Path(folder).iterdir():
                print(path.name, path.read_bytes()[:2000])
        return
    result = campaign(given.inputs, given.seed, names)
    if given.out is not None:
        given.out.write_text(json.dumps(result, indent=2) + "\n")
    if given.markdown is not None:
        given.markdown.write_text(markdown(result))
    for fault in _kinds(result["faults"]):
        print(
            f"--- {fault['times']} x {fault['outcome']}, first: "
            f'--only "{fault["target"]}" --seed {given.seed} --at {fault["at"]}'
        )
        print("\n".join(line[:160] for line in fault["trace"].strip().splitlines()[-9:]))
    total, faults = result["inputs"], len(result["faults"])
    print(f"{total:,} inputs, {faults} faults, {result['seconds']} s, seed {given.seed}")
    sys.exit(1 if result["faults"] else 0)


if __name__ == "__main__":
    main()
