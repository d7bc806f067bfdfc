"""One run as a comparison reads it: each conversation once, with its sums and what it was like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dialogauge.core import Conversation, DimensionSpec, digest_text
from dialogauge.runs.records import own_scores
from dialogauge.stats import reply_length

Row = Mapping[str, Any]

LENGTH: Final = "reply length"
TURNS: Final = "turns"
FAILED: Final = "failed"
OF_TURNS: Final = " of turns"
"""Behind the name of a dimension that people rated turn by turn."""
"""The share of the judgements that failed."""


@dataclass(slots=True)
class ScoreSums:
    """The scores of one conversation on one dimension, over turns and repeats."""

    total: float = 0.0
    """Each times its weight."""
    n: int = 0
    na: int = 0
    failed: int = 0
    weight: float = 0.0
    """Of all numbers: how many targets they stand for."""

    def add(self, value: object, weight: float = 1.0) -> None:
        """Take one score: a number, `n/a`, or None for a failure."""
        if isinstance(value, str):
            self.na += 1
        elif isinstance(value, int | float):
            self.total += weight * value
            self.n += 1
            self.weight += weight
        else:
            self.failed += 1


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of a run; of one id with several candidates all of them."""

    id: str
    candidate: str | None
    user: str | None
    task: str | None
    """Of an agent, where the run says so: one task is often run several times."""
    scenario: str | None
    language: str | None
    opening: str
    """Digest of the first message of the user."""
    scores: Mapping[str, ScoreSums]
    """By dimension of the rubric."""
    ratings: Mapping[str, Sequence[tuple[float, float | None]]]
    """By dimension that people rated, `quality` and `quality of turns`: scores, each with its weight."""
    facts: Mapping[str, ScoreSums]
    """Characters of each reply, turns, and failed judgements."""
    verdict: str | None
    """Of the first repeat."""
    quality: float | None
    """Mean over the dimensions, 0 worst and 1 best; None where nothing was scored."""
    kinds: frozenset[str]
    """Of findings."""
    judged: bool


@dataclass(frozen=True, slots=True)
class Side:
    """A run."""

    name: str
    talks: tuple[Talk, ...]
    failures: Mapping[str, int]
    """Failed targets by kind."""
    unread: int
    """Records that could not be read, and units that are not done."""
    finds: bool
    """Whether the judge names kinds of findings."""


@dataclass(slots=True)
class _SideNotes:
    failures: dict[str, int] = field(default_factory=dict)
    finds: bool = False


def read_side(
    name: str,
    judged: Iterable[tuple[Conversation, Sequence[Row]]],
    dimensions: Sequence[DimensionSpec],
    unread: int = 0,
) -> Side:
    """Read the conversations of a run with their rows; of each only figures are kept."""
    reading = _SideNotes()
    talks = tuple(_talk(conversation, rows, dimensions, reading) for conversation, rows in judged)
    return Side(name, talks, reading.failures, unread, reading.finds)


def _talk(
    conversation: Conversation, rows: Sequence[Row], dimensions: Sequence[DimensionSpec], reading: _SideNotes
) -> Talk:
    scores = {d.name: ScoreSums() for d in dimensions}
    kinds: set[str] = set()
    verdict = language = task = None
    for row in rows:
        kind = row["failure"] and row["failure"]["kind"]
        if kind:
            reading.failures[kind] = reading.failures.get(kind, 0) + 1
        scored = own_scores(row)
        for d in dimensions:
            if d.level == row["level"]:
                scores[d.name].add(None if kind else scored.get(d.name))
        details = row["details"] or {}
        language, task = language or details.get("language"), task or details.get("task")
        if row["repeat"] == 1:
            verdict = row["verdict"] or verdict
            findings = details.get("signals")
            reading.finds = reading.finds or findings is not None
            kinds.update(one["name"] for one in findings or ())
    turns = [turn for turn in conversation.turns if turn.has_reply]
    facts = {LENGTH: ScoreSums(), TURNS: ScoreSums(len(conversation.turns), 1, weight=1)}
    failed = sum(bool(row["failure"]) for row in rows)
    facts[FAILED] = ScoreSums(float(failed), len(rows), weight=len(rows))
    for turn in turns:
        facts[LENGTH].add(reply_length(turn.reply_text))
    first = next((m.text for m in conversation.messages if m.role == "user"), "")
    return Talk(
        conversation.id,
        conversation.candidate,
        conversation.user_id,
        task,
        conversation.scenario,
        conversation.language or language,
        digest_text(first),
        scores,
        _ratings(conversation),
        facts,
        verdict,
        _quality(scores, dimensions),
        frozenset(kinds),
        any(not row["failure"] for row in rows),
    )


def _quality(scores: Mapping[str, ScoreSums], dimensions: Sequence[DimensionSpec]) -> float | None:
    of = [d.scale.quality(s.total / s.n) for d in dimensions if (s := scores[d.name]).n]
    return sum(of) / len(of) if of else None


def _ratings(conversation: Conversation) -> dict[str, list[tuple[float, float | None]]]:
    out: dict[str, list[tuple[float, float | None]]] = {}
    for rating in conversation.ratings:
        if not isinstance(rating.score, str):
            name = rating.dimension + ("" if rating.turn is None else OF_TURNS)
            out.setdefault(name, []).append((rating.score, rating.weight))
    return out
