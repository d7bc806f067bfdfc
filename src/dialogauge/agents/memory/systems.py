"""Memory systems of ours: nothing, all, the evidence itself, and what an index finds, with its indexes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, Protocol, Self

from dialogauge.agents.memory.protocol import (
    Ability,
    Feedback,
    Memory,
    MemoryItem,
    Retrieved,
    Room,
    items_of,
    whole,
)
from dialogauge.core import Conversation, Usage, digest
from dialogauge.retrieval import LexicalIndex, RankedIndex, VectorIndex
from dialogauge.runs.records import conversation_from_json, conversation_to_json

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

    index: Any = None
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
        vectors, usage = await self.embedder.embed([question])
        return self.index.search(vectors[0], k), usage

    def save(self) -> bytes | None:
        """Return the vectors."""
        return None if self.index is None else self.index.save()

    def restore(self, data: bytes) -> None:
        """Take the vectors back: no text is embedded again."""
        self.index = VectorIndex.load(data)


_ALL: Final[frozenset[Ability]] = frozenset({"update", "delete", "fork", "save"})
_FILE: Final = "dialogues.jsonl"
_INDEX: Final = "index.bin"


@dataclass
class KeptDialogues(Memory):
    """Keeps the dialogues themselves, in the order in which they came; the base of our systems."""

    name: str
    known: dict[str, tuple[Conversation, bool]] = field(default_factory=dict, init=False)
    """By id the dialogue, and whether it is of the corpus."""
    abilities = _ALL

    def __post_init__(self) -> None:
        """Make a digest of the settings."""
        self.digest = digest(dict(self.describe()))

    async def add_corpus(self, sessions: Sequence[Conversation]) -> Usage:
        """Keep them."""
        usage = Usage()
        for session in sessions:
            usage += await self._take(session, corpus=True)
        return usage

    async def add_dialogue(self, conversation: Conversation, feedback: Feedback | None = None) -> Usage:
        """Keep it, without the feedback."""
        del feedback
        return await self._take(conversation, corpus=False)

    async def update(self, conversation: Conversation) -> Usage:
        """Put it in the place of the one with its id."""
        await self.delete(conversation.id)
        return await self.add_dialogue(conversation)

    async def delete(self, dialogue: str) -> None:
        """Forget it."""
        self._drop(dialogue)

    async def _take(self, conversation: Conversation, *, corpus: bool) -> Usage:
        self._drop(conversation.id)
        self.known[conversation.id] = conversation, corpus
        return Usage()

    def _drop(self, dialogue: str) -> None:
        self.known.pop(dialogue, None)

    def fork(self) -> Self:
        """Return one that holds the same dialogues."""
        other = copy(self)
        other.known = dict(self.known)
        return other

    def save(self, folder: Path) -> None:
        """Write the dialogues; what is made of them is made again."""
        rows = ([conversation_to_json(c), corpus] for c, corpus in self.known.values())
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / _FILE).write_text(text, encoding="utf-8")

    async def load(self, folder: Path) -> None:
        """Read the dialogues, and make of them what is made."""
        for conversation, corpus in self._stored(folder):
            await self._take(conversation, corpus=corpus)

    def _stored(self, folder: Path) -> Iterator[tuple[Conversation, bool]]:
        """Forget what is known, and yield what a folder holds."""
        for name in list(self.known):
            self._drop(name)
        for line in (folder / _FILE).read_text(encoding="utf-8").splitlines():
            conversation, corpus = json.loads(line)
            yield conversation_from_json(conversation), corpus


@dataclass
class NoMemory(KeptDialogues):
    """Remembers nothing: what the question alone is worth."""

    name: str = "none"

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Give nothing."""
        del question, room
        return Retrieved(())


@dataclass
class FullMemory(KeptDialogues):
    """Gives everything that fits, the first dialogues first, whatever is asked: the seed's Vanilla.

    Its room is of tokens alone: with a number of items it would be another system.
    """

    name: str = "full"
    counts_items = False

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Give whole dialogues in the order in which they came."""
        del question
        dialogues = (whole(c) for c, _ in self.known.values())
        return Retrieved(Room(None, room.tokens).fill([one for one in dialogues if one.text]))


@dataclass
class MessagesMemory(FullMemory):
    """The same message by message: what is put before a question."""

    name: str = "messages"

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Give all messages in the order in which they came."""
        del question
        items = [item for c, _ in self.known.values() for item in items_of(c)]
        return Retrieved(Room(None, room.tokens).fill(items))


@dataclass
class OracleMemory(KeptDialogues):
    """Gives the evidence of a question, as the data states it: the ceiling of every retrieval."""

    evidence: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By question the ids of messages; a question that is not there has none."""
    name: str = "oracle"
    abilities = _ALL - {"fork"}  # the evidence is of one corpus, and a memory of logs alone has none
    counts_items = False

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Give the messages that the data names, in the order of the dialogues."""
        wanted = set(self.evidence.get(question, ()))
        items = [i for c, _ in self.known.values() for i in items_of(c) if i.message in wanted]
        return Retrieved(Room(None, room.tokens).fill(items))


Unit = Literal["message", "session", "both"]
"""What is searched and given: messages, whole dialogues, or dialogues by their best part."""


@dataclass
class IndexedMemory(KeptDialogues):
    """Gives what an index finds; the three families of the seed are this class with a unit and an index.

    A session of the corpus is searched by its text, a dialogue that the assistant led by its first question:
    what it was about. Of `both`, messages are searched too, and each dialogue is given once.
    """

    name: str = "bm25-message"
    unit: Unit = "message"
    index: Words = field(default_factory=Words)
    """Empty."""
    _items: dict[str, MemoryItem] = field(default_factory=dict, init=False)
    """By key of the index."""

    def describe(self) -> Mapping[str, Any]:
        """Return unit and index."""
        return {"system": self.name, "unit": self.unit, "index": dict(self.index.describe())}

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Search for the bare question, and give the best items that fit, each once."""
        most = len(self._items) if room.items is None else room.items
        # A dialogue is given once, whatever of it was hit: its best part counts.
        several = most if self.unit == "message" else min(len(self._items), most * PARTS)
        hits, usage = await self.index.search(question, several) if several else ((), Usage())
        once: dict[tuple[str, int | None], MemoryItem] = {}
        for key, score in hits:
            item = self._items[key]
            once.setdefault((item.dialogue, item.position), replace(item, score=score))
        return Retrieved(room.fill([*once.values()]), usage)

    def fork(self) -> Self:
        """Return one with an index of its own."""
        other = super().fork()
        other.index, other._items = self.index.copy(), dict(self._items)
        return other

    def save(self, folder: Path) -> None:
        """Write the dialogues, and what the index would have to pay for again."""
        super().save(folder)
        if (data := self.index.save()) is not None:
            (folder / _INDEX).write_bytes(data)

    async def load(self, folder: Path) -> None:
        """Read the dialogues, and the index where it was written."""
        if not (folder / _INDEX).is_file():
            await super().load(folder)
            return
        for conversation, corpus in self._stored(folder):
            self._keep(conversation, corpus=corpus)
        self.index.restore((folder / _INDEX).read_bytes())

    async def _take(self, conversation: Conversation, *, corpus: bool) -> Usage:
        return await self.index.add(self._keep(conversation, corpus=corpus))

    def _keep(self, conversation: Conversation, *, corpus: bool) -> dict[str, MemoryItem]:
        """Keep a dialogue, and return by key what it is searched by."""
        self._drop(conversation.id)
        self.known[conversation.id] = conversation, corpus
        messages, all_of_it = [*items_of(conversation)], whole(conversation)
        searched = {}
        if self.unit != "session":
            searched = {f"{item.dialogue}\n{item.position}": item for item in messages}
        if self.unit != "message" and messages:
            first = next((i for i in messages if i.speaker == "user"), messages[0])
            searched[f"{conversation.id}\n"] = all_of_it if corpus else first
        self._items |= searched if self.unit == "message" else dict.fromkeys(searched, all_of_it)
        return searched

    def _drop(self, dialogue: str) -> None:
        if dialogue in self.known:
            for key in [k for k in self._items if k.rpartition("\n")[0] == dialogue]:
                del self._items[key]
                self.index.remove(key)
        super()._drop(dialogue)


PARTS: Final = 8
"""So many messages of a dialogue may be hit before it is missed among those that are given."""
