"""Taking a file of replies into a run, a record at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from dialogauge.app.replay.stage import OpenStage
from dialogauge.bench.replay.writer import reply_of
from dialogauge.core.errors import FileFault, InputError, Place, RecordFault, UsageError
from dialogauge.data import ReplyRecord, read_replies
from dialogauge.store import ReplayDatabase, StoredReply
from dialogauge.text import counted

__all__ = ["take_file"]


def take_file(path: str, name: str, opened: OpenStage, database: ReplayDatabase) -> list[InputError]:
    """Store what a file says that a candidate replied; an item that it does not answer is a failure.

    A file that the run holds already is read again for what is wrong with it, and nothing is stored.

    Returns the records that cannot be used.

    Raises:
        FileFault: The file cannot be read, or holds two candidates; nothing of it is kept.
        UsageError: A reply was made with a memory of the target's own scenario; nothing is kept.
    """
    held = database.replied(name)
    whole = bool(held) and all(i.id in held for i in opened.stage.items)
    taking = _Taking(path, name, opened, None if whole else database)
    try:
        for record in read_replies(path):
            taking.take(record)
    except (FileFault, UsageError):
        database.forget_candidate(name)
        raise
    taking.finish()
    database.flush()
    return taking.faults


@dataclass
class _Taking:
    path: str
    name: str
    opened: OpenStage
    database: ReplayDatabase | None
    """None when the replies are there."""
    faults: list[InputError] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _unknown: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._items = {i.id: i for i in self.opened.stage.items}
        blocks = self.opened.stage.blocks.values()
        self._scenarios = {r.reply.conversation.id: b.view.scenario for b in blocks for r in b.ratings}

    def take(self, record: ReplyRecord | RecordFault) -> None:
        if isinstance(record, RecordFault):
            self.faults.append(self.opened.hides.fault(record))
            return
        record = self._hidden(record)
        if record.item not in self._items:
            self._unknown[record.item] += 1
        elif record.item in self._seen:
            msg = f"the item {record.item!r} is answered a second time"
            self.faults.append(RecordFault(msg, place=record.place, hint="the first reply is kept"))
        else:
            self._refuse_own(record)
            self._seen.add(record.item)
            self._store(self._stored(record))

    def finish(self) -> None:
        for item in self._items:
            if item not in self._seen:
                failure = {"kind": "no_reply", "message": f"{self.path} has no reply to this item"}
                self._store(StoredReply(self.name, item, None, failure))
        if self._unknown:
            example = next(iter(self._unknown))
            found = counted(self._unknown.total(), "reply", "replies")
            msg = f"{found} to no item of the set, {example!r} among them"
            hint = "they are left out; is it the file of another set?"
            self.faults.append(FileFault(msg, place=Place(self.path), hint=hint))

    def _store(self, reply: StoredReply) -> None:
        if self.database is not None:
            self.database.add_reply(reply)

    def _hidden(self, record: ReplyRecord) -> ReplyRecord:
        """Return the record under the ids of the item set: a file may name the turns of the open data."""
        hides = self.opened.hides
        item = record.item if record.item in self._items else hides.turn(record.item)
        memory = tuple(m if _talk(m) in self._scenarios else hides.turn(m) for m in record.memory)
        reply = record.reply
        if reply is not None and item in self._items:
            reply = hides.text(self._items[item], reply)
        return replace(record, item=item, memory=memory, reply=reply)

    def _stored(self, record: ReplyRecord) -> StoredReply:
        text = reply_of(record.reply or "")
        if text:
            return StoredReply(self.name, record.item, text)
        failure = {"kind": "empty_reply", "message": f"{record.place}: the reply is empty"}
        return StoredReply(self.name, record.item, None, failure)

    def _refuse_own(self, record: ReplyRecord) -> None:
        scenario = self._items[record.item].scenario
        own = next((turn for turn in record.memory if self._scenarios.get(_talk(turn)) == scenario), None)
        if own is not None:
            msg = (
                f"{record.place}: the reply to {record.item!r} was made with {own!r} in memory, "
                "a turn of its own scenario"
            )
            raise UsageError(msg, hint="a candidate's memory comes from the user's other scenarios only")


def _talk(turn: str) -> str:
    return turn.rpartition("__turn_")[0]
