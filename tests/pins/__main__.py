"""`python -m pins --write [CASE ...]` renews what is pinned; `--show` prints every difference."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from pins.cases import CASES
from pins.normal import differences, pretty
from pins.running import EXPECTED, run_case


def main(action: str = "", *names: str) -> None:
    if action not in ("--write", "--show") or {*names} - {case.name for case in CASES}:
        raise SystemExit(f"{__doc__}\ncases: {', '.join(case.name for case in CASES)}")
    for case in CASES:
        if names and case.name not in names:
            continue
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            actual = run_case(case, Path(folder))
        path = EXPECTED / f"{case.name}.json"
        codes = ", ".join(str(step["exit"]) for step in actual["steps"])
        print(f"{case.name}: exit {codes}, {time.perf_counter() - began:.2f} s")
        if action == "--write":
            path.write_text(pretty(actual) + "\n", encoding="utf-8")
        else:
            expected = json.loads(path.read_text(encoding="utf-8"))
            print("\n".join(differences(expected, json.loads(json.dumps(actual)), case.close)))


if __name__ == "__main__":
    main(*sys.argv[1:])
