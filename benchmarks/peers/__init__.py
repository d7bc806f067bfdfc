"""Other tools that let a model judge conversations, and this one: the same logs, the same server.

Each lives in an environment of its own below one folder:

    python -m venv F/dialogauge && F/dialogauge/bin/pip install .
    python -m venv F/inspect    && F/inspect/bin/pip install inspect_ai inspect_scout openai
    python -m venv F/deepeval   && F/deepeval/bin/pip install deepeval
    python -m venv F/ragas      && F/ragas/bin/pip install ragas 'langchain-community<0.4'
    python -m venv F/phoenix    && F/phoenix/bin/pip install arize-phoenix-evals openai
    python -m venv F/mlflow     && F/mlflow/bin/pip install mlflow openai
    python -m venv F/openevals  && F/openevals/bin/pip install openevals
    npm install --prefix F/npm promptfoo

    DIALOGAUGE_PEERS=F python -m benchmarks peers

Who is not there is left out; DIALOGAUGE_PEERS_PARTS=weight,judging chooses parts. Nothing that they try to
reach beyond this machine is let through.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.peers.intervals import DESIGNS
from benchmarks.peers.reading import READERS, read_alike
from benchmarks.peers.running import AT_ONCE, HERE, LIMIT_S, Trial, Workplace
from benchmarks.process import ROOT, Cost, median_of
from benchmarks.tables import table

__all__ = ["PEERS", "run"]

PEERS = ("dialogauge", "inspect", "deepeval", "ragas", "phoenix", "mlflow", "openevals", "promptfoo")
_SHAPES = ROOT / "tests" / "golden" / "shapes"
_TRIALS = 1000
_TOLERANT = {"inspect", "deepeval", "phoenix", "openevals", "promptfoo"}
"""Those that have settings for going on after failures."""
_RESUMES = ("dialogauge", "inspect", "deepeval", "ragas", "promptfoo")
"""Those that have a way of going on, a cache included; the others begin again."""
_WEIGH = """
import importlib.metadata as m, json, pathlib, sys
kept = [d for d in m.distributions() if d.name.lower() not in ("pip", "setuptools")]
files = [p for p in pathlib.Path(sys.prefix).rglob("*") if p.is_file() and not p.is_symlink()]
at = len(pathlib.Path(sys.prefix).parts) + 3
bare = [p for p in files if p.parts[at : at + 1] in (("pip",), ("setuptools",))]
size = sum(p.stat().st_blocks for p in set(files) - set(bare)) * 512
print(json.dumps({"mb": size / 1e6, "packages": len(kept)}))
"""


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    given = os.environ.get("DIALOGAUGE_PEERS")
    if given is None:
        print("peers left out: DIALOGAUGE_PEERS names no folder with their environments")
        return {}
    parts: Mapping[str, Callable[[Workplace, list[str], int], dict[str, Any]]] = {
        "weight": _weight,
        "reading": _reading,
        "intervals": _intervals,
        "judging": _judging,
        "failures": _failures,
        "resuming": _resuming,
        "network": _network,
    }
    with tempfile.TemporaryDirectory() as name:
        place = Workplace(Path(given).resolve(), Path(name))
        there = [who for who in PEERS if place.has(who)]
        print(f"left out: {', '.join(sorted(set(PEERS) - set(there))) or 'nobody'}")
        chosen = ("weight", "reading") if quick else tuple(parts)
        wanted = os.environ.get("DIALOGAUGE_PEERS_PARTS", ",".join(chosen)).split(",")
        return {part: parts[part](place, there, times) for part in wanted}


def _weight(place: Workplace, there: list[str], times: int) -> dict[str, Any]:
    """Weigh what an installation puts on the disk, and count its packages."""
    del times
    figures = {}
    for who in there:
        if who == "promptfoo":
            files = [p for p in (place.peers / "npm").rglob("*") if p.is_file() and not p.is_symlink()]
            packages = json.loads((place.peers / "npm" / "node_modules" / ".package-lock.json").read_text())[
                "packages"
            ]
            size = sum(p.stat().st_blocks for p in files) * 512
            figures[who] = {"mb": size / 1e6, "packages": len(packages)}
        else:
            figures[who] = _said(place, who, "-c", _WEIGH)
    rows = [(who, f["mb"], f["packages"]) for who, f in figures.items()]
    print(table("Installed, without pip and setuptools", ("who", "MB", "packages"), rows))
    return figures


def _reading(place: Workplace, there: list[str], times: int) -> dict[str, Any]:
    """Let each read the samples of shapes, and compare roles and texts with what a person sees."""
    del times
    expected = json.loads((_SHAPES / "expected.json").read_text(encoding="utf-8"))
    figures = {}
    for who in there:
        if who not in READERS:
            continue
        read = _said(place, who, str(HERE / "reading.py"), who, str(_SHAPES))
        right = [n for n, shape in expected.items() if read_alike(shape, read.get(shape["file"], []))]
        otherwise = [n for n, shape in expected.items() if n not in right and read.get(shape["file"])]
        figures[who] = {"right": right, "otherwise": otherwise}
    rows = [(who, len(f["right"]), len(f["otherwise"])) for who, f in figures.items()]
    head = ("who", "read as a person sees it", "read as something else")
    print(table(f"{len(expected)} shapes of logs, without code", head, rows))
    return figures


def _intervals(place: Workplace, there: list[str], times: int) -> dict[str, Any]:
    """Simulate how often the intervals of those that give one hold the truth."""
    del times
    who_gives = [who for who in ("dialogauge", "inspect") if who in there]
    figures = {w: _said(place, w, str(HERE / "intervals.py"), w, str(_TRIALS)) for w in who_gives}
    rows = [(who, way, *by.values()) for who, ways in figures.items() for way, by in ways.items()]
    title = f"95 % intervals that hold the truth, {_TRIALS:,} trials"
    print(table(title, ("who", "way", *DESIGNS), rows))
    return figures


def _judging(place: Workplace, there: list[str], times: int) -> dict[str, Any]:
    """Judge 1 and 200 conversations, everyone in turns."""
    sizes = (1, 200)
    trials: dict[tuple[str, int], list[Trial]] = {}
    for _ in range(times):
        for number in sizes:
            for who in there:
                trials.setdefault((who, number), []).append(place.judge(who, number))
    figures: dict[str, Any] = {}
    for who in there:
        first, many = (_median([t.cost for t in trials[who, n]]) for n in sizes)
        last = trials[who, 200][-1]
        figures[who] = {
            "first": vars(first),
            "many": vars(many),
            "requests": len(last.requests) / 200,
            "prompt_chars": last.prompt_chars,
            "outcome": last.outcome,
        }
    one = figures[there[0]]
    rows = [
        (
            who,
            *(f[part][what] / one[part][what] for part in ("first", "many") for what in ("wall_s", "cpu_s")),
            f["many"]["peak_mb"] / one["many"]["peak_mb"],
            f["requests"],
            f["prompt_chars"],
        )
        for who, f in figures.items()
    ]
    head = ("who", "1: wall", "CPU", "200: wall", "CPU", "memory", "requests each", "prompt chars")
    print(table(f"Judging, {AT_ONCE} at once, as multiples of {there[0]}, medians of {times}", head, rows))
    return figures


def _median(costs: list[Cost]) -> Cost:
    given = iter(costs)
    return median_of(len(costs), lambda: next(given))


def _failures(place: Workplace, there: list[str], times: int) -> dict[str, Any]:
    """Judge 100 conversations, 60 of them good, where a tenth (good ones) meets a fault."""
    del times
    figures: dict[str, Any] = {}
    for fault in ("errors", "cut", "passing"):
        for who in there:
            for how in ("default", "tolerant") if who in _TOLERANT else ("default",):
                trial = place.judge(who, 100, fault=fault, how=how)
                figures[f"{fault}: {who}, {how}"] = {
                    "outcome": trial.outcome,
                    "stopped": trial.stopped,
                    "requests": len(trial.requests),
                    "last_line": trial.last_line[-160:],
                }
    rows = [
        (name, f["requests"], json.dumps(f["outcome"]) if f["outcome"] else _end(f))
        for name, f in figures.items()
    ]
    print(
        table(
            "Of 100 conversations 60 are good; a tenth, good ones, fail", ("case", "requests", "says"), rows
        )
    )
    return figures


def _end(figures: Mapping[str, Any]) -> str:
    return f"still running after {LIMIT_S} s" if figures["stopped"] else f"ended: {figures['last_line']}"


def _resuming(place: Workplace, there: list[str], times: int) -> dict[str, Any]:
    """Kill a run of 200 at its half, and count what is asked again."""
    del times
    figures = {}
    for who in (w for w in there if w in _RESUMES):
        before, trial = place.interrupt(who, 200)
        figures[who] = {"before": before, "in_all": len(trial.requests), "outcome": trial.outcome}
    rows = [(who, f["before"], f["in_all"], json.dumps(f["outcome"])) for who, f in figures.items()]
    print(table("kill -9 at half of 200, then again", ("who", "asked before", "asked in all", "says"), rows))
    return figures


def _network(place: Workplace, there: list[str], times: int) -> dict[str, Any]:
    """Judge a few with nothing switched off, and list whom each wanted to reach beyond this machine."""
    del times
    figures = {}
    asked = place.room / "network.txt"
    for who in there:
        asked.unlink(missing_ok=True)
        place.judge(who, 5, quiet=False)
        figures[who] = sorted(set(asked.read_text().split())) if asked.exists() else []
    rows = [(who, ", ".join(hosts) or "nobody") for who, hosts in figures.items()]
    print(table("Wanted to reach, and was refused", ("who", "hosts"), rows))
    return figures


def _said(place: Workplace, who: str, *words: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return what a script prints as its last line, run by a peer's Python."""
    done = subprocess.run(
        [str(place.python(who)), *words],
        env=place.environment(),
        cwd=place.fresh(who),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{who}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])
