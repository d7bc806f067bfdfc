"""A memory of your own as a class, in ten lines: it gives what shares most words with the question.

    dialogauge learn run --system py:own_memory:WordMemory

`k` is how many items there is room for, None for any number. What is left out here is in
`dialogauge.agents.memory`: corpora at once, deleting, saving.
"""

from __future__ import annotations

import re
from typing import Any


class WordMemory:
    """Keeps every message with the dialogue and the place that it is from, so that it can be checked."""

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []

    def add_dialogue(self, dialogue: dict[str, Any]) -> None:
        """Take in `{"id", "date", "messages": [{"role", "content", "name", "id"}]}`."""
        for position, message in enumerate(dialogue["messages"]):
            item = {"text": message["content"], "speaker": message.get("name"), "date": dialogue["date"]}
            self.kept.append({**item, "dialogue": dialogue["id"], "position": position})

    def retrieve(self, question: str, k: int | None) -> list[dict[str, Any]]:
        """Give the best, the best first."""
        asked = words(question)
        return sorted(self.kept, key=lambda item: -len(asked & words(item["text"])))[:k]


def words(text: str) -> set[str]:
    """Return the words of four letters or more."""
    return set(re.findall(r"\w{4,}", text.lower()))
