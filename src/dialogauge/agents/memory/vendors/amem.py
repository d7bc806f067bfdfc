"""A-Mem by its package `A-mem` 0.2: a note for each message, with keywords, context, tags and links."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentic_memory.memory_system import AgenticMemorySystem

from dialogauge.agents.memory.vendors.worker import ITEMS, spoken


class AMemAdapter:
    """One memory in a folder of its own; its endpoint stands in the environment, as no argument takes it."""

    def __init__(self, folder: Path, setup: Mapping[str, Any]) -> None:
        """Open it."""
        self._system = AgenticMemorySystem(
            **setup["settings"].get("system", {}),
            model_name=setup["embedder"]["folder"],
            llm_model=setup["model"]["model"],
            api_key=setup["model"]["api_key"] or "none",
            storage_path=str(folder),
        )
        self._places = dict[str, dict[str, Any]]()

    def add(self, dialogue: Mapping[str, Any]) -> None:
        """Take in a dialogue, message by message; without a date it would note the time of the run."""
        for position, message in spoken(dialogue):
            text = f"{message.get('name') or message['role']}: {message['content']}"
            note = self._system.add_note(text, time=str(dialogue["date"] or "unknown"))
            place = {"dialogue": dialogue["id"], "position": position, "date": dialogue["date"]}
            self._places[note] = place

    def retrieve(self, question: str, k: int | None) -> list[dict[str, Any]]:
        """Return the nearest notes, with what its model wrote; ValueError for one of another memory."""
        items = []
        for hit in self._system.search(question, k or ITEMS):
            if hit["id"] not in self._places:
                msg = f"it gave the note {hit['id']} of another memory"
                raise ValueError(msg)
            note = self._system.read(hit["id"])
            words = ", ".join(map(str, note.keywords)), ", ".join(map(str, note.tags))
            text = f"{note.content} (context: {note.context}; keywords: {words[0]}; tags: {words[1]})"
            items.append({"text": text, "score": -float(hit["score"]), **self._places[hit["id"]]})
        return items
