"""Mem0 by its package `mem0ai` 2: facts that a model takes out of dialogues, found by their embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mem0 import Memory
from mem0.utils.factory import EmbedderFactory

from dialogauge.agents.memory.vendors.worker import ITEMS, said

_NO_KEY: Final = "none"
"""In the place of a key: its client wants some, and an endpoint on this machine none."""


class Adapter:
    """One memory in a folder of its own; a dialogue is taken in by one `add`, as MemoryBench does.

    Its facts are known by dialogue, not by message.
    """

    def __init__(self, folder: Path, setup: Mapping[str, Any]) -> None:
        """Open it; one embedding is asked for, since the store must know its width."""
        configuration, model, embedder = setup["configuration"], setup["model"], setup["embedder"]
        if "folder" in embedder:
            embeds = {"provider": "huggingface", "config": {"model": embedder["folder"]}}
        else:
            embeds = {"provider": "openai", "config": _endpoint(embedder)}
        embeds["config"] |= configuration.get("embedder", {})
        width = len(EmbedderFactory.create(embeds["provider"], embeds["config"], None).embed("width"))
        store = {"path": str(folder / "store"), "on_disk": True, "embedding_model_dims": width}
        self._memory = Memory.from_config(
            {
                **configuration.get("memory", {}),
                "llm": {"provider": "openai", "config": {**configuration.get("llm", {}), **_endpoint(model)}},
                "embedder": embeds,
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._name, self._configuration = folder.name, configuration

    def add(self, dialogue: Mapping[str, Any]) -> None:
        """Take in a dialogue, with dates and speakers in its words: `add` takes neither."""
        messages = [
            {"role": one["role"], "content": one["shown"]} for _, one in said(dialogue) if one["shown"]
        ]
        more = {"user_id": self._name, "metadata": {"dialogue": dialogue["id"]}}
        self._memory.add(messages, **more, **self._configuration.get("add", {}))

    def retrieve(self, question: str, k: int | None) -> list[dict[str, Any]]:
        """Return the facts that are nearest.

        Raises ValueError for one of another memory.
        """
        more = {"filters": {"user_id": self._name}, "top_k": k or ITEMS}
        hits = self._memory.search(question, **more, **self._configuration.get("search", {}))["results"]
        if strange := next((hit for hit in hits if hit.get("user_id") != self._name), None):
            msg = f"it gave an item of {strange.get('user_id')!r}, another memory"
            raise ValueError(msg)
        return [
            {
                "text": hit["memory"],
                "dialogue": hit["metadata"]["dialogue"],
                "score": hit["score"],
                "kind": "semantic",
            }
            for hit in hits
        ]


def _endpoint(model: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": model["model"],
        "openai_base_url": model["base_url"],
        "api_key": model["api_key"] or _NO_KEY,
    }
