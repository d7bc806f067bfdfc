"""Two runs as a comparison reads them: their rows in one table, added up by conversation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dialogauge.core import Conversation, DimensionSpec, digest_text
from dialogauge.core.json_keys import keys
from dialogauge.stats import Floats, divided, reply_length
from dialogauge.stats.reading import table_of
from dialogauge.stats.rows import LEVELS, Labels, Row, Table
from dialogauge.stats.table import Codes, Mask

LENGTH: Final = "reply length"
TURNS: Final = "turns"
FAILED: Final = "failed"
"""The share of the judgements that failed."""
OF_TURNS: Final = " of turns"
"""Behind the name of a dimension that people rated turn by turn."""

Sums = Floats
"""Shape (5, conversations): of one figure, over turns and repeats, the sum of the values, each times its
weight; how many there are; for how many targets they stand; n/a; and failures."""
Ratings = Mapping[str, Sequence[tuple[float, float | None]]]
"""By dimension that people rated, `quality` and `quality of turns`: scores, each with its weight."""


@dataclass(frozen=True, slots=True, eq=False)
class Talks:
    """The conversations of the first run and then of the second, in columns, shape (n,) each.

    Several candidates of one id are several conversations.
    """

    names: Mapping[str, Sequence[str | None]]
    """`id`, `user`, `scenario`, `language`; `opening`, the digest of the first message of the user; `task` of
    an agent, which is often run several times; and the `verdict` of the first repeat."""
    kinds: Mapping[str, Mask]
    """By kind of finding which have one, in the first repeat."""
    ratings: Sequence[Ratings]
    judged: Mask
    qualities: Floats
    """Mean over the dimensions, 0 worst and 1 best; NaN where nothing was scored."""
    scores: Mapping[str, Sums]
    """By dimension of the rubric."""
    facts: Mapping[str, Sums]
    """Characters of each reply, turns, and failed judgements."""

    def having(self, *kinds: str) -> Mask:
        """Say of each whether it has a finding of one of some kinds."""
        out = np.zeros(self.judged.size, dtype=np.bool_)
        for kind in kinds:
            out |= self.kinds.get(kind, False)
        return out


@keys(name="run", finds=None)
@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two runs."""

    name: str
    finds: bool
    """Whether the judge names kinds of findings."""
    conversations: int
    unread: int
    """Records that could not be read, and units that are not done."""
    failures: Mapping[str, int]
    """Failed targets by kind."""
    compared: int = 0
    """Conversations."""
    left_out: int = 0
    """Those that have no partner in the other run."""


def sums_of(talks: Codes, values: Floats, size: int, weights: Floats | None = None) -> Sums:
    """Add values up by conversation.

    Args:
        talks: Shape (n,): the place of the conversation that each is of.
        values: Shape (n,): infinite where a figure does not apply, NaN where it is missing.
        size: How many conversations there are.
        weights: Shape (n,): for how many targets each stands; None for one.
    """
    numbers, weights = np.isfinite(values), np.ones(values.size) if weights is None else weights
    return np.stack(
        [
            np.bincount(talks[numbers], (weights * values)[numbers], size),
            np.bincount(talks[numbers], None, size),
            np.bincount(talks[numbers], weights[numbers], size),
            np.bincount(talks[np.isposinf(values)], None, size),
            np.bincount(talks[np.isnan(values)], None, size),
        ]
    )


def read_sides(
    runs: Sequence[tuple[str, Iterable[tuple[Conversation, Sequence[Row]]], int]],
    dimensions: Sequence[DimensionSpec],
) -> tuple[list[Side], Talks]:
    """Read the conversations of two runs with their rows; of each only figures are kept.

    Args:
        runs: Of each the name, its conversations with their rows, and how many records and units are missing.
        dimensions: Of the rubric of both.
    """
    names = {what: list[str | None]() for what in ("id", "user", "scenario", "language", "opening")}
    ratings = list[Ratings]()
    turns, lengths = list[int](), list[int]()
    counts = list[tuple[int, int]]()
    """Of each conversation the rows and the replies."""
    sizes = list[int]()
    """Conversations of each run."""

    def passing() -> Iterator[Row]:
        for _, judged, _ in runs:
            begun = len(ratings)
            for talk, rows in judged:
                opening = digest_text(next((m.text for m in talk.messages if m.role == "user"), ""))
                values = (talk.id, talk.user_id, talk.scenario, talk.language, opening)
                for column, value in zip(names.values(), values, strict=True):
                    column.append(value)
                replies = [reply_length(turn.reply_text) for turn in talk.turns if turn.has_reply]
                lengths.extend(replies)
                turns.append(len(talk.turns))
                counts.append((len(rows), len(replies)))
                ratings.append(_ratings(talk))
                yield from rows
            sizes.append(len(ratings) - begun)

    table = table_of(passing())
    size, every, first = len(ratings), np.arange(len(ratings)), table.repeat == 1
    rows_each, replies_each = np.array(counts, dtype=np.intp).reshape(-1, 2).T
    talk_of = np.repeat(every, rows_each)

    backward = np.arange(table.n)[::-1]
    verdicts = _latest(table.column("verdict"), np.flatnonzero(first), talk_of, size)
    tasks = _latest(table.column("task"), backward, talk_of, size)
    spoken = _latest(table.language, backward, talk_of, size)
    languages = [of_data or of_judge for of_data, of_judge in zip(names["language"], spoken, strict=True)]
    findings = table.entries["finding"].only(first[table.entries["finding"].rows])
    kinds = {
        kind: np.bincount(talk_of[findings.of(kind).rows], minlength=size) > 0 for kind in findings.names
    }
    talks = Talks(
        {**names, "language": languages, "task": tasks, "verdict": verdicts},
        kinds,
        ratings,
        np.bincount(talk_of[~table.failed], minlength=size) > 0,
        *_scored(table, talk_of, size, dimensions),
        {
            LENGTH: sums_of(np.repeat(every, replies_each), np.array(lengths, dtype=np.float64), size),
            TURNS: sums_of(every, np.array(turns, dtype=np.float64), size),
            FAILED: sums_of(talk_of, table.failed.astype(np.float64), size),
        },
    )
    sides, failures = [], table.entries["failure"]
    for (name, _, unread), size, low in zip(runs, sizes, (0, sizes[0]), strict=True):
        here = (talk_of >= low) & (talk_of < low + size)
        finds = bool((table.listed & first & here).any())
        sides.append(Side(name, finds, size, unread, failures.only(here[failures.rows]).tally()))
    return sides, talks


def _scored(
    table: Table, talk_of: Codes, size: int, dimensions: Sequence[DimensionSpec]
) -> tuple[Floats, dict[str, Sums]]:
    """Return by conversation the mean quality over the dimensions, and the sums of each."""
    scores, qualities = dict[str, Sums](), np.full((len(dimensions), size), np.nan)
    for d, quality in zip(dimensions, qualities, strict=True):
        here = table.levels == LEVELS.index(d.level)
        scores[d.name] = sums_of(talk_of[here], table.counted(d.name)[here], size)
        means = divided(*scores[d.name][:2]).tolist()
        quality[:] = [math.nan if math.isnan(mean) else d.scale.quality(mean) for mean in means]
    return divided(np.nansum(qualities, axis=0), (~np.isnan(qualities)).sum(axis=0)), scores


def _latest(column: Labels, rows: Codes, talk_of: Codes, size: int) -> list[str | None]:
    """Return by conversation the name in the last of some rows that has one."""
    rows, codes = rows[column.codes[rows] >= 0], np.full(size, -1, dtype=np.int32)
    codes[talk_of[rows]] = column.codes[rows]
    return Labels(codes, column.names).list()


def _ratings(talk: Conversation) -> Ratings:
    out: dict[str, list[tuple[float, float | None]]] = {}
    for rating in talk.ratings:
        if not isinstance(rating.score, str):
            what = rating.dimension + ("" if rating.turn is None else OF_TURNS)
            out.setdefault(what, []).append((rating.score, rating.weight))
    return out
