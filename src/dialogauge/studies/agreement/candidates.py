"""Every evaluator beside people, by candidate: the order of candidates, and how far their means lie apart.

Judges of runs, files of scores, arenas and raters stand in one table, and so do those that know nothing.
Beside it: what follows the length of replies, and whether a judge is kinder to models of its own family.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Final

import numpy as np

from dialogauge.core import Scale
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.stats import (
    Estimate,
    Floats,
    Gain,
    divided,
    label_codes,
    mean_of_sums,
    pearson,
    same_order,
)
from dialogauge.stats.ranking import Davidson
from dialogauge.studies.agreement.among import beside_others
from dialogauge.studies.agreement.closeness import consensus_of
from dialogauge.studies.agreement.order import RANK, Means, Personas, chance_of
from dialogauge.studies.agreement.pooling import questions
from dialogauge.studies.agreement.sources import (
    CONSENSUS,
    Answers,
    Question,
    TargetKey,
    grid_of,
    natural,
    pile_of,
    scale_of,
    sources_of,
)
from dialogauge.studies.agreement.targets import ArenaVotes, Panel

_MOST: Final = 30
"""Raters that are held against the others: those that rated most."""
_Scores = Mapping[TargetKey, float]


@dataclass(frozen=True, slots=True)
class CandidateFigures:
    """One evaluator beside people, by candidate and by session."""

    source: str
    candidates: int
    targets: int
    """Of the evaluator that count: sessions, turns, or votes of an arena."""
    clustered_by: str
    figures: Mapping[str, Estimate]
    """Of the candidates' means: rank accuracy by what ties say, normalised MAE, bias. Of an arena, and of a
    judge on another scale than people, rank accuracy alone."""
    by_session: Mapping[str, Estimate]
    """Of single targets: order within one conversation id, MAE, bias; nothing of other targets."""
    chance: float | None
    """The share of all orders of the candidates whose rank accuracy is at least so high."""
    same: bool = True
    """Whether people rated these targets; else others of the same candidates."""
    first_turns: int | None = None
    """How many turns of a session it read; None: all."""


@dataclass(frozen=True, slots=True)
class LengthSlope:
    """Whether the scores of a source follow the length of replies."""

    source: str
    pearson: float | None
    """Of the candidates' mean length and mean score."""
    slope: Estimate
    """Points that replies twice as long score more, within candidates."""


@dataclass(frozen=True, slots=True)
class FamilyBias:
    """Judge less people, of candidates of the judge's own family of models and of other known families."""

    source: str
    family: str
    own: tuple[str, ...]
    bias_own: float
    bias_others: float
    more_by: Estimate
    """The first less the second."""


@keys(question=INSIDE, one_pair="one_pair")
@dataclass(frozen=True, slots=True)
class CandidateAgreement:
    """What people were asked, and how every evaluator orders the candidates."""

    question: Question
    candidates: tuple[str, ...]
    evaluators: tuple[CandidateFigures, ...]
    raters: tuple[CandidateFigures, ...]
    """Each rater against the mean of the others: the human ceiling."""
    controls: Mapping[str, Mapping[str, float | None]]
    """What evaluators that know nothing come to: the best constant, people's own means shuffled, and dealt by
    length."""
    mean_lengths: Mapping[str, float]
    """By candidate, characters of a reply; empty where nobody knows."""
    lengths: tuple[LengthSlope, ...]
    families: tuple[FamilyBias, ...]

    @property
    def one_pair(self) -> float:
        """How much rank accuracy one pair is that changes places."""
        return 1 / comb(len(self.candidates), 2)


def candidate_agreements(sources: Panel, *, shuffles: int, seed: int) -> Iterable[CandidateAgreement]:
    """Hold every evaluator against people by candidate, question by question.

    Nothing of questions that are not answered with numbers, or of fewer than two rated candidates.

    Args:
        sources: Who said what.
        shuffles: Deals of the shuffled control.
        seed: Of the deals and of the draws of personas.
    """
    for question in questions(sources.people):
        categories = sources.categories.get(question)
        if categories is None or categories.values is None:
            continue
        people = {key: one for key, one in sources.people[question].items() if key.candidate is not None}
        consensus = consensus_of(pile_of(people, categories)).tolist() if people else []
        gold = {key: value for key, value in zip(people, consensus, strict=True) if value == value}
        candidates = tuple(sorted({str(key.candidate) for key in gold}, key=natural))
        beside = _Beside(question, sources, people, gold, candidates, seed)
        both = tuple(beside.evaluators()), tuple(beside.raters())
        if any(both):
            lengths = beside.lengths, tuple(beside.length_figures())
            controls, families = dict(beside.controls(shuffles)), tuple(beside.families())
            yield CandidateAgreement(question, candidates, *both, controls, *lengths, families)


@dataclass(frozen=True, eq=False)
class _Beside:
    """One question, and what people said of it."""

    question: Question
    sources: Panel
    people: Answers
    gold: _Scores
    """The consensus of people."""
    candidates: tuple[str, ...]
    seed: int

    @cached_property
    def scale(self) -> Scale:
        """Of people's ratings."""
        return scale_of(self.sources.categories[self.question])

    @cached_property
    def judged(self) -> dict[str, dict[TargetKey, float]]:
        """By judge what it said of the candidates."""
        out: dict[str, dict[TargetKey, float]] = {}
        for key, rated in self.sources.judges.get(self.question, {}).items():
            for name, score in rated.by.items() if key.candidate in self.candidates else ():
                if isinstance(score, float | int):
                    out.setdefault(name, {})[key] = float(score)
        return {name: out[name] for name in sorted(out, key=natural)}

    @cached_property
    def on_scale(self) -> Scale | None:
        """The scale of judges, where it is that of people."""
        same = self.sources.judged_on.get(self.question) == self.sources.categories[self.question]
        return self.scale if same else None

    def _users(self, targets: Iterable[TargetKey]) -> dict[TargetKey, str | None]:
        of = self.people, self.sources.judges.get(self.question, {})
        known = {key.conversation_id: one.user for some in of for key, one in some.items() if one.user}
        return {key: known.get(key.conversation_id) for key in targets}

    def evaluators(self) -> Iterable[CandidateFigures]:
        """Yield the judges, then the arenas: of these the order alone."""
        for name, scores in self.judged.items():
            yield from self._against(name, scores, self.gold, self.on_scale)
        for name, arena in self.sources.arenas.items():
            names = [one for one in self.candidates if one in arena.votes.agents]
            dialogues = [TargetKey(one, None, None) for one in arena.dialogues]
            personas = Personas.of(names, self._users([*self.gold, *dialogues]), self.seed)
            if len(names) > 1:
                own = _strengths(arena, names, np.array([personas.parts[key] for key in dialogues]))
                made = self._figures(name, personas, own, personas.means(self.gold), None)
                yield replace(made, targets=arena.votes.m, same=False)

    def raters(self) -> Iterable[CandidateFigures]:
        """Yield each rater against the mean of the others, on what both rated."""
        categories = self.sources.categories[self.question]
        grid = grid_of(self.people, categories, sources_of(self.people, _MOST))
        for rater, own, others in beside_others(grid) if len(grid.raters) > 1 else ():
            scores, gold = (
                {key: x for key, x in zip(self.people, of, strict=True) if x == x}
                for of in ((own + 0 * others).tolist(), (others + 0 * own).tolist())
            )
            yield from self._against(rater, scores, gold, self.scale)

    def _against(
        self, source: str, scores: _Scores, gold: _Scores, scale: Scale | None
    ) -> Iterable[CandidateFigures]:
        """Hold scores against people's: on what both scored, or where that is nothing on all."""
        shared = [key for key in gold if key in scores]
        own, theirs = ({key: of[key] for key in shared} if shared else of for of in (scores, gold))
        both = {key.candidate for key in own} & {key.candidate for key in theirs}
        names = [name for name in self.candidates if name in both]
        if len(names) > 1:
            personas = Personas.of(names, self._users([*theirs, *own]), self.seed)
            made = self._figures(source, personas, personas.means(own), personas.means(theirs), scale)
            by_session = personas.by_target(own, theirs, scale) if shared else {}
            yield replace(made, targets=len(own), same=bool(shared), by_session=by_session)

    def _figures(
        self, source: str, personas: Personas, own: Means, gold: Means, scale: Scale | None
    ) -> CandidateFigures:
        figures, n = personas.between(own, gold, scale), len(personas.candidates)
        about, chance = self.sources.about.get(source), chance_of(figures["rank_accuracy"].value, n)
        turns, unit = None if about is None else about.first_turns, personas.basis.unit
        return CandidateFigures(source, n, 0, unit, figures, {}, chance, first_turns=turns)

    def controls(self, shuffles: int) -> Iterable[tuple[str, dict[str, float | None]]]:
        """Yield the constant with the least distance, people's own means shuffled, and dealt by length."""
        personas = Personas.of(self.candidates, self._users(self.gold))
        gold = personas.means(self.gold)(personas.weights[:1])
        levels = self.sources.categories[self.question].steps.tolist()
        best = min(levels, key=lambda level: float(np.abs(gold - level).sum()))
        dealt = {f"always {best:g}": np.full(gold.shape, best)}
        rng = np.random.default_rng([self.seed, 4])
        dealt["shuffled"] = rng.permuted(np.repeat(gold, max(shuffles, 1), axis=0), axis=1)
        if self.lengths:
            places = np.argsort(np.argsort([self.lengths[name] for name in self.candidates], kind="stable"))
            ways = [np.sort(gold)[:, ::way][:, places] for way in (1, -1)]
            dealt["reply length"] = max(ways, key=lambda of: float(same_order(of, gold)[0][0]))
        for name, of in dealt.items():
            apart = of - gold
            rows = {n: divided(*same_order(of, gold + 0 * of, ties)) for n, ties in RANK.items()}
            rows |= {"nmae": np.abs(apart) / (self.scale.high - self.scale.low), "bias": apart}
            yield name, {n: float(row.mean()) if np.isfinite(row).all() else None for n, row in rows.items()}

    @cached_property
    def _length(self) -> dict[TargetKey, float]:
        both = self.people, self.sources.judges.get(self.question, {})
        every = ((key, one.length) for answers in both for key, one in answers.items())
        return {key: length for key, length in every if length and key.candidate in self.candidates}

    @cached_property
    def lengths(self) -> dict[str, float]:
        """The mean length of each candidate's replies; empty where that of one is unknown."""
        return _mean_by_candidate(self._length, self.candidates)

    def length_figures(self) -> Iterable[LengthSlope]:
        """Yield how the scores of people, and of each judge, follow length."""
        for source, scores in {CONSENSUS: self.gold, **self.judged}.items() if self.lengths else ():
            on = [key for key in scores if key in self._length]
            means = _mean_by_candidate({key: scores[key] for key in on}, self.candidates)
            codes, n = label_codes([key.candidate for key in on])
            columns = np.log2([self._length[key] for key in on]), np.array([scores[key] for key in on])
            means_of = ((np.bincount(codes, of, n) / np.bincount(codes))[codes] for of in columns)
            x, y = (np.round(of - mean, 9) for of, mean in zip(columns, means_of, strict=True))
            personas, reach = Personas.of((), self._users(on)), self.scale.high - self.scale.low
            part = list(personas.parts.values())
            sums = (np.bincount(part, of).astype(np.float64) for of in (x * y, x * x))
            slope = mean_of_sums(*sums, limits=(-reach, reach), unit=personas.basis.unit, targets=len(on))
            r = pearson(list(self.lengths.values()), list(means.values())) if means else None
            yield LengthSlope(source, r, slope)

    def families(self) -> Iterable[FamilyBias]:
        """Yield judge less people by family, for judges that share theirs with some of the candidates."""
        known, reach = self.sources.families, 2 * (self.scale.high - self.scale.low)
        for name, scores in self.judged.items() if self.on_scale is not None else ():
            family = self.sources.about[name].family if name in self.sources.about else None
            apart: dict[TargetKey, float] = {}
            for key in (key for key in self.gold if key in scores):
                if (of := known.get(str(key.candidate))) is not None:
                    side, dimension = of if of == family else "others", f"{key.candidate} {key.dimension}"
                    apart[key._replace(candidate=side, dimension=dimension)] = scores[key] - self.gold[key]
            if family is None or {key.candidate for key in apart} != {family, "others"}:
                continue
            personas = Personas.of((family, "others"), self._users(apart))
            own, others = personas.means(apart)(personas.weights[: 1 + personas.size]).T
            gain = Gain(float(own[0] - others[0]), own[1:] - others[1:], reach)
            names = tuple(one for one in self.candidates if known.get(one) == family)
            yield FamilyBias(
                name, family, names, float(own[0]), float(others[0]), personas.basis.difference(gain)[0]
            )


def _strengths(arena: ArenaVotes, names: list[str], parts: Floats) -> Means:
    """Return what gives the strengths of candidates in an arena, of whose clusters the parts are given."""
    model, places = Davidson(arena.votes), [arena.votes.agents.index(name) for name in names]

    def means(weights: Floats) -> Floats:
        fits: Floats = model.again(model.cells.weighted(weights[:, parts]))[:, places]
        return fits

    return means


def _mean_by_candidate(values: _Scores, candidates: tuple[str, ...]) -> dict[str, float]:
    """Return the mean of each candidate's values; empty where one has none."""
    of = {name: [value for key, value in values.items() if key.candidate == name] for name in candidates}
    return {name: float(np.mean(some)) for name, some in of.items()} if all(of.values()) else {}
