"""What a reply of an agent with tools states without a source, or offers out of an empty result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.caching import cached_on_view
from dialogauge.signals.dialogue import Dialogue, ToolResult, TurnView
from dialogauge.signals.grounding.known import KnownSoFar
from dialogauge.signals.grounding.results import Found, read_result
from dialogauge.signals.grounding.values import TextValue, TextValueKind, read_values
from dialogauge.signals.signal import Signal, finding

# ruff: noqa: E501 - a pattern is read as a whole

_ACTION: Final = lazy_pattern(
    r"(?i)book|reserv|buy|purchas|order(?!s?_?(?:details|status|info|list))|creat|schedul|transfer|pay|cancel|return|modify|update|change|add|register|open_ticket|send|submit|delete|move|exchange|(?:^|_)(?:open_(?!hour|slot)|issue|renew|activate|subscri|enrol|redirect|assign|push_|apply)|预订|预约|订[票座房]|下单|购买|支付|还款|转账|挂号|取消|修改|改[派签期约]|办理|开通|退[票货款]|提交|登记|创建"
)
_LOOKUP: Final = lazy_pattern(
    r"(?i)search|find|get|list|query|look|fetch|check|read|retrieve|show|catalog|track|查|搜|找"
)
_SENTENCE: Final = lazy_pattern(
    r"[^\n。！？!?；]+?(?:[。！？!?；]+|(?<!\bDr)(?<!\bMr)(?<!\bSt)\.(?=\s|$)|\n|$)"
)
_SUPPOSED: Final = lazy_pattern(
    r"(?i)^\W*(?:if|unless|once|when|should you|in case)\b|\b(?:if you|would be able|could be|may be|might|e\.g|for example|for instance|such as|let's say|format)\b|如果|若|假如|要是|的话|例如|比如说|譬如|格式"
)
ASKS: Final = lazy_pattern(
    r"(?i)[?？]\W*$|\bplease (?:provide|tell|share|let|confirm|specify|give|choose|select|enter|state)\b|^\W*(?:could you|can you|would you|do you|which|may i|shall)\b|请(?:问|您?(?:提供|告诉|确认|选择|说|输入))|吗\W*$"
)
_NOTHING: Final = lazy_pattern(
    r"(?i)\b(?:no|any|not (?:any|a single)) (?:[\w'-]+ ){0,6}?(?:found|available|match\w*|results?|options?|records?|orders?|items?|slots?|rooms?|tables?)\b|\b(?:no (?:luck|availab\w+|such|longer|record)|none|nothing|there (?:isn't|aren't|is no|are no|is not|are not|wasn't|weren't|were no|was no)|don't (?:have|see|offer)|do not (?:have|see|offer)|(?:does not|doesn't) (?:have|seem|exist|appear|match)|(?:couldn't|could not|can't|cannot|didn't|did not|unable to|not able to|failed to|haven't) (?:\w+ )?(?:find|locate|see|get|identify|match|found|retrieve|access|look|book|complete|process)|not (?:been )?found|(?:isn't|aren't|is not|are not|was not|were not) (?:available|listed|found|any)|unfortunately|unavailable|sold out|fully booked|apologi[sz]e|sorry)\b|没有|没(?:找|查|搜|有)|未(?:找|查|能|搜|有)|找不到|查不到|无法|暂无|暂时没|抱歉|不好意思|遗憾|无(?:结果|符合|可用|记录)|已满|约满|售罄|不存在"
)
_FINDS: Final = lazy_pattern(
    r"(?i)\b(?:i(?:'ve| have)? (?:found|located|got)|i see|there (?:is|are|'s)|there's|here (?:is|are)|we have|you (?:can|could) (?:stay|eat|visit|take|go|try)|i(?: can| would|['’]d)? (?:recommend|suggest)|how about|(?:is|are) available|matches your|you might like|(?:i|we) (?:can )?offer|i(?:'ve| have) (?:booked|reserved)|(?:is|it's) (?:a|an|located))\b|(?<!没)有一?[家间个款趟班所座条位]|找到了?|为您(?:找|推荐|查|订|预)|推荐|(?:可以|您可)(?:选|去|住|试)|以下|符合(?:您|条件|要求)的|\b(?:is|are|has been|have been|'s) (?:now |all )?(?:registered|booked|created|confirmed|cancelled|canceled|sent|submitted|scheduled|processed|updated|done|complete|set)\b|已经?(?:为您|帮您|给您)?(?:办|订|约|取消|提交|登记|创建|发送|改|退|完成)|完成|成功|办好|一切正常"
)
"""Says that there is something, or that something was done."""
_FOLLOWS: Final = ("number", "date", "time_span")
"""Kinds that may follow from much: counts, and days and spans by a calendar."""
_ALIKE: Final[tuple[frozenset[TextValueKind], ...]] = (
    frozenset({"money", "percent", "number"}),
    frozenset({"date", "day", "weekday"}),
)
_ROUGH: Final = lazy_pattern(
    r"(?i)\b(?:about|around|approximately|roughly|nearly|almost|over|under|more than|less than)\b|大约|大概|约|左右|差不多|近|超过|不到"
)


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A call of a tool, and what it returned."""

    tool: ToolResult
    result: Found

    @property
    def acts(self) -> bool:
        """Whether the tool changes something."""
        return bool(_ACTION.search(self.tool.name)) and not _LOOKUP.match(self.tool.name)

    @property
    def fruitless(self) -> bool:
        """Whether it found nothing; a tool that returns no text at all may just be done."""
        looks_up = bool(_LOOKUP.search(self.tool.name)) and not self.acts
        return self.result.empty and (looks_up or bool(self.tool.text.strip()))


@cached_on_view
def calls_of(dialogue: Dialogue) -> dict[int, tuple[ToolOutcome, ...]]:
    """Return the calls of each turn by its number."""
    return {
        t.number: tuple(ToolOutcome(tool, read_result(tool.text)) for tool in t.tools) for t in dialogue.turns
    }


def read_clauses(reply: str) -> Iterator[str]:
    """Yield the sentences and lines of a reply."""
    return (m[0] for m in _SENTENCE.finditer(reply) if m[0].strip())


def find_ungrounded(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield what replies state that nothing before them contains, or offer out of an empty result."""
    known = KnownSoFar()
    known.hear(dialogue.context.text)
    known.hear(dialogue.opening.text)
    tools = False
    for turn in dialogue.turns:
        known.hear(turn.user.text)
        calls = calls_of(dialogue)[turn.number]
        for call in calls:
            known.hear(call.tool.arguments)
            known.learn(call.result)
        tools = tools or bool(calls)
        if turn.replied and turn.reply.text.strip():
            yield from _out_of_nothing(turn, calls)
            yield from _unsourced(turn, known, tools=tools)
            known.hear(turn.reply.text)


def _out_of_nothing(turn: TurnView, calls: Sequence[ToolOutcome]) -> Iterator[Signal]:
    """Yield an offer where none of a turn's calls found anything."""
    if not calls or not all(c.fruitless for c in calls) or _NOTHING.search(turn.reply.text):
        return
    worded = any(len(c.result.text) > 8 for c in calls)
    clauses = [c for c in read_clauses(turn.reply.prose) if not _SUPPOSED.search(c)]
    offers = any(
        _FINDS.search(c) for clause in clauses for c in re.split("[,,]", clause) if not ASKS.search(c)
    )
    claims = any(worded and len(c) > 12 and not ASKS.search(c) for c in clauses)
    if offers or claims:
        tool = calls[-1].tool.name or "?"
        yield finding(turn, "out_of_nothing", 0.95, turn.reply.text, "backend", "tool_error", tool=tool)


def _unsourced(turn: TurnView, known: KnownSoFar, *, tools: bool) -> Iterator[Signal]:
    """Yield the values of a reply that nothing contains, of a kind that no tool returned."""
    seen: set[str] = set()
    for clause in read_clauses(re.sub(r"\*\*|__|`", "", turn.reply.prose)):
        for value in read_values(clause):
            if value.written in seen or not _needs_source(value, clause, known, tools=tools):
                continue
            seen.add(value.written)
            strength = 0.75 if tools else 0.6
            yield finding(turn, "unsourced", strength, clause, "backend", "tool_error", what=value.written)


def _needs_source(value: TextValue, clause: str, known: KnownSoFar, *, tools: bool) -> bool:
    if value.kind in _FOLLOWS or known.has(value) or (value.kind != "code" and _SUPPOSED.search(clause)):
        return False
    if value.kind == "code":
        return len(value.text) >= (4 if tools else 6) and not any(_similar(value.text, c) for c in known.ids)
    returned = set(known.of_tools)
    for kinds in _ALIKE:
        returned |= kinds if returned & kinds else set()
    if value.kind in returned or _ROUGH.search(clause[max(0, value.start - 16) : value.end + 3]):
        return False
    return tools or not ASKS.search(clause)


def _similar(a: str, b: str) -> bool:
    return len(a) == len(b) and sum(x == y for x, y in zip(a, b, strict=True)) * 2 >= len(a)
