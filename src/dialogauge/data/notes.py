"""Notes and faults of readers: what they recognised, assumed and refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal

from dialogauge.core import FileFault, Place, RecordFault
from dialogauge.core.json_keys import keys
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NOT_FINITE = re.compile(rb"[:\[,]\s*-?(NaN|Infinity)\b")


def file_fault(place: Place, message: str, hint: str | None = None) -> FileFault:
    """Return the fault of a whole file."""
    return FileFault(message, place=place, hint=hint)


def record_fault(place: Place, message: str, hint: str | None = None) -> RecordFault:
    """Return the fault of one record."""
    return RecordFault(message, place=place, hint=hint)


NAMED: Final = 1000
"""So many unreadable records are named one by one."""
UNNAMED: Final = RecordFault(f"one more record that cannot be read, beyond the first {NAMED:,}")
"""Stands for each of the others: a file may hold millions."""
LONGEST: Final = 10 << 20
"""Characters of a conversation at most, with `MESSAGE` for each message: far beyond what any model reads."""
MESSAGE: Final = 1 << 10


def too_long(place: Place) -> RecordFault:
    """Return the fault of a conversation that is longer than `LONGEST`, with `MESSAGE` for each message."""
    message = (
        f"the conversation is longer than {LONGEST >> 20} million characters, where each message counts as "
        f"{MESSAGE:,} more"
    )
    return record_fault(place, message, "it is left out: is it several in one?")


def excerpt(value: object, limit: int = 40) -> str:
    """Return the repr of a value for a message, cut to `limit` characters."""
    try:
        text = repr(value)
    except RecursionError:
        return "something nested too deep to be shown"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def json_hint(line: bytes, error: str) -> str | None:
    """Return a guess why a line is not one JSON value."""
    text = line.strip()
    tests = (
        (_NOT_FINITE.search(text) is not None, "NaN and Infinity are not JSON: write null"),
        (text.startswith((b"{'", b"[{'")), "looks like a printed Python dict: write it with json.dumps"),
        (text.endswith(b","), "one JSON object per line without commas between them, or one JSON array"),
        (
            text.startswith(b"[") and not text.endswith(b"]"),
            "looks like a JSON array over several lines: give it a file of its own",
        ),
        (not text.startswith((b"{", b"[")), "one JSON object per line is expected"),
        (
            "unexpected end" in error or "control character" in error,
            "the line ends in the middle of a value: truncated, or with a raw line break in a text?",
        ),
    )
    return next((hint for fits, hint in tests if fits), None)


_FRESH = 1 << 16
_LINE_BITS = 44
_MASK = (1 << 64) - 1
_MARKS = 1 << 22


class IdPlaces:
    """A growing map from ids to their first places.

    It stores the hash of an id (64 bits) and its place (64 bits: file number and line), so ten million ids
    take 160 MB. Two ids collide with a probability of about n^2 / 2^65: 3e-6 for ten million. New ids wait
    in a dict and move to sorted arrays in batches of 65,536; arrays of equal size are merged, so there are
    at most log2(n / 65,536). Marks by the low bits of the hashes rule out most searches.
    """

    def __init__(self) -> None:
        self._fresh: dict[int, int] = {}
        self._runs: list[tuple[NDArray[np.uint64], NDArray[np.uint64]]] = []
        self._marks = bytearray()

    def add(self, name: str, file: int, line: int) -> tuple[int, int] | None:
        """Add an id; return (file number, line) of its first place if it is not new."""
        key = hash(name) & _MASK
        place = self._fresh.get(key)
        if place is None and self._runs and self._marks[key % _MARKS]:
            place = self._find(key)
        if place is not None:
            return place >> _LINE_BITS, place & ((1 << _LINE_BITS) - 1)
        self._fresh[key] = file << _LINE_BITS | line
        if len(self._fresh) >= _FRESH:
            import numpy as np

            if not self._marks:
                self._marks = bytearray(_MARKS)
            keys = np.fromiter(self._fresh.keys(), np.uint64, len(self._fresh))
            places = np.fromiter(self._fresh.values(), np.uint64, len(self._fresh))
            self._fresh = {}
            np.frombuffer(self._marks, np.uint8)[keys % np.uint64(_MARKS)] = 1
            while self._runs and len(self._runs[-1][0]) <= len(keys):
                older = self._runs.pop()
                keys, places = np.concatenate((older[0], keys)), np.concatenate((older[1], places))
            order = keys.argsort()
            self._runs.append((keys[order], places[order]))
        return None

    def _find(self, key: int) -> int | None:
        import numpy as np

        target = np.uint64(key)
        for hashes, places in self._runs:
            at = int(hashes.searchsorted(target))
            if at < len(hashes) and hashes[at] == target:
                return int(places[at])
        return None


NoteKind = Literal["recognised", "assumed"]

_EXAMPLES = 3


@keys(examples=None, places="examples", left_out="left_out?")
class Note(Value):
    """What was recognised or assumed of the input."""

    kind: NoteKind
    """`recognised`: follows from the format. `assumed`: may be wrong; an error with `strict`."""
    text: str
    """Reads on from the count: `87` `conversations have consecutive messages of one role`."""
    count: int
    examples: tuple[Place, ...] = ()
    """The first places, three at most."""
    left_out: str = ""
    """What of the input it counts as left out: `messages`, `records` ..."""

    @property
    def reason(self) -> str:
        """Why that was left out."""
        return self.text.removeprefix(f"{self.left_out} {_LEFT_OUT}")

    def __str__(self) -> str:
        """Return count, text and first place."""
        text = f"{self.count:,} {_singular(self.text) if self.count == 1 else self.text}"
        if not self.examples:
            return text
        more = ", ..." if self.count > 1 else ""
        return f"{text} (e.g. {self.examples[0]}{more})"

    @property
    def places(self) -> list[str]:
        """The first places."""
        return [str(place) for place in self.examples]


_LEFT_OUT: Final = "were left out: "


def _singular(text: str) -> str:
    noun, _, rest = text.partition(" ")
    rest = _PLURAL.sub(lambda verb: _SINGULAR[verb[0]], rest, count=1)
    one = f"{noun.removesuffix('ies')}y" if noun.endswith("ies") else noun.removesuffix("s")
    return f"{one} {rest}"


_SINGULAR: Final = {"have": "has", "were": "was", "are": "is"}
_PLURAL: Final = lazy_pattern(r"\b(have|were|are)\b")


def left_out_of(notes: Iterable[object]) -> dict[str, dict[str, int]]:
    """Return how much of what was left out, by reason, as far as notes count it."""
    out: dict[str, dict[str, int]] = {}
    for note in notes:
        if isinstance(note, Note) and note.left_out:
            out.setdefault(note.left_out, {})[note.reason] = note.count
    return out


class NoteBook:
    """Collects notes: one per text, with a count and the first places."""

    def __init__(self, *, strict: bool = False) -> None:
        """With `strict`, the first assumption is an error."""
        self.strict = strict
        self._counts: dict[tuple[NoteKind, str, str], tuple[int, list[Place]]] = {}

    def recognise(self, text: str, place: Place | None = None, *, count: int = 1) -> None:
        """Note something that follows from the format."""
        self._add(("recognised", text, ""), place, count)

    def leave_out(
        self,
        reason: str,
        place: Place | None = None,
        *,
        count: int = 1,
        what: str = "messages",
        assumed: bool = False,
    ) -> None:
        """Count and note what of the input is left out, and why; with `strict`, raise what is assumed."""
        text = f"{what} {_LEFT_OUT}{reason}"
        if assumed and self.strict:
            self.assume(text, place)
        self._add(("assumed" if assumed else "recognised", text, what), place, count)

    def assume(self, text: str, place: Place | None = None, *, hint: str | None = None) -> None:
        """Note something that may be wrong; with `strict`, raise it as a `RecordFault`."""
        if self.strict:
            msg = f"strict reading refuses what has to be assumed: {text}"
            raise RecordFault(msg, place=place, hint=hint or "mend the data or read it without strict")
        self._add(("assumed", text, ""), place, 1)

    @property
    def notes(self) -> tuple[Note, ...]:
        """All notes: first `recognised`, then `assumed`, each in order of appearance."""
        kinds: tuple[NoteKind, ...] = ("recognised", "assumed")
        return tuple(
            Note(kind, text, count, tuple(places), left_out)
            for group in kinds
            for (kind, text, left_out), (count, places) in self._counts.items()
            if kind == group
        )

    def _add(self, key: tuple[NoteKind, str, str], place: Place | None, count: int) -> None:
        before, places = self._counts.get(key, (0, []))
        if place is not None and len(places) < _EXAMPLES:
            places.append(place)
        self._counts[key] = (before + count, places)
