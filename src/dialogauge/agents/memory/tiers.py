"""Tiers: the latest pairs, segments by their heat, and a profile of what lasts (after MemoryOS)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, Literal, get_args

from dialogauge.agents.memory.protocol import MemoryItem, Retrieved, Room, items_of
from dialogauge.agents.memory.written import WrittenMemory
from dialogauge.core import Conversation
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.shape import read_as
from dialogauge.judges.rubric.prompt import cut_middle
from dialogauge.rubrics import closed_object
from dialogauge.text import sentences

EMPTY: Final = "…"
"""Stands for the side of a pair on which nobody said anything."""
_SHORT, _MID, _LONG = 7, 1_000, 200
"""Pairs in short term, segments in mid term, facts in long term."""
_PAIRS: Final = 20
"""Pairs of a segment, at most."""
_UNREAD: Final = 3
"""Pairs without facts, from which on the facts of a hot segment are taken."""
_HOT: Final = 2.0
"""The heat of two pairs that came just now."""
_HALF: Final = 50
"""Pairs, after which heat has halved."""
_MOST: Final = 5
"""Facts that a model takes at a time."""
_SHARE: Final = 5
"""One item in so many is a fact of the profile, where one fits."""
_LONGEST: Final = 4_000
"""Characters of a message that the model is shown."""
_RULE: Final = lazy_pattern(
    r"(?i)\b(?:always|never|must|please|next time|from now on|should)\b|请|必须|不要|下次|以后|应该|总是"
)
_OWN: Final = lazy_pattern(r"(?i)\b(?:i|i'm|i've|my|we|our)\b|我")

Lasting = Literal["semantic", "procedural"]
Pair = tuple[MemoryItem, ...]
"""A message, and the reply to it where there is one."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Pairs about one matter, in mid term."""

    pairs: tuple[str, ...]
    """Their keys."""
    unread: tuple[str, ...]
    """Those from which no facts were taken."""
    words: tuple[str, ...]
    """Keywords that lead here."""
    heat: float
    """log2 of the weights of its pairs together: one that came at t weighs 2 ** (t / _HALF)."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What lasts, as a model writes it."""

    fact: str
    kind: Lasting
    exchange: int
    """The number of the pair that tells it, from 1."""


@dataclass
class TiersMemory(WrittenMemory):
    """Keeps pairs of messages: the last seven, then segments by their heat, and a profile of facts.

    The oldest of the seven joins the segment with which it shares most keywords, or begins one. Each pair
    heats its segment; where there are too many, the coldest is forgotten. From a hot segment facts are taken,
    at one model call for three pairs or more; in the reduced form they are its sentences in the first person,
    and those that state a rule. Questions heat nothing: the order in which they are asked changes no answer.
    """

    name: str = "tiers-reduced"
    pairs: dict[str, Pair] = field(default_factory=dict, init=False)
    """By dialogue and position, those of short and mid term."""
    recent: tuple[str, ...] = field(default=(), init=False)
    """Keys of those in short term."""
    segments: dict[str, Segment] = field(default_factory=dict, init=False)
    facts: dict[str, MemoryItem] = field(default_factory=dict, init=False)
    """The oldest first; it is the first to be forgotten."""
    clock: int = field(default=0, init=False)
    """Pairs that came into mid term."""
    prompt = "memory_profile"
    state = ("pairs", "recent", "segments", "facts", "clock")

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Give pairs by their words, both sides together, and facts between; what was said last fills up."""
        size = len(self.index)
        most = size if room.items is None else min(size, 2 * room.items)
        hits = {key: s for key, s in (self.index.search(question, most) if most else ()) if s > 0}
        facts = (replace(self.facts[key], score=s) for key, s in hits.items() if key in self.facts)
        pairs: dict[str, float | None] = {key: s for key, s in hits.items() if key in self.pairs}
        pairs |= dict.fromkeys(key for key in reversed(self.recent) if key not in pairs)
        items: list[MemoryItem] = []
        new = (fact for fact in facts if not any(fact.text in item.text for item in items))
        for key, score in pairs.items():
            for side in self.pairs[key]:
                items.append(replace(side, score=score, why="said last" if score is None else None))
                if len(items) % _SHARE == _SHARE - 1:
                    items += islice(new, 1)
        return Retrieved(room.fill([*items, *new]))

    def _texts(self) -> Iterator[tuple[str, str]]:
        yield from ((key, _text(pair)) for key, pair in self.pairs.items())
        yield from ((key, fact.shown) for key, fact in self.facts.items())

    async def _write(self, conversation: Conversation) -> None:
        for pair in pairs_of(conversation):
            key = f"{conversation.id}\n{pair[0].position}"
            self.pairs[key] = pair
            self.index.add(key, _text(pair))
            self.recent = (*self.recent, key)
            if len(self.recent) > _SHORT:
                oldest, self.recent = self.recent[0], self.recent[1:]
                await self._file(oldest)

    async def _file(self, key: str) -> None:
        """Put a pair into a segment, and take facts from one that is hot."""
        self.clock += 1
        now, words = self.clock / _HALF, self.words.learn(_spoken(self.pairs[key]))
        near = (n for n in self.words.near(words, _PAIRS) if len(self.segments[n].pairs) < _PAIRS)
        name = next(near, str(self.clock))
        if name in self.segments:
            old = self.segments[name]
            heat = max(old.heat, now) + math.log2(1 + 2 ** -abs(old.heat - now))
            leading = tuple(dict.fromkeys((*old.words, *words)))
            segment = Segment((*old.pairs, key), (*old.unread, key), leading, heat)
        else:
            segment = Segment((key,), (key,), words, now)
            if len(self.segments) >= _MID:
                self._forget_coldest()
        self.segments[name] = segment
        self.words.lead(words, name)
        if len(segment.unread) >= _UNREAD and segment.heat - now >= math.log2(_HOT):
            facts = await self._read([self.pairs[unread] for unread in segment.unread])
            self.segments[name] = replace(segment, unread=())
            for fact in facts:
                self._keep(fact)

    async def _read(self, pairs: Sequence[Pair]) -> list[MemoryItem]:
        """Return what lasts of some pairs."""
        if self.client is None:
            return [fact for pair in pairs for fact in _stated(pair)]
        number = {"type": "integer", "minimum": 1, "maximum": len(pairs)}
        kind = {"type": "string", "enum": [*get_args(Lasting)]}
        fact = closed_object({"fact": {"type": "string"}, "kind": kind, "exchange": number})
        schema = closed_object({"facts": {"type": "array", "items": fact, "maxItems": _MOST}})

        def read(data: dict[str, Any]) -> list[MemoryItem]:
            facts = read_as(data.get("facts"), list[Fact])
            if not {f.exchange for f in facts} <= {*range(1, len(pairs) + 1)}:
                msg = "facts: exchange is the number of one above"
                raise ValueError(msg)
            first = [pairs[f.exchange - 1][0] for f in facts]
            return [
                MemoryItem(side.dialogue, None, f.fact, date=side.date, kind=f.kind, why="profile")
                for side, f in zip(first, facts, strict=True)
                if f.fact.strip()
            ]

        shown = {"most": _MOST, "exchanges": [_about(n, pair) for n, pair in enumerate(pairs, 1)]}
        return await self._ask(self.client, shown, schema, read)

    def _keep(self, fact: MemoryItem) -> None:
        """Keep a fact in long term, in the place of the same one."""
        key = f"\n\n{fact.text}"
        for gone in [key] if key in self.facts else [*self.facts][: len(self.facts) >= _LONG]:
            del self.facts[gone]
            self.index.remove(gone)
        self.facts[key] = fact
        self.index.add(key, fact.shown)

    def _forget_coldest(self) -> None:
        """Forget the pairs of the coldest segment."""
        _, name = min((segment.heat, name) for name, segment in self.segments.items())
        segment = self.segments.pop(name)
        self.words.leave(segment.words, name)
        for key in segment.pairs:
            del self.pairs[key]
            self.index.remove(key)

    def _erase(self, dialogue: str) -> None:
        gone = {key: pair for key, pair in self.pairs.items() if pair[0].dialogue == dialogue}
        self.recent = tuple(key for key in self.recent if key not in gone)
        for name, segment in [*self.segments.items()]:
            pairs, unread = ([k for k in keys if k not in gone] for keys in (segment.pairs, segment.unread))
            for key in {*segment.pairs} - {*pairs}:
                self.words.forget(_spoken(gone[key]))
            self.segments[name] = replace(segment, pairs=tuple(pairs), unread=tuple(unread))
            if not pairs:
                del self.segments[name]
                self.words.leave(segment.words, name)
        for key in [*gone, *(key for key, fact in self.facts.items() if fact.dialogue == dialogue)]:
            self.index.remove(key)
            self.pairs.pop(key, None)
            self.facts.pop(key, None)


def pairs_of(conversation: Conversation) -> Iterator[Pair]:
    """Yield the messages of a dialogue in pairs; one without a reply stands alone, and none is left out."""
    first: MemoryItem | None = None
    for item in items_of(conversation):
        if first is not None and first.speaker not in (item.speaker, "assistant"):
            yield first, item
            first = None
        else:
            if first is not None:
                yield (first,)
            first = item
    if first is not None:
        yield (first,)


def _text(pair: Pair) -> str:
    """Return what a pair is found by."""
    return "\n".join(side.shown for side in pair)


def _spoken(pair: Pair) -> str:
    """Return what is said in it, without dates and speakers, which say nothing of the matter."""
    return "\n".join(side.text for side in pair)


def _about(number: int, pair: Pair) -> dict[str, Any]:
    """Return a pair as the model is shown it: both sides are filled."""
    sides = [{"speaker": side.speaker, "text": cut_middle(side.text, _LONGEST)[0]} for side in pair]
    message, reply = (*sides, EMPTY)[:2]
    return {"exchange": number, "date": pair[0].date, "message": message, "reply": reply}


def _stated(pair: Pair) -> Iterator[MemoryItem]:
    """Yield the sentences of a pair that state a rule, or are in the first person and no question."""
    for side in pair:
        for text in sentences(side.text):
            rule = _RULE.search(text) is not None
            if text[-1:] not in "?？" and (rule or _OWN.search(text)):
                kind: Lasting = "procedural" if rule else "semantic"
                yield replace(side, position=None, message=None, text=text, kind=kind, why="profile")
