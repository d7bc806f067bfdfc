"""What the checks read of the table of a run: figures of its conversations, and a sample of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

import numpy as np

from dialogauge.core import NOT_APPLICABLE, ONE_TO_FIVE, DimensionSpec, digest_text
from dialogauge.core.values import Value
from dialogauge.stats import Estimate, cluster_labels, divided, mean_estimate
from dialogauge.stats.rows import LEVELS, Numbers, Table, clusters_among
from dialogauge.stats.table import Codes, Floats, Mask

NEAR: Final = 0.125 + 1e-9
"""Half a point of a scale of 1 to 5."""
LONG: Final = 10
"""A conversation of more scored turns is long."""
SHORT: Final = 3
"""One of fewer says nothing of whether scores vary."""
_IDENTICAL_KEPT = 50


@dataclass(frozen=True, slots=True)
class Sampled:
    """Of a sampled conversation what the checks of texts need."""

    conversation_id: str
    candidate: str | None
    helpfulness: Mapping[int, float]
    """Turn to score."""
    repair: float | str | None
    """The score, `n/a`, or None where there is none."""


class Seen(Value):
    """Of how many conversations something holds."""

    n: int
    hits: int
    share: Estimate
    """Clustered by users where they are known."""

    @classmethod
    def of(cls, holds: Mask, users: Numbers, conversations: Numbers) -> Seen:
        """Take it of each conversation; users and conversations are numbers, -1 of an unknown user."""
        clusters = clusters_among(users, conversations)
        share = mean_estimate(holds.astype(np.float64), clusters.of.tolist(), unit=clusters.unit)
        return cls(holds.size, int(holds.sum()), share)

    @classmethod
    def of_each(cls, seen: Sequence[tuple[str | None, str, bool]]) -> Seen:
        """Take it of user, conversation and whether it holds, one after the other."""
        labels, unit = cluster_labels([user for user, _, _ in seen], [id for _, id, _ in seen])
        holds = [float(it) for *_, it in seen]
        return cls(len(seen), int(sum(holds)), mean_estimate(holds, labels, unit=unit))


@dataclass(frozen=True, slots=True, eq=False)
class TrustFigures:
    """What the checks read of the table of a run."""

    turn: Mapping[str, DimensionSpec]
    whole: Mapping[str, DimensionSpec]
    helpful_name: str
    range_of_helpful: tuple[float, float]
    pairs: Floats
    """Shape (conversations whose turns differ, 2): mean of the whole, mean of the turns, on 0..1."""
    near: Seen
    """Of the same conversations: whether the two are half a point of a scale of 1 to 5 apart at most."""
    mismatched: Seen
    """Of the model's own verdicts: whether it is not the computed one."""
    decided: bool
    """Whether any turn or conversation has a verdict, or a class of the rubric's own."""
    identical: Mapping[str, Seen]
    """Conversations with enough scored turns, `long` and `short`: whether all turns are scored alike."""
    sampled: tuple[Sampled, ...]
    """By the digest of their id."""
    alike: tuple[tuple[str, str | None], ...]
    """Some of the long conversations whose turns are all scored alike: id and candidate."""


def trust_figures(rows: Table, dimensions: Sequence[DimensionSpec], *, sample: int) -> TrustFigures:
    """Read the figures that the checks stand on; of repeats the first counts.

    Args:
        rows: Of a run.
        dimensions: Of the rubric.
        sample: How many conversations the checks of texts may read.
    """
    turn = {d.name: d for d in dimensions if d.level == "turn"}
    whole = {d.name: d for d in dimensions if d.level == "conversation"}
    helpful = "helpfulness" if "helpfulness" in turn else next(iter(turn), None)
    scale = turn[helpful].scale if helpful else ONE_TO_FIVE
    table = rows.where(repeat=1)
    dialogues, size = table.dialogues, table.dialogues.size
    users, ids = (table.whose[name].codes[dialogues.numbers] for name in ("user_id", "conversation_id"))

    at_turn = np.flatnonzero(table.levels == LEVELS.index("turn"))
    places = _places(table, at_turn, turn)
    known = ~np.isnan(places)
    kept = known.any(axis=1)
    places, known, of = places[kept], known[kept], dialogues.of[at_turn[kept]]
    turns = np.bincount(of, minlength=size)
    _, first = np.unique(of, return_index=True)
    model = np.zeros(size, dtype=np.intp)
    model[of[first]] = first
    same_as_first = (np.nan_to_num(places, nan=-1.0) == np.nan_to_num(places[model[of]], nan=-1.0)).all(
        axis=1
    )
    same = np.bincount(of[~same_as_first], minlength=size) == 0
    sums, counts = (
        np.bincount(of, each, size).astype(np.float64)
        for each in (np.nansum(places, axis=1), known.sum(axis=1))
    )
    of_turns = divided(sums, counts)

    whole_row = np.full(size, -1)
    conversations = np.flatnonzero(table.levels == LEVELS.index("conversation"))[::-1]
    whole_row[dialogues.of[conversations]] = conversations
    judged = _places(table, whole_row, whole)
    judged[whole_row < 0] = np.nan
    both = ~np.isnan(judged).all(axis=1) & (turns > 0) & ~same
    pairs = np.stack([_mean_of(judged[both]), of_turns[both]], axis=1)

    long, short = turns > LONG, (turns >= SHORT) & (turns <= LONG)

    columns = (table.whose[name].take(dialogues.numbers) for name in ("conversation_id", "candidate"))
    keys = [(str(id), candidate) for id, candidate in zip(*(c.list() for c in columns), strict=True)]
    ranks = [(digest_text(id), at) for at, (id, _) in enumerate(keys)]
    chosen = nsmallest(sample, range(size), key=ranks.__getitem__)
    alike = nsmallest(_IDENTICAL_KEPT, np.flatnonzero(long & same).tolist(), key=ranks.__getitem__)
    return TrustFigures(
        turn,
        whole,
        (helpful or "helpfulness").replace("_", " "),
        (scale.low, scale.high),
        pairs,
        Seen.of(np.abs(pairs[:, 0] - pairs[:, 1]) <= NEAR, users[both], ids[both]),
        _mismatched(table, whole_row, users, ids),
        any(table.entries[name].rows.size for name in ("verdict", "class")),
        {
            name: Seen.of(same[some], users[some], ids[some])
            for name, some in (("long", long), ("short", short))
        },
        tuple(_sampled(table, keys, chosen, whole_row, helpful)),
        tuple(keys[at] for at in alike),
    )


def _mismatched(table: Table, whole: Codes, users: Numbers, ids: Numbers) -> Seen:
    """Say of the model's own verdicts whether each is not the computed one.

    Args:
        table: Of the run.
        whole: Shape (dialogues,), the row of each conversation as a whole; -1 where there is none.
        users: Shape (dialogues,).
        ids: Of the conversations, shape (dialogues,).
    """
    named = zip(*(table.column(name).list() for name in ("verdict", "class", "model_verdict")), strict=True)
    rows = [(verdict if verdict is not None else kind, own) for verdict, kind, own in named]
    both = np.array([at >= 0 and None not in rows[at] for at in whole.tolist()], dtype=np.bool_)
    differ = np.array([rows[at][0] != rows[at][1] for at in whole[both].tolist()], dtype=np.bool_)
    return Seen.of(differ, users[both], ids[both])


def _places(table: Table, rows: Codes, dimensions: Mapping[str, DimensionSpec]) -> Floats:
    """Return the scores of rows as places on their scale, 0 worst to 1 best, shape (rows, dimensions)."""
    places = np.full((rows.size, max(len(dimensions), 1)), np.nan)
    for at, (name, spec) in enumerate(dimensions.items()):
        values = table.whole(name)[rows]
        places[:, at] = np.where(np.isnan(values), np.nan, spec.scale.quality(values))  # type: ignore[arg-type]
    return places


def _mean_of(places: Floats) -> Floats:
    return divided(np.nansum(places, axis=1), (~np.isnan(places)).sum(axis=1).astype(np.float64))


def _sampled(
    table: Table,
    keys: Sequence[tuple[str, str | None]],
    chosen: Sequence[int],
    whole_row: Codes,
    helpful: str | None,
) -> Iterator[Sampled]:
    scores, repair = table.whole(helpful or ""), table.whole("repair_handling")
    passed = table.not_applicable("repair_handling")
    turns = {at: dict[int, float]() for at in chosen}
    there = np.zeros(table.dialogues.size, dtype=np.bool_)
    there[list(chosen)] = True
    of = table.dialogues.of
    for row in np.flatnonzero(
        there[of] & (table.levels == LEVELS.index("turn")) & ~np.isnan(scores)
    ).tolist():
        turns[int(of[row])][int(table.turn[row])] = float(scores[row])
    for at in chosen:
        row = int(whole_row[at])
        number = None if row < 0 or np.isnan(repair[row]) else float(repair[row])
        yield Sampled(*keys[at], turns[at], NOT_APPLICABLE if row >= 0 and passed[row] else number)
