"""Messages of one conversation in order of their times: a page of an interface begins with the latest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dialogauge.data.formats.base import Entry
from dialogauge.data.formats.threads import moment_of

_TIMES: Final = ("created_at", "timestamp", "createdAt", "create_time", "created", "sent_at", "time", "date")


def in_time(messages: Sequence[Any], entry: Entry, *, sort: bool = False) -> Sequence[Any]:
    """Return messages from the first to the latest, where each has a time.

    Times that only fall are the other way round. Those that rise and fall are sorted where `sort` says that
    they are exact; else the messages stay as they are, which is noted.
    """
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
