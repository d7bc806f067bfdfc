"""The first study of a replay run: what one candidate says to the items, a unit for each item.

The other studies of the same run file score these replies (`scoring`). No conversation is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from dialogauge.core import (
    InputError,
    Usage,
    WorkUnit,
    conversation_digest,
)
from dialogauge.core.judgement import usage_json
from dialogauge.core.protocols import (
    Agent,
    AgentFailure,
    AgentTurn,
)
from dialogauge.data import Mask
from dialogauge.runs import (
    Ending,
    Row,
    RunDatabase,
    StoredRun,
    Study,
    StudyFacts,
)
from dialogauge.runs.privacy import hidden_turn
from dialogauge.studies.replay.contexts import Context, Prompted, Prompter
from dialogauge.studies.replay.items import ItemSet, ReplayItem, Stage
from dialogauge.studies.replay.stored import REPLAY, ReplayRun, StoredReplies, replies_digest

_NOTHING: Final = Usage()


@dataclass(frozen=True, slots=True)
class ReplyMask:
    """Hides what candidates' replies hold; without a mask it changes nothing."""

    mask: Mask | None = None
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By conversation as it is shown: its own ids, and what is shown in their place."""

    def text(self, item: ReplayItem, text: str) -> str:
        """Return a reply to an item as it may be stored."""
        return text if self.mask is None else str(self.mask.value(text, self.names.get(item.conversation)))

    def fault(self, fault: InputError) -> InputError:
        """Return a fault without excerpts of replies."""
        return fault if self.mask is None else self.mask.fault(fault)

    def turn(self, name: str) -> str:
        """Return the id of a turn of the open data as it may be shown."""
        return name if self.mask is None else hidden_turn(self.mask, name)

    def agent_turn(self, item: ReplayItem, turn: AgentTurn) -> AgentTurn:
        """Return an agent's turn as it may be stored; of a failure what came is left out."""
        o = turn.outcome
        if self.mask is None and not (isinstance(o, AgentFailure) and o.raw):
            return turn
        if isinstance(o, AgentFailure):
            return replace(turn, outcome=AgentFailure(o.kind, self.text(item, o.message)))
        return replace(turn, outcome=replace(o, text=self.text(item, o.text)))


@dataclass(frozen=True, slots=True)
class ReplyUnit(WorkUnit):
    """One item for one candidate."""

    prompted: Prompted | None = field(default=None, compare=False)
    """What the candidate is sent; None where its replies come from a file."""


@dataclass(frozen=True, slots=True)
class ItemReply:
    """What a candidate said to one item; a record of a study."""

    turn: AgentTurn
    memory: tuple[tuple[str, float | None], ...] = ()
    """Past turns that it was shown, each with its cosine."""

    @property
    def failed(self) -> bool:
        """Whether there is no reply."""
        return self.turn.failed

    @property
    def usage(self) -> Usage:
        """What it took."""
        return self.turn.usage

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write the turn with its item; what says nothing is left out, since such rows are many."""
        o = self.turn.outcome
        row: dict[str, Any] = {"item": unit.part}
        if isinstance(o, AgentFailure):
            row["failure"] = {"kind": o.kind, "message": o.message, "raw": o.raw}
        else:
            row |= {"text": o.text, "finish": None if o.finish == "stop" else o.finish, "model": o.model}
        row |= {"usage": stored_usage(self.usage), "memory": [list(one) for one in self.memory] or None}
        return {key: value for key, value in row.items() if value is not None}


def stored_usage(usage: Usage) -> dict[str, Any] | None:
    """Write what a reply or a score took; None where that is nothing."""
    return None if usage == _NOTHING else usage_json(usage)


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of one candidate's replies."""

    requested: int
    replied: int
    failures: Mapping[str, int]
    """By kind."""

    @property
    def failed(self) -> int:
        """Items without a reply."""
        return sum(self.failures.values())

    def to_json(self) -> dict[str, Any]:
        """Write the counts."""
        return {"requested": self.requested, "replied": self.replied, "failures": dict(self.failures)}


def tally_of(stored: StoredReplies, items: Sequence[ReplayItem]) -> Tally:
    """Count a candidate's replies to some items."""
    kinds = Counter(stored.failures.get(i.id, "pending") for i in items if stored.reply(i.id) is None)
    return Tally(len(items), len(items) - kinds.total(), dict(kinds.most_common()))


@dataclass
class RepliesStudy(Study[Tally]):
    """Collects what one candidate says to the items; see `runs.Study` for the parts.

    A unit is an item and what the candidate is sent for it: where that would be another request today, the
    item is asked about anew.
    """

    candidate: str
    about: Mapping[str, Any]
    """What the candidate is; `digest` is of all that its replies are made by."""
    items: ItemSet
    stage: Stage
    hides: ReplyMask
    context: Context = "prefix"
    seed: int = 0
    agent: Agent | None = None
    """None where the replies come from a file."""
    written: Mapping[str, AgentTurn] = field(default_factory=dict)
    """By item: what the file says."""

    name = REPLAY
    part_of_run = True

    def __post_init__(self) -> None:
        """Find items by their ids."""
        self._by_id = {item.id: item for item in self.stage.items}
        self._digest = replies_digest(self.candidate, self.about["digest"])

    @property
    def judge_digest(self) -> str:
        """The candidate's."""
        return self._digest

    @property
    def expected(self) -> int:
        """Items that are in the data."""
        return len(self.stage.items)

    def opened(self, database: RunDatabase) -> None:
        """Make the run one of the item set, and enter the candidate; one that is there keeps its place."""
        run = ReplayRun(database)
        run.claim(self.items)
        run.keep_states(self.stage)
        database.put_meta("candidates", {**run.candidates, self.candidate: dict(self.about)})

    def plan(self) -> Iterator[WorkUnit]:
        """Yield a unit for each item, block by block."""
        places = {item.id: place for place, item in enumerate(self.stage.items)}
        for name, scene in self.stage.scenes.items():
            prompter = None if self.agent is None else Prompter(scene, self.context)
            for item in self.stage.by_block[name]:
                original = self.stage.originals[item.id]
                prompted = None if prompter is None else prompter.prompt(original)
                yield ReplyUnit(
                    REPLAY,
                    None,
                    item.state if prompted is None else conversation_digest(prompted.conversation),
                    self.judge_digest,
                    seed=0 if self.agent is None else self.seed,
                    part=item.id,
                    judge=self.candidate,
                    position=places[item.id],
                    prompted=prompted,
                )

    async def run(self, unit: WorkUnit) -> tuple[ItemReply]:
        """Ask the candidate, or look up what its file says."""
        prompted = cast("ReplyUnit", unit).prompted
        item = self._by_id[str(unit.part)]
        if self.agent is None or prompted is None:
            return (ItemReply(self.hides.agent_turn(item, self.written[item.id])),)
        turn = await self.agent.reply(prompted.conversation.blinded(), seed=unit.seed)
        return (ItemReply(self.hides.agent_turn(item, turn), () if turn.failed else prompted.memory),)

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> Tally:
        """Count replies, and failures by their kinds; what was not asked for is pending."""
        del rows
        items = len(self.stage.items)
        if not ending.pending and not any(run.database.finished(self.judge_digest).values()):
            return Tally(items, items, {})  # nothing failed: what candidates say need not be read
        return tally_of(ReplayRun(run.database).replies(self.candidate), self.stage.items)

    def facts(self) -> StudyFacts:
        """Return what the candidate is."""
        return StudyFacts(
            judge={**self.about, "name": self.candidate, "digest": self.judge_digest},
            dimensions=(),
            data=self.items.digest,
            conversations=len({item.conversation for item in self.stage.items}),
            more={"part": "replies"},
        )
