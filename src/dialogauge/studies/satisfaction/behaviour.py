"""Ratings against histories, what the charts show, and how satisfaction goes along a conversation.

Source: PersTurnBench's analysis of ratings. *Stability* is the share of conversations all of whose rated
turns are satisfied; *recovery* the share of satisfied turns right after a dissatisfied one. Both are taken
of the users' ratings and of the judge's scores, to see whether the judge tells the same story.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dialogauge.core.json_keys import keys
from dialogauge.core.protocols import Population, RatedBlock
from dialogauge.stats import Estimate, Scores, ScoreTable, pearson, whole_scores
from dialogauge.studies.satisfaction.answers import JudgedReply
from dialogauge.studies.satisfaction.figures import BOUNDARY, Metrics, mean_by_user, metrics_of_one

LEAST_SHIFT = 0.1
"""Points on 1-5 below which a shift is not worth a warning."""
LEAST_SHARE = 0.25
"""The part of the blocks from which on moved levels are worth one."""
BLOCK_SHIFT = 0.5
MIN_TURNS = 5
_MIN_BLOCKS = 3
"""Fewer have no correlation worth saying."""


@keys(warnings="warnings")
@dataclass(frozen=True, slots=True)
class Drift:
    """Targets against histories."""

    shift: Estimate
    """Mean of a target's rating less the mean of its user's history."""
    by_scenario: Mapping[str, Estimate]
    """The same in each target scenario: how it is rated against the same users' other scenarios."""
    blocks_moved: int
    """Blocks whose mean lies half a point or more from their history's."""
    blocks_compared: int
    """Of so many, those with 5 turns in both."""
    level_pearson: float | None
    """Of history mean and target mean over the blocks: how far a user's level carries over."""
    unknown_scenarios: tuple[str, ...]
    """Scenarios that no training user rated, where there are training users at all."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader has to know before they trust a history; a sentence each."""
        out = []
        if _notable(self.shift):
            out.append(
                f"Score drift: users rate these replies {_words(self.shift)} than those of their histories."
            )
        for name, share in self.by_scenario.items():
            if _notable(share):
                out.append(
                    f"Scenario family: {name!r} is rated {_words(share)} than the same users' other "
                    "scenarios; a history of those misplaces its level."
                )
        moved, of = self.blocks_moved, self.blocks_compared
        if of and moved / of >= LEAST_SHARE:
            out.append(
                f"Score drift: in {moved} of {of} blocks the user's mean rating lies {BLOCK_SHIFT:g} or more "
                f"from the mean of their history (blocks with at least {MIN_TURNS} rated turns in both)."
            )
        if unknown := self.unknown_scenarios:
            names = ", ".join(repr(name) for name in unknown[:5])
            more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
            out.append(f"Scenario family: no training user rated {names}{more}.")
        return tuple(out)


def drift_of(blocks: Iterable[RatedBlock], population: Population) -> Drift:
    """Compare the ratings of the targets with the histories.

    Args:
        blocks: Of the users judged; those without a history take no part.
        population: The training users' blocks.
    """
    cases: list[tuple[str, str, float]] = []
    """User, conversation, and the rating less the mean of the user's history."""
    by: dict[str, list[tuple[str, str, float]]] = defaultdict(list)
    moved: list[bool] = []
    levels: list[tuple[float, float]] = []
    for block in (b for b in blocks if b.view.history):
        view, gold = block.view, [r.score for r in block.ratings]
        mean = sum(view.scores) / len(view.scores)
        mine = [(view.user, r.reply.conversation.id, r.score - mean) for r in block.ratings]
        cases += mine
        by[view.scenario] += mine
        levels.append((mean, sum(gold) / len(gold)))
        if min(len(gold), len(view.scores)) >= MIN_TURNS:
            moved.append(abs(levels[-1][1] - mean) >= BLOCK_SHIFT)
    rated = {b.view.scenario for b in population.blocks}

    def mean_of(shifts: Sequence[tuple[str, str, float]]) -> Estimate:
        users, sessions = [user for user, *_ in shifts], [session for _, session, _ in shifts]
        width = LEVELS[-1] - LEVELS[0]
        return mean_by_user([value for *_, value in shifts], users, sessions, (-width, width))

    return Drift(
        mean_of(cases),
        {name: mean_of(by[name]) for name in sorted(by)},
        sum(moved),
        len(moved),
        pearson(*np.array(levels).T) if len(levels) >= _MIN_BLOCKS else None,
        tuple(sorted(by.keys() - rated)) if rated else (),
    )


def _notable(shift: Estimate) -> bool:
    """Whether a shift is worth a warning; an interval that a reader would see end at 0 leaves it open."""
    if shift.value is None or shift.interval is None:
        return False
    low, high = (round(end, 2) for end in shift.interval)
    return abs(shift.value) >= LEAST_SHIFT and (low > 0 or high < 0)


def _words(shift: Estimate) -> str:
    value, (low, high) = shift.value or 0.0, shift.interval or (0.0, 0.0)
    ends = sorted((abs(low), abs(high)))
    return f"{abs(value):.2f} [{ends[0]:.2f}, {ends[1]:.2f}] {'higher' if value > 0 else 'lower'}"


_BINS = 10
_MIN_TURNS = 3
LEVELS = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The turns that the judge gave about the same score."""

    judge: float
    """The judge's mean."""
    people: Estimate
    """People's mean."""


@dataclass(frozen=True, slots=True)
class UserPoint:
    """One user, over all turns that the judge scored."""

    user: str
    n: int
    gold: float
    """The user's mean."""
    judge: float
    """The judge's mean."""
    history: float | None
    """The mean of the user's histories, weighted by target turns."""
    pearson: float | None
    """Undefined below 3 turns or where one side does not vary."""
    mae: float


@dataclass(frozen=True, slots=True)
class Pictures:
    """The data of the charts."""

    confusion: tuple[tuple[int, ...], ...]
    """Rows: the judge's whole score 1 to 5. Columns: the user's, halves rounded upward."""
    reliability: tuple[ReliabilityBin, ...]
    """By the judge's score, ascending: each of its values, or ten equal parts where there are more."""
    users: tuple[UserPoint, ...]


def pictures_of(answers: Sequence[JudgedReply], scores: Scores, means: Mapping[str, float]) -> Pictures:
    """Gather what the charts show.

    Args:
        answers: The targets that the judge scored.
        scores: What it gave them, with fractions and as whole scores.
        means: By block the mean of the user's history.
    """
    pairs = Counter(zip(scores.whole.tolist(), whole_scores([a.gold for a in answers]).tolist(), strict=True))
    bins = []
    for members in _bins(scores.values.tolist()):
        mine = [answers[i] for i in members]
        people = _mean([a.gold for a in mine], mine, (LEVELS[0], LEVELS[-1]))
        bins.append(ReliabilityBin(float(scores.values[members].mean()), people))
    return Pictures(
        tuple(tuple(pairs[judge, people] for people in LEVELS) for judge in LEVELS),
        tuple(bins),
        _users(answers, scores.whole, means),
    )


def _mean(
    values: Sequence[float] | npt.NDArray[np.float64],
    answers: Sequence[JudgedReply],
    limits: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """Return the mean of a value of each answer."""
    return mean_by_user(values, [a.user for a in answers], [a.session for a in answers], limits)


def _bins(values: Sequence[float]) -> list[list[int]]:
    """Return the indices of each bin; equal values are never parted."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    levels: dict[float, list[int]] = defaultdict(list)
    for i in order:
        levels[values[i]].append(i)
    if len(levels) <= _BINS:
        return list(levels.values())
    bins: dict[int, list[int]] = defaultdict(list)
    passed = 0
    for equal in levels.values():
        bins[min(_BINS - 1, int((passed + len(equal) / 2) * _BINS / len(values)))] += equal
        passed += len(equal)
    return list(bins.values())


def _users(
    answers: Sequence[JudgedReply], scores: npt.NDArray[np.float64], means: Mapping[str, float]
) -> tuple[UserPoint, ...]:
    of: dict[str, list[int]] = defaultdict(list)
    for i, answer in enumerate(answers):
        of[answer.user].append(i)
    out = []
    for user, members in of.items():
        gold, judge = np.array([answers[i].gold for i in members]), scores[members]
        past = [means[answers[i].block] for i in members if answers[i].block in means]
        out.append(
            UserPoint(
                user,
                len(members),
                float(gold.mean()),
                float(judge.mean()),
                float(np.mean(past)) if past else None,
                pearson(judge, gold) if len(members) >= _MIN_TURNS else None,
                float(np.abs(gold - judge).mean()),
            )
        )
    return tuple(out)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Stability and recovery, of users and of the judge on the same turns."""

    stability: Mapping[str, Estimate]
    """`people`, `judge`: of conversations."""
    recovery: Mapping[str, Estimate]
    """`people`: right after a turn at which the user was dissatisfied. `judge_there`: the judge at these
    same turns. `judge`: right after a turn that the judge itself takes for dissatisfied."""
    after_dissatisfaction: Metrics
    """Of the turns right after one at which the user was dissatisfied."""


def behaviour_of(answers: Sequence[JudgedReply], table: ScoreTable, scores: Scores) -> Behaviour:
    """Follow users and judge along the conversations.

    Args:
        answers: The targets that the judge scored.
        table: Of the same targets.
        scores: What the judge gave them, as rows show it.
    """
    sessions: dict[str, list[int]] = defaultdict(list)
    for i in sorted(range(len(answers)), key=lambda i: answers[i].position):
        sessions[answers[i].session].append(i)
    follows = [
        (before, after)
        for turns in sessions.values()
        for before, after in pairwise(turns)
        if answers[after].position == answers[before].position + 1
    ]
    people = np.array([a.gold >= BOUNDARY for a in answers], dtype=np.bool_)
    judge = scores.whole >= BOUNDARY
    upset = [after for before, after in follows if not people[before]]
    by_judge = [after for before, after in follows if not judge[before]]

    def share(satisfied: npt.NDArray[np.bool_], turns: Sequence[int]) -> Estimate:
        return _mean(satisfied[turns].astype(np.float64), [answers[i] for i in turns])

    def stable(satisfied: npt.NDArray[np.bool_]) -> Estimate:
        whole = [float(satisfied[turns].all()) for turns in sessions.values()]
        return _mean(whole, [answers[turns[0]] for turns in sessions.values()])

    here = np.zeros(len(answers), dtype=np.bool_)
    here[upset] = True
    return Behaviour(
        {"people": stable(people), "judge": stable(judge)},
        {
            "people": share(people, upset),
            "judge_there": share(judge, upset),
            "judge": share(judge, by_judge),
        },
        metrics_of_one(table.only(here), scores.take(here)),
    )
