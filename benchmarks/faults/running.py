"""Runs the command in a process of its own, and holds what a campaign found."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.process import CLI, environment

__all__ = ["Command", "Done", "Findings", "command_in", "patience", "rows_of", "start"]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]
"""Runs `dialogauge` with the given words in the campaign's folder."""


def start(
    folder: Path,
    *words: object,
    program: Sequence[str] = CLI,
    variables: Mapping[str, str] | None = None,
    **more: Any,  # noqa: ANN401 - for Popen
) -> subprocess.Popen[str]:
    """Start `dialogauge` in a folder, with a cache of its own there, and further `variables`."""
    return subprocess.Popen(
        [*program, *map(str, words)],
        cwd=folder,
        env=environment(DIALOGAUGE_CACHE=str(folder / "cache"), NO_COLOR="1", **(variables or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def command_in(folder: Path, deadline: float = 600.0, **more: Any) -> Command:  # noqa: ANN401 - see `start`
    """Return the command as a campaign runs it: TimeoutExpired if it does not end."""

    def run(*words: object) -> Done:
        process = start(folder, *words, **more)
        try:
            out, err = process.communicate(timeout=deadline)
        finally:
            process.kill()
        return Done(process.returncode, out, err)

    return run


def patience(folder: Path, url: str, *, attempt_s: float, item_s: float) -> tuple[str, ...]:
    """Write a configuration with scaled-down deadlines; return the options that use it."""
    role = f'model = "stub-model"\nbase_url = "{url}"\ntimeout_s = {attempt_s}\ndeadline_s = {item_s}\n'
    (folder / "patience.toml").write_text(f"[roles.stub]\n{role}", encoding="utf-8")
    return ("--config", "patience.toml", "--role", "judge=stub")


def rows_of(run: Path) -> list[dict[str, Any]]:
    """Read the rows of a run directory."""
    return [json.loads(line) for line in (run / "judgements.jsonl").read_text().splitlines()]


def outcomes(rows: list[dict[str, Any]]) -> Counter[str]:
    """Count rows by failure kind, `scored` for those without."""
    return Counter("scored" if r["failure"] is None else r["failure"]["kind"] for r in rows)


@dataclass
class Findings:
    """What a campaign found: lines to print, and whatever did not hold."""

    name: str
    lines: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def say(self, line: str) -> None:
        """Keep a line."""
        self.lines.append(line)

    def hold(self, held: bool, otherwise: str) -> bool:  # noqa: FBT001 - a condition is what it is about
        """Note what did not hold."""
        if not held:
            self.wrong.append(otherwise)
        return held

    def print(self) -> None:
        """Print lines and verdict."""
        print(f"\n## {self.name}\n")
        print("\n".join(self.lines))
        for line in self.wrong[:20]:
            print(f"DID NOT HOLD: {line}")
        verdict = "all held" if not self.wrong else f"{len(self.wrong)} did not hold"
        print(f"\n{self.name}: {verdict} ({time.monotonic() - self.began:.0f} s)")
        sys.stdout.flush()
