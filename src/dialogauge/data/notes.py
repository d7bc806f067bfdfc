"""What a loader recognised and what it assumed, counted instead of printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dialogauge.core import Place, RecordFault

__all__ = ["Note", "NoteBook", "NoteKind"]

NoteKind = Literal["recognised", "assumed"]

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that a loader has to say about what it read."""

    kind: NoteKind
    """`recognised`: follows from the format. `assumed`: may be wrong; `strict` raises it."""
    text: str
    """Reads on from the count: `87` `conversations have two messages of one role in a row`."""
    count: int
    examples: tuple[Place, ...] = ()
    """The first places, three at most."""

    def __str__(self) -> str:
        """Write count and text, and where it was seen first."""
        text = f"{self.count:,} {_singular(self.text) if self.count == 1 else self.text}"
        if not self.examples:
            return text
        more = ", ..." if self.count > 1 else ""
        return f"{text} (e.g. {self.examples[0]}{more})"

    def to_json(self) -> dict[str, Any]:
        """Return the note as plain JSON values."""
        return {
            "kind": self.kind,
            "text": self.text,
            "count": self.count,
            "examples": [str(p) for p in self.examples],
        }


def _singular(text: str) -> str:
    noun, _, rest = text.partition(" ")
    return f"{noun.removesuffix('s')} {rest.replace('have ', 'has ', 1)}"


class NoteBook:
    """Gathers notes while files are read: one per text, with a count and the first places."""

    def __init__(self, *, strict: bool = False) -> None:
        """With `strict` the first assumption is raised instead of noted."""
        self.strict = strict
        self._seen: dict[tuple[NoteKind, str], tuple[int, list[Place]]] = {}

    def recognise(self, text: str, place: Place | None = None, *, count: int = 1) -> None:
        """Note something that follows from the format."""
        self._add("recognised", text, place, count)

    def assume(self, text: str, place: Place | None = None, *, hint: str | None = None) -> None:
        """Note something that may be wrong; raise it as a `RecordFault` when strict."""
        if self.strict:
            msg = f"strict reading refuses what has to be assumed: {text}"
            raise RecordFault(msg, place=place, hint=hint or "mend the data or read it without strict")
        self._add("assumed", text, place, 1)

    @property
    def notes(self) -> tuple[Note, ...]:
        """All notes so far: what was recognised, then what was assumed, each in order of appearance."""
        kinds: tuple[NoteKind, ...] = ("recognised", "assumed")
        return tuple(
            Note(kind, text, count, tuple(places))
            for wanted in kinds
            for (kind, text), (count, places) in self._seen.items()
            if kind == wanted
        )

    def _add(self, kind: NoteKind, text: str, place: Place | None, count: int) -> None:
        before, places = self._seen.get((kind, text), (0, []))
        if place is not None and len(places) < _EXAMPLES:
            places.append(place)
        self._seen[kind, text] = (before + count, places)
