"""Training rows, what each of them rests on, and which of them are written."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from random import Random
from typing import Any, Final, Literal

from dialogauge.core import Conversation, UsageError, digest
from dialogauge.text import counted

Source = Literal["people", "judge"]
"""Whose word a training row rests on."""
SplitBy = Literal["user", "persona"]
Why = Counter[str]
"""Reason to number of rows that were left out."""

POINTS: Final = 4.0
"""Of a scale from 1 to 5, from its worst to its best."""
_ALWAYS: Final = (
    "conversation_id",
    "turn",
    "source",
    "rating",
    "judge",
    "prompt_digest",
    "verdict",
    "quality",
    "issues",
)
"""What every line says, known or not."""
_READ: Final = ("prompt", "chosen", "rejected", "completion", "label", "messages", "scenario", "tools")
"""The keys of rows that a trainer learns from."""


def points_of(quality: float) -> float:
    """Return a quality from 0 to 1 as points from 1 to 5."""
    return 1 + POINTS * quality


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What a row rests on: one line of `NAME.provenance.jsonl`."""

    unchecked: bool = False
    """Whether it rests on a judge of which nobody showed that it agrees with people or outcomes."""
    conversation_id: str | None
    """The conversation of the row; of a pair that of the rejected reply."""
    turn: int | None = None
    source: Source | None = "judge"
    """None where the row says of nothing that it is good."""
    rating: float | str | None = None
    """What people said of it."""
    judge: str | None = None
    prompt_digest: str | None = None
    verdict: str | None = None
    quality: float | None = None
    """By the judge, from 0 to 1."""
    issues: tuple[str, ...] = ()
    chosen_from: str | None = None
    rejected_from: str | None = None
    model_chosen: str | None = None
    model_rejected: str | None = None
    chosen_first: bool | None = None
    """Whether the chosen one was shown first to whoever chose; None where nobody says, or it was shown in
    both orders."""
    run: str | None = None
    run_digest: str | None = None
    """Of the run's data and judge."""
    judge_digest: str | None = None
    user: str | None = None
    chosen_user: str | None = None
    """The user who was answered by the chosen reply, where it is another one."""
    persona: str | None = None
    """The scenario: of a session its character."""
    scores: tuple[float, float] | None = None
    """Of a pair what chosen and rejected were scored with, in points of 1 to 5; None where nobody scored."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else is known of this kind of source, such as votes."""

    @property
    def margin(self) -> float | None:
        """By how many points of 1 to 5 chosen is above rejected; None where nobody scored them."""
        return None if self.scores is None else round(self.scores[0] - self.scores[1], 6)

    def names(self, by: SplitBy) -> tuple[str, ...]:
        """Return the users, or the persona, that the row is of; none where nobody says."""
        every = (self.user, self.chosen_user) if by == "user" else (self.persona,)
        return tuple(dict.fromkeys(name for name in every if name is not None))

    def to_json(self) -> dict[str, Any]:
        """Return the line; what is unknown and not common to all rows is left out."""
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        line = {key: value for key, value in values if value is not None or key in _ALWAYS}
        for key in ("scores", "details", *(() if self.unchecked else ("unchecked",))):
            line.pop(key, None)
        line["issues"] = list(self.issues)
        if self.scores is not None:
            line |= {"score_chosen": self.scores[0], "score_rejected": self.scores[1], "margin": self.margin}
        return {**line, **self.details}

    def group(self, by: SplitBy) -> tuple[bool, str | None]:
        """Return the first of the names, and where nobody says, the conversation in its place."""
        names = self.names(by)
        return (True, names[0]) if names else (False, self.conversation_id)


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A row in the form that TRL reads, and what it rests on."""

    data: Mapping[str, Any]
    provenance: Provenance
    origin: Conversation | None = field(default=None, compare=False, repr=False)
    """The conversation that it was cut from, where its replies can be judged anew."""

    @property
    def digest(self) -> str:
        """Changes with what a trainer learns from it."""
        return digest({key: self.data[key] for key in _READ if key in self.data})

    def marked(self) -> TrainingRow:
        """Return it with the mark of what rests on an unchecked judge, ahead of all else."""
        return replace(self, data={"unchecked": True, **self.data}) if self.provenance.unchecked else self


def without_duplicates(rows: Iterable[TrainingRow], left_out: Why) -> list[TrainingRow]:
    """Return the rows, each once: the first of those that teach the same."""
    first: dict[str, TrainingRow] = {}
    for row in rows:
        if first.setdefault(row.digest, row) is not row:
            left_out["the same row once more"] += 1
    return list(first.values())


def apart(rows: Iterable[TrainingRow], min_margin: float, left_out: Why) -> list[TrainingRow]:
    """Return the rows but for pairs whose scores are less than `min_margin` points of 1 to 5 apart.

    Pairs that nobody scored, such as choices of people, stay.
    """
    kept = []
    for row in rows:
        margin = row.provenance.margin
        if margin is not None and margin < min_margin:
            left_out[f"less than {min_margin:g} points apart"] += 1
        else:
            kept.append(row)
    return kept


def capped(
    rows: Sequence[TrainingRow], most: int, by: SplitBy, left_out: Why, *, seed: int = 0
) -> list[TrainingRow]:
    """Return at most so many rows of one user or persona, drawn by seed, in their order.

    Where nobody says whose a row is, its conversation stands for a user.
    """
    groups: dict[tuple[bool, str | None], list[TrainingRow]] = {}
    for row in rows:
        groups.setdefault(row.provenance.group(by), []).append(row)
    kept: set[int] = set()
    for members in groups.values():
        drawn = sorted(members, key=lambda row: digest([seed, row.digest]))[:most]
        left_out[f"over {most} of one {by} (--per-user)"] += len(members) - len(drawn)
        kept |= set(map(id, drawn))
    return [row for row in rows if id(row) in kept]


def parted(
    rows: Sequence[TrainingRow], share: float, by: SplitBy, *, seed: int = 0
) -> tuple[list[TrainingRow], list[TrainingRow]]:
    """Part rows into those for training and those held out; no user, or persona, is in both.

    Users who meet in one pair stay together. Rows of which nobody says whose they are train.

    Args:
        rows: All of them.
        share: Of the users or personas that are held out, in (0, 1); at least one is, and one stays.
        by: Whom the parts do not share.
        seed: Of the draw.

    Raises:
        UsageError: Fewer than two groups are named.
    """
    leader: dict[str, str] = {}

    def first_of(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    for row in rows:
        names = row.provenance.names(by)
        for name in names:
            leader[first_of(name)] = first_of(names[0])
    groups = sorted({first_of(name) for name in list(leader)})
    if len(groups) < 2:
        msg = f"{counted(len(groups), by)} among {counted(len(rows), 'row')}: nothing can be held out"
        hint = "--split-by persona takes the scenario of sessions; --split-by user takes user ids of your log"
        raise UsageError(msg, hint=hint)
    Random(seed).shuffle(groups)
    number = min(max(1, math.floor(share * len(groups) + 0.5)), len(groups) - 1)
    chosen, parts = set(groups[:number]), (list[TrainingRow](), list[TrainingRow]())
    for row in rows:
        names = row.provenance.names(by)
        parts[bool(names) and first_of(names[0]) in chosen].append(row)
    return parts
