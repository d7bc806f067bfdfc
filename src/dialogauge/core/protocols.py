"""The seams where rooms meet without knowing each other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

from dialogauge.core.conversation import Conversation, Message
from dialogauge.core.judgement import FailureKind, Judged, JudgeFailure, Level, Target, Usage
from dialogauge.core.scores import ONE_TO_FIVE, Scale
from dialogauge.core.unit import WorkUnit
from dialogauge.core.values import Value

Sight = Literal["foresight", "hindsight"]
"""`foresight` ends a target's conversation with the reply; `hindsight` shows what followed."""


Reads = Literal["profile", "history", "others"]
"""What beside the conversation a judgement stands on: a stored one holds as long as this is the same.

`history` and `others` are ratings: the user's own, and those of the training users.
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """One assistant message in its conversation, without any rating."""

    id: str
    """`{conversation}__turn_{i}` with the 0-based index of the assistant message: the published form."""
    conversation: Conversation
    """Without ratings, metadata, place, and unknown keys of its messages."""
    message: int
    """The index of the reply in `conversation.messages`."""
    turn: int
    """Our turn number, from 1; 0 for a greeting."""
    position: int
    """The 0-based index among the assistant messages."""

    @property
    def text(self) -> str:
        """What the assistant said."""
        return self.conversation.messages[self.message].text

    @property
    def request(self) -> str:
        """The last user message before the reply; empty when there is none."""
        return next((m.text for m in reversed(self.before) if m.role == "user"), "")

    @property
    def context(self) -> str:
        """The task that the conversation is about, as the data states it."""
        return self.conversation.context or ""

    @property
    def before(self) -> tuple[Message, ...]:
        """All messages before the reply."""
        return self.conversation.messages[: self.message]

    @property
    def target(self) -> Target:
        """What a judgement of the reply is about: its turn."""
        return Target(self.conversation.id, "turn", self.turn, self.conversation.candidate)


@dataclass(frozen=True, slots=True)
class RatedReply:
    """A reply with what its user said of it."""

    reply: Reply
    score: float
    """On 1 to 5."""
    reason: str | None = None


def block_id(user: str, scenario: str) -> str:
    """Return `{user}__{scenario}`, the published form; a JSON list where that could name another pair too."""
    plain, parts = f"{user}__{scenario}", (user, "__", scenario)
    one_reading = plain.partition("__") == parts == plain.rpartition("__") and user[:1] != "["
    return plain if one_reading else json.dumps([user, scenario], ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class BlockView:
    """One user and one scenario, as a judge may see them."""

    id: str
    """As `block_id` makes it; no other block has it."""
    user: str
    scenario: str
    profile: Mapping[str, Any] | None
    """Of the user's first conversation that states one."""
    history: tuple[RatedReply, ...]
    """The user's rated replies in the other scenarios, in the order of the data; may be empty."""
    targets: tuple[Reply, ...]
    """What is to be judged, in the order of the data."""
    sight: Sight = "foresight"

    @property
    def scores(self) -> tuple[float, ...]:
        """The scores of the history."""
        return tuple(rated.score for rated in self.history)


@dataclass(frozen=True, slots=True)
class RatedBlock:
    """A block with the ratings of its targets: what judges are fitted on, never what they judge."""

    view: BlockView
    ratings: tuple[RatedReply, ...]
    """One for each target, in their order."""


class Population(Value):
    """The blocks of the training users: what is known of users other than the one at hand."""

    blocks: tuple[RatedBlock, ...]

    @property
    def scores(self) -> tuple[float, ...]:
        """The scores of all targets."""
        return tuple(rated.score for block in self.blocks for rated in block.ratings)

    def scores_in(self, scenario: str) -> tuple[float, ...]:
        """The scores of the targets in one scenario."""
        return tuple(r.score for b in self.blocks if b.view.scenario == scenario for r in b.ratings)

    def without(self, user: str) -> Population:
        """Leave one user out: a user is never part of their own prior."""
        return Population(tuple(block for block in self.blocks if block.view.user != user))


class Notes(Protocol):
    """What a judge keeps between its calls, in the run, so that a resumed run finds it again."""

    def get(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return what stands under a key; None where nothing does."""

    def put(self, key: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """Keep a JSON value under a key, durably."""


class _NoNotes:
    """Keeps nothing."""

    def get(self, key: str) -> None:
        """Return None."""

    def put(self, key: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """Keep nothing."""


NOBODY: Final = Population(())
NO_NOTES: Final[Notes] = _NoNotes()


@dataclass(frozen=True, slots=True)
class Request:
    """What a judge is asked: a conversation, or some replies of a user whom it knows."""

    conversation: Conversation
    """Blinded. Of a request for several replies, the conversation of the first."""
    targets: tuple[Reply, ...] = ()
    """The replies to judge; empty for every replied turn of the conversation and the conversation itself."""
    block: BlockView | None = None
    """For judges that read the user: the user's history, and all targets of the block."""
    others: Population = NOBODY
    """For judges that read other users: the training users, the user of the block never among them."""
    notes: Notes = NO_NOTES
    """What the judge keeps between requests. What it makes once for several targets it makes under a lock
    of its own: requests come side by side."""
    repeat: int = 1
    """1-based."""
    seed: int = 0
    standing: tuple[Judged, ...] = ()
    """Judgements that hold from an earlier try: their targets are not asked for."""

    @property
    def view(self) -> BlockView | None:
        """The block with the targets of this request alone; None where there is no block."""
        return None if self.block is None else replace(self.block, targets=self.targets)

    def failed(self, message: str, kind: FailureKind = "judge_error") -> tuple[Judged, ...]:
        """Return a failure for every target."""
        c = self.conversation
        targets = [reply.target for reply in self.targets]
        if not targets:
            targets = [Target(c.id, "turn", t.number, c.candidate) for t in c.new_turns]
            targets.append(Target(c.id, "conversation", None, c.candidate))
        return tuple(Judged(target, JudgeFailure(kind, message)) for target in targets)


def request_for(
    targets: tuple[Reply, ...],
    block: BlockView,
    others: Population,
    notes: Notes = NO_NOTES,
    *,
    seed: int = 0,
) -> Request:
    """Make the request for some replies of a block; ValueError when there is none."""
    if not targets:
        msg = f"no reply of {block.id} to judge"
        raise ValueError(msg)
    return Request(targets[0].conversation, targets, block, others, notes, seed=seed)


class DimensionSpec(Protocol):
    """What statistics and pages need to know of a dimension."""

    @property
    def name(self) -> str:
        """The key under which its scores stand."""

    @property
    def level(self) -> Level:
        """The level at which it is judged."""

    @property
    def scale(self) -> Scale:
        """The scale of its scores."""


class PlainDimension(Value):
    """A dimension that is no more than what `DimensionSpec` asks for."""

    name: str
    level: Level
    scale: Scale = ONE_TO_FIVE


class Record(Protocol):
    """What a unit brings, for each of its targets: a judged target, a reply of an agent, a fit.

    One that carries a conversation has a property more, `produced`: see `produced_by`.
    """

    @property
    def failed(self) -> bool:
        """Whether it is a failure: it then counts as one, and is done anew where that is asked for."""

    @property
    def usage(self) -> Usage:
        """What it took."""

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write it as the row that the run file keeps: plain JSON values."""


def produced_by(record: Record) -> Conversation | None:
    """Return the conversation that a record carries, which the run is to keep; most carry none."""
    produced: Conversation | None = getattr(record, "produced", None)
    return produced


class Judge(Protocol):
    """Scores: a request in, one judged row for each target out."""

    @property
    def name(self) -> str:
        """What rows and pages call this judge."""

    @property
    def digest(self) -> str:
        """Changes with anything that can change a judgement: prompts, model, settings, coefficients, and
        what it reads; the population left out."""

    @property
    def dimensions(self) -> tuple[DimensionSpec, ...]:
        """The dimensions it scores."""

    @property
    def reads(self) -> frozenset[Reads]:
        """What beside the conversation a judgement stands on."""

    @property
    def together(self) -> bool:
        """Whether one request is to hold all targets of a block; else each target has its own.

        A judge that asks a model is asked for one target at a time: many requests are under way side by
        side, and a run that broke off goes on behind the last of them.
        """

    def describe(self) -> Mapping[str, Any]:
        """Return the settings for the manifest, as plain JSON values, without secrets."""

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge the targets of the request.

        Returns one `Judged` per target: the targets in their order, or each replied turn in order and then
        the conversation; those that stand already may be left out. A target that cannot be judged has a
        `JudgeFailure`, and so have all targets of a request that the judge cannot serve. Raises
        `EndpointError` or `BudgetSpent` only when going on makes no sense for any target.
        """


@dataclass(frozen=True, slots=True)
class AgentReply:
    """What an agent wrote."""

    text: str
    finish: str = "stop"
    """Why it ended there: `stop`, `length` (the limit of tokens), `filter`, or what an endpoint says."""
    model: str | None = None
    """Which model wrote it, where the agent knows."""
    ends: bool = False
    """Whether the agent ends the dialogue here; the text counts, and may be empty."""


@dataclass(frozen=True, slots=True)
class AgentFailure:
    """Why an agent wrote nothing."""

    kind: FailureKind
    message: str
    raw: str | None = None
    """What came, where something came."""


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """One turn of an agent: a reply or a failure, and what it took."""

    outcome: AgentReply | AgentFailure
    usage: Usage = field(default_factory=Usage)

    @property
    def failed(self) -> bool:
        """Whether there is no reply."""
        return isinstance(self.outcome, AgentFailure)


class Agent(Protocol):
    """Writes: a conversation that ends where a reply is due in, the reply or a failure out.

    A candidate is an agent; what else takes part in a dialogue can be one too.
    """

    @property
    def name(self) -> str:
        """What rows and pages call this agent."""

    @property
    def digest(self) -> str:
        """Changes with anything that can change a reply: model, parameters, prompts."""

    def describe(self) -> Mapping[str, Any]:
        """Return the settings for the manifest, as plain JSON values, without secrets."""

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Write the reply that the conversation waits for; another seed may give another reply.

        The conversation is all that the agent is shown, system messages and examples included. Raises
        `EndpointError` or `BudgetSpent` when going on makes no sense for any conversation.
        """


ToolUse = tuple[str, Mapping[str, Any]]
"""The name of a tool, and its arguments."""


class Environment(Protocol):
    """The world that an agent's tools act on, as far as checking a task takes it.

    Whether the agent left its data base as it should be is seen by replaying its calls and those of the task.
    """

    @property
    def digest(self) -> str:
        """Changes with the initial state and with what the tools do."""

    @property
    def final(self) -> frozenset[str]:
        """The tools that end a dialogue, such as a transfer to a person."""

    def after(self, calls: Sequence[ToolUse], domain: str | None) -> Mapping[str, str]:
        """Return by table a digest of what it holds after calls, made in their order on the initial state.

        A call that the tools refuse, or that they do not know, raises nothing.

        Args:
            calls: What was called.
            domain: Of several worlds which one, as the conversation's `scenario` names it.
        """
