"""Four scripted candidates play ten characters: can a judge of sessions tell them apart?

    python -m benchmarks roles

A good candidate, one with canned replies, one that forgets, and one that falls out of its character talk with
a user whose lines are fixed too (`role_lines.toml`). No model is asked: `simulate` plays the sessions, the
local judge scores them by the rubric `roleplay`, and `compare` holds each candidate against the good one.

The personas are data/roleplay/original_personas.json below the folder that DIALOGAUGE_SHARED names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

__all__ = ["run"]

KINDS = ("good", "templated", "forgetful", "out_of_character")
LINES = Path(__file__).with_name("role_lines.toml")
_PACK = "data/roleplay/original_personas.json"


@cache
def _lines() -> dict[str, Any]:
    lines = tomllib.loads(LINES.read_text(encoding="utf-8"))
    return {"templated": lines["templated"], **{one["id"]: one for one in lines["persona"]}}


def _candidate(kind: str) -> Callable[[Sequence[dict[str, str]], str], str]:
    """Return what gives the lines of a candidate; its session is called as its persona."""

    def reply(messages: Sequence[dict[str, str]], session: str) -> str:
        number = sum(m["role"] == "user" for m in messages) - 1
        if kind == "templated":
            name = messages[0]["content"].removeprefix("You are ").split(",")[0]
            return str(_lines()[kind][number]).format(name=name)
        return str(_lines()[session][kind][number])

    return reply


good, templated, forgetful, out_of_character = map(_candidate, KINDS)


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Print the comparison of each candidate with the good one; returns mean scores by candidate."""
    del times, quick
    personas = Path(os.environ.get("DIALOGAUGE_SHARED", "")) / _PACK
    if not personas.is_file():
        print(f"roles: left out, DIALOGAUGE_SHARED names no folder with {_PACK}")
        return {}
    with TemporaryDirectory() as folder:
        users = [
            {
                "conversation_id": name,
                "messages": [
                    m
                    for u in of["user"]
                    for m in ({"role": "user", "content": u}, {"role": "assistant", "content": "."})
                ],
            }
            for name, of in _lines().items()
            if name != "templated"
        ]
        Path(folder, "users.jsonl").write_text("".join(json.dumps(u) + "\n" for u in users), encoding="utf-8")
        candidates = [w for kind in KINDS for w in ("--candidate", f"{kind}=py:benchmarks.roles:{kind}")]
        talk = ("--users", "users.jsonl", "--turns", "8", "-o", "talks")
        _command(folder, "simulate", str(personas.resolve()), *candidates, *talk)
        _command(folder, "judge", "talks", "--rubric", "roleplay", "-o", "judged")
        for kind in KINDS[1:]:
            pair = ("--candidates", f"{kind},good", "--unchecked", "--planted", "0")
            print(
                "\n".join(_command(folder, "compare", "judged", "judged", *pair).splitlines()[1:6]),
                end="\n\n",
            )
        rows = [
            json.loads(row) for row in Path(folder, "judged", "judgements.jsonl").read_text().splitlines()
        ]
    return {kind: _means([r["scores"] for r in rows if r["candidate"] == kind]) for kind in KINDS}


def _means(scores: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(sum(of[name] for of in scores) / len(scores), 2) for name in scores[0]}


def _command(folder: str, *words: str) -> str:
    """Run a command in a folder, where the candidates are known; returns what it prints."""
    known = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "dialogauge", *words],
        cwd=folder, env=os.environ | {"PYTHONPATH": known}, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout
