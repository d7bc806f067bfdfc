"""The rationale check (PersTurnBench, appendix I): does a judge name what the user minded, and of this task?

A personalised judge knows the user's other scenarios, and may give their requirements as grounds for a turn
that has nothing to do with them. A rationale's terms are held against the conversation and against the
user's history; what the same rationales share with the history of *another* user is what chance gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dialogauge.bench.satisfaction.boundary import BOUNDARY
from dialogauge.bench.satisfaction.rationale_result import (
    KINDS,
    RationaleCase,
    RationaleCheck,
    RationaleKind,
    ReasonAgreement,
    TermUse,
)
from dialogauge.bench.satisfaction.reasons import REASONS, SATISFIED, reason_of
from dialogauge.bench.satisfaction.terms import TermOrigin, Vocabulary
from dialogauge.core import Judged, Judgement
from dialogauge.judge.personal import Population, RatedBlock, RatedReply
from dialogauge.metrics import cluster_bootstrap, mean_draws

__all__ = ["check_rationales"]

_LABEL = "reason"
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class _Turn:
    """One judged turn with what both sides gave as a reason."""

    rated: RatedReply
    user: str
    score: int
    user_reason: str
    judge_reason: str
    rationale: str | None
    own: TermOrigin | None = None
    chance: TermOrigin | None = None

    @property
    def missed(self) -> bool:
        return self.rated.score < BOUNDARY <= self.score

    @property
    def both_dissatisfied(self) -> bool:
        return self.rated.score < BOUNDARY and self.score < BOUNDARY

    @property
    def both_reasons(self) -> bool:
        return self.both_dissatisfied and self.user_reason in REASONS and self.judge_reason in REASONS

    @property
    def kind(self) -> RationaleKind | None:
        """The kind of the case; None where there is no rationale or no reason to compare."""
        if not self.both_reasons or self.rationale is None:
            return None
        if self.own is not None and self.own.off_task:
            return "off_task"
        return "core" if self.user_reason == self.judge_reason else "not_core"


def check_rationales(
    blocks: Sequence[RatedBlock],
    rows: Sequence[Sequence[Judged]],
    population: Population,
    *,
    dimension: str = "satisfaction",
    draws: int = 1000,
    seed: int = 0,
) -> RationaleCheck | None:
    """Check reasons and rationales; None when the judge gave neither.

    Args:
        blocks: What was judged.
        rows: For each block one row for each target, in order, with the judge's own scores.
        population: The training users, whose most frequent reason is a control.
        dimension: The judged dimension.
        draws: Of the bootstrap over users; 0 leaves the interval out.
        seed: Of the draws.
    """
    said = [row.outcome for judged in rows for row in judged if isinstance(row.outcome, Judgement)]
    if not any(j.rationale or _label(j) for j in said):
        return None
    turns = list(_turns(blocks, rows, dimension))
    cases: dict[RationaleKind, list[_Turn]] = {kind: [] for kind in KINDS}
    for turn in turns:
        if turn.kind is not None:
            cases[turn.kind].append(turn)
    chance = [t.chance for t in turns if t.chance is not None]
    return RationaleCheck(
        judged=len(turns),
        without_rationale=sum(t.rationale is None for t in turns),
        not_comparable=sum(t.rationale is not None and t.own is None for t in turns),
        table=_table(turns),
        agreement=_agreement([t for t in turns if t.both_reasons], population, draws, seed),
        use=_use([t.own for t in turns if t.own is not None]),
        chance=_use(chance) if chance else None,
        missed=sum(t.missed for t in turns),
        kinds={kind: len(found) for kind, found in cases.items()},
        examples={kind: _examples(kind, found) for kind, found in cases.items()},
    )


def _turns(blocks: Sequence[RatedBlock], rows: Sequence[Sequence[Judged]], dimension: str) -> Iterator[_Turn]:
    said = [row.outcome for found in rows for row in found if isinstance(row.outcome, Judgement)]
    vocabulary = Vocabulary(blocks, (j.rationale for j in said if j.rationale))
    stranger = _strangers(blocks)
    for block, judged in zip(blocks, rows, strict=True):
        own = _Sources(vocabulary, block)
        other = _Sources(vocabulary, stranger[block.view.id]) if block.view.id in stranger else None
        for rated, row in zip(block.ratings, judged, strict=True):
            score = row.outcome.scores.get(dimension) if isinstance(row.outcome, Judgement) else None
            if isinstance(row.outcome, Judgement) and isinstance(score, int | float):
                text = row.outcome.rationale
                yield _Turn(
                    rated,
                    block.view.user,
                    int(score),
                    SATISFIED if rated.score >= BOUNDARY else reason_of(rated.reason),
                    reason_of(_label(row.outcome)),
                    text,
                    own.origin(text, rated),
                    other.origin(text, rated) if other else None,
                )


class _Sources:
    """The history of a block, as the terms of its conversations."""

    def __init__(self, vocabulary: Vocabulary, block: RatedBlock) -> None:
        self._vocabulary = vocabulary
        self._terms = vocabulary.of_history(block.view.history)
        self._scenarios = tuple({str(r.reply.conversation.scenario) for r in block.view.history})

    def origin(self, text: str | None, rated: RatedReply) -> TermOrigin | None:
        if text is None:
            return None
        return self._vocabulary.origin(text, rated.reply.conversation, self._terms, self._scenarios)


def _label(judgement: Judgement) -> str | None:
    labels = judgement.details.get("labels")
    return labels.get(_LABEL) if isinstance(labels, Mapping) else None


def _strangers(blocks: Sequence[RatedBlock]) -> dict[str, RatedBlock]:
    """Give each block with a history the next one of the same scenario that is another user's."""
    out: dict[str, RatedBlock] = {}
    known = [b for b in blocks if b.view.history]
    for scenario in {b.view.scenario for b in known}:
        held = [b for b in known if b.view.scenario == scenario]
        if len(held) > 1:
            out |= {b.view.id: after for b, after in zip(held, [*held[1:], held[0]], strict=True)}
    return out


def _table(turns: Sequence[_Turn]) -> dict[str, dict[str, int]]:
    counts = Counter((t.user_reason, t.judge_reason) for t in turns)
    extra = sorted({name for pair in counts for name in pair} - {*REASONS, SATISFIED})
    names = (*REASONS, SATISFIED, *extra)
    return {a: {b: counts[a, b] for b in names} for a in names}


def _agreement(turns: Sequence[_Turn], population: Population, draws: int, seed: int) -> ReasonAgreement:
    n = len(turns)
    hits = [float(t.user_reason == t.judge_reason) for t in turns]
    users, judged = Counter(t.user_reason for t in turns), Counter(t.judge_reason for t in turns)
    shuffled = sum(users[r] * judged[r] for r in REASONS) / n**2 if n else None
    agreed = sum(hits) / n if n else None
    kappa = None
    if agreed is not None and shuffled is not None and shuffled < 1:
        kappa = (agreed - shuffled) / (1 - shuffled)
    usual = _usual_reason(population)
    return ReasonAgreement(
        n=n,
        agreed=agreed,
        interval=_interval(hits, [t.user for t in turns], draws, seed) if n and draws else None,
        kappa=kappa,
        shuffled=shuffled,
        constant=users[usual] / n if n and usual else None,
        constant_reason=usual,
    )


def _interval(
    hits: Sequence[float], users: Sequence[str], draws: int, seed: int
) -> tuple[float, float] | None:
    statistic = partial(mean_draws, hits)
    found = cluster_bootstrap(statistic, users, rng=np.random.default_rng(seed), draws=draws)
    return None if found.low is None or found.high is None else (found.low, found.high)


def _usual_reason(population: Population) -> str | None:
    given = Counter(
        reason
        for block in population.blocks
        for rated in block.ratings
        if rated.score < BOUNDARY and (reason := reason_of(rated.reason)) in REASONS
    )
    return max(REASONS, key=lambda name: given[name]) if given else None


def _use(found: Sequence[TermOrigin]) -> TermUse:
    here, only = sum(len(o.here) for o in found), sum(len(o.sources_only) for o in found)
    neither = sum(len(o.neither) for o in found)
    return TermUse(
        rationales=len(found),
        terms=here + only + neither,
        here=here,
        sources_only=only,
        of_sources=sum(len(o.of_sources) for o in found),
        neither=neither,
        off_task=sum(o.off_task for o in found),
    )


def _examples(kind: RationaleKind, turns: Sequence[_Turn]) -> tuple[RationaleCase, ...]:
    """Take a few cases: one of each user first, the most off-task ones where that is the kind."""
    if kind == "off_task":
        turns = sorted(turns, key=lambda t: -len(t.own.of_sources) if t.own else 0)
    seen: set[str] = set()
    first: list[_Turn] = []
    later: list[_Turn] = []
    for turn in turns:
        (later if turn.user in seen else first).append(turn)
        seen.add(turn.user)
    chosen = [*first, *later][:_EXAMPLES]
    return tuple(_case(kind, t) for t in chosen)


def _case(kind: RationaleKind, turn: _Turn) -> RationaleCase:
    return RationaleCase(
        turn_id=turn.rated.reply.id,
        user=turn.user,
        kind=kind,
        user_score=turn.rated.score,
        user_reason=turn.user_reason,
        judge_score=turn.score,
        judge_reason=turn.judge_reason,
        rationale=turn.rationale or "",
        here=tuple(sorted(turn.own.here)) if turn.own else (),
        of_sources=tuple(sorted(turn.own.of_sources)) if turn.own else (),
    )
