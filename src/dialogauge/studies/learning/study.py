"""The study of memories: systems by steps by tasks in, a run that holds question and reply of each out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final, cast

from dialogauge.agents import PlayedSession, play
from dialogauge.agents.memory import (
    MemoryAgent,
    RecalledDialogue,
    RecalledTurn,
    Room,
    SystemFault,
)
from dialogauge.core import (
    Conversation,
    JudgeFailure,
    Message,
    UsageError,
    WorkUnit,
    digest,
    digest_text,
)
from dialogauge.core.conversation import TASK
from dialogauge.core.protocols import NO_NOTES, Agent, AgentFailure, Notes
from dialogauge.data import Mask
from dialogauge.data.tasks import TaskFile, TaskRecord, log_lines
from dialogauge.report import Page
from dialogauge.rubrics import own_template, render
from dialogauge.runs import (
    Ending,
    Produced,
    Row,
    RunDatabase,
    StoredRun,
    StoredUnit,
    Study,
    StudyFacts,
)
from dialogauge.studies.learning.controls import controlled, other_questions
from dialogauge.studies.learning.effects import FeedbackEffect
from dialogauge.studies.learning.figures import NO_MODEL, LearnResult, learn_result
from dialogauge.studies.learning.memories import (
    BuiltMemory,
    Chunk,
    LearningSystem,
    Memories,
    digest_of,
    masked_task,
)
from dialogauge.studies.learning.page import learn_page
from dialogauge.studies.learning.protocols import LearnProtocol, LearnStep, schedule
from dialogauge.studies.learning.recall import message_places, recalled_details
from dialogauge.studies.learning.scoring import (
    CATEGORIES,
    asks_for_a_phrase,
    case_score,
    category_of,
    options_of,
)
from dialogauge.studies.learning.teaching import (
    TRAINING,
    DialogueUnit,
    LedDialogues,
    Teaching,
    taught_record,
)

LEARN: Final = "learn"
"""The kind of run."""
ANSWERED: Final = digest([LEARN])
"""The digest under which all answers of a run are kept, whoever gave them."""
_CONDITIONS: Final = "conditions"
"""The key under which a run file holds what makes systems comparable."""
MOST_TOKENS: Final = 100_000
"""Of the room of a system that gives everything, where no other number is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnUnit(WorkUnit):
    """One task, asked of one system at one step."""

    task: TaskRecord = field(compare=False)
    system: LearningSystem | None = field(default=None, compare=False)
    """None for a planted answer."""
    chunks: tuple[Chunk, ...] = field(default=(), compare=False)
    """What the memory holds, dialogues of the run itself left out."""
    step: int = field(default=0, compare=False)
    condition: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """Of feedback-effect: `condition`, the system whose logs stand before the question, and what feedback."""
    says: str = field(default="", compare=False)
    """The planted answer."""


@dataclass
class LearningStudy(Study[LearnResult]):
    """Asks tasks of memory systems; see `runs.Study` for the parts.

    A row stands on the digest of the dialogues that its memory held: under another one it is done anew.
    """

    file: TaskFile
    tasks: Sequence[TaskRecord]
    """Those that are asked."""
    systems: Sequence[LearningSystem]
    answerer: Agent | None
    """None for the one without a model."""
    room: Room
    memories: Memories
    protocol: LearnProtocol = "off-policy"
    disputed: Mapping[str, bool] = field(default_factory=dict)
    """By task whether readers dispute its gold; empty where nobody has looked."""
    references: Mapping[str, Any] | None = None
    """`run` and `of`: the references by data set of another run."""
    options: bool = False
    """Whether questions without an answer are put with two options; else who answers has to say by itself
    that nothing tells."""
    bert_score: Callable[[str, str], float] | None = None
    """F1 of two texts by a model, for the metrics that need one."""
    bert_model: str | None = None
    """The digest of that model."""
    seed: int = 0
    planted: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By system and task, answers whose worth is known."""
    teaching: Teaching | None = None
    """How dialogues are led, where the systems lead some."""
    effects: Sequence[FeedbackEffect] = ()
    """Of feedback-effect, in the place of systems."""
    action: str | None = None
    """What all logs have, where they were chosen by it."""
    name = LEARN
    produces = True
    judge_digest = ANSWERED

    def __post_init__(self) -> None:
        """Look up where evidence is."""
        self._corpora = {
            name: Chunk(name, tuple((session, None) for session in sessions), corpus=True)
            for name, sessions in self.file.corpora.items()
        }
        self._options = options_of(self.tasks) if self.options else {}
        self._led = LedDialogues()
        self._places = {name: message_places(chunk) for name, chunk in self._corpora.items()}
        self._led_under: dict[tuple[str, int], tuple[Chunk, ...]] = {}
        self._others = other_questions(self.systems, self.tasks, self.seed)

    @property
    def expected(self) -> int:
        """All answers."""
        return sum(1 for _ in self.plan())

    def stays(self, unit: StoredUnit) -> bool:
        """Keep what other systems answered from the same dialogues; with logs each may hold its own."""
        row = unit.rows[0]
        if row["candidate"] in {*(system.name for system in self.systems), *self.planted}:
            return False
        if self.teaching is not None or any(system.logs for system in self.systems):
            return True
        corpora = {digest_of(()), *(digest_of((chunk,)) for chunk in self._corpora.values())}
        return row["details"]["memory"] in corpora

    def opened(self, database: RunDatabase) -> None:
        """Take the run file; UsageError where it holds answers of another room, answerer or protocol."""
        self._led.database = database
        conditions: dict[str, Any] = {"k": self.room.items, "context_tokens": self.room.tokens}
        conditions |= {"answerer": NO_MODEL if self.answerer is None else self.answerer.name}
        conditions |= {"protocol": self.protocol, "options": self.options}
        conditions |= {"settings of the answerer": None if self.answerer is None else self.answerer.digest}
        if self.teaching is not None:
            conditions |= {"steps": self.teaching.steps, "batch": self.teaching.batch}
        stored = database.get_meta(_CONDITIONS, conditions)
        if key := next((key for key, value in conditions.items() if stored.get(key) != value), None):
            run, before = database.path.parent, stored.get(key)
            msg = f"the run {run} holds answers with {key} {before}, not {conditions[key]}"
            raise UsageError(msg, hint="choose another directory with -o, or start anew with --fresh")
        database.put_meta(_CONDITIONS, conditions)

    def still_holds(self, unit: WorkUnit, database: RunDatabase) -> bool:
        """Say whether a row stands on the dialogues that the run holds now."""
        if self.teaching is None or not isinstance(unit, DialogueUnit | LearnUnit) or unit.system is None:
            return True
        self._led.database, stored = database, database.unit(bytes.fromhex(unit.key))
        return stored is not None and stored.rows[0]["details"]["memory"] == digest_of(self._chunks(unit))

    def prepare(self, mask: Mask | None, notes: Notes | None) -> None:
        """Take where the costs of memories are kept; what is masked is masked before a memory sees it."""
        self._led.mask = mask
        if mask is not None:
            self.systems = [system.masked(mask) for system in self.systems]
            self.effects = [effect.masked(mask) for effect in self.effects]
            self.tasks = [masked_task(mask, task) for task in self.tasks]
            self._options = options_of(self.tasks) if self.options else {}
            self.teaching = None if self.teaching is None else self.teaching.masked(mask)
            self._corpora = {name: chunk.masked(mask) for name, chunk in self._corpora.items()}
            self._places = {name: message_places(chunk) for name, chunk in self._corpora.items()}
            self._others = other_questions(self.systems, self.tasks, self.seed)
        self.memories.notes = NO_NOTES if notes is None else notes

    def plan(self) -> Iterator[WorkUnit]:
        """Yield a unit for each dialogue and answer: by system, step and corpus; planted answers come last.

        What the systems do not lead themselves is asked corpus by corpus: a memory then goes on from the one
        of the step before.
        """
        places = count()
        for system in self.systems:
            yield from self._planned(system, places)
        for effect in self.effects:
            for task, chunks in effect.cases:
                part = digest([self._asks, effect.system.name, digest_of(chunks)])
                unit = self._unit(task, effect.system.name, part, next(places))
                about: dict[str, Any] = {"condition": effect.condition, "logs_of": effect.logs_of}
                about |= {"feedback": effect.feedback[task.id]} if effect.feedback else {}
                yield replace(unit, system=effect.system, chunks=chunks, condition=about)
        for name, answers in self.planted.items():
            for task in (t for t in self.tasks if t.id in answers):
                says = answers[task.id]
                yield replace(self._unit(task, name, digest(["planted", says]), next(places)), says=says)

    @property
    def _asks(self) -> list[Any]:
        answerer = "" if self.answerer is None else self.answerer.digest
        asks = (["options"] if self.options else []) + ([self.bert_model] if self.bert_model else [])
        return [*asks, answerer]

    def _planned(self, system: LearningSystem, places: Iterator[int]) -> Iterator[WorkUnit]:
        """Yield the units of a system; each names those that its memory stands on."""
        about = MemoryAgent(system.empty(), self.answerer, self.room).digest
        *asks, answerer = self._asks
        if system.control is not None:  # twins are the same memory
            about = digest([about, system.control, self._others if system.control == "other-case" else {}])
        by_corpus: dict[str | None, list[TaskRecord]] = {}
        for task in self.tasks:
            by_corpus.setdefault(task.corpus, []).append(task)
        steps = [*schedule(self.protocol, len(system.logs), self.teaching)]
        visits = [(step, [corpus]) for corpus in by_corpus for step in steps]
        if self.teaching is not None:
            visits = [(step, [*by_corpus]) for step in steps]
        after: tuple[str, ...] = ()
        for step, corpora in visits:
            keys = []
            for task in step.taught if system.leads else ():
                unit = self._dialogue(task, system, step.number, [about, *after])
                keys.append(unit.key)
                yield replace(unit, after=after, position=next(places))
            if keys:
                after = self._led.planned[system.name, step.number] = tuple(keys)
            for corpus in corpora if step.asks else ():
                chunks = self._given(system, corpus, step)
                part = digest([*asks, about, answerer, digest_of(chunks), *after, step.number])
                for task in by_corpus[corpus]:
                    answer = self._unit(task, system.name, part, next(places))
                    yield replace(answer, system=system, chunks=chunks, step=step.number, after=after)

    def _given(self, system: LearningSystem, corpus: str | None, step: LearnStep) -> tuple[Chunk, ...]:
        """Return what a memory holds at a step, in its order, without the dialogues of the run itself.

        The corpus comes first where more is added step by step. Else it comes last: the memory of the logs is
        then forked for each corpus.
        """
        first, logs = () if corpus is None else (self._corpora[corpus],), system.logs[: step.batches]
        chunks = (*first, *logs) if self.protocol == "stepwise" else (*logs, *first)
        return controlled(chunks, system.control, self.seed)

    def _chunks(self, unit: LearnUnit | DialogueUnit) -> tuple[Chunk, ...]:
        """Return what the memory of a unit holds: of what was led by now, what has not failed."""
        if isinstance(unit, DialogueUnit):
            corpus, last = unit.task.corpus, unit.step - 1
            chunks = self._given(unit.system, corpus, LearnStep(last))
        else:
            chunks, last = unit.chunks, unit.step
        if self.teaching is None or unit.system is None:
            return chunks
        system, steps = unit.system, range(1, last + 1) if unit.system.leads else ()
        if (system.name, last) not in self._led_under:
            led = [self._led.chunk(system.name, number) for number in steps]
            self._led_under[system.name, last] = controlled(led, system.control, self.seed)
        return (*chunks, *self._led_under[system.name, last])

    def _dialogue(
        self, task: TaskRecord, system: LearningSystem, step: int, stands_on: Sequence[str]
    ) -> DialogueUnit:
        teaching = cast("Teaching", self.teaching)
        target = digest([TRAINING, task.id, [[m.role, m.text] for m in task.messages], dict(task.gold)])
        part = digest([*stands_on, step, teaching.users[task.id].digest, teaching.rounds])
        seed = int(digest_text(f"{self.seed}\x1f{task.id}\x1f{step}")[:7], 16)
        about: dict[str, Any] = {"seed": seed, "part": part, "judge": system.name}
        return DialogueUnit(LEARN, None, target, ANSWERED, task=task, system=system, step=step, **about)

    def _unit(self, task: TaskRecord, system: str, part: str, place: int) -> LearnUnit:
        target = digest([task.id, [[m.role, m.text] for m in task.messages], dict(task.gold)])
        about: dict[str, Any] = {"seed": self.seed, "part": part, "judge": system, "position": place}
        return LearnUnit(LEARN, None, target, ANSWERED, task=task, **about)

    async def run(self, unit: WorkUnit) -> tuple[Produced]:
        """Build the memory, or wait for it, and ask."""
        if isinstance(unit, DialogueUnit) and self.teaching is not None:
            return (await self._lead(unit, self.teaching),)
        one = cast("LearnUnit", unit)
        task, system = one.task, one.system
        if system is None:
            return (self._record(one, one.says),)
        chunks = self._chunks(one)
        try:
            built = await self._built(system, chunks)
        except SystemFault as fault:
            late = self.memories.late(system.name)
            why = JudgeFailure("timeout" if late else "judge_error", str(fault))
            record = self._record(one, why, {"unfinished": True} if late else {})
            return (replace(record, usage=(usage := fault.booked()), role_usage={"memory": usage}),)
        messages, language = task.messages, "zh" if task.language == "zh" else "en"
        if (options := self._options.get(task.id)) is not None:
            text = render(own_template("options", language), {"question": task.question, **options})
            messages = (*messages[:-1], Message("user", text))
        if self.answerer is not None and asks_for_a_phrase(task):
            messages = (Message("system", own_template("phrase", language)), *messages)
        asked = Conversation(self._id(one), messages, language=task.language)
        agent = MemoryAgent(built.memory, self.answerer, self._room(built))
        query = self._others[task.id] if system.control == "other-case" else task.question
        recalled = await agent.answer(asked, seed=unit.seed, query=query)
        self.memories.took(system.name, recalled.retrieve_s + recalled.answer_s)
        return (self._answered(one, recalled, built),)

    async def _built(self, system: LearningSystem, chunks: tuple[Chunk, ...]) -> BuiltMemory:
        """Return the memory that holds chunks; SystemFault where there is none, or its hours are over."""
        if self.memories.late(system.name):
            msg = f"{system.name} is not finished: it has had its {self.memories.hours:g} h"
            raise SystemFault(msg)
        return await self.memories.of(system, chunks)

    def _room(self, built: BuiltMemory) -> Room:
        unbound = self.room.tokens is None and not built.memory.counts_items
        return Room(self.room.items, MOST_TOKENS) if unbound else self.room

    async def _lead(self, unit: DialogueUnit, teaching: Teaching) -> Produced:
        """Lead a dialogue with the memory of the step before."""
        chunks = self._chunks(unit)
        about: dict[str, Any] = {"memory": digest_of(chunks), "category": category_of(unit.task)}
        try:
            built = await self._built(unit.system, chunks)
        except SystemFault as fault:
            failed = AgentFailure("judge_error", str(fault))
            session = PlayedSession(unit.beginning, "candidate_failed", {}, failed)
            building = fault.booked()
        else:
            agent = RecalledDialogue(built.memory, self.answerer, self._room(built))
            user, rounds = teaching.users[unit.task.id], teaching.rounds
            session = await play(user, agent, unit.beginning, rounds, seed=unit.seed)
            building = built.booked()
            if agent.first is not None:
                about["retrieve_s"] = agent.first.retrieve_s
                self.memories.took(unit.system.name, agent.first.retrieve_s)
        record = taught_record(unit, session, about, building)
        self._led.keep(unit, record)
        return record

    def _id(self, unit: LearnUnit) -> str:
        steps = self.protocol == "stepwise" or self.teaching is not None
        return f"{unit.task.id}@{unit.step}" if steps else unit.task.id

    def _answered(self, unit: LearnUnit, recalled: RecalledTurn, built: BuiltMemory) -> Produced:
        """Return the record of an answer: its score, what was recalled for it, and what it took."""
        details: dict[str, Any] = {"retrieve_s": recalled.retrieve_s, "answer_s": recalled.answer_s}
        about, building = built.memory.describe(), built.booked()
        if "package" in about:
            details["system"] = dict(about)
        outcome, memory, values = recalled.turn.outcome, building, None
        if recalled.retrieved is None:
            memory += recalled.turn.usage
        if recalled.retrieved is not None:
            holds = sum(chunk.tokens for chunk in self._chunks(unit))
            places = {} if unit.condition else self._places.get(unit.task.corpus or "", {})
            details |= recalled_details(recalled.retrieved, holds, unit.task.evidence, places)
            memory += recalled.retrieved.usage
            if built.memory.answerer is not None:  # what it knows is in the model, and nobody can look it up
                details |= {"weights": True, "recall": None, "session_recall": None}
        if isinstance(outcome, AgentFailure):
            record = self._record(unit, JudgeFailure(outcome.kind, outcome.message, outcome.raw), details)
        else:
            earned = case_score(unit.task, outcome.text, self._options.get(unit.task.id), self.bert_score)
            if earned is not None:
                details |= {"metric": earned.metric, "score": earned.score, "values": dict(earned.values)}
            if earned is not None and earned.unmerged:
                details["unmerged"] = True
                values = {name: v if v is None else round(v, 4) for name, v in earned.values.items()}
            record = self._record(unit, outcome.text, details, values)
        return replace(record, usage=recalled.turn.usage + building, role_usage={"memory": memory})

    def _record(
        self,
        unit: LearnUnit,
        reply: str | JudgeFailure,
        details: Mapping[str, Any] | None = None,
        values: Mapping[str, float | None] | None = None,
    ) -> Produced:
        """Return the record of a reply, or of a failure, in the place of the reply that a later try gives.

        `values` of metrics stand with the gold, for the judge that merges them.
        """
        task = unit.task
        gold = {"dataset": task.dataset, "corpus": task.corpus, **task.gold}
        if values is not None:
            gold["values"] = values
        if category_of(task) == CATEGORIES[5]:  # a judge is told what is right there
            gold["answer"] = "没有提到" if task.language == "zh" else "not mentioned: nothing tells"
        about = {
            "dataset": task.dataset,
            "corpus": task.corpus,
            "category": category_of(task),
            "disputed": self.disputed.get(task.id, False) if self.disputed else None,
            "step": unit.step,
            "memory": digest_of(self._chunks(unit)),
            **unit.condition,
        }
        last = (Message("assistant", reply),) if isinstance(reply, str) and reply else ()
        talk = Conversation(
            self._id(unit),
            (*task.messages, *last),
            candidate=unit.judge,
            language=task.language,
            metadata={TASK: gold},
        )
        return Produced(
            talk,
            None if isinstance(reply, str) else reply,
            details={**about, **(details or {})},
            prefix=len(task.messages),
            level="turn",
            turn=sum(m.role == "user" for m in task.messages),
        )

    def files(self, result: LearnResult) -> Mapping[str, Iterable[bytes] | None]:
        """Return the dialogues as a log, where these are what the run is for.

        Those of a system without a memory are for all: they name none.
        """
        del result
        if self.protocol != "dialogues" or self.teaching is None:
            return {}
        logs = (
            replace(one, conversation=replace(talk, candidate=None))
            if (talk := one.conversation).candidate == "none"
            else one
            for one in self._led.logs()
        )
        return {"logs": log_lines(logs, {task.id: task for task in self.teaching.tasks})}

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> LearnResult:
        """Bring rows and costs to figures."""
        return learn_result(rows, run, ending.pending)

    def facts(self) -> StudyFacts:
        """Return which systems were asked what."""
        systems = [*self.systems, *(effect.system for effect in self.effects)]
        who = None if self.answerer is None else {"name": self.answerer.name, **self.answerer.describe()}
        about = {s.name: s.about() for s in systems}
        return StudyFacts(
            judge={"name": ", ".join(about), "digest": ANSWERED},
            dimensions=(),
            data=digest([[t.id, dict(t.gold)] for t in self.tasks]),
            conversations=self.expected,
            more={
                "systems": about,
                "answerer": who,
                "room": {"items": self.room.items, "tokens": self.room.tokens},
                "protocol": self.protocol,
                "action": self.action,
                "options": self.options,
                "references": self.references,
            },
        )

    def page(self, result: LearnResult, run: StoredRun) -> Page:
        """Return the page."""
        return learn_page(run, result)
