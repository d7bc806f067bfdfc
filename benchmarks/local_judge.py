"""The local judge on one core: assistant turns a second on real text, and how time grows with length.

Beside each time stands its ratio to one pass of a regular expression over the same text, measured in the same
run: it says the same on a machine that is slow or busy. `benchmarks.kept` holds the one of the examples.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.process import in_process
from benchmarks.tables import table

__all__ = ["run", "seconds_of_pass"]

_WORD = re.compile(r"\w+")
_SETS = {
    "RecLLMSim (Chinese)": "data/recllmsim",
    "tau (English, tools)": "data/tdeval/tau_trajectories",
}


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    del quick
    shared = os.environ.get("DIALOGAUGE_SHARED")
    sets = {label: Path(shared) / path for label, path in _SETS.items()} if shared else {}
    sets["examples (both)"] = Path(__file__).resolve().parent.parent / "src/dialogauge/samples/working.jsonl"
    figures: dict[str, Any] = {label: in_process(__name__, str(path), times) for label, path in sets.items()}
    figures["growth"] = in_process(__name__, "", times)
    rows = [
        (k, f["conversations"], f["turns"], f["characters"], f["turns_per_s"], f["mb_per_s"], f["passes"])
        for k, f in figures.items()
        if k != "growth"
    ]
    head = ("text", "conversations", "turns", "characters", "turns a second", "MB a second", "passes")
    title = f"Local judge, one core, best of {times} (bar: 2,000 turns a second on the examples)"
    print(table(title, head, rows))
    growth = [(k, v["ms"], v["ms_per_unit"]) for k, v in figures["growth"].items()]
    print(table("Growth (linear: the last column stays)", ("conversation", "ms", "ms per unit"), growth))
    return figures


def measure(path: str, times: int) -> dict[str, Any]:
    """Judge all conversations of a data set, or with an empty path synthetic ones of growing size."""
    from dialogauge.judges.local.judge import LocalJudge

    judge = LocalJudge()
    if not path:
        return _growth(judge, times)
    from dialogauge.core import Conversation
    from dialogauge.data import read_conversations

    conversations = [c for c in read_conversations([path]) if isinstance(c, Conversation)]
    turns = sum(len(c.replied_turns) for c in conversations)
    characters = sum(len(m.text) for c in conversations for m in c.messages)
    size = sum(len(m.text.encode("utf-8", "replace")) for c in conversations for m in c.messages)
    texts = [m.text for c in conversations for m in c.messages]
    seconds, one_pass = math.inf, math.inf
    for _ in range(times):
        one_pass = min(one_pass, seconds_of_pass(texts))
        seconds = min(seconds, _timed(judge, conversations))
    return {
        "conversations": len(conversations),
        "turns": turns,
        "characters": characters,
        "seconds": seconds,
        "turns_per_s": turns / seconds,
        "mb_per_s": size / 1e6 / seconds,
        "passes": seconds / one_pass,
    }


def seconds_of_pass(texts: Sequence[str], times: int = 5) -> float:
    """Return the CPU seconds of finding every word in some texts, the mean of several passes."""
    began = time.process_time()
    for _ in range(times):
        for text in texts:
            _WORD.findall(text)
    return (time.process_time() - began) / times


def _growth(judge: Any, times: int) -> dict[str, Any]:  # noqa: ANN401 - imported where it is measured
    import random

    from benchmarks.conversations import text_of
    from dialogauge.core import Conversation, Message

    def talk(turns: int, chars: int) -> Conversation:
        rng = random.Random(turns * chars)
        said = [Message("assistant" if i % 2 else "user", text_of(rng, chars)) for i in range(2 * turns)]
        return Conversation(f"{turns}x{chars}", tuple(said))

    found = {}
    for label, turns, chars, unit in (
        *((f"{t} turns of 300 characters", t, 300, t / 10) for t in (10, 40, 160, 640)),
        *((f"6 turns of {c:,} characters", 6, c, c / 1000) for c in (1_000, 4_000, 16_000, 64_000)),
    ):
        conversation = talk(turns, chars)
        ms = 1000 * min(_timed(judge, [conversation]) for _ in range(times))
        found[label] = {"ms": ms, "ms_per_unit": ms / unit}
    return found


def _timed(judge: Any, conversations: list[Any]) -> float:  # noqa: ANN401
    import dataclasses

    from dialogauge.signals import recent_view

    recent_view.cache_clear()
    fresh = [dataclasses.replace(c) for c in conversations]  # turns are derived once and then kept
    began = time.process_time()
    for conversation in fresh:
        judge.judge_now(conversation)
    return time.process_time() - began
