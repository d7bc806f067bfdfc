"""The judge that runs a rubric on one reply of a known user: a rubric file, and a context from people.

What stands behind the placeholders `memory`, `rated_examples` and `induced_criteria` comes from a
`ContextSource`; a rubric that names none of them is a generic judge, and no word of the user's profile or
history reaches it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol

from dialogauge.core import Judged, JudgeFailure, Judgement, Usage, UsageError
from dialogauge.core.judgement import NO_USAGE
from dialogauge.core.protocols import BlockView, Notes, Population, Reads, Reply, Request
from dialogauge.judges.personal.baselines import NO_USER
from dialogauge.judges.rubric.judge import JudgeByRubric
from dialogauge.judges.rubric.prompt import (
    Call,
    ConversationCalls,
    as_json,
    gathered,
    recent_turns,
)
from dialogauge.judges.rubric.rows import turn_row
from dialogauge.llm.protocol import ChatClient
from dialogauge.rubrics import Rubric, Scope, phrase


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a prompt says of people beside the dialogue."""

    values: Mapping[str, str] = field(default_factory=dict)
    """By placeholder."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the row says of it."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    """By role: what it took to make, booked on the target for which it was made."""
    failure: JudgeFailure | None = None
    """Why there is no context: the target is then not judged."""


class ContextSource(Protocol):
    """Makes the context of a target."""

    @property
    def reads(self) -> frozenset[Reads]:
        """What it stands on."""

    def describe(self) -> Mapping[str, Any]:
        """Return its settings as plain JSON values: part of the judge's digest."""

    async def context_for(
        self, reply: Reply, view: BlockView, others: Population, notes: Notes, language: str
    ) -> PromptContext:
        """Make the context of one target, in the language of the prompt."""


@dataclass(frozen=True)
class PersonalRubricJudge(JudgeByRubric):
    """Judges replies of a known user by a turn rubric; implements `core.protocols.Judge`."""

    together: ClassVar = False

    kind: str
    """The judge's name on the command line."""
    rubric: Rubric
    client: ChatClient
    _: KW_ONLY
    context: ContextSource | None = None
    """None where the dialogue is all that the rubric shows."""
    language: Literal["auto"] | str = "auto"
    """`auto`: Chinese where the first target of a block is Chinese, English otherwise."""
    tool_chars: int = 2000
    _languages: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        if self.rubric.level != "turn":
            msg = f"the rubric {self.rubric.id!r} is of the level {self.rubric.level}"
            raise UsageError(msg, hint="satisfaction is judged turn by turn")
        self._refuse_language()

    @property
    def name(self) -> str:
        """`judge/model`."""
        return f"{self.kind}/{self.client.name}"

    @property
    def reads(self) -> frozenset[Reads]:
        """What the rubric and its context stand on."""
        return super().reads if self.context is None else super().reads | self.context.reads

    def describe(self) -> Mapping[str, Any]:
        """Return rubric, prompt digests, model, context and settings as plain JSON values."""
        return {
            **self._identity(self.kind),
            "context": {} if self.context is None else dict(self.context.describe()),
            "reads": sorted(self.reads),
            "settings": {"language": self.language, "tool_chars": self.tool_chars},
        }

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge the targets, each by a call of its own; all fail where the request names no user.

        Raises `EndpointError` or `BudgetSpent` from the client. What else goes wrong is a failure of its
        target alone.
        """
        block = request.block
        if block is None:
            return request.failed(NO_USER)
        return tuple(await gathered([self._judge(reply, block, request) for reply in request.targets]))

    async def _judge(self, reply: Reply, block: BlockView, request: Request) -> Judged:
        # The language of the prompts: one for a block, so that a block has one memory.
        if block.id not in self._languages:
            self._languages[block.id] = self._prompt_language(block.targets[0].conversation)
        language = self._languages[block.id]
        context = PromptContext()
        if self.context is not None:
            context = await self.context.context_for(reply, block, request.others, request.notes, language)
        if context.failure is not None:
            row = Judged(reply.target, context.failure, prompt_digest=self.rubric.prompt_digest(language))
            return _with_context(row, context, reply)
        known = dict(context.values)
        if "profile" in self.rubric.shows:
            profile = as_json(dict(block.profile)) if block.profile else phrase(language, "none")
            known.setdefault("profile", profile)
        calls = ConversationCalls(
            self._fixed, self.client, reply.conversation, language, "foresight", self.tool_chars, known=known
        )
        shown = tuple(t for t in reply.conversation.turns if t.number <= reply.turn)
        result = await calls.make(Call(Scope((reply.turn,), ("turn",)), shown))
        left_out = len(shown) - len(recent_turns(shown, self.rubric.recent))
        return _with_context(turn_row(calls, result, shown[-1]), context, reply, left_out)


def _with_context(row: Judged, context: PromptContext, reply: Reply, left_out: int = 0) -> Judged:
    """Book on the row what the context took, and say in its details what the judge was shown.

    `left_out` earlier turns of the conversation were not shown.
    """
    usage, by_role = row.usage, dict(row.role_usage)
    for role, spent in context.usage.items():
        usage += spent
        by_role[role] = by_role.get(role, NO_USAGE) + spent
    outcome = row.outcome
    if isinstance(outcome, Judgement):
        cut = {"earlier_turns_left_out": left_out} if left_out else {}
        details = {"turn_id": reply.id, **outcome.details, **cut, **context.details}
        outcome = replace(outcome, details=details)
    return replace(row, outcome=outcome, usage=usage, role_usage=by_role)
