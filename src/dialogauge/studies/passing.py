"""Rows while they pass: one conversation at a time, and the few that a bounded memory keeps."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Row = Mapping[str, Any]
Item = TypeVar("Item")


class ByConversation(ABC):
    """Takes rows conversation by conversation, as they stand in `judgements.jsonl`; of repeats the first."""

    def __init__(self) -> None:
        """Begin before the first row."""
        self._unit: list[Row] = []
        self._key: tuple[str, str | None] | None = None

    @abstractmethod
    def take(self, unit: Sequence[Row]) -> None:
        """Take the rows of one conversation of one candidate; there is at least one."""

    def through(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Take rows while they pass; the last conversation is taken when they end."""
        for row in rows:
            self.add(row)
            yield row
        self.close()

    def add(self, row: Row) -> None:
        """Take one row."""
        if row["repeat"] != 1:
            return
        key = (row["conversation_id"], row["candidate"])
        if key != self._key:
            self.close()
            self._key = key
        self._unit.append(row)

    def close(self) -> None:
        """Take the conversation that is under way, if there is one."""
        unit, self._unit, self._key = self._unit, [], None
        if unit:
            self.take(unit)


@dataclass(slots=True)
class Smallest(Generic[Item]):
    """The `size` items with the smallest keys, of equal ones the first: the same in any order of the rows."""

    size: int
    heap: list[tuple[_Reversed, int, Item]] = field(default_factory=list)

    def offer(self, key: Any, number: int, item: Item) -> None:  # noqa: ANN401 - any ordered key
        """Keep an item, the `number`-th, if it is among the smallest so far."""
        entry = (_Reversed(key), -number, item)
        if len(self.heap) < self.size:
            heapq.heappush(self.heap, entry)
        elif self.size and self.heap[0][:2] < entry[:2]:
            heapq.heapreplace(self.heap, entry)

    def admits(self, key: Any) -> bool:  # noqa: ANN401 - any ordered key
        """Whether an item of that key could be kept."""
        return len(self.heap) < self.size or (self.size > 0 and not self.heap[0][0].key < key)

    def ascending(self) -> list[Item]:
        """Return what was kept, the smallest first."""
        return [item for _, _, item in sorted(self.heap, key=lambda e: e[:2], reverse=True)]


@dataclass(frozen=True, slots=True)
class _Reversed:
    key: Any

    def __lt__(self, other: _Reversed) -> bool:
        return bool(other.key < self.key)
