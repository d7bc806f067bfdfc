"""The order of the messages of one conversation: by their times, or along a tree of them.

A page of an interface begins with the latest; in a tree each message names the one that it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.notes import excerpt
from dialogauge.data.paths import MISSING, look_up

_TIMES: Final = (
    *("created_at", "timestamp", "createdAt", "create_time", "created", "sent_at", "time", "date"),
    *("timestamp_ms", "date_created", "createdDateTime", "created_time", "sentAt"),
)


def in_time(messages: Sequence[Any], entry: Entry, *, sort: bool = False) -> Sequence[Any]:
    """Return messages, or exchanges, from the first to the latest, where each has a time.

    Times that only fall are the other way round. Those that rise and fall are sorted where `sort` says that
    they are exact, or a field map names them; else the messages stay as they are, which is noted.

    Raises `RecordFault` where what a map names for the order is missing, or is no time and no number.
    """
    if (path := entry.mapping.order_by) is not None:
        return _by_map(messages, path, entry)
    first = messages[0] if messages else None
    key = next((key for key in _TIMES if key in first), None) if isinstance(first, dict) else None
    if key is None:
        return messages
    times = [moment_of(one.get(key)) if isinstance(one, dict) else None for one in messages]
    known = [time for time in times if time is not None]
    if len(known) < len(times) or known == sorted(known):
        return messages
    latest_first = known[0] > known[-1]
    if sort or known == sorted(known, reverse=True):
        entry.recognise(f"messages are not in order: put in that of their {key!r}")
        order = sorted(range(len(messages)), key=lambda n: (known[n], -n if latest_first else n))
        return [messages[n] for n in order]
    entry.assume(f"messages have times under {key!r} that rise and fall: read in the order of the file")
    return messages


def _by_map(messages: Sequence[Any], path: str, entry: Entry) -> Sequence[Any]:
    moments: list[float] = []
    for number, message in enumerate(messages, start=1):
        value = look_up(message, path)
        if (moment := moment_of(value)) is None:
            what = "nothing" if value is MISSING else f"{excerpt(value)}: neither a number nor a time"
            hint = "write times as 2026-01-31T17:05:00, or numbers; or leave `order_by` out of the field map"
            raise fault_in(entry, f"message {number} has under {path!r} {what}", hint)
        moments.append(moment)
    order = sorted(range(len(messages)), key=moments.__getitem__)
    if order != list(range(len(messages))):
        entry.recognise(f"messages are not in order: put in that of their {path!r}")
    return [messages[n] for n in order]


def branch(parents: Mapping[str, str | None], last: str) -> list[str]:
    """Return the ids from the root of a tree to its node `last`, which is in `parents`.

    Args:
        parents: Node -> the one before it. A node whose parent is not among them is a root.
        last: Where the branch ends.

    Raises:
        ValueError: The branch comes back to a node: there is no root.
    """
    out: list[str] = []
    seen: set[str] = set()
    at: str | None = last
    while at is not None and at in parents:
        if at in seen:
            msg = f"the messages before {at!r} lead back to it"
            raise ValueError(msg)
        seen.add(at)
        out.append(at)
        at = parents[at]
    return out[::-1]


def latest(parents: Mapping[str, str | None], time: Callable[[str], float | str]) -> str:
    """Return the node that no other follows and that is the latest by its time.

    Raises:
        ValueError: Each is followed by another: there is no end.
    """
    ends = list(leaves(parents))
    if not ends:
        msg = "each message is followed by another: there is no last one"
        raise ValueError(msg)
    return max(ends, key=time)


def leaves(parents: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the nodes that no other follows, in their order."""
    inner = set(parents.values())
    return (node for node in parents if node not in inner)
