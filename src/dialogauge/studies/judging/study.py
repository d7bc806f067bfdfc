"""The judging study: conversations in; rows for judged targets, a summary, checks, gates and a page out."""

from __future__ import annotations

import heapq
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Final

from dialogauge.core import (
    Conversation,
    InputError,
    Judge,
    Judged,
    JudgeFailure,
    Rating,
    RecordFault,
    Scale,
    Target,
    WorkUnit,
    conversation_digest,
    digest_text,
)
from dialogauge.core.json_keys import INSIDE, as_json, keys
from dialogauge.core.protocols import Notes, Request
from dialogauge.data import Mask, RatingTable, absent_turns
from dialogauge.report import Page
from dialogauge.rubrics import Rubric
from dialogauge.runs import Ending, Row, RunDatabase, StoredRun, StoredUnit, Study, StudyFacts, standing
from dialogauge.stats import DissatisfiedRule
from dialogauge.stats.reading import table_of
from dialogauge.studies.evidence import (
    NOTHING_CHECKED,
    DimensionEvidence,
    RunEvidence,
    with_verdict,
)
from dialogauge.studies.judging.agents import AgentFacts, AgentTally
from dialogauge.studies.judging.checking import checked_by_ratings
from dialogauge.studies.judging.findings import FindingsSummary, findings_of
from dialogauge.studies.judging.gate import GateResult, read_gates
from dialogauge.studies.judging.light import people_of
from dialogauge.studies.judging.opening import Known
from dialogauge.studies.judging.page import report_page
from dialogauge.studies.judging.people import People
from dialogauge.studies.judging.people_tally import PeopleTally, judges_by_signals
from dialogauge.studies.judging.sampling import RatedAs, Sampler
from dialogauge.studies.judging.summary import Summary, summarise
from dialogauge.studies.judging.transcripts import ShownConversations, read_sample
from dialogauge.studies.judging.worst import WorstGroup, week_of, worst_group
from dialogauge.studies.rated import SeenRatings, ratings_by_turn, replies_of, row_changes
from dialogauge.studies.trust.look import kept_from, look_into, rubric_facts
from dialogauge.studies.trust.result import Trust, TrustThresholds
from dialogauge.text import counted

_LANGUAGE_SHARE: Final = 0.1
"""Of the conversations, from which on a language belongs to the kind of data."""
_DATED: Final = 2_000
"""A run of up to so many conversations is looked at by week."""
JUDGE: Final = "judge"
"""The kind of run, and the study's part in the identity of a unit."""


@keys(summary=INSIDE, sample=None, findings="findings?", worst="worst_group", agents="agents?")
@dataclass(frozen=True, slots=True)
class JudgingResult:
    """What a judged log comes to."""

    summary: Summary
    gates: tuple[GateResult, ...]
    trust: Trust
    sample: ShownConversations
    """What the page shows of the conversations."""
    findings: FindingsSummary | None = None
    """None for a judge that names no kinds of findings."""
    people: People | None = None
    """None where the data holds no ratings."""
    worst: WorstGroup | None = None
    """The group that stands out for the worse; None where none does."""
    agents: tuple[AgentFacts, ...] = ()
    """What is known of agents that are named."""
    evidence: RunEvidence = NOTHING_CHECKED
    """Which dimensions are checked."""

    @property
    def known(self) -> Known:
        """What is known beside the scores."""
        return Known(self.trust, self.people, self.findings, self.worst, self.agents, self.evidence)

    def to_json(self) -> dict[str, Any]:
        """Return `summary.json`."""
        values: dict[str, Any] = as_json(self)
        return values


@dataclass
class JudgingStudy(Study[JudgingResult]):
    """Judges conversations, each as often as asked; see `runs.Study` for the parts."""

    judge: Judge
    conversations: Iterable[Conversation | InputError]
    """Read once, lazily; with what could not be read in its place."""
    _: KW_ONLY
    may_wait: bool = False
    expected: int | None = None
    repeats: int = 1
    seed: int = 0
    unchecked: bool = False
    """Whether scores may head and gate although nobody showed that they agree with people."""
    checked_by: tuple[tuple[str, RunEvidence], ...] = ()
    """Stored checks by name."""
    ratings: RatingTable | None = None
    """People's ratings from a file of their own, joined with the conversations as they are read."""
    strict: bool = False
    """Whether the first unreadable record ends the run."""
    first_turns: int | None = None
    """Of each conversation only so many new turns are judged, and what follows is not shown; None for all."""
    worked_examples: frozenset[str] = frozenset()
    """Ids of conversations that the judge's prompt shows solved: they are not judged."""
    gates: tuple[str, ...] = ()
    rubric: str = ""
    dissatisfied: DissatisfiedRule | None = None
    """What counts as dissatisfied where people rated; None for the middle of their scale or less."""
    thresholds: TrustThresholds = field(default_factory=TrustThresholds)
    mask: Mask | None = None
    left_out: int = 0
    """How many worked examples the input held."""
    faults: list[InputError] = field(default_factory=list)
    rated_ids: set[str] = field(default_factory=set)
    """Of the conversations that `ratings` has ratings of, those that the input holds."""
    rated: set[bytes] = field(default_factory=set)
    """Digests of the conversations that people rated."""
    absent_turns: set[tuple[str, int]] = field(default_factory=set)
    """Id and turn that were rated, where the input holds the conversation and not the turn."""
    people: PeopleTally | None = None
    """What people said, once all is judged; None where nobody said anything."""
    clashes: list[tuple[Rating, Rating]] = field(default_factory=list)
    """Ratings in the data, each beside that of `ratings` which says otherwise and counts."""
    with_tools: int = 0
    """Conversations in which a tool is called."""
    other_words: list[Rating] = field(default_factory=list)
    """Ratings of words that the input does not hold: they are left out."""
    agents: AgentTally = field(default_factory=AgentTally)
    """Who wrote the dialogues, and how much."""
    seconds: defaultdict[tuple[str, str | None], float] | None = None
    """How long each conversation was judged, by id and candidate; None where nobody asks."""
    _database: RunDatabase | None = field(default=None, init=False, repr=False)
    _weeks: dict[tuple[str, str | None], str] = field(default_factory=dict, init=False, repr=False)
    """Of conversations whose time is known, by id and candidate."""

    name = JUDGE

    @cached_property
    def seen_ratings(self) -> SeenRatings:
        """The ratings that have passed, of dimensions on the judge's scales."""
        return SeenRatings({(d.level, d.name): d.scale for d in self.judge.dimensions})

    @property
    def judge_digest(self) -> str:
        """The judge's."""
        return self.judge.digest

    @property
    def unreadable(self) -> Sequence[InputError]:
        """Records that are no conversations."""
        return self.faults

    @property
    def passed_over(self) -> int:
        """Worked examples and unreadable records."""
        return self.left_out + len(self.faults)

    def opened(self, database: RunDatabase) -> None:
        """Take the run file: people's ratings stand there, beside the conversations."""
        self._database = database

    def prepare(self, mask: Mask | None, notes: Notes | None) -> None:
        """Take the mask; these judges keep nothing."""
        del notes
        self.mask = mask

    def plan(self) -> Iterator[WorkUnit]:
        """Yield a unit for each conversation and repeat, reading the input as it is asked for."""
        position, mask = 0, self.mask
        for item in self._items():
            if isinstance(item, InputError):
                fault = item if mask is None else mask.fault(item)
                if self.strict:
                    raise fault
                self.faults.append(fault)
            elif item.id in self.worked_examples:
                self.left_out += 1
            else:
                position += 1
                conversation = self._joined(item)
                target, judge = conversation_digest(conversation), self.judge
                self.agents.see(conversation)
                self.with_tools += any(message.tool_calls for message in conversation.messages)
                if len(self._weeks) <= _DATED:
                    week = week_of(conversation.metadata, *(m.extra for m in conversation.messages))
                    self._weeks |= {} if week is None else {(conversation.id, conversation.candidate): week}
                if conversation.ratings:
                    self.rated.add(bytes.fromhex(target))
                    self.seen_ratings.add(conversation)
                for repeat in range(1, self.repeats + 1):
                    yield WorkUnit(
                        self.name,
                        conversation,
                        target,
                        judge.digest,
                        repeat,
                        self.seed,
                        # What is known of messages is who said them, not whether they were there before.
                        f"from message {conversation.prefix}" if conversation.history else None,
                        judge.name,
                        position,
                    )

    def _items(self) -> Iterator[Conversation | InputError]:
        try:
            yield from self.conversations
        except InputError as fault:
            raise fault if self.mask is None else self.mask.fault(fault) from None

    def _joined(self, conversation: Conversation) -> Conversation:
        """Return the conversation as it is judged and stored: with its ratings, and masked."""
        if self.ratings is not None and (ratings := self.ratings.for_conversation(conversation.id)):
            self.rated_ids.add(conversation.id)
            self.absent_turns |= absent_turns(conversation, ratings)
            self.other_words += self.ratings.of_other_words(conversation)
            self.clashes += self.ratings.clashes(conversation)
            if self.strict and self.clashes:
                rating = self.clashes[0][0]
                msg = f"{rating.dimension} is rated otherwise in the data and in --ratings"
                fault = RecordFault(msg, place=conversation.place_of(rating), hint="mend one of the two")
                raise fault if self.mask is None else self.mask.fault(fault)
            conversation = self.ratings.joined(conversation)
        if self.first_turns is not None:
            conversation = cut_after(conversation, self.first_turns)
        return conversation if self.mask is None else self.mask.conversation(conversation)

    async def run(self, unit: WorkUnit) -> tuple[Judged, ...]:
        """Judge one conversation once; of turns that were there before nothing is kept."""
        conversation = unit.conversation
        if not conversation.messages:
            return (absent(conversation),)
        began = time.monotonic()
        rows = await self.judge.judge(request_of(unit))
        if self.seconds is not None:
            self.seconds[conversation.id, conversation.candidate] += time.monotonic() - began
        old = {t.number for t in conversation.history}
        return tuple(r for r in rows if r.target.turn not in old) if old else rows

    def settle(self, units: Iterable[StoredUnit], ending: Ending) -> Mapping[bytes, Sequence[Row]]:
        """Put what people said beside what was judged: it may come later, or change."""
        del ending
        database = self._database
        if database is None or not self.rated:
            return {}
        changes: dict[bytes, Sequence[Row]] = {}
        admissions = self.seen_ratings.admissions()
        fitted_on = self.judge.describe().get("fitted_on") or {}
        by_signals = judges_by_signals(self.judge.describe())
        self.people = PeopleTally(self.judge.dimensions, fitted_on.get("seen", ()), by_signals=by_signals)
        for target, group in groupby(units, key=lambda unit: unit.target):
            conversation = database.conversation(target) if target in self.rated else None
            if conversation is None:
                continue
            ratings = ratings_by_turn(conversation, admissions)
            self.people.rate(conversation, ratings)
            changed = ((unit.key, row_changes(ratings, unit.rows)) for unit in group)
            changes |= {key: rows for key, rows in changed if rows is not None}
        return changes

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> JudgingResult:
        """Bring the rows to summary, checks, gates and a sample, in one pass."""
        sampler = Sampler(self.judge.dimensions)
        table = table_of(sampler.through(rows))
        summary = summarise(
            table,
            dimensions=self.judge.dimensions,
            unreadable=[str(f) for f in self.faults],
            pending=-(-ending.pending // self.repeats),
            repeats=self.repeats,
        )
        kept = replace(kept_from(run), calibration=None)  # it is of the ratings that are named now
        trust = look_into(run, table, self.thresholds, self.ratings, kept)
        unusable = self.seen_ratings.unusable
        if self.ratings is not None and self.ratings.ratings and not self.seen_ratings.counts:
            unusable = (
                f"None of the {counted(len(self.ratings.ratings), 'rating')} that were given belongs to a "
                "conversation of this run, so none is used: do both call the conversations the same?"
            )
        rule = self.dissatisfied
        if self.people is not None:
            self.people.read(table)
        rated = self.people or (PeopleTally(self.judge.dimensions) if unusable else None)
        people = None if rated is None else people_of(rated, rule, unusable=unusable)
        mode = self.judge.describe().get("mode", "hindsight")
        findings = findings_of(table, run.rows_of, mode=mode, people=people)
        sample = read_sample(run, sampler.result(), summary.dimensions, findings)
        figures = () if people is None else people.figures
        scales: dict[RatedAs, Scale] = {(f.level, f.dimension): f.scale for f in figures if f.scale}
        worst = worst_group(table, self._weeks if sample.survey.total <= _DATED else {}, scales)
        languages = [g for g in summary.by.get("language", ()) if g.name is not None]
        least = _LANGUAGE_SHARE * summary.conversations.judged
        evidence = RunEvidence(
            self.judge.digest,
            self.rubric,
            tuple(sorted(g.name or "" for g in languages if g.conversations >= least)),
            2 * self.with_tools > summary.conversations.judged,
            self._checked(),
            finds=findings is not None,
            ratings=() if people is None else tuple(dict.fromkeys(f.dimension for f in people.figures)),
            unchecked=self.unchecked,
        ).with_stored(self.checked_by)
        scored = [d.name for d in summary.dimensions if d.n]
        evidence = replace(evidence, dimensions=with_verdict(evidence.dimensions, scored))
        summary = summary.with_evidence(evidence)
        gates = tuple(g.evaluate(summary, evidence, people) for g in read_gates(self.gates, self.rubric))
        agents = self.agents.result()
        return JudgingResult(summary, gates, trust, sample, findings, people, worst, agents, evidence)

    def _checked(self) -> dict[str, DimensionEvidence]:
        """Say of each dimension whether it is checked by the ratings of this run; a study may know better."""
        return checked_by_ratings(self.people, self.judge.dimensions, self.dissatisfied)

    def facts(self) -> StudyFacts:
        """Return judge, dimensions and what the checks need to know of the rubric."""
        judge = {"name": self.judge.name, "digest": self.judge.digest, **self.judge.describe()}
        asked = getattr(self.judge, "rubric", None)
        more = rubric_facts(self.rubric, asked if isinstance(asked, Rubric) else None)
        return StudyFacts(judge=judge, dimensions=self.judge.dimensions, more=more)

    def page(self, result: JudgingResult, run: StoredRun) -> Page:
        """Return the report."""
        return report_page(run, result.summary, result.sample, result.known)


def request_of(unit: WorkUnit) -> Request:
    """Return what a judge is asked about a unit: of a produced conversation, what follows its prefix.

    Where that begins with a turn it is a session, and judged as a whole too; else it is a reply to what stood
    there, and judged alone.
    """
    conversation, done = unit.conversation.blinded(), standing(unit.earlier)
    prefix = unit.conversation.prefix
    alone = prefix and all(t.start != prefix for t in conversation.turns)
    new = tuple(r for r in replies_of(unit.conversation) if r.message >= prefix) if alone else ()
    return Request(conversation, new, repeat=unit.repeat, seed=unit.seed, standing=done)


def cut_after(conversation: Conversation, count: int) -> Conversation:
    """Return the conversation up to the end of its new turn of that number, with the ratings up to there.

    Ratings of the whole stay: how soon a judge comes to what people said at the end is a question of its own.
    """
    turns = conversation.new_turns
    if len(turns) < count:
        return conversation
    last = turns[count - 1].number
    ratings = tuple(r for r in conversation.ratings if r.turn is None or r.turn <= last)
    return replace(conversation.until(last), ratings=ratings)


def absent(conversation: Conversation) -> Judged:
    """Return the row of a conversation without messages: it is counted, and neither judged nor failed."""
    whole = Target(conversation.id, "conversation", None, conversation.candidate)
    return Judged(whole, JudgeFailure("absent", "It has no messages."))


def sampled(
    source: Iterable[Conversation | InputError], *, limit: int | None, sample: int | None, seed: int
) -> Iterator[Conversation | InputError]:
    """Cut a source: its first `limit` conversations, or `sample` of them at random by the seed.

    A conversation is drawn by the digest of seed and id, so the same conversations are drawn again
    when others are added, and a larger sample holds the smaller one. Memory is that of the sample.
    """
    if sample is not None:
        source = _draw(source, sample, seed)
    taken = 0
    for item in source:
        yield item
        taken += isinstance(item, Conversation)
        if limit is not None and taken >= limit:
            return  # before the next is read: a pipe may never bring one


def _draw(
    source: Iterable[Conversation | InputError], size: int, seed: int
) -> Iterator[Conversation | InputError]:
    heap: list[tuple[int, int, Conversation]] = []
    for position, item in enumerate(source):
        if isinstance(item, InputError):
            yield item
            continue
        # The heap's top is the item that the next better one replaces: the largest digest.
        entry = (-int(digest_text(f"{seed}\x1f{item.id}"), 16), position, item)
        if len(heap) < size:
            heapq.heappush(heap, entry)
        elif size and entry > heap[0]:
            heapq.heapreplace(heap, entry)
    for _, _, conversation in sorted(heap, key=lambda entry: entry[1]):
        yield conversation
