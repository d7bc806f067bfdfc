"""Joining what a judge said with what people said of the same targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor
from typing import Any, NamedTuple

from dialogauge.core import NOT_APPLICABLE, ONE_TO_FIVE, Conversation, Rating, RecordFault, Scale
from dialogauge.data.admission import ADMIT_ALL, Admission
from dialogauge.stats import reply_length
from dialogauge.studies.rated import agreed

Row = Mapping[str, Any]


class TargetKey(NamedTuple):
    """A target across runs: the same reply, or the same conversation."""

    conversation_id: str
    candidate: str | None
    turn: int | None


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """Which run a table is of."""

    name: str = "judge"
    """Of the run, and of the dimension where it has several."""
    run: str = ""
    judge: str = ""
    mode: str = ""
    fitted_to: int | None = None
    """Rated conversations whose very words the judge was fitted to; None for a judge that does not say."""


@dataclass(frozen=True, slots=True)
class DimensionPair:
    """A dimension of the judge and the dimension that people rated."""

    judge: str
    rated: str
    overall: bool = False
    """Whether the judge's is the weighted mean of a rubric that declares no dimension of that name."""

    def __str__(self) -> str:
        """`helpfulness`, or `helpfulness against satisfaction`."""
        return self.judge if self.judge == self.rated else f"{self.judge} against {self.rated}"


@dataclass(frozen=True, slots=True)
class RatedTarget:
    """One target that people rated and the judge scored."""

    key: TargetKey
    user: str | None
    people: float | str
    """Mean over the raters, or the category that most of them chose."""
    score: float
    """Mean over the repeats, with fractions where the judge gives them: what ranks the targets."""
    named_class: str | None
    """The class that the judge named (SAT, DSAT), where it names one."""
    length: float
    """Characters of the reply; of a whole conversation, of all replies."""
    whole_mean: float | None = None
    """Mean over the repeats of the whole scores that stand in the rows; None where it is `score`.

    A judge need not round its fraction: what it calls a 3 is its own to say.
    """

    @property
    def whole(self) -> float:
        """The score as a whole number, halves upward."""
        return floor((self.score if self.whole_mean is None else self.whole_mean) + 0.5)


@dataclass(slots=True)
class TargetCounts:
    """What became of the targets that people rated."""

    rated: int = 0
    scored: int = 0
    not_applicable: int = 0
    failed: int = 0
    not_judged: int = 0
    """Rated, but no reply that the judge was asked about (turn 0, another level, left out of the run)."""
    undecided: int = 0
    """Categories of which no one was chosen most often."""
    several_raters: int = 0
    refused: int = 0
    """Ratings, not targets, that are no score as the others are."""


@dataclass(slots=True)
class TargetTable:
    """The targets of one run for one pair of dimensions."""

    pair: DimensionPair
    scale: Scale = ONE_TO_FIVE
    """Of the judge's dimension."""
    about: JudgedRun = JudgedRun()
    admission: Admission = ADMIT_ALL
    """Which ratings count."""
    reading: str = ""
    """How they are read, where that goes without saying for none of them."""
    ranked_by_fractions: bool = True
    """Whether fractions beside the whole scores rank the targets; else the whole scores do."""
    targets: list[RatedTarget] = field(default_factory=list)
    counts: TargetCounts = field(default_factory=TargetCounts)
    fractions: bool = False
    """Whether scores with fractions stood beside the whole ones, and were used."""
    languages: Counter[str] = field(default_factory=Counter)
    """Rated conversations by the language that the judge, or else the data, says."""
    refused: list[RecordFault] = field(default_factory=list)
    """A fault for each rating that is not used."""

    @property
    def conversations(self) -> int:
        """Conversations that hold a target of the table."""
        return len({t.key.conversation_id for t in self.targets})


def collect_targets(
    judged: Iterable[tuple[Conversation, Sequence[Row]]],
    ratings_of: Callable[[Conversation], Iterable[Rating]],
    tables: Sequence[TargetTable],
) -> None:
    """Join rows with ratings, in one pass, and fill the tables; of a conversation only the figures are kept.

    Several raters of one target are averaged; of categories the one that most of them chose counts.

    Args:
        judged: Conversations, each with its rows of all repeats.
        ratings_of: People's ratings of a conversation.
        tables: Empty, one for each pair of dimensions to hold against each other.
    """
    for conversation, rows in judged:
        ratings = [r for r in ratings_of(conversation) if r.candidate in (None, conversation.candidate)]
        if not ratings:
            continue
        by_turn: dict[int | None, list[Row]] = {}
        for row in rows:
            if row["level"] in ("turn", "conversation"):
                by_turn.setdefault(row["turn"], []).append(row)
        language = _language(conversation, rows)
        for table in tables:
            _join(table, conversation, by_turn, _admitted(table, conversation, ratings), language)


def _language(conversation: Conversation, rows: Sequence[Row]) -> str | None:
    code = next((r["details"]["language"] for r in rows if (r["details"] or {}).get("language")), None)
    return str(code) if code else conversation.language


def _admitted(table: TargetTable, conversation: Conversation, ratings: Sequence[Rating]) -> list[Rating]:
    """Return the ratings of the table's dimension that count; the others are its faults."""
    out: list[Rating] = []
    for rating in ratings:
        if rating.dimension == table.pair.rated:
            fault = table.admission.fault(rating, conversation.place_of(rating))
            score = table.admission.read(rating.score)
            if score is not None:
                out.append(replace(rating, score=score))
            elif fault is not None:
                table.refused.append(fault)
                table.counts.refused += 1
    return out


def _join(
    table: TargetTable,
    conversation: Conversation,
    by_turn: Mapping[int | None, list[Row]],
    ratings: Sequence[Rating],
    language: str | None,
) -> None:
    people: dict[int | None, list[float | str]] = {}
    for rating in ratings:
        people.setdefault(rating.turn, []).append(rating.score)
    lengths = {t.number: reply_length(t.reply_text) for t in conversation.turns} if people else {}
    before = len(table.targets)
    for turn, scores in people.items():
        length = sum(lengths.values()) if turn is None else lengths.get(turn, 0)
        key = TargetKey(conversation.id, conversation.candidate, turn)
        _take(table, key, scores, by_turn.get(turn, []), user=conversation.user_id, length=length)
    if len(table.targets) > before and language:
        table.languages[language] += 1


def _take(
    table: TargetTable,
    key: TargetKey,
    ratings: Sequence[float | str],
    rows: Sequence[Row],
    *,
    user: str | None,
    length: float,
) -> None:
    counts = table.counts
    counts.rated += 1
    counts.several_raters += len(ratings) > 1
    people = agreed(ratings)
    scores = [_score_in(row, table.pair, fractions=table.ranked_by_fractions) for row in rows]
    numbers = [s for s in scores if isinstance(s, _Score)]
    if people is None:
        counts.undecided += 1
    elif numbers:
        counts.scored += 1
        table.fractions = table.fractions or any(n.fraction for n in numbers)
        score, whole = (sum(values) / len(numbers) for values in zip(*(n[:2] for n in numbers), strict=True))
        table.targets.append(RatedTarget(key, user, people, score, _class(rows), length, whole))
    elif NOT_APPLICABLE in scores:
        counts.not_applicable += 1
    elif "failed" in scores:
        counts.failed += 1
    else:
        counts.not_judged += 1


class _Score(NamedTuple):
    value: float
    whole: float
    """As the row has it; the value itself where the row has none."""
    fraction: bool


def _score_in(row: Row, pair: DimensionPair, *, fractions: bool) -> _Score | str | None:
    """Return the score, `n/a`, `failed`, or None for nothing at all."""
    if row["failure"]:
        return "failed"
    score = row["overall"] if pair.overall else (row["scores"] or {}).get(pair.judge)
    if score == NOT_APPLICABLE:
        return NOT_APPLICABLE
    if score is None:
        return None
    beside = not pair.overall and pair.judge in row["whole"]
    whole = float(row["whole"][pair.judge] if beside else score)
    return _Score(
        float(score) if fractions else whole, whole, fraction=fractions and (beside or pair.overall)
    )


def _class(rows: Sequence[Row]) -> str | None:
    for row in rows:
        details = row["details"] or {}
        name = details.get("label") or details.get("class")
        if name is not None:
            return str(name)
    return None
