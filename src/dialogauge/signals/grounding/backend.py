"""What a reply states without a source, against what the tools returned, or out of an empty result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dialogauge.signals.dialogue import Dialogue
from dialogauge.signals.grounding.attributes import find_attributes
from dialogauge.signals.grounding.claims import FINDS, NOTHING
from dialogauge.signals.grounding.figures import find_figures
from dialogauge.signals.grounding.known import plain
from dialogauge.signals.grounding.names import find_names
from dialogauge.signals.grounding.reading import ReplyView, read_replies
from dialogauge.signals.signal import Signal, finding

# ruff: noqa: E501 - a pattern is read as a whole

_FAILED: Final = re.compile(
    r"^\W*(?:error|exception|fail|invalid|denied|错误|失败)|\"(?:error|err)\"\s*:|'error'\s*:", re.IGNORECASE
)
_DONE: Final = re.compile(
    r"\b(?:is|are|has been|have been|'s) (?:now |all )?(?:registered|booked|created|confirmed|cancelled|canceled|sent|submitted|scheduled|processed|updated|done|complete|set)\b"
    r"|已经?(?:为您|帮您|给您)?(?:办|订|约|取消|提交|登记|创建|发送|改|退|完成)|完成|成功|办好|订好|一切正常",
    re.IGNORECASE,
)
_FOUND_NONE: Final = re.compile(
    r"\b(?:(?:couldn't|could not|can't|cannot|didn't|did not|unable to|was not able to|wasn't able to)"
    r" (?:find|locate)|there (?:are|is|were) no|there aren't any"
    r"|no (?:[\w-]+ ){0,4}(?:found|available|match))\b"
    r"|(?:没有|未能?)(?:找到|查到|搜到)|找不到|查不到",
    re.IGNORECASE,
)


def find_ungrounded(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield what replies state without a source, against their source, or out of an empty result."""
    for reading in read_replies(dialogue):
        yield from _of_reply(reading)


def _of_reply(reading: ReplyView) -> Iterator[Signal]:
    turn = reading.turn
    strange = [*find_figures(reading), *find_attributes(reading), *find_names(reading)]
    if tool := _empty_handed(reading):
        offers = FINDS.search(turn.reply.text) or any(s.name == "unsourced_name" for s in strange)
        if (offers or _claims(reading)) and not NOTHING.search(turn.reply.text):
            quote = strange[0].quote if strange else turn.reply.text
            yield finding(turn, "out_of_nothing", 0.95, quote, "backend", "tool_error", tool=tool)
    elif quote := _denied(reading):
        yield finding(turn, "denies_result", 0.75, quote, "backend", "tool_error")
    yield from strange


def _claims(reading: ReplyView) -> bool:
    """Whether a reply says what was done, or speaks on where a tool said in words that nothing is there."""
    worded = any(len(c.result.text) > 8 and c.result.text[:1] not in "[{" for c in reading.calls)
    return any(
        not c.asks and not c.supposed and (_DONE.search(c.text) or (worded and len(c.text) > 12))
        for c in reading.clauses
    )


def _empty_handed(reading: ReplyView) -> str:
    """Return the tool of a turn's last lookup where none of its calls found anything."""
    calls = [call for call in reading.calls if not call.thinks]
    return (calls[-1].tool.name or "?") if calls and all(call.fruitless for call in calls) else ""


def _denied(reading: ReplyView) -> str:
    """Return the sentence that says that nothing was found though every call of the turn found something."""
    calls = reading.calls
    if not calls or not all(c.looks_up and c.result.lists and not c.result.empty for c in calls):
        return ""
    if any(_FAILED.search(c.result.text[:80]) for c in calls):
        return ""
    speech = plain(reading.reply)
    fields = (v for c in calls for rows in c.result.lists for r in rows for _, v in r.fields)
    if any(isinstance(v, str) and len(v) > 2 and plain(v) in speech for v in fields):
        return ""
    denials = (c.text for c in reading.clauses if _FOUND_NONE.search(c.text) and not c.asks)
    return next(denials, "")
