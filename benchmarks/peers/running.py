"""One peer on one log: its script run by its own Python against the server, and nothing beyond it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.conversations import write_log
from benchmarks.process import ROOT, Cost, environment, measured

__all__ = ["AT_ONCE", "HERE", "LIMIT_S", "Trial", "Workplace", "outcome_of", "write_numbered_log"]

HERE = Path(__file__).resolve().parent
AT_ONCE = 10
LIMIT_S = 60
_OFFLINE = HERE / "offline"
_QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "RAGAS_DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_MODEL_CATALOG_URI": "",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "INSPECT_DISABLE_UPDATE_CHECK": "1",
}


@dataclass(frozen=True)
class Trial:
    """What one run took, sent, and said."""

    cost: Cost
    requests: tuple[dict[str, Any], ...]
    outcome: dict[str, Any] | None
    """What its script printed last; None when it ended without."""
    last_line: str

    @property
    def stopped(self) -> bool:
        """Whether it was still running when its time was up."""
        return self.outcome is None and self.cost.wall_s >= LIMIT_S

    @property
    def prompt_chars(self) -> float:
        """Characters of messages and schema, mean over requests."""
        sent = [len(_text(r)) for r in self.requests]
        return sum(sent) / len(sent) if sent else 0.0


@dataclass(frozen=True)
class Workplace:
    """The environments of all (`peers/NAME/bin/python`, `peers/npm` for promptfoo), and scratch room."""

    peers: Path
    room: Path

    def python(self, who: str) -> Path:
        return self.peers / ("dialogauge" if who == "promptfoo" else who) / "bin" / "python"

    def has(self, who: str) -> bool:
        return self.python(who).exists() and (who != "promptfoo" or self.promptfoo.exists())

    @property
    def promptfoo(self) -> Path:
        return self.peers / "npm" / "node_modules" / ".bin" / "promptfoo"

    def environment(self, *, quiet: bool = True) -> dict[str, str]:
        """Return that of a peer: a home of its own, no way out, and telemetry off if `quiet`."""
        return environment(
            PYTHONPATH=str(_OFFLINE),
            NODE_OPTIONS=f"--require={_OFFLINE / 'refuse.cjs'} --no-warnings",
            NETWORK_LOG=str(self.room / "network.txt"),
            HOME=str(self.room),
            PROMPTFOO=str(self.promptfoo),
            OPENAI_API_KEY="none",
            **(_QUIET if quiet else {}),
        )

    def command(self, who: str, log: Path, url: str, how: str) -> list[str]:
        script = str(HERE / f"with_{who}.py")
        return [str(self.python(who)), script, str(log), url, str(AT_ONCE), how]

    def fresh(self, who: str) -> Path:
        """Return an empty folder for a run."""
        folder = self.room / f"{who}{time.monotonic_ns()}"
        folder.mkdir()
        return folder

    def judge(
        self, who: str, number: int, *, fault: str = "none", how: str = "default", quiet: bool = True
    ) -> Trial:
        """Let a peer judge `number` conversations, and look at what came of it."""
        log = self.log(number)
        with verdicts(who, fault) as url:
            return self._finish(who, log, url, how, self.fresh(who), quiet=quiet)

    def interrupt(self, who: str, number: int) -> tuple[int, Trial]:
        """Kill a run when half of its requests came, and go on; return the requests of both parts."""
        log = self.log(number)
        with verdicts(who, "none") as url:
            folder = self.fresh(who)
            with (folder / "first.txt").open("wb") as out:
                first = subprocess.Popen(
                    self.command(who, log, url, "resumable"),
                    env=self.environment(), cwd=folder, stdout=out, stderr=out, start_new_session=True,
                )  # fmt: skip
                while first.poll() is None and (before := _count(url)) < number // 2:
                    time.sleep(0.01)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(first.pid, signal.SIGKILL)
                first.wait()
            time.sleep(0.2)
            before = _count(url)
            return before, self._finish(who, log, url, "again", folder)

    def log(self, number: int) -> Path:
        path = self.room / f"log{number}.jsonl"
        if not path.exists():
            write_numbered_log(path, number)
        return path

    def _finish(self, who: str, log: Path, url: str, how: str, folder: Path, *, quiet: bool = True) -> Trial:
        command = ["timeout", "--kill-after=5", str(LIMIT_S), *self.command(who, log, url, how)]
        anything = range(-64, 256)
        cost = measured(command, env=self.environment(quiet=quiet), cwd=folder, expect=anything)
        printed = (folder / "output.txt").read_text(errors="replace")
        with urllib.request.urlopen(f"{url.removesuffix('/v1')}/all") as response:
            requests = tuple(json.load(response))
        last = printed.strip().splitlines()[-1:] or [""]
        return Trial(cost, requests, outcome_of(printed), last[0])


def write_numbered_log(path: Path, number: int) -> None:
    """Write conversations of three exchanges; the first message of the n-th speaks of order #n."""
    write_log(path, number, exchanges=3)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for n, row in enumerate(rows):
        row["messages"][0]["content"] += f" It is about order #{n}."
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def outcome_of(printed: str) -> dict[str, Any] | None:
    """Return the last line if it is a JSON object, as the scripts print it at their end."""
    lines = [line for line in printed.splitlines() if line.startswith("{")]
    with contextlib.suppress(ValueError):
        value = json.loads(lines[-1]) if lines else None
        return value if isinstance(value, dict) else None
    return None


@contextlib.contextmanager
def verdicts(who: str, fault: str) -> Iterator[str]:
    """Serve verdicts for a peer in a process of its own; yield the base URL."""
    command = [sys.executable, "-m", "benchmarks.peers.server", "--form", who, "--fault", fault]
    env = environment()
    env["PYTHONPATH"] += os.pathsep + str(ROOT)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def _count(url: str) -> int:
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/count") as response:
        return int(response.read())


def _text(request: dict[str, Any]) -> str:
    said = "".join(
        m["content"] if isinstance(m["content"], str) else json.dumps(m["content"])
        for m in request["messages"]
    )
    shape = {k: request[k] for k in ("response_format", "tools") if k in request}
    return said + (json.dumps(shape) if shape else "")
