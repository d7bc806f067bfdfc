"""The judge of pairs: two dialogues and a rubric of the level `pair` in, which of them was better out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from dialogauge.core import Conversation, JudgeFailure, Usage, UsageError
from dialogauge.judges.rubric.judge import JudgeByRubric
from dialogauge.judges.rubric.prompt import ROLE, as_json, dialogue_text, messages_of, reasker
from dialogauge.judges.rubric.reply import ParsedPart, parse_reply
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatRequest
from dialogauge.llm.structured import ask
from dialogauge.rubrics import Rubric, Scope, phrase

Choice = Literal["a", "b", "tie"]
_SHOWN: Final = frozenset({"scenario", "dialogue_a", "dialogue_b"})
_SCOPE: Final = Scope((1,), ("pair",))


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """What the model said of two dialogues in one order."""

    winner: Choice | JudgeFailure
    """`a`: the one that stood first."""
    reason: str | None
    usage: Usage


@dataclass(frozen=True)
class PairJudge(JudgeByRubric):
    """Compares two dialogues by a rubric. It sees tool results, and no reference reply.

    Raises:
        UsageError: The rubric is of another level, or has no template in the language.
    """

    rubric: Rubric
    client: ChatClient
    language: str = "auto"
    """`auto`: Chinese for Chinese conversations, English otherwise."""
    tool_chars: int = 2000
    """Tool results longer than this are cut in the middle."""

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        if self.rubric.level != "pair":
            message = f"the rubric {self.rubric.id!r} judges a {self.rubric.level}, and not a pair"
            raise UsageError(message, hint="--rubric pair, or a file of that level")
        label = next((x for x in self.rubric.labels if x.name == "winner"), None)
        if label is None or {o.name for o in label.options} != {"a", "b", "tie"}:
            message = f"the rubric {self.rubric.id!r} does not ask who won"
            raise UsageError(message, hint="it needs the label winner, with the options a, b and tie")
        if other := set(self.rubric.shows) - _SHOWN:
            message = f"the rubric {self.rubric.id!r} shows {min(other)}, which two dialogues do not have"
            raise UsageError(message, hint=f"there are {', '.join(sorted(_SHOWN))}")
        self._refuse_language()

    @property
    def name(self) -> str:
        """`rubric/model`."""
        return f"{self.rubric.id}/{self.client.name}"

    def describe(self) -> Mapping[str, Any]:
        """Return rubric, prompt digests, model and settings as plain JSON values."""
        settings = {"language": self.language, "tool_chars": self.tool_chars}
        return {**self._identity("pair"), "settings": settings}

    def request(self, first: Conversation, second: Conversation) -> ChatRequest:
        """Return what is asked of two dialogues in this order."""
        language = self._prompt_language(first)
        parts = self._fixed.parts(_SCOPE, language)
        shown = [dialogue_text(c.turns, tool_chars=self.tool_chars).text for c in (first, second)]
        task = _task(first) if _task(first) == _task(second) else {}
        scenario = as_json(task) if task else phrase(language, "none")
        values = {**parts.values, "scenario": scenario, "dialogue_a": shown[0], "dialogue_b": shown[1]}
        messages = messages_of(self.rubric.templates[language], values, parts.instructions)
        return ChatRequest(messages, role=ROLE, schema=parts.schema)

    async def compare(self, first: Conversation, second: Conversation) -> PairVerdict:
        """Ask which of two dialogues is better, in this order.

        Raises `EndpointError` or `BudgetSpent` from the client.
        """

        def validate(data: dict[str, Any]) -> ParsedPart:
            return parse_reply(self.rubric, _SCOPE, data).turns[1]

        reask = reasker(self._prompt_language(first))
        outcome = await ask(self.client, self.request(first, second), validate, reask=reask)
        if isinstance(outcome, ChatFailure):
            failure = JudgeFailure(outcome.kind, outcome.message, outcome.raw)
            return PairVerdict(failure, None, outcome.usage)
        part = outcome.value
        return PairVerdict(cast("Choice", part.labels["winner"]), part.notes.get(""), outcome.usage)


def _task(conversation: Conversation) -> dict[str, str]:
    c = conversation
    fields = {"kind": c.scenario, "description": c.context, "instructions": c.instructions}
    return {key: value for key, value in fields.items() if value}
