"""What a judge would not notice: faults planted in a seeded sample of a log's own replies.

The judge of the run judges each conversation again with one reply replaced. A judge that names findings has
noticed a fault where it names one at that turn that it did not name before. Another judge has noticed it
where its scores fall; a rise counts against it, so that chance alone comes to nothing.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

import numpy as np

from dialogauge.core import BudgetSpent, Conversation, DimensionSpec, Judge, digest_text
from dialogauge.core.json_keys import keys
from dialogauge.core.judgement import row_json
from dialogauge.core.protocols import Request
from dialogauge.core.shape import read_as
from dialogauge.core.values import Value
from dialogauge.runs import Row, standing
from dialogauge.runs.records import own_scores
from dialogauge.stats import Comparison, Estimate, adjusted, compare_gain, mean_estimate
from dialogauge.stats.means import gain_of_sums
from dialogauge.studies.planted.faults import FAULTS, Spot, plant, with_reply

Notice = Literal["noticed", "not noticed", "cannot tell", "not tried"]

SIZE: Final = 25
"""Replies for each fault where nobody says how many."""
POOL: Final = 8
"""Conversations to read for each reply that is wanted: a fault does not apply to every one."""
_HALF: Final = 0.5
_UNIT: Final = "conversations"
"""Clusters: faults are planted by chance, and each conversation tells of the judge for itself."""
_TURNS: Final = 3
"""Replies of one conversation that one fault is planted in at most."""


@dataclass(frozen=True, slots=True)
class Plant:
    """A conversation with one reply replaced."""

    fault: str
    turn: int
    conversation: Conversation
    before: Sequence[Row]
    """What the judge said of it as it was."""


@keys(dimension=None)
class Moved(Value):
    """How far one fault moves one dimension."""

    dimension: str
    change: Estimate
    """Mean score with the fault less the mean without it, in points."""
    answer: Literal["better", "worse", "cannot tell"]
    """By p, adjusted over all faults and dimensions."""


@keys(name=None, moved="dimensions{dimension}")
class FaultSeen(Value):
    """What a judge makes of one planted fault."""

    name: str
    words: str
    """What sentences call it."""
    answer: Notice
    """By the interval of the share: above one half, below, or neither."""
    share: Estimate
    """Of the planted replies that are noticed; without findings those that fall less those that rise."""
    failed: int
    """Planted replies that could not be judged."""
    moved: tuple[Moved, ...]


@keys(faults="faults{name}")
class BlindSpots(Value):
    """Which planted faults a judge notices, and which not."""

    judge: str
    faults: tuple[FaultSeen, ...]
    by: Literal["findings", "scores"]
    """What shows that a fault was noticed."""
    size: int
    """Replies that were wanted for each fault."""
    seed: int
    planted: int
    """Conversations with a planted fault."""
    judged: int
    """Of these, how many were judged: fewer where a cap on calls or cost was reached."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> BlindSpots:
        """Read what was written as JSON."""
        faults = []
        for name, fault in value["faults"].items():
            moved = [{**m, "dimension": d} for d, m in fault["dimensions"].items()]
            rest = {key: fault[key] for key in fault if key != "dimensions"}
            faults.append({**rest, "name": name, "moved": moved})
        return read_as({**value, "faults": faults}, cls)

    def of(self, answer: Notice) -> tuple[FaultSeen, ...]:
        """Return the faults of one answer, those most often noticed first."""
        return tuple(
            sorted((f for f in self.faults if f.answer == answer), key=lambda f: -(f.share.value or 0.0))
        )

    @property
    def rewarded(self) -> tuple[tuple[FaultSeen, Moved], ...]:
        """The faults by which a dimension becomes better, with the dimension."""
        return tuple((f, m) for f in self.faults for m in f.moved if m.answer == "better")


# Planting


def draw_plants(
    judged: Sequence[tuple[Conversation, Sequence[Row]]], *, size: int = SIZE, seed: int = 0
) -> list[Plant]:
    """Plant every fault in `size` replies, one of each conversation as far as there are enough.

    Only replies that were judged and have no finding are taken; of repeats the first counts.

    Args:
        judged: Conversations with their rows.
        size: Replies for each fault, at most.
        seed: Of the sample and of the wordings.
    """
    ordered = sorted(judged, key=lambda pair: (pair[0].id, pair[0].candidate or ""))
    talks = [_Host(c, [row for row in rows if row["repeat"] == 1]) for c, rows in ordered]
    return [one for name in FAULTS for one in islice(_plants(name, talks, seed), size)]


@dataclass(frozen=True, slots=True)
class _Host:
    """A conversation that faults are planted in."""

    conversation: Conversation
    rows: Sequence[Row]

    def sound(self) -> list[int]:
        """Return the turns that were judged and have no finding."""
        turns = self.conversation.replied_turns
        rows = {t.number: _rows_of(self.rows, t.number) for t in turns if t.reply_text.strip()}
        return [n for n, at in rows.items() if at and not any(_failed(r) or _kinds(r) for r in at)]


def _plants(name: str, talks: Sequence[_Host], seed: int) -> Iterator[Plant]:
    rng = random.Random(f"{seed} {name}")
    order = sorted(talks, key=lambda t: digest_text(f"{seed}\x1f{name}\x1f{t.conversation.id}"))
    left = {id(talk): rng.sample(sound, len(sound)) for talk in order if (sound := talk.sound())}
    for _ in range(_TURNS):
        for talk in order:
            while turns := left.get(id(talk), []):
                number = turns.pop()
                text = plant(FAULTS[name], _spot(talk, number, talks), rng)
                if text is not None:
                    c = talk.conversation
                    yield Plant(name, number, with_reply(c, c.turn(number), text), talk.rows)
                    break


def _spot(talk: _Host, number: int, talks: Sequence[_Host]) -> Spot:
    turn = talk.conversation.turn(number)
    earlier = [t.reply_text for t in talk.conversation.replied_turns if t.number < number]

    def elsewhere() -> list[str]:
        turns = [t for other in talks if other is not talk for t in other.conversation.replied_turns]
        return [t.reply_text for t in turns if t.number == number] or [t.reply_text for t in turns]

    return Spot(turn.user_text, turn.reply_text, earlier[-1] if earlier else "", elsewhere)


# Judging


async def judge_plants(judge: Judge, plants: Sequence[Plant], *, workers: int = 64) -> list[list[Row]]:
    """Judge what was planted; of one that a cap on calls or cost left out there are no rows.

    A judge of turns alone is asked for the planted turn alone.

    Raises `EndpointError` where going on makes no sense.
    """
    turns_only = all(d.level == "turn" for d in judge.dimensions)
    places = asyncio.Semaphore(workers)
    spent = False

    async def rows_of(one: Plant) -> list[Row]:
        nonlocal spent
        others = [row for row in one.before if row["level"] == "turn" and row["turn"] != one.turn]
        request = Request(one.conversation.blinded(), standing=standing(others) if turns_only else ())
        async with places:
            if spent:
                return []
            try:
                judged = await judge.judge(request)
            except BudgetSpent:
                spent = True
                return []
        return [row_json(one.conversation, j, repeat=1, judge=judge.name) for j in judged]

    return list(await asyncio.gather(*map(rows_of, plants)))


# Figures


def blind_spots(
    plants: Sequence[Plant], after: Sequence[Sequence[Row]], judge: Judge, *, size: int = SIZE, seed: int = 0
) -> BlindSpots:
    """Say which faults were noticed.

    Args:
        plants: What was planted.
        after: What the judge says of each; nothing where it was not asked.
        judge: Who judged both times.
        size: Replies that were wanted for each fault.
        seed: By which they were drawn.
    """
    finds = any("signals" in (row["details"] or {}) for one in plants for row in one.before)
    pairs = [_Pair(one, rows) for one, rows in zip(plants, after, strict=True) if rows]
    sides = [_Side([p for p in pairs if p.plant.fault == name], judge.dimensions) for name in FAULTS]
    tests = iter(adjusted([test for side in sides for test in side.tests]))
    answers: Mapping[str, Literal["better", "worse"]] = {"above": "better", "below": "worse"}
    seen = []
    for fault, side in zip(FAULTS.values(), sides, strict=True):
        share = side.share(finds=finds)
        moved = tuple(
            Moved(test.measure, test.difference, answers.get(test.side, "cannot tell"))
            for test in islice(tests, len(side.tests))
        )
        seen.append(FaultSeen(fault.name, fault.words, _answer(share), share, side.failed, moved))
    by: Literal["findings", "scores"] = "findings" if finds else "scores"
    return BlindSpots(judge.name, tuple(seen), by, size, seed, len(plants), len(pairs))


def _answer(share: Estimate) -> Notice:
    if share.value is None:
        return "not tried"
    low, high = share.interval or (-1.0, 1.0)
    return "noticed" if low > _HALF else "not noticed" if high < _HALF else "cannot tell"


class _Pair:
    """What a judge says of a reply and of what was planted in its place."""

    def __init__(self, plant: Plant, after: Sequence[Row]) -> None:
        self.plant = plant
        self.sides = _rows_of(plant.before, plant.turn), _rows_of(after, plant.turn)
        self.failed = not self.sides[1] or any(map(_failed, self.sides[1]))
        wholes = ([r for r in rows if r["level"] == "conversation"] for rows in (plant.before, after))
        self.scored = [[*at, *whole] for at, whole in zip(self.sides, wholes, strict=True)]

    def change(self, d: DimensionSpec) -> float | None:
        """Return by how much better the dimension is with the fault, in points; None without both scores."""
        before, after = (
            next((own_scores(r).get(d.name) for r in rows if r["level"] == d.level and not _failed(r)), None)
            for rows in self.scored
        )
        if before is None or after is None or isinstance(before, str) or isinstance(after, str):
            return None
        return (after - before) * (1 if d.scale.higher_is_better else -1)

    @property
    def named(self) -> bool:
        """Whether a kind of finding is named that was not before."""
        before, after = (frozenset[str]().union(*map(_kinds, rows)) for rows in self.sides)
        return not after <= before


class _Side:
    """The replies that one fault was planted in."""

    def __init__(self, pairs: Sequence[_Pair], dimensions: Sequence[DimensionSpec]) -> None:
        self.pairs = [pair for pair in pairs if not pair.failed]
        self.failed = len(pairs) - len(self.pairs)
        self.talks = [pair.plant.conversation.id for pair in self.pairs]
        self.changes = {d.name: [pair.change(d) for pair in self.pairs] for d in dimensions}
        self.spans = {d.name: d.scale.high - d.scale.low for d in dimensions}
        used = [name for name, changes in self.changes.items() if any(c is not None for c in changes)]
        self.tests = [self._test(name) for name in used]

    def share(self, *, finds: bool) -> Estimate:
        """Return the share of the replies that is noticed."""
        if finds:
            values = [float(pair.named) for pair in self.pairs]
        else:
            # Changes as parts of their scale; of what has no score none.
            parts_of = [[(c or 0.0) / self.spans[name] for c in of] for name, of in self.changes.items()]
            by_reply = zip(*parts_of, strict=True) if self.changes else iter(())
            values = [float(-np.sign(round(sum(parts), 9))) for parts in by_reply]
        return mean_estimate(values, self.talks, limits=(0.0 if finds else -1.0, 1.0))

    def _test(self, name: str) -> Comparison:
        kept = [(c, talk) for c, talk in zip(self.changes[name], self.talks, strict=True) if c is not None]
        codes = np.unique([talk for _, talk in kept], return_inverse=True)[1]
        sums = np.bincount(codes, [c for c, _ in kept]).astype(float)
        counts = np.bincount(codes).astype(float)
        gain, basis = gain_of_sums(
            (np.zeros_like(sums), counts),
            (sums, counts),
            limits=(0.0, self.spans[name]),
            unit=_UNIT,
            paired=True,
        )
        return compare_gain(("with the fault", "without it"), name, (gain.value, 0.0), gain, basis)


def _rows_of(rows: Sequence[Row], turn: int) -> list[Row]:
    """Return the rows of a turn; of a judge of whole conversations those of the conversation."""
    of_turns = [row for row in rows if row["level"] == "turn"]
    if of_turns:
        return [row for row in of_turns if row["turn"] == turn]
    return [row for row in rows if row["level"] == "conversation"]


def _failed(row: Row) -> bool:
    return bool(row["failure"])


def _kinds(row: Row) -> set[str]:
    """Return the names of the findings of a row."""
    return {finding["name"] for finding in (row["details"] or {}).get("signals") or ()}
