"""Notes on what came before a window: one cached call for each window but the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dialogauge.core.conversation import Turn
from dialogauge.core.judgement import Usage
from dialogauge.judge.asking import ROLE, Asking, messages_of, reasker
from dialogauge.judge.dialogue_text import as_json, dialogue_text
from dialogauge.judge.parsed import ReplyFault
from dialogauge.llm.protocol import ChatFailure, ChatRequest, ReplySchema
from dialogauge.llm.structured import ask
from dialogauge.prompts import own_template, phrase, split_template

__all__ = ["Summaries", "summarise_before"]

_SCHEMA = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Summaries:
    """The notes in front of each window."""

    before: tuple[str | ChatFailure | None, ...]
    """One for each window, in order; None where nothing came before."""
    usage: Usage
    tool_results_cut: int = 0


async def summarise_before(asking: Asking, starts: Sequence[int]) -> Summaries:
    """Write notes on all that precedes each window.

    Each call sees the notes written so far and only the turns since, so that its prompt stays short in
    however long a conversation. Where a call fails, the next one takes on the turns that it left.

    Args:
        asking: The conversation and the client.
        starts: The number of each window's first shown turn, in order.
    """
    turns = asking.conversation.turns
    notes: str | None = None
    covered = turns[0].number if turns else 0
    before: list[str | ChatFailure | None] = []
    usage, cut = Usage(), 0
    for start in starts:
        fresh = [t for t in turns if covered <= t.number < start]
        if not fresh:
            before.append(notes)
            continue
        outcome, used, was_cut = await _summarise(asking, notes, fresh)
        usage, cut = usage + used, cut + was_cut
        before.append(outcome)
        if isinstance(outcome, str):
            notes, covered = outcome, start
    return Summaries(tuple(before), usage, cut)


async def _summarise(
    asking: Asking, notes: str | None, turns: Sequence[Turn]
) -> tuple[str | ChatFailure, Usage, int]:
    language = asking.language
    shown = dialogue_text(turns, tool_chars=asking.tool_chars)
    earlier = as_json(notes) if notes else phrase(language, "begins")
    template = split_template(own_template("summary", language))
    messages = messages_of(template, {"earlier_summary": earlier, "dialogue": shown.text})
    request = ChatRequest(messages, role=ROLE, schema=ReplySchema("summary", _SCHEMA), salt=asking.salt)
    outcome = await ask(asking.client, request, _read, reask=reasker(language))
    result = outcome if isinstance(outcome, ChatFailure) else outcome.value
    return result, outcome.usage, shown.cut


def _read(data: dict[str, Any]) -> str:
    summary = data.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        msg = "summary: expected a text that is not empty"
        raise ReplyFault(msg)
    return summary.strip()
