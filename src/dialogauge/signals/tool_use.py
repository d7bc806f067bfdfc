"""Tool errors that a reply does not mention, and facts that come from no tool."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals import reply_markers as mark
from dialogauge.signals.dialogue import Dialogue, ToolResult, TurnView, cut
from dialogauge.signals.signal import Signal, finding
from dialogauge.text import normalise

_LOOKED_AT = 20_000  # characters; a longer result is no error message
_ERROR_TEXT = lazy_pattern(
    r"^\W*(?:error|exception|traceback|fail(?:ed|ure)|not found|no (?:results?|matches)|invalid"
    r"|denied|timeout|timed out|unauthori[sz]ed|forbidden"
    r"|bad request|service unavailable|(?:4|5)\d\d\b"
    r"|错误|失败|异常|超时|未找到|没有找到|无结果|无数据|查询失败|系统繁忙)"
    r"|\b(?:request|call|operation|lookup|query) (?:has )?(?:failed|timed out)\b"
    r"|\b(?:4|5)\d\d (?:error|not found|internal)"
)
_BAD_STATUS = lazy_pattern(
    r"error|fail|declin|reject|denied|unavailable|not[_ ]?found|time[d]?[_ ]?out|expired|invalid"
    r"|exception|sold[_ ]?out|out[_ ]?of[_ ]?stock|forbidden|unauthori|conflict|blocked"
    r"|closed|失败|错误|异常|超时|不可用|售罄|无货|拒绝"
)
_STATUS_KEYS = ("status", "state", "result", "outcome", "code", "状态", "结果")
_ERROR_KEYS = ("error", "errors", "err", "exception", "error_code", "error_message", "错误")
_OK_KEYS = ("success", "ok", "succeeded", "accepted", "成功")
_COUNT_KEYS = ("total", "count", "num_results", "hits", "results_count", "matches")
_NOTHING = lazy_pattern(r"^\W*(?:not found|no (?:results?|matches)|未找到|没有找到|无结果|无数据)")
_SEARCH = lazy_pattern(r"search|find|list|query|look|查|搜")
_LOOKUP = lazy_pattern(r"search|find|get|list|query|look|fetch|check|read|retrieve|show|查|搜")
_NUMBER = lazy_pattern(r"[a-z]{1,4}-?\d{3,}|\d[\d,.]*\d|\d", re.IGNORECASE)


def outcome_of(result: ToolResult) -> Literal["error", "empty", "fine"]:
    """Read whether a tool returned an error or, as the result of a lookup, nothing."""
    text = result.text[:_LOOKED_AT].strip()
    if not text or text in ("null", "None", "none", '""', "[]", "{}", "N/A"):
        empty = _LOOKUP.search(result.name.lower()) or text == "[]"
        return "empty" if empty else "fine"
    if text[0] in "[{":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, nested too deep
            return "error" if _ERROR_TEXT.search(normalise(text[:200])) else "fine"
        if not isinstance(value, dict):
            return "fine"
        return "error" if _says_error(value) else "empty" if _holds_nothing(value) else "fine"
    plain = normalise(text[:300])
    return "empty" if _NOTHING.search(plain) else "error" if _ERROR_TEXT.search(plain) else "fine"


def _says_error(value: dict[str, Any]) -> bool:
    """Check the outermost keys only: a sold-out item in a list is no failure of the search."""
    for key, entry in value.items():
        name = key.lower()
        if name in _ERROR_KEYS and entry not in (None, "", False, 0, [], {}):
            return True
        if name in _OK_KEYS and entry in (False, 0, "false", "no"):
            return True
        if name in _STATUS_KEYS and (_is_http_error(entry) or _BAD_STATUS.search(_plain(entry).lower())):
            return True
    return False


def _holds_nothing(value: dict[str, Any]) -> bool:
    holders = [v for v in value.values() if isinstance(v, list | dict)]
    counts = [v for k, v in value.items() if k.lower() in _COUNT_KEYS]
    return (bool(holders) or bool(counts)) and not any(holders) and not any(counts)


def _plain(entry: object) -> str:
    try:
        return str(entry)
    except RecursionError:
        return ""


def _is_http_error(entry: object) -> bool:
    return isinstance(entry, int) and not isinstance(entry, bool) and 400 <= entry < 600


def failed_tools(turn: TurnView) -> tuple[ToolResult, ...]:
    """Return the failures of a turn that no later call repairs.

    A later success of the same tool repairs a failure if both have the same first argument, or arguments
    that cannot be read. A success of another tool repairs all earlier failures, except those of a tool that
    also succeeded in this turn. An empty search is no failure where another of the turn found something.
    """
    failures: list[ToolResult] = []
    batch: set[str] = set()
    outcomes = [outcome_of(result) for result in turn.tools]
    fruitful = {r.name for r, outcome in zip(turn.tools, outcomes, strict=True) if outcome == "fine"}
    searched = any(_SEARCH.search(name.lower()) for name in fruitful)
    for result, outcome in zip(turn.tools, outcomes, strict=True):
        if outcome != "fine":
            one_of_several = result.name in fruitful or (searched and _SEARCH.search(result.name.lower()))
            if outcome == "error" or not one_of_several:
                failures.append(result)
            continue
        batch.add(result.name)
        failures = [f for f in failures if not _repairs(result, f, batch)]
    return tuple(failures)


def _repairs(success: ToolResult, failure: ToolResult, batch: set[str]) -> bool:
    if failure.name != success.name:
        return failure.name not in batch
    return _first_argument(failure) == _first_argument(success)


def _first_argument(result: ToolResult) -> object:
    try:
        value = json.loads(result.arguments)
    except (ValueError, RecursionError):
        return None
    return next(iter(value.values()), None) if isinstance(value, dict) else None


def find_tool_faults(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that claim success or state facts although the tools failed or returned nothing."""
    texts = [dialogue.context.text]
    for turn in dialogue.turns:
        texts.append(turn.user.text)
        for tool in turn.tools:
            texts += tool.text, tool.arguments
        failures = failed_tools(turn) if turn.replied else ()
        if failures and failures[-1] is turn.tools[-1]:  # what came after it is what the reply speaks of
            yield from _hidden_failure(turn, failures, texts)
        texts.append(turn.reply.text)


def _hidden_failure(turn: TurnView, failures: tuple[ToolResult, ...], texts: list[str]) -> Iterator[Signal]:
    plain = normalise(turn.reply.prose)
    if mark.ADMITS_FAILURE.search(plain):
        return
    invents = _invents_numbers(turn, texts)
    claims = mark.CLAIMS_SUCCESS.search(plain)
    if not claims and not invents:
        return
    strength = 0.75 + (0.1 if claims else 0.0) + (0.1 if invents else 0.0)
    quote, tool = cut(failures[-1].text) or turn.reply.text, failures[-1].name or "?"
    yield finding(turn, "ignores_tool_error", strength, quote, "helpfulness", "tool_error", tool=tool)


def _invents_numbers(turn: TurnView, texts: list[str]) -> bool:
    """Whether the reply states numbers or codes that are in no earlier text and no tool result."""
    numbers = {n.strip(".,") for n in _NUMBER.findall(turn.reply.prose)}
    text = "\n".join(texts) if numbers else ""
    return any(len(n) > 1 and n not in text for n in numbers)
