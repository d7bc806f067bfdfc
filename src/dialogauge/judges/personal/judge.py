"""The judge that runs a rubric on one reply of a known user: a rubric file, and what it is told of people.

What stands behind the placeholders `profile`, `memory` and `rated_examples` comes from a `Knowledge`; a
rubric that names none of them is a generic judge, and no word of the user's profile or history reaches it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

from dialogauge.core import Judged, JudgeFailure, Judgement, Usage, UsageError
from dialogauge.core.judgement import NO_USAGE
from dialogauge.core.protocols import BlockView, Kept, Population, Reads, Reply
from dialogauge.judges.personal.baselines import DIMENSION
from dialogauge.judges.rubric.judge import chosen_language, identity, identity_digest, refuse_language
from dialogauge.judges.rubric.prompt import Answer, Asking, Call, FixedPrompts, as_json, recent_turns
from dialogauge.judges.rubric.rows import turn_row
from dialogauge.llm.protocol import ChatClient
from dialogauge.rubrics import Rubric, Scope, phrase


@dataclass(frozen=True, slots=True)
class Told:
    """What a judge is told of people before it judges a turn."""

    values: Mapping[str, str] = field(default_factory=dict)
    """By placeholder."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the row says of it."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    """By role: what it took to find out, booked on the turn for which it was done."""


class Knowledge(Protocol):
    """Finds out what a rubric is told of people."""

    @property
    def reads(self) -> frozenset[Reads]:
        """What it stands on."""

    def describe(self) -> Mapping[str, Any]:
        """Return its settings as plain JSON values: part of the judge's digest."""

    async def tell(
        self, view: BlockView, reply: Reply, population: Population, kept: Kept, language: str
    ) -> tuple[Told, JudgeFailure | None]:
        """Find it out for one turn; with a failure beside it the turn is not judged."""


@dataclass(frozen=True, slots=True)
class NoKnowledge:
    """Knows nothing of anybody."""

    reads: frozenset[Reads] = frozenset()

    def describe(self) -> Mapping[str, Any]:
        """Return nothing."""
        return {}

    async def tell(
        self, view: BlockView, reply: Reply, population: Population, kept: Kept, language: str
    ) -> tuple[Told, JudgeFailure | None]:
        """Tell nothing."""
        del view, reply, population, kept, language
        return Told(), None


@dataclass(frozen=True)
class RubricTurnJudge:
    """Judges one reply at a time by a turn rubric; implements `judge.personal.TurnJudge`."""

    kind: str
    """The judge's name on the command line."""
    rubric: Rubric
    client: ChatClient
    _: KW_ONLY
    knowledge: Knowledge = field(default_factory=NoKnowledge)
    language: Literal["auto"] | str = "auto"
    """`auto`: Chinese where the first target of a block is Chinese, English otherwise."""
    tool_chars: int = 2000

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        if self.rubric.level != "turn":
            msg = f"the rubric {self.rubric.id!r} is of the level {self.rubric.level}"
            raise UsageError(msg, hint="satisfaction is judged turn by turn")
        refuse_language(self.rubric, self.language)

    @property
    def name(self) -> str:
        """`judge/model`."""
        return f"{self.kind}/{self.client.name}"

    @cached_property
    def digest(self) -> str:
        """Changes with prompts, model, parameters and settings."""
        return identity_digest(self.describe(), self.client)

    @cached_property
    def _fixed(self) -> FixedPrompts:
        return FixedPrompts(self.rubric)

    @property
    def reads(self) -> frozenset[Reads]:
        """What the rubric and the knowledge stand on."""
        profile: frozenset[Reads] = frozenset({"profile"} if "profile" in self.rubric.shows else ())
        return profile | self.knowledge.reads

    @property
    def boundary_only(self) -> bool:
        """Whether its scale has two scores: on which side of the boundary a turn lies, and no more."""
        return any(d.name == DIMENSION and d.scale.high - d.scale.low == 1 for d in self.rubric.dimensions)

    def describe(self) -> Mapping[str, Any]:
        """Return rubric, prompt digests, model, knowledge and settings as plain JSON values."""
        return {
            **identity(self.kind, self.rubric, self.client, self.language),
            "knowledge": dict(self.knowledge.describe()),
            "settings": {"language": self.language, "tool_chars": self.tool_chars},
        }

    async def judge_turn(self, view: BlockView, reply: Reply, population: Population, kept: Kept) -> Judged:
        """Judge one target; see `TurnJudge`."""
        language = self._language(view)
        told, failure = await self.knowledge.tell(view, reply, population, kept, language)
        if failure is not None:
            return _booked(
                Judged(reply.target, failure, prompt_digest=self.rubric.prompt_digest(language)), told
            )
        asking = self._asking(view, reply, told, language)
        shown = tuple(t for t in reply.conversation.turns if t.number <= reply.turn)
        answer = await asking.ask(Call(Scope((reply.turn,), ("turn",)), shown))
        return _booked(self._row(asking, answer, reply, len(shown)), told)

    def _language(self, view: BlockView) -> str:
        """Return the language of the prompts: one for a block, so that a block has one memory."""
        if view.id not in self._languages:
            first = view.targets[0].conversation
            self._languages[view.id] = chosen_language(self.rubric, self.language, first)
        return self._languages[view.id]

    @cached_property
    def _languages(self) -> dict[str, str]:
        return {}

    def _asking(self, view: BlockView, reply: Reply, told: Told, language: str) -> Asking:
        known = dict(told.values)
        if "profile" in self.rubric.shows:
            profile = as_json(dict(view.profile)) if view.profile else phrase(language, "none")
            known.setdefault("profile", profile)
        mode: Literal["foresight"] = "foresight"
        return Asking(
            self._fixed, self.client, reply.conversation, language, mode, self.tool_chars, known=known
        )

    def _row(self, asking: Asking, answer: Answer, reply: Reply, turns: int) -> Judged:
        row = turn_row(asking, answer, reply.whole_turn)
        if not isinstance(row.outcome, Judgement):
            return row
        details: dict[str, Any] = {"turn_id": reply.id, **row.outcome.details}
        left_out = turns - len(recent_turns(answer.call.shown, self.rubric.recent))
        if left_out:
            details["earlier_turns_left_out"] = left_out
        return replace(row, outcome=replace(row.outcome, details=details))


def _booked(row: Judged, told: Told) -> Judged:
    """Book what the knowledge took on the row, and put what is to be told of it into the details."""
    usage, by_role = row.usage, dict(row.role_usage)
    for role, spent in told.usage.items():
        usage += spent
        by_role[role] = by_role.get(role, NO_USAGE) + spent
    outcome = row.outcome
    if isinstance(outcome, Judgement) and told.details:
        outcome = replace(outcome, details={**outcome.details, **told.details})
    return replace(row, outcome=outcome, usage=usage, role_usage=by_role)
