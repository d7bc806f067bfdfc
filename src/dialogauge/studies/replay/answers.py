"""Answers: what every candidate says in every frozen state, each a conversation that the run keeps.

The original replies are one more candidate. Planted candidates stand apart, under a digest of their own: the
run is a log of what was said, and no command that reads it meets what was planted to test an evaluator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypedDict, cast

from dialogauge.core import (
    Conversation,
    JudgeFailure,
    Message,
    Rating,
    StoreError,
    UsageError,
    WorkUnit,
    conversation_digest,
    digest,
)
from dialogauge.core.protocols import Agent, AgentFailure, AgentReply, AgentTurn, Reply
from dialogauge.runs import (
    Ending,
    Produced,
    Row,
    RunDatabase,
    RunDirectory,
    StoredRun,
    StoredUnit,
    Study,
    StudyFacts,
    expect_study,
)
from dialogauge.runs.privacy import Hiding
from dialogauge.stats import ScoreHistory, reply_length
from dialogauge.studies.replay.contexts import Context, Prompted, Prompter
from dialogauge.studies.replay.items import ORIGINAL, ItemSet, ReplayItem, Stage, read_items
from dialogauge.studies.replay.planted import PLANTED
from dialogauge.studies.satisfaction.answers import SATISFACTION
from dialogauge.studies.satisfaction.blocks import cut_behind

ANSWER: Final = "answer"
"""The kind of run."""
ANSWERS: Final = digest([ANSWER])
"""The digest of the answers of candidates and of the log."""
PLANTED_ANSWERS: Final = digest([ANSWER, PLANTED])
"""That of planted ones."""


class _About(TypedDict):
    digest: str
    kind: str


class _Evaluator(TypedDict):
    name: str
    asked_for: str
    judge: dict[str, Any]


class _BlockHistory(TypedDict):
    counts: tuple[int, ...]
    mean: float | None
    turns: int


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What one candidate said to one item, without the words."""

    item: str
    candidate: str
    target: bytes
    """The digest of the conversation."""
    failure: str | None
    """Why there is no reply: the kind."""
    length: int
    """Characters of the reply."""
    finish: str
    """Why it ended: `stop`, `length`, `filter`."""
    place: int
    """In the order of the run."""


@dataclass(frozen=True, slots=True)
class AnswerRun:
    """The file of a run of answers: beside the units its item set, its candidates and its evaluators."""

    database: RunDatabase

    @property
    def path(self) -> Path:
        """The run directory."""
        return self.database.path.parent

    @property
    def items_digest(self) -> str | None:
        """The digest of the item set that the run is of."""
        items: str | None = self.database.get_meta("items", shape=str | None)
        return items

    @property
    def candidates(self) -> dict[str, dict[str, Any]]:
        """What each candidate is, in the order in which they came."""
        return dict(self.database.get_meta("candidates", {}, dict[str, _About]))

    @property
    def evaluators(self) -> dict[str, dict[str, Any]]:
        """Who scored the run, by digest; the latest last."""
        return dict(self.database.get_meta("evaluators", {}, dict[str, _Evaluator]))

    @property
    def present(self) -> set[str]:
        """The items that were in the data when the run was last scored."""
        return set(self.database.get_meta("present", [], list[str]))

    def histories(self, evaluator: str) -> dict[str, ScoreHistory]:
        """Return the rated histories by block, as the evaluator met them."""
        stored = self.database.get_meta(f"histories:{evaluator}", {}, dict[str, _BlockHistory])
        return {n: ScoreHistory(h["counts"], h["mean"], h["turns"]) for n, h in stored.items()}

    def item_set(self) -> ItemSet:
        """Read the item set that the run is of."""
        return read_items(RunDirectory(self.path).file("items"))

    def expect_items(self, items: ItemSet) -> None:
        """Raise UsageError when the run is of another item set."""
        if self.items_digest not in (None, items.digest):
            msg = f"the run {self.path} is of another item set"
            raise UsageError(
                msg, hint="candidates are compared on the same items: choose another directory with -o"
            )

    def claim(self, items: ItemSet) -> None:
        """Make the run one of an item set, and of its mask; UsageError when it is of another set."""
        self.expect_items(items)
        if self.items_digest is None:
            RunDirectory(self.path).write_json("items", items.to_json())
            if (mask := items.data.get("privacy")) is not None:
                self.database.put_meta("privacy", mask)
            self.database.put_meta("items", items.digest)

    def answers(self, *, planted: bool = False) -> Iterator[StoredAnswer]:
        """Yield what candidates said, candidate by candidate; planted ones, or all others."""
        whose = PLANTED_ANSWERS if planted else ANSWERS
        for place, unit in enumerate(self.database.units(whose, self.database.planned_of(whose)), 1):
            (row,) = unit.rows
            kind, details = row["failure"] and row["failure"]["kind"], row["details"]
            length, finish = details.get("length", 0), details.get("finish", "stop")
            yield StoredAnswer(
                row["conversation_id"], row["candidate"], unit.target, kind, length, finish, place
            )

    def text(self, target: bytes) -> str:
        """Return the text of a reply."""
        return self.conversation(target).messages[-1].text

    def conversation(self, target: bytes) -> Conversation:
        """Return what was said in a state, the reply at the end."""
        conversation = self.database.conversation(target)
        if conversation is None or not conversation.messages:
            msg = f"the run file {self.database.path} has lost a reply"
            raise StoreError(msg)
        return conversation


@contextmanager
def open_answers(path: str) -> Iterator[AnswerRun]:
    """Open a run of answers for reading.

    Raises StoreError where the directory holds none, or a run of another study.
    """
    directory = RunDirectory(Path(path))
    refuse_older(directory)
    if not directory.exists:
        msg = f"{path} holds no replay run: there is no {directory.file('database').name} in it"
        raise StoreError(msg, hint="give the directory that `dialogauge replay collect` wrote (its -o)")
    expect_study(directory, (ANSWER,))
    database = directory.open_for_reading()
    try:
        yield AnswerRun(database)
    finally:
        database.close()


def refuse_older(directory: RunDirectory) -> None:
    """Raise StoreError where an older dialogauge kept a replay run in a file of its own kind."""
    if not directory.exists and (directory.path / "replay.db").is_file():
        msg = f"an older dialogauge wrote the replay run {directory.path}"
        raise StoreError(msg, hint="collect and score again, into another directory")


def original_answer(reply: Reply) -> Conversation:
    """Return an original reply as the conversation that ends with it, under the id of its turn."""
    return replace(cut_behind(reply).conversation, id=reply.id, candidate=ORIGINAL)


@dataclass(frozen=True, slots=True)
class AnsweringCandidate:
    """Who answers, from a model or from what is written already."""

    name: str
    about: Mapping[str, Any]
    """What it is; `digest` is of all that its replies are made by."""
    agent: Agent | None = None
    context: Context = "prefix"
    written: Mapping[str, AgentTurn] = field(default_factory=dict)
    """By item, where there is no agent: what it says."""


@dataclass(frozen=True, slots=True)
class AnswerUnit(WorkUnit):
    """One item for one candidate."""

    item: ReplayItem | None = field(default=None, compare=False)
    candidate: AnsweringCandidate | None = field(default=None, compare=False)
    prompted: Prompted | None = field(default=None, compare=False)
    """What the candidate is sent; None where what it says is written already."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of one candidate's replies, or of their scores."""

    requested: int
    replied: int
    failures: Mapping[str, int]
    """By kind."""

    @property
    def failed(self) -> int:
        """Items without a reply."""
        return sum(self.failures.values())

    def __add__(self, other: Tally) -> Tally:
        """Return what became of both."""
        failures = Counter(self.failures) + Counter(other.failures)
        return Tally(self.requested + other.requested, self.replied + other.replied, dict(failures))


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of all candidates' replies, or of their scores."""

    tallies: Mapping[str, Tally]
    """Of the candidates that were asked for."""

    def to_json(self) -> dict[str, Any]:
        """Write the counts."""
        return {name: {"requested": t.requested, "replied": t.replied} for name, t in self.tallies.items()}


@dataclass
class AnswerStudy(Study[Answered]):
    """Collects what candidates say to the items; see `runs.Study` for the parts.

    A unit is an item, a candidate, and what that is sent: where it would be another request today, the item
    is asked about anew. What other candidates said in earlier calls stays.
    """

    candidates: Sequence[AnsweringCandidate]
    items: ItemSet
    stage: Stage
    hides: Hiding = field(default_factory=Hiding)
    seed: int = 0
    planted: bool = False
    asked: int = 0
    """Replies that models were asked for."""

    name = ANSWER
    part_of_run = True

    @property
    def produces(self) -> bool:
        """What is planted is not of the log."""
        return not self.planted

    @property
    def judge_digest(self) -> str:
        """That of all answers, whoever gave them."""
        return PLANTED_ANSWERS if self.planted else ANSWERS

    @property
    def expected(self) -> int:
        """Items that are in the data, for each candidate."""
        return len(self.stage.items) * len(self.candidates)

    def opened(self, database: RunDatabase) -> None:
        """Make the run one of the item set, and enter the candidates; one that is there keeps its place."""
        run = AnswerRun(database)
        run.claim(self.items)
        known = run.candidates
        self._places = {name: place for place, name in enumerate(dict.fromkeys((*known, *self._names)))}
        known |= {c.name: dict(c.about) for c in self.candidates if c.name != ORIGINAL}
        database.put_meta("candidates", known)
        self._refresh_profiles(run)

    def _refresh_profiles(self, run: AnswerRun) -> None:
        """Put the profiles of today into what is kept, but for candidates that were shown them."""
        profiles = {name: reply.conversation.profile for name, reply in self.stage.originals.items()}
        digests = {name: digest(dict(of)) if of else "" for name, of in profiles.items()}
        place = f"profiles:{self.judge_digest}"
        before = run.database.get_meta(place, {}, dict[str, str])
        changed = {name for name, of in digests.items() if before.get(name) != of}
        shown = {name for name, about in run.candidates.items() if about.get("context") == "profile"}
        renewed = {}
        for unit in run.database.units(self.judge_digest) if changed else ():
            (row,), kept = unit.rows, run.database.conversation(unit.target)
            item, candidate = row["conversation_id"], row["candidate"]
            if kept is not None and item in changed and candidate not in shown:
                renewed[unit.key] = replace(kept, profile=profiles[item])
        run.database.renew(self.judge_digest, renewed)
        run.database.put_meta(place, {**before, **digests})

    @property
    def _names(self) -> list[str]:
        return [candidate.name for candidate in self.candidates]

    def stays(self, unit: StoredUnit) -> bool:
        """Keep what others said."""
        return unit.rows[0]["candidate"] not in self._names

    def plan(self) -> Iterator[WorkUnit]:
        """Yield a unit for each item, candidate by candidate and block by block."""
        places = {item.id: place for place, item in enumerate(self.stage.items)}
        for candidate in self.candidates:
            first = 0 if candidate.name == ORIGINAL else (1 + self._places[candidate.name]) * len(places)
            seed = 0 if candidate.agent is None else self.seed
            for name, scene in self.stage.scenes.items():
                prompter = None if candidate.agent is None else Prompter(scene, candidate.context)
                for item in self.stage.by_block[name]:
                    original = self.stage.originals[item.id]
                    prompted = None if prompter is None else prompter.prompt(original)
                    # Of a profile that the request does not hold, what is kept takes the one of today.
                    state = replace(original_answer(original), messages=original.before, profile=None)
                    shown = (state,) if prompted is None else (state, prompted.conversation)
                    yield AnswerUnit(
                        ANSWER,
                        None,
                        digest([conversation_digest(c) for c in shown]),
                        self.judge_digest,
                        seed=seed,
                        part=digest([item.id, candidate.name, candidate.about["digest"]]),
                        judge=candidate.name,
                        position=first + places[item.id],
                        item=item,
                        candidate=candidate,
                        prompted=prompted,
                    )

    async def run(self, unit: WorkUnit) -> tuple[Produced]:
        """Ask the candidate, or look up what it says."""
        one = cast("AnswerUnit", unit)
        item, candidate = cast("ReplayItem", one.item), cast("AnsweringCandidate", one.candidate)
        original = self.stage.originals[item.id]
        if candidate.name == ORIGINAL:
            return (self._produced(item, original, original_answer(original)),)
        if candidate.agent is None or one.prompted is None:
            turn, memory = candidate.written[item.id], None
        else:
            self.asked += 1
            turn = await candidate.agent.reply(one.prompted.conversation.blinded(), seed=unit.seed)
            memory = [list(shown) for shown in one.prompted.memory] or None
        before, o = original.before, turn.outcome
        text = self.hides.text(item.conversation, o.text if isinstance(o, AgentReply) else "")
        messages = (*before, Message("assistant", text))
        answer = replace(original_answer(original), candidate=candidate.name, messages=messages)
        produced = self._produced(item, original, answer)
        if isinstance(o, AgentFailure):
            why = JudgeFailure(o.kind, self.hides.text(item.conversation, o.message))
            return (replace(produced, failure=why, usage=turn.usage, details={}),)
        finish = None if o.finish == "stop" else o.finish
        more = {"finish": finish, "model": o.model, "memory": memory}
        details = {**produced.details, **{key: value for key, value in more.items() if value is not None}}
        return (replace(produced, usage=turn.usage, details=details),)

    def _produced(self, item: ReplayItem, original: Reply, conversation: Conversation) -> Produced:
        """Return an answer; what its user gave stands with the original one."""
        if conversation.candidate == ORIGINAL and item.gold is not None:
            dimension = str(self.items.data.get("dimension", SATISFACTION))
            rating = Rating(item.id, dimension, item.gold, original.turn, rater=conversation.user_id)
            conversation = replace(conversation, ratings=(rating,))
        length = {"length": reply_length(conversation.messages[-1].text)}
        return Produced(
            conversation,
            details=length,
            prefix=original.message,
            level="turn",
            turn=original.turn,
        )

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> Answered:
        """Count replies, and failures by their kinds; what was not asked for is pending."""
        del run, ending
        kinds: dict[str, Counter[str]] = {name: Counter() for name in self._names}
        for row in rows:
            if (counts := kinds.get(row["candidate"])) is not None:
                counts[row["failure"]["kind"] if row["failure"] else ""] += 1
        items, tallies = len(self.stage.items), {}
        for name, counts in kinds.items():
            counts["pending"] = items - counts.total()
            replied = counts.pop("", 0)
            tallies[name] = Tally(items, replied, dict((+counts).most_common()))
        return Answered(tallies)

    def facts(self) -> StudyFacts:
        """Return who was asked."""
        return StudyFacts(
            judge={"name": ", ".join(self._names), "digest": ANSWERS},
            dimensions=(),
            data=self.items.digest,
            conversations=len({item.conversation for item in self.stage.items}),
            more={"part": "replies"},
        )
