"""The seams where rooms meet without knowing each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from dialogauge.core.conversation import Conversation, Message, Turn
from dialogauge.core.judgement import Judged, Level, Target
from dialogauge.core.scores import ONE_TO_FIVE, Scale

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
        before = self.conversation.messages[: self.message]
        return next((m.text for m in reversed(before) if m.role == "user"), "")

    @property
    def context(self) -> str:
        """The task that the conversation is about, as the data states it."""
        return self.conversation.context or ""

    @property
    def before(self) -> tuple[Message, ...]:
        """All messages before the reply."""
        return self.conversation.messages[: self.message]

    @property
    def whole_turn(self) -> Turn:
        """The turn that the reply belongs to."""
        return self.conversation.turn(self.turn)

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


@dataclass(frozen=True, slots=True)
class BlockView:
    """One user and one scenario, as a judge may see them."""

    id: str
    """`{user}__{scenario}`."""
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


@dataclass(frozen=True, slots=True)
class Population:
    """The blocks of the training users: what is known of users other than the one at hand."""

    blocks: tuple[RatedBlock, ...]

    @property
    def scores(self) -> tuple[float, ...]:
        """The scores of all targets."""
        return tuple(rated.score for block in self.blocks for rated in block.ratings)

    def scores_in(self, scenario: str) -> tuple[float, ...]:
        """The scores of the targets in one scenario."""
        held = [block for block in self.blocks if block.view.scenario == scenario]
        return Population(tuple(held)).scores

    def without(self, user: str) -> Population:
        """Leave one user out: a user is never part of their own prior."""
        return Population(tuple(block for block in self.blocks if block.view.user != user))


class PersonalJudge(Protocol):
    """Judges one block: every target in it, knowing its user's history."""

    @property
    def name(self) -> str:
        """What rows and tables call this judge."""

    @property
    def digest(self) -> str:
        """Changes with anything that can change a judgement, the population left out."""

    @property
    def reads(self) -> frozenset[Reads]:
        """What beside the conversation a judgement stands on."""

    def describe(self) -> Mapping[str, Any]:
        """Return the settings for the manifest, as plain JSON values."""

    async def judge_block(self, view: BlockView, population: Population) -> tuple[Judged, ...]:
        """Judge the targets; one `Judged` for each, in their order.

        Args:
            view: The user's history and the targets.
            population: The training users, the user of the block never among them.
        """


class Kept(Protocol):
    """What a run keeps beside its rows, so that a resumed run finds it: memories, induced rubrics."""

    def get(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return what was kept under a key; None where nothing was."""

    def put(self, key: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """Keep a JSON value under a key, durably."""


class TurnJudge(Protocol):
    """Judges one target at a time by asking a model; many are asked about side by side, and resumed."""

    @property
    def name(self) -> str:
        """What rows and tables call this judge."""

    @property
    def digest(self) -> str:
        """Changes with prompts, model, parameters and settings."""

    @property
    def reads(self) -> frozenset[Reads]:
        """What beside the conversation a judgement stands on."""

    @property
    def boundary_only(self) -> bool:
        """Whether it says no more than on which side of the boundary a turn lies."""

    def describe(self) -> Mapping[str, Any]:
        """Return the settings for the manifest, as plain JSON values, without secrets."""

    async def judge_turn(self, view: BlockView, reply: Reply, population: Population, kept: Kept) -> Judged:
        """Judge one of the targets.

        Args:
            view: The user's history and the targets.
            reply: The target.
            population: The training users, the user of the block never among them.
            kept: What an earlier turn, or an earlier run, has made already. What is made once for several
                turns is made under a lock of the judge's own: the turns of a block are asked about together.

        Raises `EndpointError` or `BudgetSpent` from the client. What else goes wrong is a failure of this
        turn alone.
        """


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


@dataclass(frozen=True, slots=True)
class PlainDimension:
    """A dimension that is no more than what `DimensionSpec` asks for."""

    name: str
    level: Level
    scale: Scale = ONE_TO_FIVE


class Judge(Protocol):
    """Judges one conversation: every target in it, in one go."""

    @property
    def name(self) -> str:
        """What rows and pages call this judge."""

    @property
    def digest(self) -> str:
        """Changes with anything that can change a judgement: prompts, model, settings, coefficients."""

    @property
    def dimensions(self) -> tuple[DimensionSpec, ...]:
        """The dimensions it scores."""

    def describe(self) -> Mapping[str, Any]:
        """Return the settings for the manifest, as plain JSON values, without secrets."""

    async def judge(self, conversation: Conversation, *, repeat: int, seed: int) -> tuple[Judged, ...]:
        """Judge every target of the conversation.

        Returns one `Judged` per target: each replied turn in order, then the conversation. A target
        that cannot be judged has a `JudgeFailure`. Raises `EndpointError` or `BudgetSpent` only when
        going on makes no sense for any conversation.
        """
