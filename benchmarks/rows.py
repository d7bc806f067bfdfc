"""A million rows: what the summary of a run takes beyond reading them."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from typing import Any

import orjson

from benchmarks.process import in_process
from benchmarks.tables import table

__all__ = ["measure", "run"]

_TURNS = 6
_ROWS = _TURNS + 1
_USERS = 20_000
_NOTE = "The reply answers what was asked and keeps to what the user had said before."
_KINDS = ("repeated_request", "denied_reply", "user_doubt")


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures, those of the run with the least CPU time."""
    number = 70_000 if quick else 1_000_000
    runs = [in_process("benchmarks.rows", number) for _ in range(times)]
    best: dict[str, Any] = min(runs, key=lambda figures: float(figures["cpu_s"]))
    best["peak_mb"] = max(figures["peak_mb"] for figures in runs)
    head = ("rows", "reading CPU s", "summary CPU s", "peak MB")
    title = f"Summary of a run of {number:,} rows, best of {times} (bar: 5 s, 300 MB)"
    print(table(title, head, [(number, best["reading_cpu_s"], best["cpu_s"], best["peak_mb"])]))
    return {"summary of rows": best}


def measure(number: int) -> dict[str, Any]:
    """Summarise so many rows in this process, and read them once without."""
    from types import SimpleNamespace

    from dialogauge.core import ONE_TO_FIVE
    from dialogauge.judges.card import CONVERSATION_DIMENSIONS, TURN_DIMENSIONS
    from dialogauge.studies.judging.summary import summarise

    levels = ((TURN_DIMENSIONS, "turn"), (CONVERSATION_DIMENSIONS, "conversation"))
    dimensions = [
        SimpleNamespace(name=name, level=level, scale=ONE_TO_FIVE)
        for names, level in levels
        for name in names
    ]
    began = time.process_time()
    for _ in rows(number):
        pass
    reading = time.process_time() - began
    began = time.process_time()
    summary = summarise(rows(number), dimensions=dimensions, repeats=1)
    spent = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "rows": summary.requested,
        "reading_cpu_s": reading,
        "cpu_s": spent - reading,
        "peak_mb": peak * (1 if sys.platform == "darwin" else 1024) / 1e6,
    }


def rows(number: int) -> Iterator[dict[str, Any]]:
    """Yield rows as a run of the card holds them, each read from its JSON, seven a conversation."""
    blanks = [_blank(place) for place in range(_ROWS * 13)]
    for at in range(number):
        conversation, place = divmod(at, _ROWS)
        text = blanks[(conversation % 13) * _ROWS + place]
        text = text.replace(b"@id", b"c%07d" % conversation).replace(
            b"@user", b"u%d" % (conversation % _USERS)
        )
        yield orjson.loads(text)


def _blank(place: int) -> bytes:
    """Return the JSON of one row, with gaps for its conversation and its user."""
    from dialogauge.judges.card import CONVERSATION_DIMENSIONS, TURN_DIMENSIONS

    turn = place % _ROWS + 1
    whole, failed = turn == _ROWS, place % 29 == 0
    names = CONVERSATION_DIMENSIONS if whole else TURN_DIMENSIONS
    scores: dict[str, Any] = {name: 1 + (place * 7 + at) % 5 for at, name in enumerate(names)}
    if place % 3 == 0:
        scores[names[-1]] = "n/a"
    used = {"calls": 1, "cached": 0, "prompt_tokens": 3900, "completion_tokens": 300, "cost": 0.001}
    used |= {"prompt_chars": 15_000, "repeated_chars": 0}
    nothing = dict.fromkeys(used, 0) | {"cost": 0.0}
    findings = [{"name": _KINDS[place % 3], "strength": 0.7, "note": _NOTE}] if place % 5 == 0 else []
    details: dict[str, Any] = {"signals": findings}
    if whole:
        details = {"language": "en", "repaired": False, "reasked": False, "model_verdict": "good"}
    row = {
        "conversation_id": "@id", "user_id": "@user", "scenario": ("booking", "travel", None)[place % 3],
        "candidate": None, "level": "conversation" if whole else "turn", "turn": None if whole else turn,
        "repeat": 1, "scores": None if failed else scores,
        "whole": {}, "raw": {}, "overall": None,
        "failure": {"kind": "timeout", "message": f"no reply in {place} s"} if failed else None,
        "verdict": "good" if whole and not failed else None, "verdict_basis": "full" if whole else None,
        "weakest_turn": 3 if whole else None, "issues": [_NOTE], "evidence": [], "rationale": _NOTE,
        "details": details, "judge": "card@model", "prompt_digest": "0" * 32,
        "usage": {**used, "by_role": {"judge": used}} if whole else {**nothing, "by_role": {}},
    }  # fmt: skip
    return orjson.dumps(row)
