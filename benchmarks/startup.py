"""What dialogauge costs before it does anything: import, `--help`, the size of its installation."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from benchmarks.process import CLI, ROOT, environment, measured
from benchmarks.tables import table

__all__ = ["run"]

_COMMANDS = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "import dialogauge": (sys.executable, "-c", "import dialogauge"),
    "dialogauge --help": (*CLI, "--help"),
    "dialogauge judge --help": (*CLI, "judge", "--help"),
    "dialogauge --version": (*CLI, "--version"),
}


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for label, command in _COMMANDS.items():
            measured(command, env=environment(), cwd=folder)
            costs = [measured(command, env=environment(), cwd=folder) for _ in range(max(times, 5))]
            figures[label] = {
                "wall_s": statistics.median(c.wall_s for c in costs),
                "cpu_s": statistics.median(c.cpu_s for c in costs),
                "peak_mb": max(c.peak_mb for c in costs),
            }
        if not quick:
            figures["core installation"] = _installed(folder)
    rows = [(k, v["wall_s"], v["cpu_s"], v["peak_mb"]) for k, v in figures.items() if "wall_s" in v]
    title = f"Start, medians of {max(times, 5)} (bars: import 0.25 s, --help 0.5 s)"
    print(table(title, ("command", "wall s", "CPU s", "peak MB"), rows))
    if "core installation" in figures:
        size = figures["core installation"]
        print(f"core installation: {size['mb']:.0f} MB beyond an empty environment (bar: 150 MB)")
    return figures


def _installed(folder: Path) -> dict[str, float]:
    """Install what the core needs into an empty environment and weigh what came on top, and our own files."""
    place = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    before = _megabytes(place)
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    subprocess.run([*pip, *wanted], check=True, cwd=folder, stderr=subprocess.DEVNULL)
    own = _megabytes(ROOT / "src")
    return {"mb": _megabytes(place) - before + own, "own_mb": own, "empty_environment_mb": before}


def _megabytes(folder: Path) -> float:
    return sum(p.lstat().st_blocks * 512 for p in folder.rglob("*") if p.is_file()) / 1e6
