"""Numbered conversations, the score that each deserves, and a scripted judge that gives it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Cases", "by_case", "first_request", "number_of"]

_RUBRIC = """\
id = "solved"
version = "1"
level = "conversation"
languages = ["en"]
shows = ["dialogue"]
template = '''
Was the user's problem solved?
{{{{dimensions}}}}
{{{{reply_format}}}}
<!-- data -->
{{{{dialogue}}}}
{{{{asked}}}}
'''

[[dimensions]]
name = "solved"
level = "conversation"
description = "How well the problem was solved."
scale = {{ low = {low}, high = {high}, integer = true }}
"""
_CASE = re.compile(r"case (\d{5}):")


def number_of(body: Mapping[str, Any]) -> int | None:
    """Return the number of the case that a request asks about; None for a probe of the endpoint."""
    found = _CASE.search(json.dumps(body["messages"]))
    return None if found is None else int(found[1])


@dataclass(frozen=True)
class Cases:
    """`len(truth)` conversations; case N deserves `truth[N]`."""

    truth: tuple[int, ...]
    low: int = 1
    high: int = 5
    rubric: str = field(init=False, default="rubric.toml")
    log: str = field(init=False, default="log.jsonl")

    @staticmethod
    def drawn(number: int, seed: int) -> Cases:
        """Draw the truth of so many cases."""
        rng = random.Random(seed)
        return Cases(tuple(rng.randint(1, 5) for _ in range(number)))

    def write(self, folder: Path) -> None:
        """Write rubric and log."""
        (folder / self.rubric).write_text(_RUBRIC.format(low=self.low, high=self.high), encoding="utf-8")
        with (folder / self.log).open("w", encoding="utf-8") as out:
            for n in range(len(self.truth)):
                messages = [
                    {"role": "user", "content": f"This is case {n:05d}: my parcel has not come yet."},
                    {"role": "assistant", "content": "I am sorry. It is at the depot and comes tomorrow."},
                ]
                out.write(json.dumps({"conversation_id": f"case-{n:05d}", "messages": messages}) + "\n")

    def reply(self, body: Mapping[str, Any]) -> str:
        """Say what a request's case deserves."""
        number = number_of(body)
        if number is None:
            return "{}"
        solved = {"note": "The parcel is on its way.", "score": self.truth[number]}
        return json.dumps({"conversation_level": {"solved": solved}})

    def wrong_scores(self, rows: list[dict[str, Any]]) -> list[str]:
        """Name every row whose score is not what the case deserves; failures are no scores."""
        wrong = []
        for row in rows:
            true = self.truth[int(row["conversation_id"].removeprefix("case-"))]
            if row["scores"] is not None and row["scores"] != {"solved": true}:
                wrong.append(f"{row['conversation_id']} has {row['scores']} and deserves {true}")
        return wrong


def by_case(faults: Mapping[int, str | None]) -> Callable[[Mapping[str, Any]], str | None]:
    """Plan a fault for every request of some cases."""
    return lambda body: None if (n := number_of(body)) is None else faults.get(n)


def first_request(faults: Mapping[int, str | None]) -> Callable[[Mapping[str, Any]], str | None]:
    """Plan a fault for the first request of some cases."""
    left = dict(faults)
    return lambda body: None if (n := number_of(body)) is None else left.pop(n, None)
