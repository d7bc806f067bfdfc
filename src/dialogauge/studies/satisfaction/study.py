"""The satisfaction study: one row for each rated reply, judged for its own user, calibrated and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache
from typing import Any

from dialogauge.core import (
    Conversation,
    InputError,
    Judged,
    JudgeFailure,
    Score,
    WorkUnit,
    conversation_digest,
    digest,
)
from dialogauge.core.json_keys import as_json
from dialogauge.core.judgement import scores_json
from dialogauge.core.protocols import (
    BlockView,
    Judge,
    Notes,
    PlainDimension,
    Population,
    RatedBlock,
    RatedReply,
    Reads,
    Reply,
    request_for,
)
from dialogauge.data import Mask
from dialogauge.judges.local_user.judge import LocalUserJudge
from dialogauge.judges.local_user.model import ScoreSignal
from dialogauge.judges.personal.reply_unread import ReplyUnread, fit_reply_unread
from dialogauge.report import Page
from dialogauge.runs import Ending, Row, StoredRun, StoredUnit, Study, StudyFacts, judged_of
from dialogauge.runs.manifest import FAULTS_KEPT
from dialogauge.stats.reading import without_numbers
from dialogauge.studies.evidence import RunEvidence, evidence_in
from dialogauge.studies.judging.checking import by_light
from dialogauge.studies.judging.light import people_in, rated_tally
from dialogauge.studies.judging.sampling import Sampler
from dialogauge.studies.judging.summary import summarise
from dialogauge.studies.judging.transcripts import read_sample
from dialogauge.studies.satisfaction.answers import (
    SATISFACTION,
    JudgedReply,
    answers_of,
    histories_of,
    says_side_only,
)
from dialogauge.studies.satisfaction.behaviour import drift_of
from dialogauge.studies.satisfaction.blocks import StudyData, in_turn, masked_data, others_of
from dialogauge.studies.satisfaction.evaluation import EvaluationSettings, evaluate
from dialogauge.studies.satisfaction.figures import ORDINAL
from dialogauge.studies.satisfaction.rationale import check_rationales
from dialogauge.studies.satisfaction.signals import JoinedScores, StoredScores, join_scores
from dialogauge.studies.satisfaction.summary import (
    SatisfactionResult,
    SatisfactionSummary,
    Settled,
    StudyCounts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SatisfactionSettings(EvaluationSettings):
    """What is judged, and how the scores are calibrated and compared."""

    dimension: str = "satisfaction"
    guard: bool = False
    """Whether the judge names the failed condition of a session first."""
    side_by_side: int = 64
    """Blocks that are judged together, one turn of each in turn, where a model is asked."""


@dataclass(frozen=True, slots=True)
class _Task:
    block: RatedBlock
    reply: Reply
    others: Population


@dataclass
class SatisfactionStudy(Study[SatisfactionResult]):
    """Judges every target of the part that was asked for; see `runs.Study` for the parts.

    A judge that asks a model is asked turn by turn, and what is stored is not asked again. A judge without
    one takes no time: it judges block by block, and anew each time.
    """

    judge: Judge
    conversations: Mapping[str, Conversation]
    """By id, with their ratings."""
    data: StudyData
    settings: SatisfactionSettings
    _: KW_ONLY
    unreadable: Sequence[InputError] = ()
    """Records that are no conversations: each counts as a failed one."""
    rating_faults: tuple[InputError, ...] = ()
    reference: tuple[JudgedReply, ...] | None = None
    """The original replies, as another run judged them."""
    stored_signals: tuple[StoredScores, ...] = ()
    """What the runs hold that were named as signals."""
    signals: tuple[JoinedScores, ...] = ()
    """What of it is about the turns of the study."""
    _notes: Notes = field(init=False)
    _tasks: dict[str, _Task] = field(default_factory=dict)
    _block_rows: dict[str, Judged] = field(default_factory=dict)
    """Rows of the block that was judged last, by the id of the reply."""
    _settled: Settled = field(init=False)
    _failures: Mapping[str, int] = field(default_factory=dict)
    _unfinished: int = 0
    """Conversations of which no turn is judged yet."""

    name = SATISFACTION

    @property
    def recomputes(self) -> bool:
        """A judge without a model judges anew each time."""
        return self.judge.together

    @property
    def judge_digest(self) -> str:
        """The judge's; what it reads of people is part of each unit's identity."""
        return self.judge.digest

    @property
    def source(self) -> str:
        """Digest of the calibration and of everything that is known of any user."""
        s, data = self.settings, self.data
        known = [[r.reply.id, r.score] for b in data.population.blocks for r in b.ratings]
        past = [[b.view.id, [[r.reply.id, r.score] for r in b.view.history]] for b in data.blocks]
        reference = [[a.id, a.value] for a in self.reference or ()]
        return digest([s.calibrate, s.ties, data.history, data.sight, reference, known, past])

    @property
    def expected(self) -> int:
        """Replies that are judged."""
        return self.data.targets

    def prepare(self, mask: Mask | None, notes: Notes | None) -> None:
        """Hide what is to be hidden, and join the signals: a score holds for the words it was given for."""
        if notes is not None:
            self._notes = notes
        if mask is not None:
            self.conversations, self.data = masked_data(self.conversations, self.data, mask)
            self.unreadable = tuple(mask.fault(f) for f in self.unreadable)
            self.rating_faults = tuple(mask.fault(f) for f in self.rating_faults)
        self.signals = tuple(join_scores(s, self.data, self.conversations) for s in self.stored_signals)
        if self.signals and isinstance(self.judge, LocalUserJudge):
            taken = tuple(ScoreSignal(joined.run, joined.scores) for joined in self.signals)
            self.judge = replace(self.judge, signals=taken)

    def plan(self) -> Sequence[WorkUnit]:
        """Return a unit for each target: with a model so many blocks at a time, one turn of each in turn.

        What a judge makes once for a block (a memory) is then made for many blocks together, and the turns
        of a block still come close enough to one another for an endpoint's prefix cache.
        """
        keys = _Keys(self.judge.reads)
        others = others_of(self.data)
        blocks: list[list[WorkUnit]] = []
        position = 0
        for block in self.data.blocks:
            view = block.view
            known = others(view.user)
            circumstances = keys.circumstances(view, known)
            units: list[WorkUnit] = []
            for reply in view.targets:
                position += 1
                conversation = self.conversations[reply.conversation.id]
                unit = WorkUnit(
                    SATISFACTION,
                    conversation,
                    keys.digest_of(conversation),
                    self.judge.digest,
                    part=digest([reply.id, view.sight, circumstances]),
                    judge=self.judge.name,
                    position=position,
                )
                self._tasks[unit.key] = _Task(block, reply, known)
                units.append(unit)
            blocks.append(units)
        return list(in_turn(blocks, 1 if self.judge.together else self.settings.side_by_side))

    async def run(self, unit: WorkUnit) -> tuple[Judged, ...]:
        """Judge one target, or take it from its block."""
        task = self._tasks[unit.key]
        view, seed = task.block.view, self.settings.seed
        if not self.judge.together:
            request = request_for((task.reply,), view, task.others, self._notes, seed=seed)
            return await self.judge.judge(request)
        if task.reply.id not in self._block_rows:
            rows = await self.judge.judge(request_for(view.targets, view, task.others, seed=seed))
            self._block_rows = {reply.id: row for reply, row in zip(view.targets, rows, strict=True)}
        return (self._block_rows[task.reply.id],)

    def settle(self, units: Iterable[StoredUnit], ending: Ending) -> Mapping[bytes, Sequence[Row]]:
        """Evaluate all that is judged, and return the calibrated scores."""
        rows = {unit.key.hex(): judged_of(unit.rows[0]) for unit in units}
        keys = {(task.block.view.id, task.reply.id): key for key, task in self._tasks.items()}
        data, blocks, of_blocks = self.data, [], []
        for block in data.blocks:
            stored = (rows.get(keys[block.view.id, reply.id]) for reply in block.view.targets)
            judged = [(r, row) for r, row in zip(block.ratings, stored, strict=True) if row is not None]
            blocks.append(replace(block, ratings=tuple(rated for rated, _ in judged)))
            of_blocks.append([row for _, row in judged])
        answers = [a for block, of in zip(blocks, of_blocks, strict=True) for a in answers_of(block, of)]
        outcomes = (row.outcome for row in rows.values())
        alike: dict[str, str] = {}
        failed = Counter(
            alike.setdefault(without_numbers(o.message), o.message)
            for o in outcomes
            if isinstance(o, JudgeFailure)
        )
        self._failures = dict(failed.most_common())
        histories = histories_of(data.blocks, data.history_turns)
        others, of_test = others_of(data), fit_reply_unread(data.population)

        @cache
        def unread(user: str) -> ReplyUnread | None:
            return fit_reply_unread(others(user)) if user in data.split.train else of_test

        evaluation = evaluate(answers, histories, self.settings, self.reference, unread)
        rationale = check_rationales(blocks, of_blocks, data.population)
        weights = self.judge.weights if isinstance(self.judge, LocalUserJudge) else {}
        self._settled = Settled(
            StudyCounts.of(data, len(self._faults)),
            tuple(replace(joined, weight=weights.get(joined.run)) for joined in self.signals),
            evaluation,
            ORDINAL if says_side_only(self.judge.dimensions) else None,
            rationale,
            drift_of(data.blocks, data.population),
            evaluation.guard if self.settings.guard else None,
        )
        self._unfinished = len(self._conversations_asked - {a.session for a in answers})
        calibrated: dict[bytes, Sequence[Row]] = {}
        for a in (a for a in answers if a.id in evaluation.calibrated):
            score = evaluation.calibrated[a.id]
            raw = a.value if a.history and self.settings.calibrate != "none" else None
            row = {**scores_json({SATISFACTION: Score(score.value, score.rounded, raw)})}
            if not a.history:
                row["details"] = {"without_history": True}
            calibrated[bytes.fromhex(keys[a.block, a.id])] = [row]
        return calibrated

    @property
    def _conversations_asked(self) -> set[str]:
        return {reply.conversation.id for block in self.data.blocks for reply in block.view.targets}

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> SatisfactionResult:
        """Bring rows and evaluation to the summary and the page."""
        sampler = Sampler(run.dimensions)
        summary = summarise(
            sampler.through(rows),
            dimensions=run.dimensions,
            unreadable=[str(f) for f in self.unreadable],
            pending=self._unfinished,
            repeats=1,
        )
        rated = rated_tally(run.judged, run.dimensions, run.manifest.judge)
        people = people_in(rated, pairs=[(SATISFACTION, self.settings.dimension)])
        light = people[0].light if people else None
        checked = {} if light is None else {SATISFACTION: by_light(light)}
        evidence = RunEvidence(self.judge.digest, dimensions=checked, ratings=(self.settings.dimension,))
        summary = summary.with_evidence(evidence)
        return SatisfactionResult(
            summary,
            self._faults,
            self._failures,
            as_json(SatisfactionSummary(summary, self._settled, light=light, evidence=evidence)),
            read_sample(run, sampler.result(), summary.dimensions),
        )

    @property
    def _faults(self) -> tuple[InputError, ...]:
        """Ratings that cannot be used."""
        return (*self.rating_faults, *self.data.faults)

    def facts(self) -> StudyFacts:
        """Return judge, dimension and split."""
        judge = self.judge
        identity = {"name": judge.name, "digest": judge.digest, "reads": sorted(judge.reads)}
        return StudyFacts(
            judge={**judge.describe(), **identity},
            dimensions=(PlainDimension(SATISFACTION, "turn"),),
            data=self.source,
            conversations=len(self._conversations_asked),
            more={
                "shows_scenario": False,
                "scenario_rules": [],
                "rating_faults": [str(f) for f in self._faults[:FAULTS_KEPT]],
                "split": {name: sorted(getattr(self.data.split, name)) for name in ("train", "test")},
            },
        )

    def page(self, result: SatisfactionResult, run: StoredRun) -> Page:
        """Return the report of the rows, with what the study says of judge and users."""
        from dialogauge.studies.judging.opening import Known
        from dialogauge.studies.judging.page import report_page
        from dialogauge.studies.satisfaction.page import users_sections

        sections = users_sections(result.figures, run.manifest)
        known = Known(evidence=evidence_in(result.figures))
        return report_page(run, result.summary, result.sample, known, against_users=sections)


@dataclass
class _Keys:
    """Digests of what a judgement stands on: each history and each population is read once."""

    reads: frozenset[Reads]
    _conversations: dict[str, str] = field(default_factory=dict)
    _populations: dict[int, str] = field(default_factory=dict)

    def digest_of(self, conversation: Conversation) -> str:
        if conversation.id not in self._conversations:
            self._conversations[conversation.id] = conversation_digest(conversation)
        return self._conversations[conversation.id]

    def circumstances(self, view: BlockView, others: Population) -> str:
        known: dict[str, Any] = {}
        if "profile" in self.reads:
            known["profile"] = None if view.profile is None else dict(view.profile)
        if "history" in self.reads:
            known["history"] = self._rated(view.history)
        if "others" in self.reads or ("history" in self.reads and not view.history):
            known["others"] = self._population(others)
        return digest(known)

    def _rated(self, rated: Iterable[RatedReply]) -> list[Any]:
        return [[r.reply.id, r.score, r.reason, self.digest_of(r.reply.conversation)] for r in rated]

    def _population(self, others: Population) -> str:
        if id(others) not in self._populations:
            rated = [r for block in others.blocks for r in block.ratings]
            self._populations[id(others)] = digest(self._rated(rated))
        return self._populations[id(others)]
