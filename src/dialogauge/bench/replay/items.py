"""The items of a replay benchmark: turns of conversations whose reply is to be written anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from dialogauge.core import FileFault, Place, digest

__all__ = ["FORMAT", "ItemSet", "ReplayItem", "read_items"]

FORMAT: Final = "dialogauge replay items 1"


@dataclass(frozen=True, slots=True)
class ReplayItem:
    """One frozen state: everything before a reply that a user has rated. It holds no text."""

    id: str
    """The published form of the turn's id, `{conversation}__turn_{i}`."""
    conversation: str
    block: str
    """`{user}__{scenario}`."""
    user: str
    scenario: str
    position: int
    """The 0-based index of the reply among the conversation's assistant messages."""
    gold: float
    """What the user gave the original reply."""
    state: str
    """The digest of the messages before the reply."""
    weight: float | None = None
    """What the rule `hard` chose it by."""
    reasons: tuple[str, ...] = ()
    """What that weight is made of."""


@dataclass(frozen=True, slots=True)
class ItemSet:
    """The chosen turns, how they were chosen, and where the conversations are."""

    items: tuple[ReplayItem, ...]
    rule: str
    seed: int
    data: Mapping[str, Any]
    """How to read the conversations again: inputs, format, field map, ratings, dimension, part, split."""
    card: Mapping[str, Any]
    """The data card."""

    @property
    def digest(self) -> str:
        """Changes with any turn or any message before one; their order makes no difference."""
        return digest([[i.id, i.state] for i in sorted(self.items, key=lambda i: i.id)])

    def to_json(self) -> dict[str, Any]:
        """Write the set as its file holds it."""
        return {
            "format": FORMAT,
            "digest": self.digest,
            "rule": self.rule,
            "seed": self.seed,
            "card": dict(self.card),
            "data": dict(self.data),
            "items": [{**asdict(i), "reasons": list(i.reasons)} for i in self.items],
        }


def read_items(path: Path) -> ItemSet:
    """Read a file that `replay select` wrote.

    Raises:
        FileFault: It cannot be read, or holds something else, or an item twice.
    """
    hint = "`dialogauge replay select DATA -o FILE` writes such a file"
    try:
        raw = orjson.loads(path.read_bytes())
        if not isinstance(raw, dict) or raw.get("format") != FORMAT:
            msg = "this is no item set of a replay benchmark"
            raise FileFault(msg, place=Place(str(path)), hint=hint)
        items = tuple(_item(entry) for entry in raw["items"])
        found = ItemSet(items, raw["rule"], raw["seed"], raw["data"], raw["card"])
        told = raw["digest"]
    except OSError as error:
        msg = f"the item set cannot be read: {error.strerror}"
        raise FileFault(msg, place=Place(str(path)), hint=hint) from error
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, FileFault):
            raise
        msg = f"the item set is damaged: {type(error).__name__}: {error}"
        raise FileFault(msg, place=Place(str(path)), hint=hint) from error
    _check(found, str(told), path)
    return found


def _item(entry: Mapping[str, Any]) -> ReplayItem:
    return ReplayItem(**{**entry, "reasons": tuple(entry["reasons"])})


def _check(found: ItemSet, told: str, path: Path) -> None:
    twice = _twice([i.id for i in found.items])
    if twice is not None:
        msg = f"the item {twice!r} is in the set twice"
        raise FileFault(msg, place=Place(str(path)), hint="select anew")
    if found.digest != told:
        msg = "the items are not those that the file's digest was made of"
        raise FileFault(msg, place=Place(str(path)), hint="it was changed by hand: select anew")


def _twice(ids: Sequence[str]) -> str | None:
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            return name
        seen.add(name)
    return None
