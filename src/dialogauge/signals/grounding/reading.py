"""What a reply is read against: everything known before it, and what the tools of its turn returned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dialogauge.signals.caching import cached_on_view
from dialogauge.signals.dialogue import Dialogue, ToolResult, TurnView
from dialogauge.signals.grounding.claims import Clause, read_clauses
from dialogauge.signals.grounding.known import KnownSoFar
from dialogauge.signals.grounding.results import Found, read_result

ACTION: Final = re.compile(
    r"book|reserv|buy|purchas|order(?!s?_?(?:details|status|info|list))|creat|schedul|transfer|pay|cancel|return"
    r"|modify|update|change|add|register|open_ticket|send|submit|delete|move|exchange"
    r"|(?:^|_)(?:open_(?!hour|slot)|issue|renew|activate|subscri|enrol|redirect|assign|push_|apply)"
    r"|预订|预约|订[票座房]|下单|购买|支付|还款|转账|挂号|取消|修改|改[派签期约]|办理|开通|退[票货款]|提交|登记|创建",
    re.IGNORECASE,
)
"""Names of tools that change something."""
LOOKUP: Final = re.compile(
    r"search|find|get|list|query|look|fetch|check|read|retrieve|show|catalog|track|查|搜|找", re.IGNORECASE
)
"""Names of tools that look something up."""
_THINKS: Final = re.compile(r"think|thought|calculat|reason|note|memo", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A call of a tool, and what it returned."""

    tool: ToolResult
    result: Found

    @property
    def acts(self) -> bool:
        """Whether the tool changes something."""
        return bool(ACTION.search(self.tool.name)) and not LOOKUP.match(self.tool.name)

    @property
    def looks_up(self) -> bool:
        """Whether the tool looks something up."""
        return bool(LOOKUP.search(self.tool.name)) and not self.acts

    @property
    def fruitless(self) -> bool:
        """Whether it found nothing; a tool that returns no text at all may just be done."""
        return self.result.empty and (self.looks_up or bool(self.result.text)) and not self.thinks

    @property
    def thinks(self) -> bool:
        """Whether the agent only notes something down."""
        return bool(_THINKS.search(self.tool.name))


@dataclass(frozen=True, slots=True)
class ReplyView:
    """One reply, with what was known when it was given."""

    turn: TurnView
    known: KnownSoFar
    calls: tuple[ToolOutcome, ...]
    """Those of the turn."""
    results: Sequence[Found]
    """All so far, in order."""
    clauses: tuple[Clause, ...]
    instructed: str
    """The instructions and the context."""

    @property
    def reply(self) -> str:
        """The reply without code and without marks of emphasis."""
        return _plain_prose(self.turn)


def _plain_prose(turn: TurnView) -> str:
    return re.sub(r"\*\*|__|`", "", turn.reply.prose)


@cached_on_view
def calls_of(dialogue: Dialogue) -> dict[int, tuple[ToolOutcome, ...]]:
    """Return the calls of each turn by its number."""
    return {
        t.number: tuple(ToolOutcome(tool, read_result(tool.text)) for tool in t.tools) for t in dialogue.turns
    }


def read_replies(dialogue: Dialogue) -> Iterator[ReplyView]:
    """Yield the replies with what was known before each; it must be used before the next one is asked for.

    Known are the instructions, what the user said, calls and results so far, and earlier replies: what was
    made up is found where it is first said.
    """
    known = KnownSoFar()
    known.hear(dialogue.context.text)
    known.hear(dialogue.opening.text)
    results: list[Found] = []
    for turn in dialogue.turns:
        known.hear(turn.user.text)
        calls = calls_of(dialogue)[turn.number]
        for call in calls:
            known.hear(call.tool.arguments)
            known.learn(call.result)
            results.append(call.result)
        if turn.replied and turn.reply.text.strip():
            clauses = tuple(read_clauses(_plain_prose(turn)))
            yield ReplyView(turn, known, calls, results, clauses, dialogue.context.text)
            known.hear(turn.reply.text)


def arguments_of(tool: ToolResult) -> tuple[tuple[str, object], ...]:
    """Return the single arguments of a call by name; none where they are no JSON object."""
    try:
        value = json.loads(tool.arguments)
    except (ValueError, RecursionError):
        return ()
    return tuple(_single(value)) if isinstance(value, dict) else ()


def _single(arguments: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in arguments.items():
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, Mapping):
                yield from _single(entry)
            else:
                yield name, entry
