"""The rationale check (PersTurnBench, appendix I): does a judge name what the user minded, and of this task?

A personalised judge knows the user's other scenarios, and may give their requirements as grounds for a turn
that has nothing to do with them. A rationale's terms are compared with the conversation and with the user's
history; what the same rationales share with the history of *another* user is what chance gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from dialogauge.core import Conversation, Judged, Judgement, Score
from dialogauge.core.json_keys import keys
from dialogauge.core.protocols import Population, RatedBlock, RatedReply
from dialogauge.studies.satisfaction.answers import SATISFACTION
from dialogauge.studies.satisfaction.figures import BOUNDARY, mean_by_user
from dialogauge.text import content_terms, detect_language, pieces

RationaleKind = Literal["core", "not_core", "off_task"]

KINDS: Final[Mapping[RationaleKind, str]] = {
    "core": "the judge gives the user's own reason",
    "not_core": "the judge names something else than what mattered to the user",
    "off_task": "more of the rationale belongs to the user's other scenarios than to this conversation",
}
"""The three kinds of PersTurnBench's appendix I, and what each means."""


@dataclass(frozen=True, slots=True)
class RationaleCase:
    """One turn that both the user and the judge are dissatisfied with."""

    turn_id: str
    user: str
    kind: RationaleKind
    user_score: float
    user_reason: str
    judge_score: int
    judge_reason: str
    rationale: str
    here: tuple[str, ...]
    """Terms of the rationale that occur in the conversation."""
    of_sources: tuple[str, ...]
    """Terms that belong to the user's other scenarios."""


@dataclass(frozen=True, slots=True)
class ReasonAgreement:
    """How often the judge gives the user's reason, on turns with a reason of both."""

    n: int
    agreed: float | None
    """Share of n; None when n is 0."""
    interval: tuple[float, float] | None
    """95 % by users."""
    kappa: float | None
    """Cohen's, unweighted; None where chance alone agrees always."""
    controls: Mapping[str, float | None]
    """`shuffled`: what the judge's own reasons agree when dealt anew, in expectation. `constant`: always the
    most frequent reason of the training users."""
    constant_reason: str | None


@keys(
    contamination="contamination",
    contamination_of_sources="contamination_of_sources",
    off_task_share="off_task_share",
)
@dataclass(frozen=True, slots=True)
class TermUse:
    """Terms of rationales by where they occur, summed over rationales."""

    rationales: int = 0
    terms: int = 0
    here: int = 0
    """In the target conversation."""
    sources_only: int = 0
    """In the user's source scenarios and not in the target conversation: the contamination."""
    of_sources: int = 0
    """Of these, the ones that are at home there."""
    neither: int = 0
    off_task: int = 0
    """Rationales that are off-task."""

    @property
    def contamination(self) -> float | None:
        """The share of the terms that are of the sources only."""
        return _share(self.sources_only, self.terms)

    @property
    def contamination_of_sources(self) -> float | None:
        """The share of the terms that are at home in the sources."""
        return _share(self.of_sources, self.terms)

    @property
    def off_task_share(self) -> float | None:
        """The share of the rationales that are off-task."""
        return _share(self.off_task, self.rationales)


@dataclass(frozen=True, slots=True)
class RationaleCheck:
    """The whole check."""

    judged: int
    """Turns that the judge scored."""
    without_rationale: int
    not_comparable: int
    """Rationales without content terms, or in another language than the conversation."""
    reasons: Mapping[str, Mapping[str, int]]
    """Turns by the user's reason, then by the judge's; `satisfied` is a score of 4 or 5."""
    reason_agreement: ReasonAgreement
    terms: TermUse
    terms_by_chance: TermUse | None
    """Control: the same rationales against the history of another user; None when there is none."""
    missed: int
    """Turns that the user is dissatisfied with and the judge is not."""
    kinds: Mapping[RationaleKind, int]
    """Cases of each kind, among turns that both are dissatisfied with."""
    examples: Mapping[RationaleKind, Sequence[RationaleCase]]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


SATISFIED: Final = "satisfied"
NO_REASON: Final = "(none given)"
OTHER_WORDS: Final = "(other words)"

_SPELLINGS: Final = {
    "insufficient_detail": ("insufficient detail", "不够细致"),
    "need_not_met": ("need not met", "failure to satisfy the requirement", "不满足需求"),
    "not_diverse": ("not diverse", "insufficient diversity", "不够多样"),
    "not_usable": ("not usable", "unusable", "unusable in practice", "不可用"),
    "other": ("other", "其它", "其他"),
}
REASONS: Final = tuple(_SPELLINGS)
"""The five reasons."""

_NAMES: Final = {
    spelling: name for name, spellings in _SPELLINGS.items() for spelling in (name, *spellings)
} | dict.fromkeys((SATISFIED, "满意"), SATISFIED)


def reason_of(text: str | None) -> str:
    """Return the name of a reason as data or a judge writes it.

    What is not one of the taxonomy is `OTHER_WORDS`: it is never taken for `other`, which people choose.
    """
    plain = (text or "").strip().casefold()
    return _NAMES.get(plain, OTHER_WORDS) if plain else NO_REASON


_AT_HOME = 4.0
"""A term is of the source scenarios when it is at least so many times as frequent there."""

_TEXTS_KEPT = 1024

Terms = frozenset[str]


@dataclass(frozen=True, slots=True)
class TermOrigin:
    """The content terms of one rationale: stems of words, numbers, bigrams of Chinese."""

    here: Terms
    """They occur in the target conversation."""
    sources_only: Terms
    """They occur in the user's source scenarios and not in the target conversation."""
    of_sources: Terms
    """Of these, the ones that belong there: at least four times as frequent in a source scenario as in the
    target's, over the conversations of all users. The others are common words that this one lacks."""
    neither: Terms

    @property
    def off_task(self) -> bool:
        """Whether more of the rationale belongs to source scenarios than to the conversation."""
        return len(self.of_sources) > len(self.here)


class Vocabulary:
    """The content terms of the conversations of a study."""

    def __init__(self, blocks: Sequence[RatedBlock], rationales: Iterable[str]) -> None:
        """Count in how many conversations of each scenario the terms of the rationales occur."""
        # A user's conversations are read for each of their blocks, and for the block before.
        self._read = lru_cache(maxsize=_TEXTS_KEPT)(terms_of)
        wanted = self._union(rationales)
        self._frequency: dict[str, Counter[str]] = {}
        self._conversations: Counter[str] = Counter()
        for block in blocks:
            longest = {r.conversation.id: r.conversation for r in block.view.targets}
            frequency = self._frequency.setdefault(block.view.scenario, Counter())
            for conversation in longest.values():
                frequency.update(self.of(conversation) & wanted)
                self._conversations[block.view.scenario] += 1

    def of(self, conversation: Conversation) -> Terms:
        """Return the terms of a conversation, its task included."""
        texts = [conversation.scenario or "", conversation.context or ""]
        return self._union([*texts, *(m.text for m in conversation.messages)])

    def share(self, term: str, scenario: str) -> float:
        """Return in which part of a scenario's conversations a term occurs."""
        n = self._conversations[scenario]
        return self._frequency[scenario][term] / n if n else 0.0

    def _union(self, texts: Iterable[str]) -> Terms:
        return frozenset[str]().union(*(self._read(text) for text in texts))


class Sources:
    """The source scenarios of a block: those of its history."""

    def __init__(self, vocabulary: Vocabulary, block: RatedBlock) -> None:
        """Collect the terms of all conversations of the history."""
        talks = {r.reply.conversation.id: r.reply.conversation for r in block.view.history}
        self._vocabulary = vocabulary
        self._terms = frozenset[str]().union(*map(vocabulary.of, talks.values()))
        self._scenarios = {str(talk.scenario) for talk in talks.values()}

    def origin(self, rationale: str, conversation: Conversation) -> TermOrigin | None:
        """Say where the terms of a rationale occur; None when they cannot be compared.

        That is when it has none, or is in another language than the conversation.

        Args:
            rationale: What the judge gave as its grounds.
            conversation: As the judge was shown it.
        """
        terms = terms_of(rationale)
        spoken = detect_language(*(m.text for m in conversation.messages))
        if not terms or detect_language(rationale) != spoken:
            return None
        here = terms & self._vocabulary.of(conversation)
        sources_only = (terms & self._terms) - here
        share, target = self._vocabulary.share, str(conversation.scenario)
        at_home = frozenset(
            term
            for term in sources_only
            if max((share(term, name) for name in self._scenarios), default=0.0)
            >= _AT_HOME * share(term, target)
        )
        return TermOrigin(here, sources_only, at_home, terms - here - sources_only)


def terms_of(text: str) -> Terms:
    """Return the content terms of a text."""
    return content_terms(pieces(text))


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
    def both_reasons(self) -> bool:
        """Whether both are dissatisfied, and each for one of the five reasons."""
        dissatisfied = self.rated.score < BOUNDARY and self.score < BOUNDARY
        return dissatisfied and self.user_reason in REASONS and self.judge_reason in REASONS

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
) -> RationaleCheck | None:
    """Check reasons and rationales; None when the judge gave neither.

    Args:
        blocks: What was judged.
        rows: For each block one row for each target, in order, with the judge's own scores.
        population: The training users, whose most frequent reason is a control.
    """
    judgements = [row.outcome for judged in rows for row in judged if isinstance(row.outcome, Judgement)]
    if not any(j.rationale or _label(j) for j in judgements):
        return None
    vocabulary = Vocabulary(blocks, (j.rationale for j in judgements if j.rationale))
    turns = list(_turns(blocks, rows, vocabulary))
    cases = {kind: [t for t in turns if t.kind == kind] for kind in KINDS}
    chance = [t.chance for t in turns if t.chance is not None]
    return RationaleCheck(
        judged=len(turns),
        without_rationale=sum(t.rationale is None for t in turns),
        not_comparable=sum(t.rationale is not None and t.own is None for t in turns),
        reasons=_table(turns),
        reason_agreement=_agreement([t for t in turns if t.both_reasons], population),
        terms=_use([t.own for t in turns if t.own is not None]),
        terms_by_chance=_use(chance) if chance else None,
        missed=sum(t.missed for t in turns),
        kinds={kind: len(of) for kind, of in cases.items()},
        examples={kind: _examples(kind, of) for kind, of in cases.items()},
    )


def _turns(
    blocks: Sequence[RatedBlock], rows: Sequence[Sequence[Judged]], vocabulary: Vocabulary
) -> Iterator[_Turn]:
    others = _blocks_of_others(blocks)
    for block, judged in zip(blocks, rows, strict=True):
        own = Sources(vocabulary, block)
        other = Sources(vocabulary, others[block.view.id]) if block.view.id in others else None
        for rated, row in zip(block.ratings, judged, strict=True):
            score = row.outcome.scores.get(SATISFACTION) if isinstance(row.outcome, Judgement) else None
            if isinstance(row.outcome, Judgement) and isinstance(score, Score):
                text, talk = row.outcome.rationale, rated.reply.conversation
                yield _Turn(
                    rated,
                    block.view.user,
                    score.rounded(),
                    SATISFIED if rated.score >= BOUNDARY else reason_of(rated.reason),
                    reason_of(_label(row.outcome)),
                    text,
                    None if text is None else own.origin(text, talk),
                    None if text is None or other is None else other.origin(text, talk),
                )


def _label(judgement: Judgement) -> str | None:
    labels = judgement.details.get("labels")
    return labels.get(_LABEL) if isinstance(labels, Mapping) else None


def _blocks_of_others(blocks: Sequence[RatedBlock]) -> dict[str, RatedBlock]:
    """Return for each block with a history the next one of the same scenario, which is another user's."""
    by_scenario: dict[str, list[RatedBlock]] = {}
    for block in blocks:
        if block.view.history:
            by_scenario.setdefault(block.view.scenario, []).append(block)
    several = (of for of in by_scenario.values() if len(of) > 1)
    return {b.view.id: after for of in several for b, after in zip(of, [*of[1:], of[0]], strict=True)}


def _table(turns: Sequence[_Turn]) -> dict[str, dict[str, int]]:
    counts = Counter((t.user_reason, t.judge_reason) for t in turns)
    extra = sorted({name for pair in counts for name in pair} - {*REASONS, SATISFIED})
    names = (*REASONS, SATISFIED, *extra)
    return {a: {b: counts[a, b] for b in names} for a in names}


def _agreement(turns: Sequence[_Turn], population: Population) -> ReasonAgreement:
    n = len(turns)
    hits = [float(t.user_reason == t.judge_reason) for t in turns]
    users, sessions = [t.user for t in turns], [t.rated.reply.conversation.id for t in turns]
    agreed = mean_by_user(hits, users, sessions)
    people, judge = Counter(t.user_reason for t in turns), Counter(t.judge_reason for t in turns)
    shuffled = sum(people[r] * judge[r] for r in REASONS) / n**2 if n else None
    kappa = None
    if agreed.value is not None and shuffled is not None and shuffled < 1:
        kappa = (agreed.value - shuffled) / (1 - shuffled)
    usual = _usual_reason(population)
    return ReasonAgreement(
        n=n,
        agreed=agreed.value,
        interval=agreed.interval,
        kappa=kappa,
        controls={"shuffled": shuffled, "constant": people[usual] / n if n and usual else None},
        constant_reason=usual,
    )


def _usual_reason(population: Population) -> str | None:
    counts = Counter(
        reason
        for block in population.blocks
        for rated in block.ratings
        if rated.score < BOUNDARY and (reason := reason_of(rated.reason)) in REASONS
    )
    return max(REASONS, key=lambda name: counts[name]) if counts else None


def _use(origins: Sequence[TermOrigin]) -> TermUse:
    here, only = sum(len(o.here) for o in origins), sum(len(o.sources_only) for o in origins)
    of_sources, neither = sum(len(o.of_sources) for o in origins), sum(len(o.neither) for o in origins)
    off_task = sum(o.off_task for o in origins)
    return TermUse(len(origins), here + only + neither, here, only, of_sources, neither, off_task)


def _examples(kind: RationaleKind, turns: Sequence[_Turn]) -> tuple[RationaleCase, ...]:
    """Take a few cases: one of each user first, the most off-task ones where that is the kind."""
    if kind == "off_task":
        turns = sorted(turns, key=lambda t: -len(t.own.of_sources) if t.own else 0)
    first = {turn.user: turn for turn in reversed(turns)}
    ordered = sorted(turns, key=lambda t: first[t.user] is not t)
    return tuple(
        RationaleCase(
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
        for turn in ordered[:_EXAMPLES]
    )
