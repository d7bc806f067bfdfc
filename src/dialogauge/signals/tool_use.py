"""Tool errors that a reply passes over in silence, and facts that no tool gave."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialogauge.signals import reply_markers as mark
from dialogauge.signals.reading import Dialogue, ToolResult, TurnView
from dialogauge.signals.signal import Signal, cut
from dialogauge.signals.wording import note
from dialogauge.text import normalise

__all__ = ["failed_tools", "find_tool_faults", "is_failure"]

_LOOKED_AT = 2000
_FAILED = re.compile(
    r"^\W*(?:error|exception|traceback|fail(?:ed|ure)|not found|no results?|none|null|invalid|denied|timeout"
    r"|timed out|unauthori[sz]ed|forbidden|bad request"
    r"|(?:4|5)\d\d\b|错误|失败|异常|超时|未找到|没有找到|无结果|无数据|查询失败)"
    r"|['\"](?:status|state|result|code|outcome|type)['\"]: ?"
    r"['\"][a-z_ ]*(?:error|fail\w*|declined|rejected|denied"
    r"|unavailable|not_found|timeout|timed_out|expired|invalid|exception"
    r"|cancell?ed_by|sold_out|out_of_stock|失败|错误|异常|超时)"
    r"|['\"](?:error|errors|exception|error_code|error_message|err)['\"]: ?"
    r"(?!null|none|false|\[\]|['\"]['\"]|\{\}|0\b)"
    r"|['\"](?:success|ok|succeeded|available|found|accepted)['\"]: ?(?:false|0\b)"
    r"|['\"](?:http_status|status_code|status|code)['\"]: ?['\"]?(?:4|5)\d\d\b"
)
_EMPTY = re.compile(r"^\s*(?:\[\s*\]|\{\s*\}|''|\"\"|none|null|n/a)?\s*$")
_NO_ITEMS = re.compile(
    r"['\"]\w+['\"]: ?(?:\[\s*\]|\{\s*\})|['\"](?:total|count|num_results|hits|results_count"
    r"|found|matches)['\"]: ?0\b"
)
_HAS_ITEMS = re.compile(r"['\"]\w+['\"]: ?[\[{]\s*[^\s\]}]")
_NUMBER = re.compile(r"[a-z]{1,4}-?\d{3,}|\d[\d,.]*\d|\d", re.IGNORECASE)


def is_failure(result: ToolResult) -> bool:
    """Say whether a tool answered with an error or with nothing at all."""
    text = normalise(result.text[:_LOOKED_AT])
    if _EMPTY.match(text) or _FAILED.search(text):
        return True
    return bool(_NO_ITEMS.search(text)) and not _HAS_ITEMS.search(text)


def failed_tools(turn: TurnView) -> tuple[ToolResult, ...]:
    """Return the failures of a turn that no later call of the same tool made good.

    A failure that other calls followed with success counts only when nothing else worked after it.
    """
    standing: list[ToolResult] = []
    for result in turn.tools:
        if is_failure(result):
            standing.append(result)
        else:
            standing = [s for s in standing if s.name != result.name or s.arguments != result.arguments]
            if not _same_job(standing, result):
                standing = [s for s in standing if s.name == result.name]
    return tuple(standing)


def _same_job(standing: list[ToolResult], result: ToolResult) -> bool:
    """Whether what succeeded is another item of the same batch (the same tool, other arguments)."""
    return any(s.name == result.name for s in standing)


def find_tool_faults(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that claim success, or give facts, where the tools failed or found nothing."""
    known = [dialogue.context.text]
    for turn in dialogue.turns:
        known.append(turn.user.text)
        known.extend(f"{tool.text}\n{tool.arguments}" for tool in turn.tools)
        failures = failed_tools(turn)
        if failures and turn.replied:
            yield from _passed_over(turn, failures, "\n".join(known))
        known.append(turn.reply.text)


def _passed_over(turn: TurnView, failures: tuple[ToolResult, ...], known: str) -> Iterator[Signal]:
    plain = normalise(turn.reply.prose)
    if mark.ADMITS_FAILURE.search(plain):
        return
    made_up = _made_up(turn, known)
    claims = mark.CLAIMS_SUCCESS.search(plain)
    if not claims and not made_up:
        return
    strength = 0.75 + (0.1 if claims else 0.0) + (0.1 if made_up else 0.0)
    name = failures[-1].name or "?"
    text = note("ignores_tool_error", turn.language, tool=name)
    quote = cut(failures[-1].text) or cut(turn.reply.text)
    yield Signal(
        "ignores_tool_error", turn.number, strength, quote, text, "helpfulness", "tool_error", turn.number
    )


def _made_up(turn: TurnView, known: str) -> bool:
    """Whether the reply gives numbers or codes that nothing before it and no tool holds."""
    numbers = {n.strip(".,") for n in _NUMBER.findall(turn.reply.prose)}
    return any(len(n) > 1 and n not in known for n in numbers)
