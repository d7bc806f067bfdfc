"""Notes: one for each message, linked with others about the same, and changed by later ones (after A-Mem)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dialogauge.agents.memory.protocol import MemoryItem, Retrieved, Room, items_of
from dialogauge.agents.memory.written import WrittenMemory
from dialogauge.core import Conversation
from dialogauge.core.shape import read_as
from dialogauge.judges.rubric.prompt import cut_middle
from dialogauge.llm.protocol import ChatClient
from dialogauge.rubrics import closed_object

_NEAR: Final = 4
"""Earlier notes that a new one is laid beside, and may be linked with."""
_LINKED: Final = 0.25
"""What a linked note is worth, of the score of the note that leads to it."""
_HITS: Final = 4
"""Notes that are searched for, as a multiple of the room; their links are followed."""
_LONGEST: Final = (8_000, 800)
"""Characters that the model is shown of a new message, and of an earlier one."""
_TEXTS: Final = {"type": "array", "items": {"type": "string"}, "maxItems": 8}


@dataclass(frozen=True, slots=True)
class MemoryNote:
    """What is written about one message."""

    item: MemoryItem
    words: tuple[str, ...]
    """Its keywords by weight, over which it was laid beside others."""
    keywords: tuple[str, ...] = ()
    """Those that the model wrote; none in the reduced form."""
    tags: tuple[str, ...] = ()
    context: str = ""
    """A sentence on what the message means where it stands."""
    links: tuple[str, ...] = ()
    """Keys of notes; they lead here as well."""
    original: tuple[tuple[str, ...], str] | None = None
    """Tags and context before later messages changed them."""
    changed_by: tuple[str, ...] = ()
    """The dialogues of those messages."""

    @property
    def text(self) -> str:
        """What it is found by; the message holds the keywords by weight already."""
        return " ".join((self.item.shown, *self.keywords, *self.tags, self.context))


@dataclass(frozen=True, slots=True)
class NoteChange:
    """What a new message makes of an earlier note."""

    note: int
    """Its number among those that are shown, from 1."""
    tags: tuple[str, ...]
    context: str


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """What a model says of a new message."""

    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    links: tuple[int, ...]
    """Numbers of notes that are shown."""
    changes: tuple[NoteChange, ...]


@dataclass
class NotesMemory(WrittenMemory):
    """Writes a note for each message, at one model call each, and gives notes with those that they lead to.

    A new message is laid beside at most four notes that share its keywords. The model links it with those
    that are about the same, and may write their tags and context anew; the reduced form links it with all of
    them, and changes none. When a dialogue is forgotten, what it changed is as it was.
    """

    name: str = "notes-reduced"
    notes: dict[str, MemoryNote] = field(default_factory=dict, init=False)
    """By dialogue and position."""
    prompt = "memory_note"
    state = ("notes",)

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Give notes by their words; one that a note leads to counts a quarter of that one."""
        most = len(self.notes) if room.items is None else min(len(self.notes), room.items * _HITS)
        hits = [hit for hit in self.index.search(question, most) if hit[1] > 0] if most else []
        scores, sources = dict(hits), dict[str, MemoryItem]()
        for key, score in hits:
            for other in self.notes[key].links:
                if score * _LINKED > scores.get(other, 0.0):
                    scores[other], sources[other] = score * _LINKED, self.notes[key].item
        items = []
        for key in sorted(scores, key=lambda key: -scores[key]):
            item, context, by = self.notes[key].item, self.notes[key].context, sources.get(key)
            why = None if by is None else f"linked with {by.message or f'{by.dialogue} {by.position}'}"
            text = f"{item.text} ({context})" if context else item.text
            items.append(replace(item, text=text, score=scores[key], why=why))
        return Retrieved(room.fill(items))

    def _texts(self) -> Iterator[tuple[str, str]]:
        return ((key, note.text) for key, note in self.notes.items())

    async def _write(self, conversation: Conversation) -> None:
        before = None
        for item in items_of(conversation):
            key, words = f"{item.dialogue}\n{item.position}", self.words.learn(item.text)
            near = self.words.near(words, _NEAR)
            self.words.lead(words, key)
            self._put(key, MemoryNote(item, words))
            if self.client is None:
                self._link(key, near)
                continue
            written = await self._ask_for_note(self.client, item, before, [self.notes[k] for k in near])
            before = item
            self._put(key, MemoryNote(item, words, written.keywords, written.tags, written.context))
            linked = {*written.links, *(change.note for change in written.changes)}
            self._link(key, [near[number - 1] for number in sorted(linked)])
            for change in written.changes:
                old = self.notes[near[change.note - 1]]
                original, by = old.original or (old.tags, old.context), (*old.changed_by, item.dialogue)
                new = replace(old, tags=change.tags, context=change.context)
                self._put(near[change.note - 1], replace(new, original=original, changed_by=by))

    async def _ask_for_note(
        self, client: ChatClient, item: MemoryItem, before: MemoryItem | None, near: Sequence[MemoryNote]
    ) -> WrittenNote:
        notes = [
            {"note": n, **_about(note.item, _LONGEST[1]), "tags": note.tags, "context": note.context}
            for n, note in enumerate(near, 1)
        ]
        text, number = {"type": "string"}, {"type": "integer", "minimum": 1, "maximum": max(len(near), 1)}
        change = closed_object({"note": number, "tags": _TEXTS, "context": text})
        fields = {
            "keywords": {**_TEXTS, "minItems": 1},
            "tags": _TEXTS,
            "context": text,
            "links": {"type": "array", "items": number, "maxItems": len(near)},
            "changes": {"type": "array", "items": change, "maxItems": len(near)},
        }

        def read(data: dict[str, Any]) -> WrittenNote:
            written = read_as(data, WrittenNote)
            if not {*written.links, *(c.note for c in written.changes)} <= {*range(1, len(near) + 1)}:
                msg = "links and changes hold a number that is none of the notes above"
                raise ValueError(msg)
            if not any(map(str.strip, written.keywords)) or not written.context.strip():
                msg = "keywords and context must not be empty"
                raise ValueError(msg)
            return written

        earlier = None if before is None else _about(before, _LONGEST[1])
        shown = {"message": _about(item, _LONGEST[0]), "before": earlier, "notes": notes}
        return await self._ask(client, shown, closed_object(fields), read)

    def _put(self, key: str, note: MemoryNote) -> None:
        """Keep a note, in the place of the one with its key."""
        if key in self.notes:
            self.index.remove(key)
        self.notes[key] = note
        self.index.add(key, note.text)

    def _link(self, key: str, others: Sequence[str]) -> None:
        """Let notes lead to each other."""
        for other in others:
            for source, target in ((key, other), (other, key)):
                links = dict.fromkeys((*self.notes[source].links, target))
                self.notes[source] = replace(self.notes[source], links=tuple(links))

    def _erase(self, dialogue: str) -> None:
        gone = {key: note for key, note in self.notes.items() if note.item.dialogue == dialogue}
        for key, note in gone.items():
            self.index.remove(key)
            self.words.forget(note.item.text)
            self.words.leave(note.words, key)
            del self.notes[key]
        for other in {link for note in gone.values() for link in note.links} - gone.keys():
            note = self.notes[other]
            note = replace(note, links=tuple(link for link in note.links if link not in gone))
            if dialogue in note.changed_by and note.original is not None:
                tags, context = note.original
                note = replace(note, tags=tags, context=context, original=None, changed_by=())
            self._put(other, note)


def _about(item: MemoryItem, most: int) -> dict[str, Any]:
    return {"date": item.date, "speaker": item.speaker, "text": cut_middle(item.text, most)[0]}
