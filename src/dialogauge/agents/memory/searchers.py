"""The indexes of memory systems, by words, by the fitted ranker, or by meaning: items in, keys out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

from dialogauge.agents.memory.protocol import MemoryItem
from dialogauge.core import Usage
from dialogauge.retrieval import LexicalIndex, RankedIndex, VectorIndex

Hits = tuple[Sequence[tuple[str, float]], Usage]
"""Keys with their scores, the best first, and what models took to find them."""


class Embedder(Protocol):
    """Makes vectors of texts."""

    def describe(self) -> Mapping[str, Any]:
        """Return model and settings as plain JSON values, without secrets."""

    async def embed(self, texts: Sequence[str]) -> tuple[Sequence[Sequence[float]], Usage]:
        """Return a vector for each text, all of one length."""


@dataclass
class Words:
    """BM25 over what an item shows, its date and speaker included; the base of the other two."""

    index: Any = field(default_factory=LexicalIndex)

    def describe(self) -> Mapping[str, Any]:
        """Return kind and settings as plain JSON values."""
        return {"kind": "bm25"}

    async def add(self, items: Mapping[str, MemoryItem]) -> Usage:
        """Take in items, each under a new key."""
        for key, item in items.items():
            self.index.add(key, item.shown)
        return Usage()

    def remove(self, key: str) -> None:
        """Forget an item."""
        self.index.remove(key)

    async def search(self, question: str, k: int) -> Hits:
        """Return at most k keys; what shares no word with the question is not among them."""
        return [hit for hit in self.index.search(question, k) if hit[1] > 0], Usage()

    def copy(self) -> Self:
        """Return one that holds the same."""
        return replace(self, index=copy(self.index))

    def save(self) -> bytes | None:
        """Return what is dear to make again; None where texts are simply indexed again."""
        return None

    def restore(self, data: bytes) -> None:
        """Take back what `save` returned; InputError for anything else."""
        raise NotImplementedError


@dataclass
class Ranked(Words):
    """The fitted ranker over messages, their neighbours, speakers and sessions."""

    index: Any = field(default_factory=RankedIndex)

    def describe(self) -> Mapping[str, Any]:
        """Return the kind."""
        return {"kind": "ranked"}

    async def add(self, items: Mapping[str, MemoryItem]) -> Usage:
        """Take in messages, each as the last of its dialogue."""
        for key, item in items.items():
            self.index.add(key, item.text, item.speaker, item.dialogue, item.date or "")
        return Usage()

    async def search(self, question: str, k: int) -> Hits:
        """Return k keys, if there are so many: all messages have a rank."""
        return self.index.search(question, k), Usage()


@dataclass
class Meaning(Words):
    """The cosine of embeddings, exact."""

    index: VectorIndex | None = None
    """None until there is a first vector."""
    embedder: Embedder = field(kw_only=True)

    def describe(self) -> Mapping[str, Any]:
        """Return the kind, and the embedder's."""
        return {"kind": "embed", "embedder": dict(self.embedder.describe())}

    async def add(self, items: Mapping[str, MemoryItem]) -> Usage:
        """Embed the texts without their dates, which only lower recall, and keep the vectors."""
        if not items:
            return Usage()
        texts = [f"{i.speaker}: {i.text}" if i.speaker else i.text for i in items.values()]
        vectors, usage = await self.embedder.embed(texts)
        if self.index is None:
            self.index = VectorIndex(len(vectors[0]))
        for key, vector in zip(items, vectors, strict=True):
            self.index.add(key, vector)
        return usage

    async def search(self, question: str, k: int) -> Hits:
        """Embed the question, and return the nearest."""
        if self.index is None:
            return (), Usage()
        vectors, usage = await self.embedder.embed([question])
        return self.index.search(vectors[0], k), usage

    def save(self) -> bytes | None:
        """Return the vectors."""
        return None if self.index is None else self.index.save()

    def restore(self, data: bytes) -> None:
        """Take the vectors back: no text is embedded again."""
        self.index = VectorIndex.load(data)
