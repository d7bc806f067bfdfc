"""The command `python -m benchmarks.servers`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.process import ROOT
from benchmarks.servers.checks import Check, check_narrow, check_wide
from benchmarks.servers.model import TinyModel, make_model
from benchmarks.servers.started import SERVERS, started, version_of


def main() -> int:
    """Run the servers that are named, or all; return 1 if a check did not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.servers")
    parser.add_argument("names", nargs="*", metavar="SERVER", help=f"of {', '.join(SERVERS)}; default: all")
    python = ROOT / ".venv-servers" / "bin" / "python"
    parser.add_argument("--python", type=Path, default=python, help="of the environment with the servers")
    parser.add_argument("--sample", type=int, help="so many of the example conversations; default: all")
    parser.add_argument("--keep", type=Path, help="keep model, runs and logs in this folder")
    given = parser.parse_args()
    unknown = set(given.names) - set(SERVERS)
    if unknown:
        parser.error(f"no such server: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.keep or Path(scratch)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        python = given.python.absolute()
        model = make_model(folder, python)
        held = [_run(name, python, model, folder, given.sample) for name in given.names or SERVERS]
    return int(not all(held))


def _run(name: str, python: Path, model: TinyModel, folder: Path, sample: int | None) -> bool:
    print(f"\n## {version_of(name, python)}\n")
    place = folder / name
    place.mkdir(exist_ok=True)
    held = True
    with started(name, python, model, place) as server:
        began = time.monotonic()
        for check in check_wide(server, place, sample=sample):
            held &= _say(check, time.monotonic() - began)
            began = time.monotonic()
    with started(name, python, model, place, narrow=True) as server:
        if server is not None:
            began = time.monotonic()
            for check in check_narrow(server, place):
                held &= _say(check, time.monotonic() - began)
    return held


def _say(check: Check, seconds: float) -> bool:
    sign = "" if check.held else "   DID NOT HOLD"
    print(f"{check.name:24} {check.came_to} ({seconds:.0f} s){sign}", flush=True)
    return check.held


if __name__ == "__main__":
    sys.exit(main())
