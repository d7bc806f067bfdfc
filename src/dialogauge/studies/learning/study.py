"""The study of memories: systems by steps by tasks in, a run that holds question and reply of each out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final, Literal, cast

from dialogauge.agents.memory import (
    MemoryAgent,
    MemoryItem,
    RecalledTurn,
    Retrieved,
    Room,
    SystemFault,
    about_tokens,
)
from dialogauge.core import (
    Conversation,
    JudgeFailure,
    Message,
    Usage,
    UsageError,
    WorkUnit,
    digest,
)
from dialogauge.core.conversation import TASK
from dialogauge.core.protocols import NO_NOTES, Agent, AgentFailure, Notes
from dialogauge.data import Mask
from dialogauge.data.tasks import TaskFile, TaskRecord
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
from dialogauge.studies.learning.figures import NO_MODEL, LearnResult, learn_result
from dialogauge.studies.learning.memories import Chunk, LearningSystem, Memories, digest_of
from dialogauge.studies.learning.page import learn_page
from dialogauge.studies.learning.scoring import (
    CATEGORIES,
    asks_for_a_phrase,
    case_score,
    category_of,
    options_of,
)

LEARN: Final = "learn"
"""The kind of run."""
ANSWERED: Final = digest([LEARN])
"""The digest under which all answers of a run are kept, whoever gave them."""
_CONDITIONS: Final = "conditions"
"""The key under which a run file holds what makes systems comparable."""
_SHOWN: Final = 5
"""Items of an answer that its row shows with why they were given."""
MOST_TOKENS: Final = 100_000
"""Of the room of a system that gives everything, where no other number is asked for."""

LearnProtocol = Literal["off-policy", "stepwise", "training"]
"""What a memory holds, and what is asked: all at once; batch by batch; what it was taught, asked again."""


def schedule(
    protocol: LearnProtocol, corpus: Chunk | None, logs: Sequence[Chunk]
) -> Iterator[tuple[int, tuple[Chunk, ...]]]:
    """Yield steps: a number, and what the memory holds by then, in the order in which it took it in.

    Stepwise the corpus comes first, and there is a step before the first batch. Else there is one step, in
    which the corpus comes last: the memory of the logs is then forked for each corpus.
    """
    first = () if corpus is None else (corpus,)
    if protocol != "stepwise":
        yield 0, (*logs, *first)
        return
    for number in range(len(logs) + 1):
        yield number, (*first, *logs[:number])


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnUnit(WorkUnit):
    """One task, asked of one system at one step."""

    task: TaskRecord = field(compare=False)
    system: LearningSystem | None = field(default=None, compare=False)
    """None for a planted answer."""
    chunks: tuple[Chunk, ...] = field(default=(), compare=False)
    step: int = field(default=0, compare=False)
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
    name = LEARN
    produces = True
    judge_digest = ANSWERED

    def __post_init__(self) -> None:
        """Look up where evidence is."""
        self._corpora = {
            name: Chunk(name, tuple((session, None) for session in sessions), corpus=True)
            for name, sessions in self.file.corpora.items()
        }
        self._digests = {digest_of(()), *(digest_of((chunk,)) for chunk in self._corpora.values())}
        self._options = options_of(self.tasks) if self.options else {}
        asks_other = any(system.control == "other-case" for system in self.systems)
        self._others = other_questions(self.tasks, self.seed) if asks_other else {}
        self._places = {
            name: {m.extra.get("id"): (s.id, n, m.text) for s in sessions for n, m in enumerate(s.messages)}
            for name, sessions in self.file.corpora.items()
        }

    @property
    def expected(self) -> int:
        """All answers."""
        return sum(1 for _ in self.plan())

    def stays(self, unit: StoredUnit) -> bool:
        """Keep what other systems answered from the same dialogues; with logs each may hold its own."""
        row = unit.rows[0]
        if row["candidate"] in {*(system.name for system in self.systems), *self.planted}:
            return False
        logs = any(system.logs for system in self.systems)
        return logs or row["details"]["memory"] in self._digests

    def opened(self, database: RunDatabase) -> None:
        """Take the run file; UsageError where it holds answers of another room, answerer or protocol."""
        conditions: dict[str, Any] = {"k": self.room.items, "context_tokens": self.room.tokens}
        conditions |= {"answerer": NO_MODEL if self.answerer is None else self.answerer.name}
        conditions |= {"protocol": self.protocol, "options": self.options}
        conditions |= {"settings of the answerer": None if self.answerer is None else self.answerer.digest}
        stored = database.get_meta(_CONDITIONS, conditions)
        if key := next((key for key, value in conditions.items() if stored.get(key) != value), None):
            run, before = database.path.parent, stored.get(key)
            msg = f"the run {run} holds answers with {key} {before}, not {conditions[key]}"
            raise UsageError(msg, hint="choose another directory with -o, or start anew with --fresh")
        database.put_meta(_CONDITIONS, conditions)

    def prepare(self, mask: Mask | None, notes: Notes | None) -> None:
        """Take where the costs of memories are kept."""
        del mask
        self.memories.notes = NO_NOTES if notes is None else notes

    def plan(self) -> Iterator[WorkUnit]:
        """Yield a unit for each answer: by system, corpus and step; those that are planted come last."""
        groups: dict[str | None, list[TaskRecord]] = {}
        for task in self.tasks:
            groups.setdefault(task.corpus, []).append(task)
        answerer = "" if self.answerer is None else self.answerer.digest
        asks = (["options"] if self.options else []) + ([self.bert_model] if self.bert_model else [])
        places = count()
        for system in self.systems:
            about = MemoryAgent(system.empty(), self.answerer, self.room).digest
            others = digest(self._others) if system.control == "other-case" else None
            for corpus, tasks in groups.items():
                chunk = None if corpus is None else self._corpora[corpus]
                for step, taught in schedule(self.protocol, chunk, system.logs):
                    chunks = controlled(taught, system.control, self.seed)
                    holds = digest_of(chunks)
                    part = digest([*asks, about, answerer, holds, step, *([others] if others else [])])
                    for task in tasks:
                        unit = self._unit(task, system.name, part, next(places))
                        yield replace(unit, system=system, chunks=chunks, step=step)
        for name, answers in self.planted.items():
            for task in (t for t in self.tasks if t.id in answers):
                says = answers[task.id]
                yield replace(self._unit(task, name, digest(["planted", says]), next(places)), says=says)

    def _unit(self, task: TaskRecord, system: str, part: str, place: int) -> LearnUnit:
        target = digest([task.id, [[m.role, m.text] for m in task.messages], dict(task.gold)])
        about: dict[str, Any] = {"seed": self.seed, "part": part, "judge": system, "position": place}
        return LearnUnit(LEARN, None, target, ANSWERED, task=task, **about)

    async def run(self, unit: WorkUnit) -> tuple[Produced]:
        """Build the memory, or wait for it, and ask."""
        one = cast("LearnUnit", unit)
        task, system = one.task, one.system
        if system is None:
            return (self._record(one, one.says),)
        try:
            if self.memories.late(system.name):
                msg = f"{system.name} is not finished: it has had its {self.memories.hours:g} h"
                raise SystemFault(msg)
            built = await self.memories.of(system, one.chunks)
        except SystemFault as fault:
            late = self.memories.late(system.name)
            why = JudgeFailure("timeout" if late else "judge_error", str(fault))
            return (self._record(one, why, {"unfinished": True} if late else {}),)
        room = self.room
        if room.tokens is None and not built.memory.counts_items:
            room = Room(room.items, MOST_TOKENS)
        messages, language = task.messages, "zh" if task.language == "zh" else "en"
        if (options := self._options.get(task.id)) is not None:
            text = render(own_template("options", language), {"question": task.question, **options})
            messages = (*messages[:-1], Message("user", text))
        if self.answerer is not None and asks_for_a_phrase(task):
            messages = (Message("system", own_template("phrase", language)), *messages)
        asked = Conversation(self._id(one), messages, language=task.language)
        query = self._others[task.id] if system.control == "other-case" else task.question
        recalled = await MemoryAgent(built.memory, self.answerer, room).answer(
            asked, seed=unit.seed, query=query
        )
        self.memories.took(system.name, recalled.retrieve_s + recalled.answer_s)
        return (self._answered(one, recalled, built.booked()),)

    def _id(self, unit: LearnUnit) -> str:
        return f"{unit.task.id}@{unit.step}" if self.protocol == "stepwise" else unit.task.id

    def _answered(self, unit: LearnUnit, recalled: RecalledTurn, building: Usage) -> Produced:
        """Return the record of an answer: its score, what was recalled for it, and what it took."""
        details: dict[str, Any] = {"retrieve_s": recalled.retrieve_s, "answer_s": recalled.answer_s}
        outcome, memory, values = recalled.turn.outcome, building, None
        if recalled.retrieved is not None:
            details |= self._recall(unit, recalled.retrieved)
            memory += recalled.retrieved.usage
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
            "memory": digest_of(unit.chunks),
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

    def _recall(self, unit: LearnUnit, retrieved: Retrieved) -> dict[str, Any]:
        """Return what was given, how much room it took, and what of the evidence was in it."""
        task, items = unit.task, retrieved.items
        tokens = sum(about_tokens(item.shown) for item in items)
        holds = sum(chunk.tokens for chunk in unit.chunks)
        places = self._places.get(task.corpus or "", {})
        wanted = {id: places[id] for id in task.evidence if id in places}
        wholes = [item for item in items if item.dialogue and item.position is None]
        sessions = {item.dialogue for item in items}
        details: dict[str, Any] = {
            "items": len(items),
            "tokens": tokens,
            "share": min(1.0, tokens / holds) if holds else None,
            "kinds": {kind: sum(i.kind == kind for i in items) for kind in sorted({i.kind for i in items})},
            "whole": any(item.kind == "episodic" for item in wholes),
            "retrieved": [[i.dialogue, i.message if i.message else i.position] for i in items[:20]],
        }
        if reasoned := [item for item in items if item.why][:_SHOWN]:
            details["given"] = [
                {"from": i.dialogue, "kind": i.kind, "why": i.why, "text": i.text[:200]} for i in reasoned
            ]
        # Of texts without an origin nobody knows whether they are the evidence.
        if wanted and (not items or any(item.dialogue or item.message for item in items)):
            details["recall"] = _found(wanted, items)
            details["recall_by_kind"] = {
                kind: _found(wanted, [item for item in items if item.kind == kind])
                for kind in details["kinds"]
                if len(details["kinds"]) > 1
            }
            asked = {session for session, *_ in wanted.values()}
            details["session_recall"] = len(asked & sessions) / len(asked)
        return details

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> LearnResult:
        """Bring rows and costs to figures."""
        return learn_result(rows, run, ending.pending)

    def facts(self) -> StudyFacts:
        """Return which systems were asked what."""
        about = {s.name: dict(s.empty().describe()) for s in self.systems}
        about = {
            s.name: {**about[s.name], **({"control": s.control} if s.control else {})} for s in self.systems
        }
        return StudyFacts(
            judge={"name": ", ".join(about), "digest": ANSWERED},
            dimensions=(),
            data=digest([[t.id, dict(t.gold)] for t in self.tasks]),
            conversations=self.expected,
            more={
                "systems": about,
                "answerer": None if self.answerer is None else dict(self.answerer.describe()),
                "room": {"items": self.room.items, "tokens": self.room.tokens},
                "protocol": self.protocol,
                "options": self.options,
                "references": self.references,
            },
        )

    def page(self, result: LearnResult, run: StoredRun) -> Page:
        """Return the page."""
        return learn_page(run, result)


def _found(wanted: Mapping[str, tuple[str, int, str]], items: Sequence[MemoryItem]) -> float:
    """Return what share of messages, by dialogue, position and text, is among items or in their text."""
    ids, places = {item.message for item in items}, {(item.dialogue, item.position) for item in items}
    wholes = [item for item in items if item.dialogue and item.position is None]
    hits = [
        id in ids
        or (session, position) in places
        or any(item.dialogue == session and text in item.text for item in wholes)
        for id, (session, position, text) in wanted.items()
    ]
    return sum(hits) / len(hits)
