"""The command `python -m benchmarks`."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

CHECK = "kept"
"""Ends with 1 where something is slower than kept: only when it is named."""
NAMES = (
    "startup",
    "coverage",
    "arena",
    "light",
    "planted",
    "raters",
    "judging",
    "sessions",
    "dialogues",
    "lookahead",
    "roles",
    "prefixes",
    "local_judge",
    "reply_faults",
    "local_user",
    "local_user_parts",
    "local_user_signal",
    "people",
    "large_runs",
    "rows",
    "replay_scale",
    "retrieval",
    "peers",
    "masks",
    "trainers",
    "memories",
)


def main() -> None:
    """Run the benches that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all; or {CHECK}"
    )
    parser.add_argument("-o", "--out", type=Path, help="keep the figures in this JSON file")
    parser.add_argument("-n", "--times", type=int, default=3, help="medians of this many runs")
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    given = parser.parse_args()
    unknown = set(given.names) - {*NAMES, CHECK}
    if unknown:
        parser.error(f"no such bench: {', '.join(sorted(unknown))}")
    figures: dict[str, Any] = {"python": platform.python_version(), "written": time.strftime("%Y-%m-%d")}
    for name in given.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        figures[name] = module.run(given.times, quick=given.quick)
        sys.stdout.flush()
    if given.out is not None:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
