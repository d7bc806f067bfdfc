"""The findings of a run by kind, with what is known of each kind, and where to read first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dialogauge.judges.local.evidence import (
    HERE,
    OF_TOOLS,
    TELLING,
    TITLES,
    KindEvidence,
    load_evidence,
)
from dialogauge.stats import Basis, Floats, divided, parse_rule
from dialogauge.studies.judging.people import People
from dialogauge.studies.judging.sampling import ratings_of
from dialogauge.studies.passing import ByConversation, Row, Smallest


@dataclass(frozen=True, slots=True)
class FindingExample:
    """One finding, with its words."""

    conversation_id: str
    turn: int
    quote: str
    note: str
    """What is wrong, in the conversation's language."""


@dataclass(frozen=True, slots=True)
class KindSummary:
    """One kind of finding in a run."""

    kind: str
    title: str
    """In plain English: `The user doubts the reply`."""
    turns: int
    conversations: int
    evidence: KindEvidence | None
    """By this run's ratings; where it has none, by rated data on which nothing was chosen; else None."""
    example: FindingExample


@dataclass(frozen=True, slots=True)
class ReadFirst:
    """A turn to read, and why."""

    conversation_id: str
    turn: int
    reason: str


@dataclass(frozen=True, slots=True)
class Missed:
    """Of what people rated poor, or what failed, how much has no finding."""

    what: str
    """`conversations`; of shipped figures `turns` or `runs`."""
    poor: int
    without: int
    source: str
    """`this data`, or the data that the figure is of."""
    share: float
    """Of the poor without a finding, 0 to 1: of a drawn sample weighted by the chance of being chosen."""


@dataclass(frozen=True, slots=True)
class FindingsSummary:
    """What a judge that names kinds of findings saw in a run."""

    conversations: int
    """Requested, with a reply, and in a language that the judge was checked on."""
    with_finding: int
    """Of these, conversations with at least one named finding."""
    not_judged: Mapping[str, int]
    """Language -> conversations in a language that the judge was not checked on."""
    kinds: tuple[KindSummary, ...]
    """Commonest first; those that people's ratings or blind reading bear out before all others."""
    first: tuple[ReadFirst, ...]
    """The turns to read first, best first; of every three each kind of finding has one at most, if it can."""
    missed: Missed | None = None
    """What the findings miss."""


_FIRST: Final = 60
"""Turns to read first that are kept."""
_KEPT: Final = 4 * _FIRST
"""Turns of which these are taken, so that not all are of one kind."""
_TENTH: Final = 10
_PLAIN: Final = "No finding: by the fitted model the least satisfying of the turns without one."


class FindingsTally(ByConversation):
    """Takes rows of a judge whose `details` list findings (`signals`), and keeps counts and a few places."""

    def __init__(self, mode: str = "hindsight") -> None:
        """Begin before the first row; `mode` is the judge's, and says which evidence is to the point."""
        super().__init__()
        self._mode = mode
        self._names = False
        self._judged = self._with = 0
        self._unsupported: Counter[str] = Counter()
        self._languages: Counter[str] = Counter()
        self._scored = self._named = 0
        self._turns: Counter[str] = Counter()
        self._conversations: Counter[str] = Counter()
        self._examples: dict[str, tuple[float, FindingExample]] = {}
        self._first = Smallest[tuple[str, ReadFirst]](_KEPT)
        self._rated: list[tuple[str, str, float, frozenset[str], float]] = []
        """Of each rated turn the user (else the conversation), the dimension, the rating, the kinds, and how
        many turns it stands for, where somebody says so."""
        self._wholes: list[tuple[str, str, float, bool, float]] = []
        """Of each rated conversation level and dimension, the lowest rating, whether it has a finding, and
        how many it stands for, where somebody says so."""

    def take(self, unit: Sequence[Row]) -> None:
        """Count one conversation."""
        judged = [row for row in unit if not row["failure"]]
        if not judged:
            failures = {row["failure"]["kind"] for row in unit}
            language = unit[0]["details"].get("language") or "other"
            self._unsupported[language] += "unsupported_language" in failures
            return
        self._judged += 1
        self._languages[judged[-1]["details"].get("language", "other")] += 1
        kinds: set[str] = set()
        for row in judged:
            if row["turn"] is not None and (findings := row["details"].get("signals")) is not None:
                self._names = True
                kinds |= self._turn(row, findings)
                self._rate(row, findings)
        self._with += bool(kinds)
        self._conversations.update(kinds)
        rated_as, ratings = ratings_of(unit)
        if rated_as is not None:
            of = [row["rating"].get("weight") or math.nan for row in unit if row.get("rating")]
            self._wholes.append((*rated_as, min(ratings), bool(kinds), sum(of) / len(of)))

    def _rate(self, row: Row, findings: Sequence[Mapping[str, Any]]) -> None:
        rating = row.get("rating")
        if rating and not isinstance(rating["score"], str):
            who = row.get("user_id") or row["conversation_id"]
            kinds = frozenset(finding["name"] for finding in findings)
            weight = rating.get("weight") or math.nan
            self._rated.append((who, rating["dimension"], float(rating["score"]), kinds, weight))

    def _turn(self, row: Row, findings: Sequence[Mapping[str, Any]]) -> set[str]:
        quotes = {e.get("signal"): e["quote"] for e in reversed(row["evidence"])}
        best: tuple[float, str, str] = (0.0, "", _PLAIN)
        weights = load_evidence().weights
        for finding in findings:
            name, strength = finding["name"], finding["strength"]
            self._turns[name] += 1
            place = FindingExample(row["conversation_id"], row["turn"], quotes.get(name, ""), finding["note"])
            if name not in self._examples or strength > self._examples[name][0]:
                self._examples[name] = (strength, place)
            best = max(best, (weights.get(name, 0.0) + strength / 100, name, finding["note"]))
        order = row["scores"].get("satisfaction")
        if isinstance(order, int | float) and (findings or "order_from" not in row["details"]):
            self._scored += 1
            self._named += bool(findings)
            turn = ReadFirst(row["conversation_id"], row["turn"], best[2])
            self._first.offer((order, row["conversation_id"], row["turn"]), self._judged, (best[1], turn))
        return {finding["name"] for finding in findings}

    def result(self, people: People | None = None) -> FindingsSummary | None:
        """Return the summary once all rows have passed; None where no row lists findings.

        Args:
            people: What people said, which says what is poor; without it shipped figures are cited.
        """
        self.close()
        if not self._names and not self._unsupported.total():
            return None
        language = max(self._languages, key=lambda one: self._languages[one], default="other")
        table = load_evidence()
        here = self._here(people, language)
        kinds = tuple(
            KindSummary(
                kind,
                TITLES.get(kind) or OF_TOOLS.get(kind, kind),
                turns,
                self._conversations[kind],
                table.best(kind, self._mode, language) if here is None else here.get(kind),
                self._examples[kind][1],
            )
            for kind, turns in sorted(
                self._turns.most_common(), key=lambda one: one[0] not in table.borne_out
            )
        )
        unsupported = {name: n for name, n in self._unsupported.items() if n}
        worth = min(_FIRST, max(self._named, -(-self._scored // _TENTH)))  # a small log is not read in full
        first = _spread(self._first.ascending(), worth)
        missed = self._missed(people, language) if self._judged else None
        return FindingsSummary(self._judged, self._with, unsupported, kinds, first, missed)

    def _here(self, people: People | None, language: str) -> dict[str, KindEvidence] | None:
        """Return by kind how many turns with it the ratings of this data call poor; None without any."""
        figure = None if people is None else people.main("turn")
        if figure is None:
            return None
        rule = parse_rule(figure.cut)
        rated = [one for one in self._rated if one[1] == figure.dimension]
        names, codes = np.unique([one[0] for one in rated], return_inverse=True)
        poor = np.array([rule.holds(one[2]) for one in rated], dtype=np.float64)
        weights = _weights([one[4] for one in rated])
        base = np.bincount(codes, weights * poor, names.size), np.bincount(codes, weights, names.size)
        out = {}
        for kind in {name for one in rated for name in one[3]}:
            has = np.array([kind in one[3] for one in rated])
            if has.sum() < TELLING or not poor.any():
                continue
            fires = has * weights
            hits, seen = np.bincount(codes, fires * poor, names.size), np.bincount(codes, fires, names.size)
            shares = divided(hits.sum() - hits, seen.sum() - seen)
            moved = divided(shares, divided(base[0].sum() - base[0], base[1].sum() - base[1]))
            share, usual = float(hits.sum() / seen.sum()), float(base[0].sum() / base[1].sum())
            basis = Basis(int(has.sum()), names.size, "users")
            lift = basis.estimate(share / usual, moved, (0.0, 1 / usual), support=int((seen > 0).sum()))
            out[kind] = KindEvidence(HERE, self._mode, language, int(has.sum()), share, usual, lift)
        return out

    def _missed(self, people: People | None, language: str) -> Missed | None:
        """Return how many poor conversations have no finding; without ratings the shipped figures."""
        for figure in people.figures if people is not None else ():
            mine = [one for one in self._wholes if one[:2] == (figure.level, figure.dimension)]
            if figure.cut and mine:
                rule, weights = parse_rule(figure.cut), _weights([one[4] for one in mine])
                poor = [(one[3], w) for one, w in zip(mine, weights, strict=True) if rule.holds(one[2])]
                without = [w for named, w in poor if not named]
                share = float(sum(without) / sum(w for _, w in poor)) if poor else 0.0
                return Missed("conversations", len(poor), len(without), HERE, share)
        shipped = [m for m in load_evidence().missed if m.mode == self._mode and not m.chosen_on]
        best = max(shipped, key=lambda m: (m.language == language, m.poor), default=None)
        if best is None:
            return None
        return Missed(best.what, best.poor, best.without, best.source, best.without / best.poor)


def _weights(weights: Sequence[float]) -> Floats:
    """Return how much each counts: its weight, or 1 each where not all have one."""
    known = np.array(weights)
    return known if np.isfinite(known).all() else np.ones(known.size)


def _spread(turns: Iterable[tuple[str, ReadFirst]], size: int) -> tuple[ReadFirst, ...]:
    """Return the first turns, so that of every three each kind of finding has one, where there are others.

    A turn without a finding keeps its place.
    """
    left = list(turns)
    chosen: list[ReadFirst] = []
    counts: Counter[str] = Counter()
    while left and len(chosen) < size:
        fits = (i for i, (kind, _) in enumerate(left) if kind and counts[kind] <= len(chosen) // 3)
        kind, turn = left.pop(next(fits, 0) if left[0][0] else 0)
        counts[kind] += 1
        chosen.append(turn)
    return tuple(chosen)
