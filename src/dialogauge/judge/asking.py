"""One call of a judge model: the prompt from rubric and dialogue, the reply read against the rubric."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from dialogauge.core.conversation import Conversation, Turn
from dialogauge.core.judgement import Usage
from dialogauge.judge.dialogue_text import ShownText, as_json, dialogue_text, tool_results_text
from dialogauge.judge.fixed import FixedParts, FixedPrompts
from dialogauge.judge.parse import parse_reply
from dialogauge.judge.parsed import ParsedReply
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatRequest
from dialogauge.llm.structured import Structured, ask
from dialogauge.prompts import Recent, Rubric, Scope, Template, own_template, phrase, render

__all__ = [
    "Answer",
    "Asking",
    "Call",
    "Mode",
    "following_turn",
    "gathered",
    "messages_of",
    "reasker",
    "recent_turns",
]

T = TypeVar("T")
Mode = Literal["hindsight", "foresight"]
ROLE = "judge"
_RESULT_SHARE = 4
"""The tool results of the judged turn may be this much longer than those in the dialogue."""


@dataclass(frozen=True, slots=True)
class Call:
    """What one call judges, and the turns that it may see."""

    scope: Scope
    shown: tuple[Turn, ...]
    beyond: Turn | None = None
    """The turn after the shown ones, of which hindsight sees the user's words."""
    summary: str | None = None
    """Notes on what came before the shown turns."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one call."""

    call: Call
    outcome: Structured[ParsedReply] | ChatFailure
    tool_results_cut: int = 0

    @property
    def usage(self) -> Usage:
        """What the call took, failed attempts included."""
        return self.outcome.usage


@dataclass(frozen=True)
class Asking:
    """All that the calls about one conversation have in common."""

    fixed: FixedPrompts
    client: ChatClient
    conversation: Conversation
    language: str
    mode: Mode
    tool_chars: int
    source: str | None = None
    salt: int = 0
    known: Mapping[str, str] = field(default_factory=dict)
    """Values of placeholders that the caller fills; they come before those made here."""

    @property
    def rubric(self) -> Rubric:
        """The rubric that is judged by."""
        return self.fixed.rubric

    async def ask(self, call: Call) -> Answer:
        """Make one call; what goes wrong with it is in the answer."""
        request, cut = self.request(call)

        def validate(data: dict[str, Any]) -> ParsedReply:
            return parse_reply(self.rubric, call.scope, data)

        outcome = await ask(self.client, request, validate, reask=reasker(self.language))
        return Answer(call, outcome, cut)

    def request(self, call: Call) -> tuple[ChatRequest, int]:
        """Return the request of one call, and how many tool results in it were cut."""
        parts = self.fixed.parts(call.scope, self.language)
        values, cut = self._values(call, parts)
        template = self.rubric.templates[self.language]
        messages = messages_of(template, values, parts.instructions)
        return ChatRequest(messages, role=ROLE, schema=parts.schema, salt=self.salt), cut

    def _values(self, call: Call, parts: FixedParts) -> tuple[dict[str, str], int]:
        shows = self.rubric.shows
        values = {
            **parts.values,
            "scenario": self._scenario(),
            "profile": self._or_none(dict(self.conversation.profile or {})),
            "source": self._or_none(self.source),
            "criteria": self._criteria(),
            "earlier_summary": as_json(call.summary) if call.summary else self._phrase("begins"),
        }
        cut = 0
        if "dialogue" in shows:
            turns = recent_turns(call.shown, self.rubric.recent)
            shown = dialogue_text(turns, tool_chars=self.tool_chars, beyond=call.beyond)
            values["dialogue"], cut = shown.text, shown.cut
        if self.rubric.level == "turn":
            turn = call.shown[-1]
            results = tool_results_text(turn, tool_chars=self.tool_chars * _RESULT_SHARE)
            values |= self._turn_values(turn, results)
            cut += results.cut if "tool_results" in shows else 0
        return {**values, **self.known}, cut

    def _turn_values(self, turn: Turn, results: ShownText) -> dict[str, str]:
        return {
            "last_request": as_json(turn.user_text),
            "reply": as_json(turn.reply_text),
            "tool_results": results.text,
            "next_message": self._next_message(turn),
        }

    def _next_message(self, turn: Turn) -> str:
        if self.mode == "foresight":
            return self._phrase("not_shown")
        following = following_turn(self.conversation, turn)
        return as_json(following.user_text) if following else self._phrase("ends")

    def _scenario(self) -> str:
        c = self.conversation
        known = {"kind": c.scenario, "description": c.context, "instructions": c.instructions}
        return self._or_none({key: value for key, value in known.items() if value})

    def _criteria(self) -> str:
        told = f"{self.conversation.scenario or ''}\n{self.conversation.context or ''}"
        fit = (c for c in self.rubric.criteria if re.search(c.scenario, told, re.IGNORECASE))
        found = next(fit, None)
        return self._phrase("none") if found is None else found.text[self.language].strip()

    def _or_none(self, value: object) -> str:
        return as_json(value) if value else self._phrase("none")

    def _phrase(self, key: str) -> str:
        return phrase(self.language, key)


def recent_turns(turns: Sequence[Turn], recent: Recent) -> tuple[Turn, ...]:
    """Return the last turns that the rubric shows; the last of all is always among them."""
    kept = list(turns if recent.turns is None else turns[-recent.turns :])
    if recent.chars is not None:
        room = recent.chars
        for index in range(len(kept) - 2, -1, -1):
            room -= sum(len(m.text) for m in kept[index].messages)
            if room < 0:
                return tuple(kept[index + 1 :])
    return tuple(kept)


def following_turn(conversation: Conversation, turn: Turn) -> Turn | None:
    """Return the turn after `turn`, if the conversation has one."""
    return next((t for t in conversation.turns if t.start == turn.stop), None)


def messages_of(
    template: Template, values: Mapping[str, str], instructions: str | None = None
) -> tuple[dict[str, str], ...]:
    """Fill a template: what stands above the data line is the system message, the rest the user's.

    `instructions` is the system message where it has been filled already.
    """
    data = {"role": "user", "content": render(template.data, values)}
    if not template.instructions:
        return (data,)
    above = instructions if instructions is not None else render(template.instructions, values)
    return {"role": "system", "content": above}, data


def reasker(language: str) -> Callable[[str], str]:
    """Return the function that words the message with which a model is asked once more."""
    template = own_template("reask", language)
    return lambda error: render(template, {"error": error})


async def gathered(coroutines: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines together; if one raises, the others are cancelled and waited for."""
    tasks = [asyncio.create_task(c) for c in coroutines]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
