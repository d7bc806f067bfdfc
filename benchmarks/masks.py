"""Dialogues and segments made into tokens with their masks: turns a second of CPU, one thread."""

from __future__ import annotations

import statistics
import time
from typing import Any

from benchmarks.tables import table
from benchmarks.toy_roleplay import build_tokenizer
from dialogauge.training import DialogueTokenizer

_DIALOGUES = 100


def _turns(count: int, first: int) -> list[dict[str, str]]:
    """Return turns with messages of 100 characters and replies of 330, no two alike."""
    said = [
        (f"{i} Tell me more of it. " * 9, f"{i} It rained on the hill again. " * 12)
        for i in range(first, first + count)
    ]
    return [
        {"role": role, "content": text}
        for user, reply in said
        for role, text in (("user", user[:100]), ("assistant", reply[:330]))
    ]


def run(times: int, *, quick: bool) -> dict[str, Any]:
    """Measure pairs of ten turns a side behind ten turns, and dialogues of twenty, under a persona of 800."""
    count = _DIALOGUES // 10 if quick else _DIALOGUES
    persona = {"role": "system", "content": ("You keep an inn by the river. " * 30)[:800]}
    parts = [[_turns(10, 100 * i + 10 * k) for k in range(3)] for i in range(count)]
    seconds: dict[str, list[float]] = {"segments": [], "dialogues": []}
    for _ in range(times):
        encoder = DialogueTokenizer(build_tokenizer())
        begun = time.process_time()
        for context, one, other in parts:
            encoder.pair([persona, *context], one, other)
        between = time.process_time()
        for context, one, _other in parts:
            encoder.encode([persona, *context, *one])
        seconds["segments"].append(between - begun)
        seconds["dialogues"].append(time.process_time() - between)
    turns = {"segments": 30 * count, "dialogues": 20 * count}
    figures = {name: turns[name] / statistics.median(of) for name, of in seconds.items()}
    print(
        table(
            "In tokens, turns a second", ("rows", "turns"), [(name, round(n)) for name, n in figures.items()]
        )
    )
    return figures
