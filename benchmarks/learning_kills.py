"""Runs of systems that learn, killed at random moments and gone on with, beside an undisturbed one.

    python -m benchmarks.learning_kills [KILLS]

A stepwise run of ten steps over the logs of the support desk, and an on-policy run with a model as users.
Both must end with the same rows, times left out, and no call may be paid twice but those in flight.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from benchmarks.process import CLI, environment
from dialogauge.core import digest_text
from servers.openai_stub import OpenAIStub

_DESK: Final = ("--tasks", "support-desk", "--logs", "support-desk", "--no-controls")
_SYSTEMS: Final = ("--system", "bm25-message", "--system", "ranked-message")
_TIMES: Final = frozenset({"retrieve_s", "answer_s", "usage"})
RUNS: Final = {
    "stepwise": (*_DESK, *_SYSTEMS, "--protocol", "stepwise", "--batch", "11"),
    "on-policy": (*_DESK, *_SYSTEMS, "--protocol", "on-policy", "--steps", "4", "--batch", "8"),
}


def answer(body: dict[str, Any]) -> str:
    """Answer a request by what it says: always the same."""
    text = json.dumps(body["messages"], ensure_ascii=False)
    number = int(digest_text(text)[:6], 16)
    schema = (body.get("response_format") or {}).get("json_schema")
    if schema is None:
        return f"Take it to desk {number % 97}."
    if schema["name"] == "user":
        chinese = "对话" in text
        lines = (
            ("这不是我要的，第%d条才对。", "还差一点。")
            if chinese
            else ("No, rule %d holds here.", "Not yet.")
        )
        said = lines[0] % (number % 89)
        ends = number % 3 == 0
        behaviour = {"behaviour": "end" if ends else "continue", "response": None if ends else said}
        return json.dumps({"reasoning": "It is so.", **behaviour}, ensure_ascii=False)
    return json.dumps({"note": "so", "scores": {"satisfaction": 1 + number % 10}})


def rows_of(run: Path) -> list[dict[str, Any]]:
    """Return the rows of a run without times."""
    rows = [json.loads(line) for line in (run / "judgements.jsonl").read_text().splitlines()]
    for row in rows:
        row["details"] = {k: v for k, v in row["details"].items() if k not in _TIMES}
        row.pop("usage")
    return rows


def campaign(protocol: str, kills: int, folder: Path) -> dict[str, Any]:
    """Run undisturbed, and killed, and return what differs."""
    with OpenAIStub(answer, latency=0.01) as stub:
        command = [*CLI, "learn", "run", *RUNS[protocol], "--role", f"answerer=m@{stub.url}"]
        if protocol == "on-policy":
            command += ["--role", f"simulator=m@{stub.url}"]
        command += ["--max-concurrency", "8", "-o"]

        def begin(name: str) -> subprocess.Popen[bytes]:
            env = environment(DIALOGAUGE_CACHE=str(folder / f"cache-{name}"))
            with (folder / "output.txt").open("ab") as out:
                return subprocess.Popen([*command, name], cwd=folder, env=env, stdout=out, stderr=out)

        began = time.monotonic()
        if begin("whole").wait():
            raise SystemExit((folder / "output.txt").read_text()[-2000:])
        seconds, whole = time.monotonic() - began, len(stub.asked)
        chance, killed = random.Random(protocol), 0
        while killed < kills:
            process = begin("killed")
            try:
                process.wait(chance.uniform(0.4, max(1.0, seconds / 6)))
                break  # it came to its end
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed += 1
        code = begin("killed").wait()
        asked = Counter(json.dumps(one, sort_keys=True) for one in stub.asked[whole:])
    rows, other = rows_of(folder / "whole"), rows_of(folder / "killed")
    return {
        "protocol": protocol,
        "kills": killed,
        "exit code": code,
        "rows": len(rows),
        "rows that differ": sum(a != b for a, b in zip(rows, other, strict=False))
        + abs(len(rows) - len(other)),
        "calls undisturbed": whole,
        "calls killed": asked.total(),
        "calls in flight at most": 8 * killed,
    }


def main() -> None:
    """Run both campaigns, and print what came of them."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for protocol in RUNS:
        with tempfile.TemporaryDirectory() as name:
            print(json.dumps(campaign(protocol, kills, Path(name)), indent=1))


if __name__ == "__main__":
    main()
