"""Joining what a judge said with what people said of the same targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor
from typing import Any, Final, NamedTuple

from dialogauge.core import (
    NOT_APPLICABLE,
    ONE_TO_FIVE,
    Conversation,
    Rating,
    RecordFault,
    Scale,
)
from dialogauge.core.json_keys import keys
from dialogauge.data import Vote
from dialogauge.data.admission import ADMIT_ALL, Admission
from dialogauge.stats import Categories, reply_length
from dialogauge.studies.agreement.sources import (
    UNNAMED,
    Answers,
    Level,
    Question,
    Rated,
    TargetKey,
    conversation_groups,
    number_of,
)
from dialogauge.studies.rated import agreed, latest_of_each

Row = Mapping[str, Any]


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


@keys(judge="dimension", overall=None)
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
    length: float | None
    """Characters of the reply; of a whole conversation, of all replies. None where nobody knows."""
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
    """Ratings, not targets, that are no score as the others are, or were given anew later."""


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
    level: Level | None = None
    """Of the targets; None for all."""
    rated: Answers = field(default_factory=dict)
    """What every rater said of each target, whether the judge scored it or not."""
    scored: Answers = field(default_factory=dict)
    """What the judge said of each target, whether people rated it or not."""
    targets: list[RatedTarget] = field(default_factory=list)
    counts: TargetCounts = field(default_factory=TargetCounts)
    fractions: bool = False
    """Whether scores with fractions stood beside the whole ones, and were used."""
    languages: Counter[str] = field(default_factory=Counter)
    """Rated conversations by the language that the judge, or else the data, says."""
    refused: list[RecordFault] = field(default_factory=list)
    """A fault for each rating that is not used."""

    @property
    def question(self) -> Question:
        """What people were asked."""
        return Question(self.pair.rated, self.level)

    @property
    def conversations(self) -> int:
        """Conversations that hold a target of the table."""
        return len({t.key.conversation_id for t in self.targets})


@dataclass(slots=True)
class Panel:
    """Everything that was said."""

    tables: list[TargetTable] = field(default_factory=list)
    """The judges beside people: a table for each judge, pair of dimensions, and level."""
    people: dict[Question, Answers] = field(default_factory=dict)
    """What people said, rater by rater."""
    judges: dict[Question, Answers] = field(default_factory=dict)
    """What judges said, judge by judge."""
    categories: dict[Question, Categories] = field(default_factory=dict)
    """All that people could say; a question without has no coefficients."""
    judged_on: dict[Question, Categories] = field(default_factory=dict)
    """All that judges could say."""
    people_votes: list[Vote] = field(default_factory=list)
    """What people chose between two."""
    judge_votes: list[Vote] = field(default_factory=list)
    """What judges chose, to be held against people's choices."""
    faults: list[RecordFault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


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
        by_turn: dict[int | None, list[Row]] = {}
        for row in rows:
            if row["level"] in ("turn", "conversation"):
                by_turn.setdefault(row["turn"], []).append(row)
        language = _language(conversation, rows)
        for table in tables:
            at = {turn: of for turn, of in by_turn.items() if table.level in (None, _level(turn))}
            _join(table, conversation, at, _admitted(table, conversation, ratings), language)


def join_scores(table: TargetTable, scores: Answers, people: Answers, categories: Categories) -> None:
    """Join what a judge says in a file of scores with what people say, target by target, and fill the table.

    Args:
        table: Empty.
        scores: Of the one judge.
        people: Of the same question.
        categories: Of both; of names the table's targets hold the places among them.
    """
    table.scored = scores
    for key, rated in people.items():
        table.rated[key] = rated
        own = scores[key].by.values() if key in scores else ()
        values = [value for score in own if (value := number_of(score, categories)) is not None]
        scored = _Scored(tuple(_Score(v, v, fraction=v != int(v)) for v in values), None)
        _take(table, key, list(rated.by.values()), scored, user=rated.user, length=None)
    if categories.values is None:
        places = [number_of(target.people, categories) for target in table.targets]
        known = zip(table.targets, places, strict=True)
        table.targets = [replace(target, people=place) for target, place in known if place is not None]


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
    latest, earlier = latest_of_each(conversation, out)
    table.refused += earlier
    table.counts.refused += len(earlier)
    return latest


def _join(
    table: TargetTable,
    conversation: Conversation,
    by_turn: Mapping[int | None, list[Row]],
    ratings: Sequence[Rating],
    language: str | None,
) -> None:
    people: dict[int | None, list[Rating]] = {}
    for rating in ratings:
        people.setdefault(rating.turn, []).append(rating)
    groups, before = conversation_groups(conversation), len(table.targets)
    lengths = {t.number: reply_length(t.reply_text) for t in conversation.turns} if people else {}
    scored = {turn: _said(rows, table) for turn, rows in by_turn.items()}
    for turn, (scores, _) in scored.items():
        if numbers := [s for s in scores if isinstance(s, _Score)]:
            key = TargetKey(conversation.id, conversation.candidate, turn)
            table.scored[key] = Rated({table.about.name: _mean(numbers)}, conversation.user_id, groups)
    for turn, of in people.items():
        key = TargetKey(conversation.id, conversation.candidate, turn)
        table.rated[key] = Rated(_by_rater(of), conversation.user_id, {**groups, **of[0].groups})
        length = sum(lengths.values()) if turn is None else lengths.get(turn, 0)
        values = [rating.score for rating in of]
        _take(table, key, values, scored.get(turn, _NOTHING), user=conversation.user_id, length=length)
    if len(table.targets) > before and language:
        table.languages[language] += 1


def _mean(numbers: Sequence[_Score]) -> float:
    """Return the mean over repeats: with its fraction where that rounds to what the judge calls it."""
    value, whole = (sum(values) / len(numbers) for values in zip(*(n[:2] for n in numbers), strict=True))
    return value if floor(value + 0.5) == floor(whole + 0.5) else whole


def _level(turn: int | None) -> Level:
    return "conversation" if turn is None else "turn"


def _by_rater(ratings: Sequence[Rating]) -> dict[str, float | str]:
    """Return the ratings of a target by rater; several who are not named are numbered."""
    out: dict[str, float | str] = {}
    for rating in ratings:
        name = rating.rater or UNNAMED
        out[name if name not in out else f"{name} {len(out) + 1}"] = rating.score
    return out


def _take(
    table: TargetTable,
    key: TargetKey,
    ratings: Sequence[float | str],
    scored: _Scored,
    *,
    user: str | None,
    length: float | None,
) -> None:
    counts = table.counts
    counts.rated += 1
    counts.several_raters += len(ratings) > 1
    people = agreed(ratings)
    numbers = [s for s in scored.scores if isinstance(s, _Score)]
    if people is None:
        counts.undecided += 1
    elif numbers:
        counts.scored += 1
        table.fractions = table.fractions or any(n.fraction for n in numbers)
        score, whole = (sum(values) / len(numbers) for values in zip(*(n[:2] for n in numbers), strict=True))
        table.targets.append(RatedTarget(key, user, people, score, scored.named_class, length, whole))
    elif NOT_APPLICABLE in scored.scores:
        counts.not_applicable += 1
    elif "failed" in scored.scores:
        counts.failed += 1
    else:
        counts.not_judged += 1


class _Scored(NamedTuple):
    """What the judge said of a target in all repeats."""

    scores: Sequence[_Score | str | None]
    named_class: str | None


_NOTHING: Final = _Scored((), None)


def _said(rows: Sequence[Row], table: TargetTable) -> _Scored:
    scores = [_score_in(row, table.pair, fractions=table.ranked_by_fractions) for row in rows]
    return _Scored(scores, _class(rows))


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
