"""What the votes of an arena come to: a ranking, the win matrix, position bias, and what controls would say.

A control is a referee that reads nothing: the longer of two dialogues wins, or a coin decides. How often
each votes as the referee did, where both name a winner, stands beside the ranking, and so do the ratings that
it would give. A meeting without a verdict is counted, and is no vote: not a tie, and not half a win.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from dialogauge.core.json_keys import INSIDE, as_json, keys
from dialogauge.core.judgement import NO_USAGE, Usage
from dialogauge.runs import Row
from dialogauge.stats import (
    Estimate,
    Floats,
    Ranking,
    Standing,
    TieRule,
    Votes,
    combined_elo,
    mean_estimate,
    online_elo,
    ranking_of,
    strengths,
    votes_of,
)
from dialogauge.studies.arena.agents import Agents
from dialogauge.studies.arena.controls import COIN, FIRST, LENGTH, PEOPLE, Beside, PositionBias, position_bias
from dialogauge.studies.arena.meetings import SCORE, Meeting
from dialogauge.studies.arena.opening import opening, share_of
from dialogauge.studies.evidence import UNCHECKED, UNCHECKED_FIRST, DimensionEvidence
from dialogauge.text import counted

_ORDERS: Final = 100
"""Random orders over which online Elo is averaged."""
_CHANCE: Final = 0.5
_NO_VOTES: Final = "people named no winner on these meetings"
_READ: Final = 10
"""Meetings that are named to be read."""
_INSTEAD: Final = (
    "Read the dialogues below. People's votes on these meetings (--ratings) would check the judge, or rank "
    "by themselves (--judge people); with --unchecked there are ranks all the same."
)
_MOST_FOR_ORDERS: Final = 20_000
"""Votes beyond which the mean over orders is left out: it is a view for comparison, and takes seconds."""


@dataclass(frozen=True, slots=True)
class ArenaSettings:
    """What the figures depend on beside the votes."""

    ties: TieRule = "davidson"
    equal_length: bool = False
    draws: int = 0
    seed: int = 0
    unchecked: bool = False
    """Whether a referee ranks of whom nothing shows that it agrees with people or outcomes."""


@dataclass(frozen=True, slots=True, eq=False)
class ArenaResult:
    """What an arena comes to."""

    referee: str
    asked: int
    """Meetings that were put to the referee."""
    failures: Mapping[str, int]
    """Of these without a verdict, by kind."""
    agents: Agents
    votes: Votes | None
    """None without a vote."""
    ranking: Ranking | None
    elo: Mapping[str, float]
    """By agent online Elo in the order of the votes; of several arenas the mean, weighted by votes."""
    elo_orders: Mapping[str, float]
    """The mean over random orders; empty of very many votes."""
    position: PositionBias | None
    """None where nobody was asked in both orders."""
    beside: tuple[Beside, ...]
    settings: ArenaSettings
    usage: Usage = NO_USAGE
    """What the referee took."""
    pending: int = 0
    """Meetings that are still to be put to the referee, where the arena ended early."""
    evidence: DimensionEvidence = UNCHECKED
    """Whether the referee is checked, and by what."""
    to_read: tuple[MeetingToRead, ...] = ()
    """Where to begin to read."""

    @property
    def n_failed(self) -> int:
        """Meetings without a verdict."""
        return sum(self.failures.values())

    @property
    def failed_share(self) -> float | None:
        """Of all that were asked."""
        return self.n_failed / self.asked if self.asked else None

    @property
    def ranks(self) -> bool:
        """Whether there are ranks: the referee is checked, or they were asked for all the same."""
        return self.ranking is not None and (self.evidence.checked or self.settings.unchecked)

    @property
    def standings(self) -> tuple[Standing, ...]:
        """Agents from the strongest on; none without a vote, or where nobody is ranked."""
        return self.ranking.standings if self.ranking is not None and self.ranks else ()

    @property
    def answers(self) -> tuple[str, ...]:
        """The sentences that a careful reader would begin with."""
        if self.ranking is None:
            return ()
        if not self.ranks:
            return (f"Nobody is ranked: {self.evidence.why}.", _INSTEAD)
        sentences = opening(self.ranking, self.position, self.beside)
        if not self.evidence.checked:
            return (UNCHECKED_FIRST, *sentences)
        by = f"The judge is checked: {self.evidence.by}."
        return sentences if self.referee == "people" else (*sentences, by)

    def to_json(self) -> dict[str, Any]:
        """Return `summary.json`: `ArenaSummary`."""
        votes, ranking = (self.votes, self.ranking) if self.ranks else (None, None)
        about = self.agents.about
        names = () if self.ranks else sorted(self.agents.names)
        summary = ArenaSummary(
            referee=self.referee,
            checked=self.evidence.checked,
            checked_by=self.evidence.by,
            why_unchecked=self.evidence.why,
            unchecked=self.settings.unchecked,
            answers=self.answers,
            asked=self.asked,
            pending=self.pending,
            votes=0 if self.votes is None else self.votes.m,
            failures=self.failures,
            usage=UsageByRole(self.usage, {"judge": self.usage}),
            agents=tuple(
                RankedAgent(
                    one, self.elo.get(one.agent), self.elo_orders.get(one.agent), about.get(one.agent, {})
                )
                for one in self.standings
            ),
            unranked=tuple(UnrankedAgent(name, about.get(name, {})) for name in names),
            to_read=self.to_read,
            groups=() if ranking is None else ranking.groups,
            matrix=VoteMatrix()
            if votes is None
            else VoteMatrix(votes.agents, votes.wins.astype(int).tolist(), votes.ties.astype(int).tolist()),
            ties=self.settings.ties,
            ridge=None if ranking is None else ranking.ridge,
            tie=None if ranking is None else ranking.strengths.tie,
            twice_as_long=None if ranking is None else ranking.longer,
            position=self.position,
            beside=self.beside,
            missing=self.agents.missing,
            absent=self.agents.absent,
        )
        values: dict[str, Any] = as_json(summary)
        return values


@keys(used=INSIDE)
@dataclass(frozen=True, slots=True)
class UsageByRole:
    """What the judge's calls took."""

    used: Usage
    by_role: Mapping[str, Usage]


@keys(standing=INSIDE)
@dataclass(frozen=True, slots=True)
class RankedAgent:
    """One agent on the leaderboard."""

    standing: Standing
    elo: float | None
    elo_orders: float | None
    """How far Elo moves with the order of the votes."""
    about: Mapping[str, str | float]


@dataclass(frozen=True, slots=True)
class UnrankedAgent:
    """One agent where nobody is ranked."""

    agent: str
    about: Mapping[str, str | float]


@dataclass(frozen=True, slots=True)
class MeetingToRead:
    """A meeting on which the two differ much by the referee; it does not say who did better."""

    conversation_id: str
    agents: tuple[str, str]


@keys(agents="agents?", wins="wins?", ties="ties?")
@dataclass(frozen=True, slots=True)
class VoteMatrix:
    """Who won how often against whom; nothing without a vote."""

    agents: tuple[str, ...] = ()
    wins: Sequence[Sequence[int]] = ()
    ties: Sequence[Sequence[int]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaSummary:
    """Agents ranked by votes between two."""

    study: Literal["arena"] = "arena"
    referee: str
    checked: bool
    """Whether the referee was shown to agree with people or outcomes."""
    checked_by: str
    why_unchecked: str
    unchecked: bool
    """Whether ranks were asked for all the same."""
    answers: tuple[str, ...]
    """What can be said, in sentences."""
    asked: int
    pending: int
    votes: int
    failures: Mapping[str, int]
    """By kind."""
    usage: UsageByRole
    agents: tuple[RankedAgent, ...]
    """Empty where nobody is ranked."""
    unranked: tuple[UnrankedAgent, ...]
    """All agents where nobody is ranked, by name."""
    to_read: tuple[MeetingToRead, ...]
    groups: tuple[tuple[str, ...], ...]
    """Agents that votes link."""
    matrix: VoteMatrix
    ties: TieRule
    ridge: float | None
    tie: float | None
    twice_as_long: Estimate | None
    """Points that being twice as long is worth; None where lengths do not count."""
    position: PositionBias | None
    beside: tuple[Beside, ...]
    missing: Mapping[str, Sequence[str]]
    """By agent: conversations that others have."""
    absent: Mapping[str, Sequence[str]]
    """By agent: runs that failed at their source."""


def arena_result(
    rows: Iterable[Row],
    referee: str,
    agents: Agents,
    settings: ArenaSettings,
    people: Sequence[Meeting] = (),
    evidence: DimensionEvidence = UNCHECKED,
) -> ArenaResult:
    """Bring rows to figures.

    Args:
        rows: As `MeetingVote` writes them.
        referee: Its name.
        agents: Who takes part.
        settings: What the figures depend on.
        people: Votes to compare the referee with; they may show that it agrees with people.
        evidence: What else shows that.
    """
    everything = list(rows)
    kept = [row for row in everything if row["winner"] is not None]
    failures = Counter(row["failure"]["kind"] for row in everything if row["winner"] is None)
    shared = (referee, len(everything), dict(failures.most_common()), agents)
    position = position_bias(everything)
    usage = sum((Usage(**row["usage"]) for row in everything), NO_USAGE)
    if not kept:
        return ArenaResult(*shared, None, None, {}, {}, position, (), settings, usage, evidence=evidence)
    table = _VoteColumns(kept, agents.names)
    rng = np.random.default_rng(settings.seed)
    known = table.votes(lengths=settings.equal_length)
    ranking = ranking_of(known, ties=settings.ties, draws=settings.draws, rng=rng)
    votes = table.votes()
    orders = online_elo(votes, orders=_ORDERS, rng=rng) if votes.m <= _MOST_FOR_ORDERS else None
    return ArenaResult(
        *shared,
        votes,
        ranking,
        table.elo(),
        {} if orders is None else _named(votes, orders),
        position,
        tuple(table.beside(rng, people)),
        settings,
        usage,
        evidence=evidence if evidence.checked else table.beside_people(people, evidence),
        to_read=_to_read(kept),
    )


def _to_read(rows: Sequence[Row]) -> tuple[MeetingToRead, ...]:
    """Return one meeting of each dialogue, first those on which the two differ most."""

    def sureness(row: Row) -> float:
        qualities = row.get("qualities")
        return abs(qualities[0] - qualities[1]) if qualities else float(row["winner"] != "tie")

    known = sorted((row for row in rows if row["conversation_id"] is not None), key=sureness)
    first = sorted({row["conversation_id"]: row for row in known}.values(), key=sureness, reverse=True)
    return tuple(MeetingToRead(str(r["conversation_id"]), (r["a"], r["b"])) for r in first[:_READ])


def _named(votes: Votes, ratings: Floats) -> dict[str, float]:
    return dict(zip(votes.agents, ratings.tolist(), strict=True))


def _clusters(rows: Sequence[Row]) -> tuple[list[Hashable], str]:
    """Return what votes go together by: the dialogue where known, else the rater, else nothing."""
    if all(row["conversation_id"] is not None for row in rows):
        return [row["conversation_id"] for row in rows], "dialogues"
    labels: list[Hashable] = [
        ("dialogue", row["conversation_id"])
        if row["conversation_id"] is not None
        else (number if row["rater"] is None else ("rater", row["rater"]))
        for number, row in enumerate(rows)
    ]
    alone = all(row["conversation_id"] is None for row in rows)
    people = alone and all(row["rater"] is not None for row in rows)
    return labels, "raters" if people else "votes" if alone else "dialogues and votes"


@dataclass(frozen=True, eq=False)
class _VoteColumns:
    """Rows with a vote, as columns."""

    rows: Sequence[Row]
    names: Sequence[str]

    def votes(self, *, lengths: bool = False, score: Floats | None = None) -> Votes:
        """Return the votes, or those of another referee of the same meetings."""
        both = [row["lengths"] for row in self.rows]
        known = lengths and all(both)
        return votes_of(
            [row["a"] for row in self.rows],
            [row["b"] for row in self.rows],
            self.scores if score is None else score,
            clusters=_clusters(self.rows),
            lengths=tuple(np.array(both, dtype=np.float64).T) if known else None,
            agents=self.names,
        )

    def elo(self) -> dict[str, float]:
        """Return online Elo, arena by arena."""
        arenas: dict[str | None, list[Row]] = {}
        for row in self.rows:
            arenas.setdefault(row["arena"], []).append(row)
        each = [_VoteColumns(rows, ()).votes() for rows in arenas.values()]
        names, ratings = combined_elo([(votes, online_elo(votes)) for votes in each])
        return dict(zip(names, ratings.tolist(), strict=True))

    @property
    def scores(self) -> Floats:
        """Shape (m,), what the agent named first got."""
        return np.array([SCORE[row["winner"]] for row in self.rows])

    def beside(self, rng: np.random.Generator, people: Sequence[Meeting]) -> Iterator[Beside]:
        """Yield what other referees would have said of the same meetings."""
        if all(row["lengths"] for row in self.rows):
            a, b = np.array([row["lengths"] for row in self.rows]).T
            longer = np.where(a == b, 0.5, a > b)
            agrees = self._agrees(longer)
            shorter = agrees.value is not None and agrees.value < 0.5
            score = 1 - longer if shorter else longer
            what = f"the {'shorter' if shorter else 'longer'} of the two wins"
            yield Beside(LENGTH, what, self._agrees(score), self._rated(score))
        if all(row.get("shown_first") for row in self.rows):
            first = np.array([float(row["shown_first"] == "a") for row in self.rows])
            yield Beside(FIRST, "who was shown first wins", self._agrees(first), self._rated(first))
        coin = rng.integers(2, size=len(self.rows)).astype(np.float64)
        yield Beside(COIN, "a coin decides", self._agrees(coin), self._rated(coin))
        if people:
            what = "people, who voted on the same meetings"
            yield Beside(PEOPLE, what, self._agrees(self._gold(people)), self._strengths(people))

    def _gold(self, people: Sequence[Meeting]) -> Floats:
        """Shape (m,), what most people gave the agent named first; a half for a tie or nothing."""
        sums: dict[tuple[str | None, str, str], float] = {}
        for one in people:
            score = SCORE["tie" if one.rating is None else one.rating.winner] - 0.5
            for key, sign in (((one.dialogue, one.a, one.b), 1), ((one.dialogue, one.b, one.a), -1)):
                sums[key] = sums.get(key, 0.0) + sign * score
        sides = [sums.get((row["conversation_id"], row["a"], row["b"]), 0.0) for row in self.rows]
        gold: Floats = (np.sign(sides) + 1) / 2
        return gold

    def _strengths(self, people: Sequence[Meeting]) -> dict[str, float]:
        """Return the ratings by people's votes alone."""
        met = votes_of(
            [one.a for one in people],
            [one.b for one in people],
            [SCORE[one.rating.winner] for one in people if one.rating is not None],
            agents=self.names,
        )
        return _named(met, strengths(met).ratings)

    def beside_people(self, people: Sequence[Meeting], before: DimensionEvidence) -> DimensionEvidence:
        """Say whether the referee names people's winners, more often than rules that read nothing.

        The rules: the longer, the shorter, and whoever is the stronger of the two by people's votes over all
        dialogues. A tie of the referee is half right. Each by its interval, clustered by dialogues.
        """
        gold = self._gold(people)
        voted = np.flatnonzero(gold != 0.5)
        if not voted.size:
            return before if not people else replace(before, why=_NO_VOTES)
        strong = self._strengths(people)
        rules: dict[str, Sequence[float] | Floats] = {
            "the usual winner": [np.sign(strong[row["a"]] - strong[row["b"]]) for row in self.rows]
        }
        if all(row["lengths"] for row in self.rows):
            longer = np.array([np.sign(row["lengths"][0] - row["lengths"][1]) for row in self.rows])
            rules |= {"the longer": longer, "the shorter": -longer}
        labels, unit = _clusters([self.rows[int(i)] for i in voted])
        right = 1 - abs(self.scores - gold)[voted]
        mine = mean_estimate(right, labels, unit=unit)
        share = share_of(mine)
        measured = f"it names the winner that people named in {share} of {counted(voted.size, 'meeting')}"
        if mine.low is None or mine.low <= _CHANCE:
            return replace(before, why=f"{measured}, which is not shown to be more than chance")
        for name, signs in rules.items():
            rule = 1 - abs((np.asarray(signs) + 1) / 2 - gold)[voted]
            more = mean_estimate(right - rule, labels, limits=(-1.0, 1.0), unit=unit)
            if more.low is None or more.low <= 0:
                return replace(
                    before, why=f"{measured}, which is not shown to be more than {name} gets right"
                )
        by = f"{measured}, more often than length or the usual winner"
        return DimensionEvidence(checked=True, by=by)

    def _agrees(self, other: Floats) -> Estimate:
        mine = self.scores
        both = (mine != 0.5) & (other != 0.5)
        labels, unit = _clusters(self.rows)
        of = [label for label, kept in zip(labels, both, strict=True) if kept]
        return mean_estimate((mine[both] == other[both]).astype(np.float64), of, unit=unit)

    def _rated(self, score: Floats) -> dict[str, float]:
        votes = self.votes(score=score)
        return _named(votes, strengths(votes).ratings)
