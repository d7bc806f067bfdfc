"""From an input to work units: limit, sample, ratings joined, what is done already left out."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError
from dialogauge.core.rating import Rating
from dialogauge.core.unit import WorkUnit, conversation_digest, digest_text, unit_key
from dialogauge.data import Mask, absent_turns
from dialogauge.runs import Progress

STUDY = "judge"


@dataclass
class Planner:
    """Yields the units that are left to do, and remembers all that the input plans."""

    source: Iterable[Conversation | InputError]
    judge_digest: str
    repeats: int
    seed: int
    finished: dict[bytes, bool]
    """Units that the store holds, each with whether it failed."""
    retry_failed: bool
    progress: Progress
    ratings: Callable[[str], tuple[Rating, ...]] | None = None
    """Ratings of a conversation by its id, to be kept with it."""
    strict: bool = False
    mask: Mask | None = None
    """What hides personal data and ids; None to take all as it came."""
    excluded: frozenset[str] = frozenset()
    """Ids of conversations that the judge's prompt shows solved: they are not judged."""
    left_out: int = 0
    """How many of those the input held."""
    faults: list[InputError] = field(default_factory=list)
    planned: dict[bytes, int] = field(default_factory=dict)
    """Key of every unit that the input plans, with the position of its conversation."""
    ids: set[int] = field(default_factory=set)
    """Hashes of the conversation ids that the input holds."""

    absent_turns: set[tuple[str, int]] = field(default_factory=set)
    """Id and turn that were rated, where the input holds the conversation and not the turn."""

    def __iter__(self) -> Iterator[WorkUnit]:
        """Yield what is left to do, reading the input as it is asked for."""
        position = 0
        for item in self._items():
            if isinstance(item, InputError):
                self._fault(item)
                continue
            if item.id in self.excluded:
                self.left_out += 1
                continue
            position += 1
            yield from self._units(item, position)
        self.progress.total = self.progress.planned

    def _items(self) -> Iterator[Conversation | InputError]:
        try:
            yield from self.source
        except InputError as fault:
            raise self._shown(fault) from None

    def _fault(self, fault: InputError) -> None:
        fault = self._shown(fault)
        if self.strict:
            raise fault
        self.faults.append(fault)

    def _shown(self, fault: InputError) -> InputError:
        return fault if self.mask is None else self.mask.fault(fault)

    def _units(self, conversation: Conversation, position: int) -> Iterator[WorkUnit]:
        self.ids.add(hash(conversation.id))
        if self.ratings is not None and (given := self.ratings(conversation.id)):
            self.absent_turns |= absent_turns(conversation, given)
            conversation = replace(conversation, ratings=(*conversation.ratings, *given))
        if self.mask is not None:
            conversation = self.mask.conversation(conversation)
        target = conversation_digest(conversation)
        for repeat in range(1, self.repeats + 1):
            key = bytes.fromhex(unit_key(STUDY, target, self.judge_digest, repeat, self.seed))
            self.planned[key] = position
            self.progress.planned += 1
            failed = self.finished.get(key)
            if failed is None or (failed and self.retry_failed):
                yield WorkUnit(STUDY, conversation, target, self.judge_digest, repeat, self.seed)
            else:
                self.progress.resumed += 1

    def knows(self, conversation_id: str) -> bool:
        """Whether the input held a conversation of that id."""
        return hash(conversation_id) in self.ids


def sampled(
    source: Iterable[Conversation | InputError], *, limit: int | None, sample: int | None, seed: int
) -> Iterator[Conversation | InputError]:
    """Cut a source: its first `limit` conversations, or `sample` of them at random by the seed.

    A conversation is drawn by the digest of seed and id, so the same conversations are drawn again
    when others are added, and a larger sample holds the smaller one. Memory is that of the sample.
    """
    if sample is not None:
        source = _draw(source, sample, seed)
    taken = 0
    for item in source:
        yield item
        taken += isinstance(item, Conversation)
        if limit is not None and taken >= limit:
            return  # before the next is read: a pipe may never bring one


def _draw(
    source: Iterable[Conversation | InputError], size: int, seed: int
) -> Iterator[Conversation | InputError]:
    heap: list[tuple[int, int, Conversation]] = []
    for position, item in enumerate(source):
        if isinstance(item, InputError):
            yield item
            continue
        # The heap's top is the item that the next better one replaces: the largest digest.
        entry = (-int(digest_text(f"{seed}\x1f{item.id}"), 16), position, item)
        if len(heap) < size:
            heapq.heappush(heap, entry)
        elif size and entry > heap[0]:
            heapq.heapreplace(heap, entry)
    for _, _, conversation in sorted(heap, key=lambda entry: entry[1]):
        yield conversation
