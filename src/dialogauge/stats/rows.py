"""The table of rows: what a run came to, in columns; every figure is an expression over it.

A row is what a judge gave one target once. Its columns are arrays of shape (n,): names as numbers with the
list of names beside them, scores as floats. What few rows have (findings, failures, verdicts, labels) stands
as entries, each with the row it belongs to. No text of a conversation is kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import Level, Scale, Usage
from dialogauge.stats.estimate import Estimate
from dialogauge.stats.means import mean_of_sums
from dialogauge.stats.table import Codes, Floats, Mask

Row = Mapping[str, Any]
Numbers = npt.NDArray[np.int32]

WHOSE: Final = ("conversation_id", "candidate", "user_id", "scenario", "item")
"""Columns that hold of a whole dialogue."""
ENTRIES: Final = (
    "failure",
    "message",
    "verdict",
    "basis",
    "weakest_turn",
    "class",
    "label",
    "option",
    "model_verdict",
    "task",
    "finding",
    "reason",
    "mark",
    "difference",
    "rating",
    "rating_name",
    "weight",
)
"""What only some rows have."""
LEVELS: Final[tuple[Level, ...]] = ("turn", "window", "conversation", "pair")
SCORED, LISTED, ORDERED, ANSWERED = 1, 2, 4, 8
"""What is noted of a row, as bits of `flags`."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """A column of names."""

    codes: Numbers
    """Shape (n,), the place of each name in `names`; -1 where there is none."""
    names: tuple[str, ...]

    def __getitem__(self, at: int) -> str | None:
        """Return the name of one row."""
        code = int(self.codes[at])
        return None if code < 0 else self.names[code]

    def mask(self, name: str | None) -> Mask:
        """Say of each row whether it has this name; None asks for those without any."""
        code = -1 if name is None else self.names.index(name) if name in self.names else -2
        return np.asarray(self.codes == code)

    def take(self, index: Codes | Numbers | Mask) -> Labels:
        """Return the column of some rows."""
        return Labels(self.codes[index], self.names)

    def counts(self) -> dict[str, int]:
        """Return how often each name stands there, in the order in which they first came."""
        sizes = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        return {name: int(n) for name, n in zip(self.names, sizes.tolist(), strict=True) if n}

    def list(self) -> list[str | None]:
        """Return the names, row by row."""
        names = (*self.names, None)
        return [names[code] for code in self.codes.tolist()]


def labels_of(names: Iterable[object]) -> Labels:
    """Return a column of names, in which None is none."""
    known: dict[object, int] = {}
    codes = [-1 if name is None else known.setdefault(name, len(known)) for name in names]
    return Labels(np.array(codes, dtype=np.int32), tuple(str(name) for name in known))


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """What some rows have, one entry each or several; in the order of the rows."""

    rows: Numbers
    """Shape (k,): to which row each belongs."""
    codes: Numbers
    """Shape (k,): what it is, as its place in `names`."""
    numbers: Floats
    """Shape (k,): how much, or how strong; 1 where nothing is said."""
    names: tuple[Any, ...]

    def take(self, places: Numbers) -> Entries:
        """Return those of some rows; `places` is the new number of each row, -1 where it is left out."""
        rows = places[self.rows]
        kept = rows >= 0
        return Entries(rows[kept], self.codes[kept], self.numbers[kept], self.names)

    def only(self, kept: Mask) -> Entries:
        """Return some of them."""
        return Entries(self.rows[kept], self.codes[kept], self.numbers[kept], self.names)

    def of(self, name: Hashable) -> Entries:
        """Return those of one name."""
        return self.only(self.codes == (self.names.index(name) if name in self.names else -1))

    def labels(self, n: int) -> Labels:
        """Return them as a column of n rows; of several in a row the last counts."""
        codes = np.full(n, -1, dtype=np.int32)
        codes[self.rows] = self.codes
        return Labels(codes, self.names)

    def counts(self) -> dict[Any, int]:
        """Return the sum of the numbers by name, in the order in which names first came."""
        sums = np.bincount(self.codes, self.numbers, minlength=len(self.names))
        seen = np.bincount(self.codes, minlength=len(self.names))
        return {name: int(s) for name, s, k in zip(self.names, sums.tolist(), seen, strict=True) if k}

    def tally(self) -> dict[Any, int]:
        """Return how many there are by name, in the order in which names first came."""
        seen = np.bincount(self.codes, minlength=len(self.names)).tolist()
        return {name: n for name, n in zip(self.names, seen, strict=True) if n}

    def among(self, rows: Sequence[int]) -> tuple[list[int], list[int], list[float]]:
        """Return row, code and number of those of a few rows."""
        kept = np.isin(self.rows, rows)
        return self.rows[kept].tolist(), self.codes[kept].tolist(), self.numbers[kept].tolist()


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The scores of the rows that score the same dimensions."""

    rows: Numbers
    """Shape (k,)."""
    scores: Floats
    """Shape (k, dimensions): infinite where a dimension does not apply, NaN where there is no score."""

    def take(self, places: Numbers) -> Block:
        """Return those of some rows; `places` as of `Entries.take`."""
        rows = places[self.rows]
        kept = rows >= 0
        return Block(rows[kept], self.scores[kept])


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """What goes together."""

    of: Codes
    """Shape (n,), from 0."""
    unit: str
    """What a cluster is, as messages say it."""
    users: int | None
    """Those that are known; None without any."""


def clusters_among(users: Numbers, conversations: Numbers, absent: Mask | None = None) -> Clusters:
    """Return what goes together, by the rule of `cluster_labels`.

    Args:
        users: Shape (n,), their numbers; -1 where one is not known.
        conversations: Shape (n,), their numbers.
        absent: Shape (n,), those in which nothing was asked: they may name no user.
    """
    known = users >= 0
    n = int(np.unique(users[known]).size)
    every = bool((known if absent is None else known | absent).all())
    if n + (not every) < 2 or not n:
        return Clusters(conversations.astype(np.intp), "conversations", n or None)
    labels = np.where(known, users, users.max() + 1 + conversations)
    _, codes = np.unique(labels, return_inverse=True)
    return Clusters(codes, "users" if every else "users and conversations", n)


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a run, in columns; see the head of this file."""

    dialogue: Numbers
    """Shape (n,): the number of the dialogue, a conversation of one candidate, that each row is of."""
    turn: Numbers
    """Shape (n,): the turn that was judged; -1 of a row that is of none."""
    repeat: Numbers
    """Shape (n,): from 1."""
    levels: npt.NDArray[np.uint8]
    """Shape (n,): the place of each row's level in `LEVELS`."""
    flags: npt.NDArray[np.uint8]
    language: Labels
    whose: Mapping[str, Labels]
    """Shape (dialogues,): by `WHOSE` what holds of a whole dialogue."""
    scores: Mapping[tuple[str, ...], Block]
    """By the dimensions that rows score, in the order in which they do."""
    wholes: Mapping[tuple[str, ...], Block]
    """The judge's own whole scores likewise, where it gives some beside its scores."""
    entries: Mapping[str, Entries]
    """By `ENTRIES` what some rows have."""
    used: Usage
    """What the calls of all rows took, also of those that `where` leaves out."""
    used_by_role: Mapping[str, Usage]

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.dialogue)

    # Columns ---------------------------------------------------------------------------------------------

    def column(self, name: str) -> Labels:
        """Return a column of names: one of `WHOSE`, `level`, `language`, or the last entry of each row."""
        if name in self.whose:
            return self.whose[name].take(self.dialogue)
        if name == "language":
            return self.language
        if name == "level":
            return Labels(self.levels.astype(np.int32), LEVELS)
        return self.entries[name].labels(self.n)

    def value(self, dimension: str) -> Floats:
        """Return what rows score in a dimension, shape (n,); NaN where that is no number."""
        return _numbers(self._dense(self.scores, dimension))

    def whole(self, dimension: str) -> Floats:
        """Return what counts and means are made of: the whole score where there is one, else the value."""
        return _numbers(self.counted(dimension))

    def not_applicable(self, dimension: str) -> Mask:
        """Say of each row whether the dimension does not apply, shape (n,)."""
        return np.isposinf(self.counted(dimension))

    @cached_property
    def failed(self) -> Mask:
        """Say of each row whether there is a failure in place of a judgement, shape (n,)."""
        return self.entries["failure"].labels(self.n).codes >= 0

    @cached_property
    def absent(self) -> Mask:
        """Say of each row whether the run that it is of failed at its source: nothing was asked of it."""
        return self.column("failure").mask("absent")

    @property
    def scored(self) -> Mask:
        """Say of each row whether it holds a score or n/a, shape (n,)."""
        return (self.flags & SCORED) > 0

    @property
    def answered(self) -> Mask:
        """Say of each row whether its judge answered, be it with no score, shape (n,)."""
        return (self.flags & ANSWERED) > 0

    @property
    def listed(self) -> Mask:
        """Say of each row whether its judge lists findings, be it none."""
        return (self.flags & LISTED) > 0

    @property
    def ordered(self) -> Mask:
        """Say of each row whether a model ordered it, beside what was found in it."""
        return (self.flags & ORDERED) > 0

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Whatever some row scores."""
        return tuple(dict.fromkeys(name for names in (*self.scores, *self.wholes) for name in names))

    def counted(self, dimension: str) -> Floats:
        """Return the same as `whole`, but infinite where the dimension does not apply."""
        own = self._dense(self.wholes, dimension)
        return np.where(np.isnan(own), self._dense(self.scores, dimension), own)

    def _dense(self, blocks: Mapping[tuple[str, ...], Block], dimension: str) -> Floats:
        out = np.full(self.n, np.nan)
        for names, block in blocks.items():
            if dimension in names:
                out[block.rows] = block.scores[:, names.index(dimension)]
        return out

    # Some of the rows ------------------------------------------------------------------------------------

    def where(self, kept: Mask | None = None, /, **names: str | int | None) -> Table:
        """Return some of the rows: those of a mask, shape (n,), or those of a name in a column.

        Args:
            kept: Which rows.
            names: `turn` and `repeat` take a number, any other column a name; None asks for those without.
        """
        mask = np.ones(self.n, dtype=np.bool_) if kept is None else kept.copy()
        for name, value in names.items():
            if name in ("turn", "repeat"):
                mask &= getattr(self, name) == (-1 if value is None else value)
            else:
                mask &= self.column(name).mask(None if value is None else str(value))
        if mask.all():
            return self
        return self.take(np.flatnonzero(mask))

    def at(self, level: Level) -> Table:
        """Return the rows of one level."""
        return self.take(np.flatnonzero(self.levels == LEVELS.index(level)))

    def take(self, index: Codes) -> Table:
        """Return some of the rows by their numbers, which rise."""
        places = np.full(self.n, -1, dtype=np.int32)
        places[index] = np.arange(index.size, dtype=np.int32)
        return replace(
            self,
            dialogue=self.dialogue[index],
            turn=self.turn[index],
            repeat=self.repeat[index],
            levels=self.levels[index],
            flags=self.flags[index],
            language=self.language.take(index),
            scores={names: block.take(places) for names, block in self.scores.items()},
            wholes={names: block.take(places) for names, block in self.wholes.items()},
            entries={name: entries.take(places) for name, entries in self.entries.items()},
        )

    def by(self, column: str) -> Iterator[tuple[str, Table]]:
        """Yield the rows of each name in a column, in the order in which names first come."""
        codes, names = self.column(column).codes, self.column(column).names
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
        for name, low, high in zip(names, ends[:-1], ends[1:], strict=True):
            if low < high:
                yield name, self.take(order[low:high])

    # What goes together ----------------------------------------------------------------------------------

    @cached_property
    def dialogues(self) -> DialogueRows:
        """The dialogues that the rows are of."""
        return DialogueRows(*np.unique(self.dialogue, return_index=True, return_inverse=True))

    @cached_property
    def clusters(self) -> Clusters:
        """What goes together of the dialogues: those of one user where known, else of one conversation.

        As in `cluster_labels`, dialogues of one user alone are clustered by conversation. Those in which
        nothing was asked may name no user.
        """
        present = self.dialogues
        users, ids = (self.whose[name].codes[present.numbers] for name in ("user_id", "conversation_id"))
        return clusters_among(users, ids, present.every(self.absent))

    # Figures ---------------------------------------------------------------------------------------------

    def mean(self, dimension: str, scale: Scale) -> Estimate:
        """Return the mean of a dimension with a clustered interval; over nothing it is None with n = 0.

        Failures and n/a take no part.
        """
        values = self.whole(dimension)
        rows = np.flatnonzero(~np.isnan(values))
        of = self.clusters.of[self.dialogues.of[rows]]
        sums, counts = np.bincount(of, values[rows]).astype(np.float64), np.bincount(of)
        return mean_of_sums(sums, counts, limits=(scale.low, scale.high), unit=self.clusters.unit)


@dataclass(frozen=True, slots=True, eq=False)
class DialogueRows:
    """The dialogues of a table."""

    numbers: Numbers
    """Shape (k,): their numbers in the run, rising."""
    first: Codes
    """Shape (k,): the first row of each."""
    of: Codes
    """Shape (n,): the place of each row's dialogue among the k."""

    @property
    def size(self) -> int:
        """How many."""
        return len(self.numbers)

    def count(self, rows: Mask) -> Codes:
        """Return how many of some rows each dialogue has, shape (k,); the mask has shape (n,)."""
        return np.bincount(self.of[rows], minlength=self.size)

    def any(self, rows: Mask) -> Mask:
        """Say of each dialogue whether it has one of some rows."""
        return np.asarray(self.count(rows) > 0)

    def every(self, rows: Mask) -> Mask:
        """Say of each dialogue whether it has no other than some rows."""
        return ~self.any(~rows)


def _numbers(scores: Floats) -> Floats:
    scores[np.isinf(scores)] = np.nan
    return scores
