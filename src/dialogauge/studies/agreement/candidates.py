"""Every evaluator beside people, by candidate: the order of candidates, and how far their means lie apart.

Judges of runs, files of scores, arenas and raters stand in one table, and so do those that know nothing.
Beside it: what follows the length of replies, and whether a judge is kinder to models of its own family.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Final

import numpy as np

from dialogauge.core import Scale
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.stats import (
    Estimate,
    Floats,
    divided,
    gain_of_sums,
    label_codes,
    pearson,
    same_order,
)
from dialogauge.stats.ranking import Davidson
from dialogauge.studies.agreement.among import beside_others
from dialogauge.studies.agreement.closeness import consensus_of
from dialogauge.studies.agreement.order import RANK, Means, Personas, chance_of
from dialogauge.studies.agreement.pooling import questions
from dialogauge.studies.agreement.sources import (
    Answers,
    Question,
    TargetKey,
    grid_of,
    natural,
    number_of,
    pile_of,
    scale_of,
    sources_of,
)
from dialogauge.studies.agreement.targets import ArenaVotes, Panel

PEOPLE: Final = "people"
_MOST: Final = 30
"""Raters that are held against the others: those that rated most."""
_Scores = Mapping[TargetKey, float]


@dataclass(frozen=True, slots=True)
class CandidateFigures:
    """One evaluator beside people, by candidate and by session."""

    source: str
    candidates: int
    sessions: int
    """Sessions of the evaluator that count."""
    same_sessions: bool
    """Whether people rated these sessions; else others of the same candidates."""
    clustered_by: str
    figures: Mapping[str, Estimate]
    """Of the candidates' means: rank accuracy by what ties say, normalised MAE, bias. Of an evaluator on
    another scale than people rank accuracy alone."""
    by_session: Mapping[str, Estimate]
    """Of single sessions: order within the same conversation id, MAE, bias; nothing of other sessions."""
    shuffled: Mapping[str, float | None]
    """The same with the evaluator's means dealt anew to the candidates, the mean over deals."""
    chance: float | None
    """The share of all orders of the candidates whose rank accuracy is at least so high."""
    first_turns: int | None = None
    """How many turns of a session it read; None: all."""


@dataclass(frozen=True, slots=True)
class CandidateControl:
    """What an evaluator that knows nothing comes to."""

    name: str
    description: str
    figures: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class LengthFigures:
    """Whether the scores of a source follow the length of replies."""

    source: str
    pearson: float | None
    """Of the candidates' mean length and mean score."""
    slope: Estimate
    """Points that replies twice as long score more, within candidates."""


@dataclass(frozen=True, slots=True)
class FamilyBias:
    """Judge less people, of candidates of the judge's own family of models and of the others."""

    source: str
    family: str
    own: tuple[str, ...]
    """Candidates of the family."""
    others: tuple[str, ...]
    """Candidates of other known families."""
    bias_own: float | None
    bias_others: float | None
    more_by: Estimate
    p: float | None


@keys(question=INSIDE, one_pair="one_pair")
@dataclass(frozen=True, slots=True)
class CandidateAgreement:
    """What people were asked, and how every evaluator orders the candidates."""

    question: Question
    candidates: tuple[str, ...]
    evaluators: tuple[CandidateFigures, ...]
    raters: tuple[CandidateFigures, ...]
    """Each rater against the mean of the others: the human ceiling."""
    controls: tuple[CandidateControl, ...]
    mean_lengths: Mapping[str, float]
    """By candidate, characters of a reply; empty where nobody knows."""
    lengths: tuple[LengthFigures, ...]
    families: tuple[FamilyBias, ...]

    @property
    def one_pair(self) -> float:
        """How much rank accuracy one pair is that changes places."""
        return 1 / comb(len(self.candidates), 2)


def candidate_agreements(sources: Panel, *, shuffles: int, seed: int) -> tuple[CandidateAgreement, ...]:
    """Hold every evaluator against people by candidate, question by question.

    Nothing of questions that are not answered with numbers, or of fewer than two rated candidates.

    Args:
        sources: Who said what.
        shuffles: Deals of the shuffled means.
        seed: Of the deals and of the draws of personas.
    """
    made = []
    for question in questions(sources.people):
        categories = sources.categories.get(question)
        if categories is None or categories.values is None:
            continue
        people = {k: rated for k, rated in sources.people[question].items() if k.candidate is not None}
        consensus = consensus_of(pile_of(people, categories)) if people else np.empty(0)
        gold = {key: value for key, value in zip(people, consensus.tolist(), strict=True) if value == value}
        candidates = tuple(sorted({str(key.candidate) for key in gold}, key=natural))
        if len(candidates) > 1:
            beside = _Beside(question, sources, people, gold, candidates, shuffles, seed)
            evaluators = tuple(beside.evaluators())
            raters = tuple(beside.raters())
            if evaluators or raters:
                lengths, slopes = beside.lengths()
                made.append(
                    CandidateAgreement(
                        question,
                        candidates,
                        evaluators,
                        raters,
                        tuple(beside.controls(lengths)),
                        lengths,
                        slopes,
                        tuple(beside.families()),
                    )
                )
    return tuple(made)


@dataclass(frozen=True, eq=False)
class _Beside:
    """One question, and what people said of it."""

    question: Question
    sources: Panel
    people: Answers
    gold: _Scores
    """The consensus of people."""
    candidates: tuple[str, ...]
    shuffles: int
    seed: int

    @property
    def scale(self) -> Scale:
        """Of people's ratings."""
        return scale_of(self.sources.categories[self.question])

    @property
    def judged(self) -> dict[str, dict[TargetKey, float]]:
        """By judge what it said of the candidates."""
        answers, categories = self.sources.judges.get(self.question, {}), self.sources.judged_on
        out: dict[str, dict[TargetKey, float]] = {}
        for key, rated in answers.items():
            for name, score in rated.by.items() if key.candidate in self.candidates else ():
                number = number_of(score, categories[self.question])
                if number is not None:
                    out.setdefault(name, {})[key] = number
        return {name: out[name] for name in sorted(out, key=natural)}

    @property
    def compares(self) -> bool:
        """Whether judges are on the scale of people."""
        return self.sources.judged_on.get(self.question) == self.sources.categories[self.question]

    def _user(self, key: TargetKey) -> str | None:
        judges = self.sources.judges.get(self.question, {})
        return next((of[key].user for of in (self.people, judges) if key in of and of[key].user), None)

    def _against(
        self, source: str, scores: _Scores, gold: _Scores, *, scale: bool
    ) -> CandidateFigures | None:
        """Hold scores against people's: on the sessions that both scored, or where none is shared on all."""
        shared = [key for key in gold if key in scores]
        own = {key: scores[key] for key in shared} if shared else scores
        gold = {key: gold[key] for key in shared} if shared else gold
        both = {k.candidate for k in own} & {k.candidate for k in gold}
        candidates = [name for name in self.candidates if name in both]
        if len(candidates) < 2:
            return None
        personas = Personas.of(candidates, {k: self._user(k) for k in (*gold, *own)}, seed=self.seed)
        means = personas.means(own), personas.means(gold)
        figures = self._figures(source, candidates, personas, *means, scale=scale)
        sessions = len({(key.conversation_id, key.candidate) for key in own})
        figures = replace(figures, sessions=sessions, same_sessions=bool(shared))
        if not shared:
            return figures
        kept = [{k: v for k, v in of.items() if k.candidate in both} for of in (own, gold)]
        by_session = personas.by_session(kept[0], kept[1], self.scale if scale else None)
        return replace(figures, by_session=by_session)

    def _figures(
        self,
        source: str,
        candidates: Sequence[str],
        personas: Personas,
        own: Means,
        gold: Means,
        *,
        scale: bool,
    ) -> CandidateFigures:
        on = self.scale if scale else None
        figures = personas.between(own, gold, on)
        whole = personas.weights[:1]
        n, about = len(candidates), self.sources.about.get(source)
        return CandidateFigures(
            source,
            n,
            0,
            same_sessions=True,
            clustered_by=personas.unit,
            figures=figures,
            by_session={},
            shuffled=self._shuffled(own(whole), gold(whole), on),
            chance=chance_of(figures["rank_accuracy"].value, n),
            first_turns=None if about is None else about.first_turns,
        )

    def _shuffled(self, own: Floats, gold: Floats, scale: Scale | None) -> dict[str, float | None]:
        rng = np.random.default_rng([self.seed, 4])
        dealt = rng.permuted(np.repeat(own, self.shuffles, axis=0), axis=1)
        return plain_figures(dealt, np.repeat(gold, self.shuffles, axis=0), scale) if self.shuffles else {}

    def evaluators(self) -> Iterable[CandidateFigures]:
        """Yield the judges, then the arenas."""
        for name, scores in self.judged.items():
            if made := self._against(name, scores, self.gold, scale=self.compares):
                yield made
        for name, arena in self.sources.arenas.items():
            if made := self._of_arena(name, arena):
                yield made

    def _of_arena(self, name: str, arena: ArenaVotes) -> CandidateFigures | None:
        """Hold the strengths of an arena against people: their order alone."""
        candidates = [one for one in self.candidates if one in arena.votes.agents]
        if len(candidates) < 2:
            return None
        users = {key.conversation_id: self._user(key) for key in self.gold}
        dialogues = [TargetKey(one, None, None) for one in arena.dialogues]
        users_of = {key: users.get(key.conversation_id) for key in dialogues}
        gold = {key: self._user(key) for key in self.gold}
        personas = Personas.of(candidates, {**gold, **users_of}, seed=self.seed)
        model, place = Davidson(arena.votes), [arena.votes.agents.index(one) for one in candidates]
        parts = np.array([personas.part(key) for key in dialogues])

        def strengths(weights: Floats) -> Floats:
            often = model.cells.weighted(weights[:, parts])
            fits: Floats = model.again(often)[:, place]
            return fits

        own = personas.means(self.gold)
        made = self._figures(name, candidates, personas, strengths, own, scale=False)
        return replace(made, sessions=arena.votes.m, same_sessions=False)

    def raters(self) -> Iterable[CandidateFigures]:
        """Yield each rater against the mean of the others, on what both rated."""
        categories = self.sources.categories[self.question]
        grid = grid_of(self.people, categories, sources_of(self.people, _MOST))
        for rater, own, others in beside_others(grid) if len(grid.raters) > 1 else ():
            both = ~np.isnan(own) & ~np.isnan(others)
            on = [key for key, here in zip(self.people, both.tolist(), strict=True) if here]
            scores, gold = (dict(zip(on, of[both].tolist(), strict=True)) for of in (own, others))
            if made := self._against(rater, scores, gold, scale=True) if on else None:
                yield made

    def controls(self, lengths: Mapping[str, float]) -> Iterable[CandidateControl]:
        """Yield the best constant, and people's own means dealt to candidates by the length of replies."""
        personas = Personas.of(self.candidates, {key: self._user(key) for key in self.gold})
        gold = personas.means(self.gold)(personas.weights[:1])
        levels = self.sources.categories[self.question].steps.tolist()
        always = {level: plain_figures(np.full(gold.shape, level), gold, self.scale) for level in levels}
        best = min(always, key=lambda level: always[level]["nmae"] or 0.0)
        yield CandidateControl(f"always {best:g}", "the constant with the least distance", always[best])
        if set(lengths) == set(self.candidates):
            places = np.argsort(np.argsort([lengths[name] for name in self.candidates], kind="stable"))
            ordered = np.sort(gold[0])
            ways = [plain_figures(of[places][None], gold, self.scale) for of in (ordered, ordered[::-1])]
            better = max(ways, key=lambda of: of["rank_accuracy"] or 0.0)
            what = "people's own means, dealt in the order of the length of replies, up or down"
            yield CandidateControl("reply length", what, better)

    def lengths(self) -> tuple[dict[str, float], tuple[LengthFigures, ...]]:
        """Return the mean length of each candidate's replies, and how scores follow it."""
        answers = {**self.people, **self.sources.judges.get(self.question, {})}
        length = {key: float(of.length) for key, of in answers.items() if of.length}
        length = {key: value for key, value in length.items() if key.candidate in self.candidates}
        if not length or {key.candidate for key in length} != {*self.candidates}:
            return {}, ()
        mean = {
            name: float(np.mean([v for k, v in length.items() if k.candidate == name]))
            for name in self.candidates
        }
        made = []
        for source, scores in {PEOPLE: self.gold, **self.judged}.items():
            on = [key for key in scores if key in length]
            own = [np.mean([scores[k] for k in on if k.candidate == name] or [np.nan]) for name in mean]
            known = np.isfinite(own)
            r = pearson(np.array(list(mean.values()))[known], np.array(own)[known])
            personas = Personas.of(self.candidates, {key: self._user(key) for key in on})
            made.append(LengthFigures(source, r, _slope(personas, scores, length, self.scale)))
        return mean, tuple(made)

    def families(self) -> Iterable[FamilyBias]:
        """Yield judge less people by family, for judges that share theirs with some of the candidates."""
        known = self.sources.families
        for name, scores in self.judged.items() if self.compares else ():
            about = self.sources.about.get(name)
            family = None if about is None else about.family
            shared = [key for key in self.gold if key in scores and known.get(str(key.candidate))]
            own = np.array([known[str(key.candidate)] == family for key in shared], dtype=bool)
            if family is None or not own.any() or own.all():
                continue
            personas = Personas.of(self.candidates, {key: self._user(key) for key in shared})
            apart = np.array([scores[key] - self.gold[key] for key in shared])
            codes, number = label_codes([personas.labels[key] for key in shared])
            reach, sums = self.scale.high - self.scale.low, []
            for of in (~own, own):
                both = (np.bincount(codes, values, number) for values in (apart * of, of))
                total, n = (column.astype(np.float64) for column in both)
                sums.append((total, n))
            gain, basis = gain_of_sums(*sums, limits=(-reach, reach), unit=personas.unit, paired=True)
            more, p = basis.difference(gain)
            names = [
                tuple(sorted({str(k.candidate) for k, here in zip(shared, of, strict=True) if here}))
                for of in (own, ~own)
            ]
            biases = float(apart[own].mean()), float(apart[~own].mean())
            yield FamilyBias(name, family, names[0], names[1], *biases, more, p)


def plain_figures(own: Floats, gold: Floats, scale: Scale | None) -> dict[str, float | None]:
    """Return rank accuracies, normalised MAE and bias of means (rows, candidates): the mean over rows."""
    rows = {name: divided(*same_order(own, gold, ties)) for name, ties in RANK.items()}
    if scale is not None:
        rows["nmae"] = np.abs(own - gold).mean(axis=1) / (scale.high - scale.low)
        rows["bias"] = (own - gold).mean(axis=1)
    return {name: float(of.mean()) if np.isfinite(of).all() else None for name, of in rows.items()}


def _slope(personas: Personas, scores: _Scores, length: _Scores, scale: Scale) -> Estimate:
    """Return the pooled slope of score on the binary log of length within candidates."""
    on = [key for key in scores if key in length]
    x, y = np.log2([length[key] for key in on]), np.array([scores[key] for key in on])
    candidate, number = label_codes([key.candidate for key in on])
    part = np.array([personas.part(key) for key in on])

    def slope(kept: Floats) -> float:
        n = np.maximum(np.bincount(candidate, kept, number), 1)
        dx, dy = (of - (np.bincount(candidate, kept * of, number) / n)[candidate] for of in (x, y))
        squares = float((kept * dx * dx).sum())
        return float((kept * dx * dy).sum()) / squares if squares > 1e-9 else float("nan")

    value = slope(np.ones(len(on)))
    moved = np.array(
        [slope((part != out).astype(np.float64)) for out in range(int(part.max(initial=-1)) + 1)]
    )
    reach = scale.high - scale.low
    return personas.basis.estimate(None if value != value else value, moved, (-reach, reach))
