"""Mem0 by its package `mem0ai` 2: facts that a model takes out of dialogues, found by their embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mem0 import Memory
from mem0.utils.factory import EmbedderFactory

from dialogauge.agents.memory.vendors.worker import ITEMS, spoken


class Mem0Adapter:
    """One memory in a folder of its own. Its facts are known by dialogue, not by message."""

    def __init__(self, folder: Path, setup: Mapping[str, Any]) -> None:
        """Open it; one embedding is asked for, since the store must know its width."""
        self._name, self._settings = folder.name, {"llm": {}, "add": {}, "search": {}, **setup["settings"]}
        embeds = {"provider": "huggingface", "config": {"model": setup["embedder"].get("folder")}}
        if "folder" not in setup["embedder"]:
            embeds = {"provider": "openai", "config": _endpoint(setup["embedder"])}
        width = len(EmbedderFactory.create(embeds["provider"], embeds["config"], None).embed("width"))
        store = {"path": str(folder / "store"), "on_disk": True, "embedding_model_dims": width}
        model = {**self._settings["llm"], **_endpoint(setup["model"])}
        self._memory = Memory.from_config(
            {
                **self._settings.get("memory", {}),
                "llm": {"provider": "openai", "config": model},
                "embedder": embeds,
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, dialogue: Mapping[str, Any]) -> None:
        """Take in a dialogue by one `add`; its words hold dates and speakers, as `add` takes neither."""
        date = f"[{dialogue['date']}] " if dialogue["date"] else ""
        messages = [
            {"role": m["role"], "content": f"{date}{m['name'] + ': ' if 'name' in m else ''}{m['content']}"}
            for _, m in spoken(dialogue)
        ]
        about = {"user_id": self._name, "metadata": {"dialogue": dialogue["id"]}}
        self._memory.add(messages, **about, **self._settings["add"])

    def retrieve(self, question: str, k: int | None) -> list[dict[str, Any]]:
        """Return the nearest facts; ValueError for one of another memory."""
        of = {"filters": {"user_id": self._name}, "top_k": k or ITEMS}
        hits = self._memory.search(question, **of, **self._settings["search"])["results"]
        if strange := next((hit for hit in hits if hit.get("user_id") != self._name), None):
            msg = f"it gave a fact of {strange.get('user_id')!r}, another memory"
            raise ValueError(msg)
        about = {"kind": "semantic"}
        return [
            {"text": h["memory"], "dialogue": h["metadata"]["dialogue"], "score": h["score"], **about}
            for h in hits
        ]


def _endpoint(model: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": model["model"],
        "openai_base_url": model["base_url"],
        "api_key": model["api_key"] or "none",
    }
