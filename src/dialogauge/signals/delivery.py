"""Replies that did not reach the user as an answer: technical debris, an error message, another language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.dialogue import Dialogue, TurnView
from dialogauge.signals.markers import Marker
from dialogauge.signals.signal import Signal, finding

_DEBRIS = lazy_pattern(
    r"<\|[a-z_]+\|?>|</?(?:think|tool_call|function_call|tool_response|artifact|response|answer|system)\b[^>\n]*>"
    r"|\{\"\w+\": ?(?:\"|\{|\[)[^\n]{8,}|\[object Object\]|\bTraceback \(most recent|\ufffd{2,}"
    r"|(?:\\u[0-9a-f]{4}){3,}",
    re.IGNORECASE,
)
_DEBRIS_SIGNS = ("<", '{"', "[object o", "traceback (", "\ufffd\ufffd", "\\u")
"""Every match has one of these in lower case, and a search for them is cheaper."""
_ERROR = lazy_pattern(
    r"^\W*(?:(?:api|internal|server|network|request|system|service|http|unknown|model)[ -]?)*"
    r"(?:error|timed? ?out|timeout|exception|rate limit\w*)\b|^\W*(?:5\d\d|429)\b"
    r"|^\W*(?:api|系统|网络|服务器?|请求|接口|模型)? ?(?:错误|异常|出错|超时|繁忙|限流)"
)
_ERROR_WORDS = 20
"""Longest reply, in words, that is an error message and nothing else."""
_TECHNICAL = Marker(
    r"json|xml|html|markup|\btags?\b|code|script|python|\bapi\b|regex|error|exception|token|template|schema"
    r"|代码|编程|标签|报错|错误|接口|脚本|格式"
)
"""Talk in which markup and error messages are the subject."""
_ASKS_LANGUAGE = Marker(
    r"translat|english|chinese|mandarin|language|英文|英语|中文|汉语|翻译|译成|外语|双语|语言(?!模型)|口语|单词|作文|词汇"
)
_LETTERS = bytes(range(ord("A"), ord("Z") + 1)) + bytes(range(ord("a"), ord("z") + 1))
_LEADS = bytes(range(0xE5, 0xEA))
_E4 = re.compile(b"\xe4[\xb8-\xbf]")
"""In UTF-8, U+4E00 to U+4FFF; from there to U+9FFF a character begins with one of `_LEADS`."""
_LEAST = 20
"""Characters below which a language cannot be told."""


def find_undelivered(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies with debris of the machinery in their prose, and replies in another language.

    Not where the talk is about code, or about languages.
    """
    technical = languages = False
    written: set[str] = set()
    for turn in dialogue.turns:
        technical = technical or bool(_TECHNICAL.search(turn.user.plain))
        languages = languages or bool(_ASKS_LANGUAGE.search(turn.user.plain))
        written |= {_script(turn.user.text)} - {""}
        if not turn.replied:
            continue
        hit = None if technical else _debris(turn)
        if hit:
            yield finding(turn, "broken", 0.9, hit, "helpfulness", "non_answer")
        elif not languages and len(written) == 1 and _script(turn.reply.prose) not in {*written, ""}:
            yield finding(turn, "other_language", 0.85, turn.reply.text, "helpfulness", "non_answer")


def _debris(turn: TurnView) -> str:
    """Return what should not stand in a reply, or an empty string."""
    prose = turn.reply.prose
    plain = prose.lower()
    if any(sign in plain for sign in _DEBRIS_SIGNS) and (hit := _DEBRIS.search(prose)):
        return prose[hit.start() :]
    if turn.reply.units <= _ERROR_WORDS and not turn.called and _ERROR.search(turn.reply.plain):
        return turn.reply.text
    return ""


def _script(text: str) -> str:
    """Return `zh` or `latin` where a text is nearly all of the one, else an empty string."""
    encoded = text.encode("utf-8", "surrogatepass")
    latin = len(encoded) - len(encoded.translate(None, _LETTERS))
    chinese = 0
    if len(encoded) > len(text):
        chinese = len(encoded) - len(encoded.translate(None, _LEADS)) + len(_E4.findall(encoded))
    if 2 * chinese + latin < _LEAST:
        return ""
    if 2 * chinese > 0.8 * (2 * chinese + latin):
        return "zh"
    return "latin" if latin > 0.9 * (2 * chinese + latin) else ""
