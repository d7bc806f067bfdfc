"""Vectors of texts by a model in a folder, in this process: the folders of sentence-transformers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Literal

from dialogauge.core.errors import UsageError
from dialogauge.core.judgement import Usage
from dialogauge.llm.device import chosen_device, pretrained
from dialogauge.llm.identity import folder_digest

_BATCH: Final = 32
_LONGEST: Final = 512
"""Tokens of a text that are read where the folder names no other number; what is longer is cut."""


class FolderEmbedder:
    """An encoder in a folder; implements `agents.memory.systems.Embedder`.

    The states of its last layer are averaged over the tokens, or the first one is taken, as the folder's
    `1_Pooling/config.json` says; it reads as many tokens as `sentence_bert_config.json` says.
    """

    def __init__(self, folder: str, *, device: str = "auto") -> None:
        """Raises `UsageError` for what is no folder of a model; nothing is loaded before the first text."""
        self._folder = Path(folder)
        if not (self._folder / "config.json").is_file():
            msg = f"{folder} holds no model: there is no config.json in it"
            raise UsageError(msg, hint="give the folder of an encoder, as sentence-transformers saves it")
        self._device = device
        pooling = self._settings("1_Pooling/config.json")
        self.pooling: Literal["mean", "first"] = "first" if pooling.get("pooling_mode_cls_token") else "mean"
        longest = self._settings("sentence_bert_config.json").get("max_seq_length")
        self.longest = longest if isinstance(longest, int) and longest > 0 else _LONGEST
        self._thread = ThreadPoolExecutor(1, "dialogauge-embed")
        self._loaded: tuple[Any, Any, str] | None = None

    def describe(self) -> Mapping[str, Any]:
        """Return the model, which changes with any of its files, and how its states become a vector."""
        return {
            "kind": "folder",
            "model": self._folder.name,
            "digest": folder_digest(self._folder),
            "pooling": self.pooling,
            "tokens": self.longest,
        }

    async def embed(self, texts: Sequence[str]) -> tuple[list[list[float]], Usage]:
        """Return a vector for each text, in their order; it takes no calls.

        Raises `MissingExtra` without torch and transformers, `EndpointError` if the model cannot be loaded.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._embed, list(texts)), Usage()

    async def close(self) -> None:
        """Release the model."""
        self._loaded = None
        self._thread.shutdown(wait=False)

    def _settings(self, name: str) -> dict[str, Any]:
        try:
            value = json.loads((self._folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    def _load(self) -> tuple[Any, Any, str]:
        if self._loaded is None:
            tokenizer, model = (pretrained(kind, self._folder) for kind in ("AutoTokenizer", "AutoModel"))
            import torch

            device = chosen_device(self._device, torch)
            self._loaded = (model.to(device).eval(), tokenizer, device)
        return self._loaded

    def _embed(self, texts: list[str]) -> list[list[float]]:
        model, tokenizer, device = self._load()
        import torch

        vectors: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            tokens = tokenizer(
                texts[start : start + _BATCH],
                padding=True,
                truncation=True,
                max_length=self.longest,
                return_tensors="pt",
            ).to(device)
            with torch.inference_mode():
                states = model(**tokens).last_hidden_state
            if self.pooling == "first":
                made = states[:, 0]
            else:
                mask = tokens["attention_mask"][..., None]
                made = (states * mask).sum(1) / mask.sum(1).clamp(min=1)
            vectors += made.double().cpu().tolist()
        return vectors
