"""Frozen states: what stands before a reply, and putting another reply in its place."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dialogauge.bench.replay.items import ItemSet, ReplayItem
from dialogauge.core import Message, Place, RecordFault, digest_text
from dialogauge.judge.personal import RatedBlock, RatedReply, Reply

__all__ = ["Stage", "asked", "replaced", "set_stage", "state_digest"]


@dataclass(frozen=True, slots=True)
class Stage:
    """The states of an item set, found again in the data."""

    items: tuple[ReplayItem, ...]
    """The items that are there, in the order of the set."""
    blocks: Mapping[str, RatedBlock]
    """The touched blocks, whole, in the order of the data."""
    originals: Mapping[str, RatedReply]
    """By item: the reply that its user rated."""
    faults: tuple[RecordFault, ...]
    """Items whose conversation is gone or is not what it was."""

    by_block: Mapping[str, tuple[ReplayItem, ...]]
    """The items of each touched block."""


def asked(reply: Reply) -> bool:
    """Say whether a reply follows what a user said or a tool gave; else its state asks for nothing.

    What follows a message of the assistant's is a part of one answer, and its state would show the other.
    """
    return bool(reply.before) and reply.before[-1].role in ("user", "tool")


def state_digest(before: Sequence[Message]) -> str:
    """Return the digest of the messages before a reply."""
    told = [json.dumps(m.to_openai(), sort_keys=True, ensure_ascii=False) for m in before]
    return digest_text("\x1e".join(told))


def set_stage(items: ItemSet, blocks: Iterable[RatedBlock]) -> Stage:
    """Find the items of a set among the blocks of the data.

    An item that is not there, or whose prefix has changed, is a fault and takes no part.
    """
    held = {b.view.id: b for b in blocks}
    rated = {(name, r.reply.id): r for name, b in held.items() for r in b.ratings}
    found: list[ReplayItem] = []
    faults: list[RecordFault] = []
    for item in items.items:
        original = rated.get((item.block, item.id))
        if original is None:
            faults.append(
                _fault(
                    item,
                    f"the data does not hold it in {item.block!r}: its conversation or its rating is gone",
                )
            )
        elif state_digest(original.reply.before) != item.state:
            faults.append(_fault(item, "the messages before the reply are not those that were selected"))
        else:
            found.append(item)
    touched: defaultdict[str, list[ReplayItem]] = defaultdict(list)
    for item in found:
        touched[item.block].append(item)
    return Stage(
        tuple(found),
        {name: block for name, block in held.items() if name in touched},
        {i.id: rated[i.block, i.id] for i in found},
        tuple(faults),
        {name: tuple(held_items) for name, held_items in touched.items()},
    )


def _fault(item: ReplayItem, what: str) -> RecordFault:
    place = Place("items", conversation_id=item.conversation)
    return RecordFault(
        f"item {item.id!r}: {what}", place=place, hint="it is left out; select anew to mend it"
    )


def replaced(original: Reply, text: str) -> Reply:
    """Return the reply with another text in the same state; nothing follows it.

    Its conversation gets an id of its own: two items of one conversation are two conversations here, each
    with the original replies before the one that is judged.
    """
    message = Message("assistant", text)
    conversation = replace(original.conversation, id=original.id, messages=(*original.before, message))
    return replace(original, conversation=conversation)
