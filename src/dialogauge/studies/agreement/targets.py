"""Joining what a judge said with what people said of the same targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import floor
from typing import Any, Final

import numpy as np

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
from dialogauge.stats import Categories, Floats, Votes, reply_length
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
_FAILED: Final = "failed"


@keys(first_turns=None, family=None)
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
    first_turns: int | None = None
    """How many turns of a conversation it read; None: all."""
    family: str | None = None
    """Of models, where its name tells one."""


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
    weight: float | None = None
    """How many targets of the log it stands for, where it was sampled with a chance of its own."""

    @property
    def whole(self) -> float:
        """The score as a whole number, halves upward."""
        return floor((self.score if self.whole_mean is None else self.whole_mean) + 0.5)


def weights_of(targets: Sequence[RatedTarget]) -> Floats | None:
    """Return how many targets of the log each stands for, shape (n,); None where one of them does not say."""
    weights = [target.weight for target in targets]
    return None if None in weights or not weights else np.array(weights, dtype=np.float64)


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
    over_turns: bool = False
    """Whether a conversation has the mean of its turns' scores: people rated it, and the judge its turns."""
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


@dataclass(frozen=True, slots=True, eq=False)
class ArenaVotes:
    """What an arena's referee said."""

    votes: Votes
    dialogues: tuple[str, ...]
    """Shape (clusters,), the conversation id of the dialogues of each cluster of votes."""


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
    about: dict[str, JudgedRun] = field(default_factory=dict)
    """The judges by name."""
    arenas: dict[str, ArenaVotes] = field(default_factory=dict)
    """By name."""
    families: dict[str, str] = field(default_factory=dict)
    """By candidate the family of models, where its name tells one."""
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
        spoken = (row["details"]["language"] for row in rows if (row["details"] or {}).get("language"))
        language = str(code) if (code := next(spoken, None)) else conversation.language
        for table in tables:
            levels = {turn: "conversation" if turn is None else "turn" for turn in by_turn}
            at = {turn: of for turn, of in by_turn.items() if table.level in (None, levels[turn])}
            if table.over_turns:
                at = {None: [row for turn, of in by_turn.items() if turn is not None for row in of]}
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
        judged = _JudgedTarget(values, values, fraction=any(value != int(value) for value in values))
        target = _rated_target(table, key, list(rated.by.values()), judged, rated.user)
        table.targets += [] if target is None else [target]
    if categories.values is None:
        places = [number_of(target.people, categories) for target in table.targets]
        known = zip(table.targets, places, strict=True)
        table.targets = [replace(target, people=place) for target, place in known if place is not None]


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
    new = [t for t in conversation.turns if t.stop > conversation.prefix]
    lengths = {t.number: reply_length(t.reply_text) for t in new}
    mean_length = (
        sum(lengths.values()) / sum(t.has_reply for t in new) if any(t.has_reply for t in new) else None
    )
    judged_at = {turn: _judged_target(rows, table) for turn, rows in by_turn.items()}
    for turn, of_turn in judged_at.items():
        if of_turn.values:
            # With its fraction where that rounds to what the judge calls it.
            value, whole = of_turn.means
            score = value if floor(value + 0.5) == floor(whole + 0.5) else whole
            key = TargetKey(conversation.id, conversation.candidate, turn)
            reply = mean_length if turn is None else lengths.get(turn)
            scored = Rated({table.about.name: score}, conversation.user_id, groups, reply)
            if len(of_turn.repeats) > 1:
                scored.repeats[table.about.name] = of_turn.repeats
            table.scored[key] = scored
    for turn, of in people.items():
        key = TargetKey(conversation.id, conversation.candidate, turn)
        by: dict[str, float | str] = {}
        for rating in of:  # several who are not named are numbered
            name = rating.rater or UNNAMED
            by[name if name not in by else f"{name} {len(by) + 1}"] = rating.score
        reply = mean_length if turn is None else lengths.get(turn)
        table.rated[key] = Rated(by, conversation.user_id, {**groups, **of[0].groups}, reply)
        length = sum(lengths.values()) if turn is None else lengths.get(turn, 0)
        scores, weights = [rating.score for rating in of], {rating.weight for rating in of}
        judged = judged_at.get(turn, _JudgedTarget())
        target = _rated_target(table, key, scores, judged, conversation.user_id)
        if target is not None:
            weight = weights.pop() if len(weights) == 1 else None
            table.targets.append(replace(target, length=length, weight=weight))
    if len(table.targets) > before and language:
        table.languages[language] += 1


def _rated_target(
    table: TargetTable,
    key: TargetKey,
    ratings: Sequence[float | str],
    judged: _JudgedTarget,
    user: str | None,
) -> RatedTarget | None:
    """Count what became of a target that people rated; return it where it has a score and a rating."""
    counts = table.counts
    counts.rated += 1
    counts.several_raters += len(ratings) > 1
    people = agreed(ratings)
    if people is None:
        counts.undecided += 1
    elif judged.values:
        counts.scored += 1
        table.fractions = table.fractions or judged.fraction
        score, whole = judged.means
        return RatedTarget(key, user, people, score, judged.named_class, None, whole)
    elif NOT_APPLICABLE in judged.others:
        counts.not_applicable += 1
    elif _FAILED in judged.others:
        counts.failed += 1
    else:
        counts.not_judged += 1
    return None


@dataclass(frozen=True, slots=True)
class _JudgedTarget:
    """What the judge said of a target in all repeats."""

    values: Sequence[float] = ()
    wholes: Sequence[float] = ()
    """As the rows have them; the values themselves where they have none."""
    fraction: bool = False
    """Whether scores with fractions stand beside the whole ones, and are used."""
    named_class: str | None = None
    others: Set[object] = frozenset()
    """What stands in place of a score: `n/a`, `failed`, or None for nothing at all."""
    repeats: Mapping[int, float] = field(default_factory=dict)
    """The score by repeat."""

    @property
    def means(self) -> tuple[float, float]:
        """Of the values, and of the whole scores."""
        return sum(self.values) / len(self.values), sum(self.wholes) / len(self.wholes)


def _judged_target(rows: Sequence[Row], table: TargetTable) -> _JudgedTarget:
    pair, fractions = table.pair, table.ranked_by_fractions
    values, wholes, others, fraction = list[float](), list[float](), set[object](), table.over_turns
    by_repeat: dict[int, list[float]] = {}
    for row in rows:
        score = row["overall"] if pair.overall else (row["scores"] or {}).get(pair.judge)
        if row["failure"] or score is None or score == NOT_APPLICABLE:
            others.add(_FAILED if row["failure"] else score)
            continue
        beside = not pair.overall and pair.judge in row["whole"]
        wholes.append(float(row["whole"][pair.judge] if beside else score))
        values.append(float(score) if fractions else wholes[-1])
        by_repeat.setdefault(row["repeat"], []).append(values[-1])
        fraction = fraction or (fractions and (beside or pair.overall))
    details = [row["details"] or {} for row in rows]
    names = (of.get("label") or of.get("class") for of in details)
    named_class = next((str(name) for name in names if name is not None), None)
    repeats = {repeat: sum(of) / len(of) for repeat, of in by_repeat.items()}
    return _JudgedTarget(values, wholes, fraction, named_class, others, repeats)
