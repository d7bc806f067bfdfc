"""How satisfaction goes along a conversation: stability, and recovery after a dissatisfied turn.

Source: PersTurnBench's analysis of ratings. *Stability* is the share of conversations all of whose rated
turns are satisfied; *recovery* the share of satisfied turns right after a dissatisfied one. Both are taken
of what users gave and of what the judge says, so that one can see whether the judge tells the same story.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np

from dialogauge.core.protocols import Population, RatedBlock
from dialogauge.stats import pearson
from dialogauge.studies.satisfaction.answers import Answer
from dialogauge.studies.satisfaction.figures import BOUNDARY, Figures, Scored, Share, figures_of, mean_by_user

LEAST_SHIFT = 0.1
"""Points on 1-5 below which a shift is not worth a warning."""
LEAST_SHARE = 0.25
"""The part of the blocks from which on moved levels are worth one."""
BLOCK_SHIFT = 0.5
MIN_TURNS = 5


@dataclass(frozen=True, slots=True)
class Drift:
    """Targets against histories."""

    shift: Share
    """Mean of a target's rating less the mean of its user's history."""
    by_scenario: Mapping[str, Share]
    """The same in each target scenario: how it is rated against the same users' other scenarios."""
    moved: tuple[int, int]
    """Blocks whose mean lies half a point or more from their history's; of how many with 5 turns in both."""
    level_pearson: float | None
    """Of history mean and target mean over the blocks: how far a user's level carries over."""
    unknown: tuple[str, ...]
    """Scenarios that no training user rated, where there are training users at all."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader has to know before they trust a history; a sentence each."""
        out = []
        if _notable(self.shift):
            out.append(f"Score drift: users rate what is judged {_told(self.shift)} than their histories.")
        for name, share in self.by_scenario.items():
            if _notable(share):
                out.append(
                    f"Scenario family: {name!r} is rated {_told(share)} than the same users' other "
                    "scenarios; a history of those misplaces its level."
                )
        moved, of = self.moved
        if of and moved / of >= LEAST_SHARE:
            out.append(
                f"Score drift: in {moved} of {of} blocks (those with {MIN_TURNS} rated turns or more, and as "
                f"many in the history) the user's mean lies {BLOCK_SHIFT:g} or more from that of their "
                "history."
            )
        if self.unknown:
            names = ", ".join(repr(name) for name in self.unknown[:5])
            more = f" and {len(self.unknown) - 5} more" if len(self.unknown) > 5 else ""
            out.append(f"Scenario family: no training user rated {names}{more}.")
        return tuple(out)

    def to_json(self) -> dict[str, object]:
        """Write the figures and the warnings."""
        return {
            "shift": self.shift.to_json(),
            "by_scenario": {name: s.to_json() for name, s in self.by_scenario.items()},
            "blocks_moved": self.moved[0],
            "blocks_compared": self.moved[1],
            "level_pearson": self.level_pearson,
            "unknown_scenarios": list(self.unknown),
            "warnings": list(self.warnings),
        }


def drift_of(
    blocks: Iterable[RatedBlock], population: Population, *, draws: int = 1000, seed: int = 0
) -> Drift:
    """Hold the ratings of the targets against the histories.

    Args:
        blocks: Of the users judged; those without a history take no part.
        population: The training users' blocks.
        draws: Bootstrap draws of users; without any nothing is called a shift.
        seed: Of the draws.
    """
    known = [b for b in blocks if b.view.history]
    cases: list[tuple[str, float]] = []
    by: dict[str, list[tuple[str, float]]] = defaultdict(list)
    moved: list[bool] = []
    levels: list[tuple[float, float]] = []
    for block in known:
        view, gold = block.view, [r.score for r in block.ratings]
        mean = sum(view.scores) / len(view.scores)
        mine = [(view.user, g - mean) for g in gold]
        cases += mine
        by[view.scenario] += mine
        levels.append((mean, sum(gold) / len(gold)))
        if min(len(gold), len(view.scores)) >= MIN_TURNS:
            moved.append(abs(levels[-1][1] - mean) >= BLOCK_SHIFT)
    rated = {b.view.scenario for b in population.blocks}
    return Drift(
        mean_by_user(cases, draws=draws, seed=seed),
        {name: mean_by_user(by[name], draws=draws, seed=seed) for name in sorted(by)},
        (sum(moved), len(moved)),
        _correlation(levels),
        tuple(sorted(by.keys() - rated)) if rated else (),
    )


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    if len(pairs) < 3:
        return None
    x, y = np.array(pairs).T
    return float(np.corrcoef(x, y)[0, 1]) if x.std() > 1e-9 and y.std() > 1e-9 else None


def _notable(share: Share) -> bool:
    if share.value is None or share.interval is None:
        return False
    low, high = share.interval
    return abs(share.value) >= LEAST_SHIFT and (low > 0 or high < 0)


def _told(share: Share) -> str:
    value, (low, high) = share.value or 0.0, share.interval or (0.0, 0.0)
    ends = sorted((abs(low), abs(high)))
    return f"{abs(value):.2f} [{ends[0]:.2f}, {ends[1]:.2f}] {'higher' if value > 0 else 'lower'}"


_BINS = 10
_MIN_TURNS = 3
LEVELS = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The turns that the judge gave about the same score."""

    said: float
    """The judge's mean."""
    people: Share
    """People's mean."""

    def to_json(self) -> dict[str, object]:
        """Write the bin."""
        return {"judge": self.said, "people": self.people.to_json()}


@dataclass(frozen=True, slots=True)
class UserPoint:
    """One user, over all turns that the judge scored."""

    user: str
    n: int
    gold: float
    """The user's mean."""
    said: float
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
    """Rows: the judge's whole score 1 to 5. Columns: the user's, fractions rounded half to even."""
    reliability: tuple[ReliabilityBin, ...]
    """By the judge's score, ascending: each of its values, or ten equal parts where there are more."""
    users: tuple[UserPoint, ...]

    def to_json(self) -> dict[str, object]:
        """Write the data."""
        return {
            "confusion": [list(row) for row in self.confusion],
            "reliability": [b.to_json() for b in self.reliability],
            "users": [asdict(u) for u in self.users],
        }


def pictures_of(
    answers: Sequence[Answer],
    scores: Sequence[int],
    values: Sequence[float],
    means: Mapping[str, float],
    *,
    draws: int = 1000,
    seed: int = 0,
) -> Pictures:
    """Gather what the charts show.

    Args:
        answers: The targets that the judge scored.
        scores: Its whole scores.
        values: The same with fractions.
        means: By block the mean of the user's history.
        draws: Bootstrap draws of users; 0 leaves the intervals out.
        seed: Of the draws.
    """
    pairs = Counter((s, int(np.clip(np.rint(a.gold), 1, 5))) for a, s in zip(answers, scores, strict=True))
    return Pictures(
        tuple(tuple(pairs[said, gold] for gold in LEVELS) for said in LEVELS),
        tuple(
            ReliabilityBin(
                float(np.mean([values[i] for i in held])),
                mean_by_user([(answers[i].user, answers[i].gold) for i in held], draws=draws, seed=seed),
            )
            for held in _bins(values)
        ),
        _users(answers, scores, means),
    )


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
    for held in levels.values():
        bins[min(_BINS - 1, int((passed + len(held) / 2) * _BINS / len(values)))] += held
        passed += len(held)
    return list(bins.values())


def _users(
    answers: Sequence[Answer], scores: Sequence[int], means: Mapping[str, float]
) -> tuple[UserPoint, ...]:
    of: dict[str, list[int]] = defaultdict(list)
    for i, answer in enumerate(answers):
        of[answer.user].append(i)
    out = []
    for user, held in of.items():
        gold = np.array([answers[i].gold for i in held])
        said = np.array([scores[i] for i in held], dtype=np.float64)
        past = [means[answers[i].block] for i in held if answers[i].block in means]
        out.append(
            UserPoint(
                user,
                len(held),
                float(gold.mean()),
                float(said.mean()),
                float(np.mean(past)) if past else None,
                pearson(said, gold).value if len(held) >= _MIN_TURNS else None,
                float(np.abs(gold - said).mean()),
            )
        )
    return tuple(out)


Turn = tuple[Answer, float]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Stability and recovery, of users and of the judge on the same turns."""

    stability: Mapping[str, Share]
    """`people`, `judge`: of conversations."""
    recovery: Mapping[str, Share]
    """`people`: right after a turn at which the user was dissatisfied. `judge_there`: the judge at these
    same turns. `judge`: right after a turn that the judge itself takes for dissatisfied."""
    after_dissatisfaction: Figures
    """Of the turns right after one at which the user was dissatisfied."""

    def to_json(self) -> dict[str, object]:
        """Write all of it."""
        return {
            "stability": {name: s.to_json() for name, s in self.stability.items()},
            "recovery": {name: s.to_json() for name, s in self.recovery.items()},
            "after_dissatisfaction": self.after_dissatisfaction.to_json(),
        }


def behaviour_of(
    answers: Sequence[Answer], scores: Sequence[float], *, draws: int = 1000, seed: int = 0
) -> Behaviour:
    """Follow users and judge along the conversations.

    Args:
        answers: The targets that the judge scored.
        scores: What it said of each, as rows show it.
        draws: Bootstrap draws of users; 0 leaves the intervals out.
        seed: Of the draws.
    """
    sessions: dict[str, list[Turn]] = defaultdict(list)
    for answer, score in zip(answers, scores, strict=True):
        sessions[answer.session].append((answer, score))
    for turns in sessions.values():
        turns.sort(key=lambda turn: turn[0].position)
    follows = [
        (before, after)
        for turns in sessions.values()
        for before, after in pairwise(turns)
        if after[0].position == before[0].position + 1
    ]
    upset = [after for before, after in follows if before[0].gold < BOUNDARY]
    said = [after for before, after in follows if before[1] < BOUNDARY]

    def share(cases: Sequence[tuple[str, bool]]) -> Share:
        return mean_by_user([(user, float(held)) for user, held in cases], draws=draws, seed=seed)

    return Behaviour(
        {
            "people": share(
                [(t[0][0].user, all(a.gold >= BOUNDARY for a, _ in t)) for t in sessions.values()]
            ),
            "judge": share([(t[0][0].user, all(s >= BOUNDARY for _, s in t)) for t in sessions.values()]),
        },
        {
            "people": share([(a.user, a.gold >= BOUNDARY) for a, _ in upset]),
            "judge_there": share([(a.user, s >= BOUNDARY) for a, s in upset]),
            "judge": share([(a.user, s >= BOUNDARY) for a, s in said]),
        },
        figures_of([Scored(a.user, a.block, a.gold, s) for a, s in upset], draws=draws, seed=seed),
    )
