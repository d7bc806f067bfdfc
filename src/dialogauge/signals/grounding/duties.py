"""What an agent owes before it acts and after it searched: details from the user, and fewer options."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.dialogue import Dialogue, TurnView
from dialogauge.signals.grounding.known import KnownSoFar, plain
from dialogauge.signals.grounding.replies import ASKS, ToolOutcome, calls_of, read_clauses
from dialogauge.signals.grounding.values import NUMBER_WORD, TextValue, closed, number_of, read_values
from dialogauge.signals.signal import Signal, finding

# ruff: noqa: E501 - a pattern is read as a whole

_RELATIVE: Final = lazy_pattern(
    r"(?i)\b(?:today|tonight|tomorrow|yesterday|(?:next|this|coming|following) \w+|(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend|asap|now|same day|morning|noon|evening|lunch|dinner|midnight)\b|上午|中午|晚|今|明|后天|昨|下周|下个|本周|这周|周[一二三四五六日末天]|星期|月底|月初|现在|马上|当天|次日"
)
_PAIR: Final = lazy_pattern(
    r"(?i)\b(?:we|us|our|wife|husband|friend|partner|son|daughter|couple|both|double|myself and|and (?:me|i))\b|夫妻|两|俩|我和|我们|朋友|老婆|老公|孩子"
)
_HEADS: Final = lazy_pattern(r"(?i)people|guests|party|persons|passengers|tickets|nights|stay|人数|晚数|张数")
_WHO: Final = lazy_pattern(
    r"(?i)name|mail|address|passenger|recipient|contact|payee|city|destination|origin|departure|姓名|联系人|收件人|地址|邮箱"
)
"""Arguments that say who and where."""
_PERSONAL: Final = lazy_pattern(
    r"(?i)phone|mobile|passport|ssn|card|licen[cs]e|member|电话|手机|身份证|证件|护照|卡号|账号|会员号"
)
"""Arguments whose digits only a person can give."""
_FREE: Final = lazy_pattern(
    r"(?i)think|calculat|note|comment|reason|memo|message|content|text|query|summary|description|issue|subject|title|expression|thought|currency|lang|type|mode|class|status|备注|内容|说明"
)
"""Arguments that an agent words as it likes."""
_NARROWS: Final = lazy_pattern(
    r"(?i)\b(?:which|what|any|do you have|prefer\w*|particular|specific|narrow|budget|area|part of town|kind of|looking for|in mind|like to (?:know|see|filter)|more (?:details|information)|other criteria|filter)\b|哪|什么|多少|偏好|预算|要求|范围|区域|条件|缩小|喜欢"
)
_PICKS: Final = lazy_pattern(
    r"(?i)\b(?:which (?:one|of (?:these|them|those))|(?:any|one|either) of (?:these|them|those))\b.*|哪一?[家个套款趟本间条班].*|\b(?:(?:shall|should|can|may) i (?:book|reserve|make)|would you like (?:me )?to (?:book|reserve|go)|want me to|go ahead).*|(?:需要|要|现在).{0,6}(?:预订|下单|订).{0,4}[吗?？]"
)
"""A choice among what is shown, or an offer to book it, narrows nothing down."""
_ANY_WILL_DO: Final = lazy_pattern(
    r"(?i)\b(?:don't|do not) (?:care|mind)\b|\bany (?:\w+ )?(?:will do|is fine|works)\b|\bjust (?:pick|choose|take|book) (?:any|one)|\bwhichever\b|随便|都行|都可以|任意|无所谓|你(?:来)?(?:定|决定)"
)
_CHOOSES: Final = lazy_pattern(
    r"(?i)\b(?:i(?:'d| would)? (?:recommend|suggest)|how about|here (?:is|are)|i(?:'ve| have) (?:booked|picked|chosen))\b|推荐|以下是|为您(?:选|挑|订)"
)
_NAME: Final = lazy_pattern(
    r"[A-Z]\w+ [A-Z]|[\u4e00-\u9fff]{3,}|^[A-Z][a-z]{3,}$|^(?=.{7})[^\d.;]* [^\d.;]*$"
)
_COUNT_RULE: Final = lazy_pattern(
    rf"\b(?:more than|over|exceed\w*|above) (?P<a>\d{{1,3}}|{NUMBER_WORD})\b(?! (?:days|hours|minutes|nights|people|guests|years|euros?|dollars?|kg|km))"
    r"|(?:超过|多于|大于)\s?(?P<b>\d{1,3}|[一二三四五六七八九十]+)\s?(?:[家个套款趟本间条班项种件]|结果)",
    re.IGNORECASE,
)
_ASK_FIRST: Final = lazy_pattern(
    r"(?i)\bask\b|narrow|\bmust not\b|\bdo not\b|请.{0,12}(?:补充|缩小)|(?:询问|先问)|不得|不要"
)


@dataclass(frozen=True, slots=True)
class Duty:
    """What a policy asks for in one turn."""

    threshold: int | None = None
    """Of so many results all may be presented; None where no count rule holds."""


def read_duty(instructions: str) -> Duty:
    """Return what a system prompt asks for: `with more than ten, ask first`."""
    for sentence in re.split(r"(?<=[.。！!])\s*|\n", instructions):
        m = _COUNT_RULE.search(sentence)
        if m and _ASK_FIRST.search(sentence) and (number := number_of(m["a"] or m["b"])) is not None:
            return Duty(int(number))
    return Duty()


def find_neglected(dialogue: Dialogue, duties: Mapping[int, Duty]) -> Iterator[Signal]:
    """Yield actions with details that nobody gave, and too many options; `duties` are by turn."""
    known = KnownSoFar()
    known.hear(dialogue.context.text)
    known.hear(dialogue.opening.text)
    speech = ""
    for turn in dialogue.turns:
        speech += "\n" + turn.user.text
        known.hear(turn.user.text)
        calls = calls_of(dialogue)[turn.number]
        for call in calls:
            if turn.replied and call.acts:
                yield from _unasked(turn, call, known, speech)
            known.learn(call.result)
        if turn.replied:
            yield from _too_many(turn, calls, duties.get(turn.number, Duty()))
        known.hear(turn.reply.text)


def _unasked(turn: TurnView, call: ToolOutcome, known: KnownSoFar, speech: str) -> Iterator[Signal]:
    """Yield what an action was called with that nobody gave."""
    try:
        arguments = tuple(_single("", json.loads(call.tool.arguments)))
    except (ValueError, RecursionError):
        return
    for name, value in arguments:
        if not _FREE.search(name) and _made_up(name, value, known, speech):
            what, tool = f"{name}={value}", call.tool.name
            yield finding(turn, "acts_unasked", 0.75, f"{tool}({what})", "policy", None, what=what, tool=tool)
            return


def _single(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield the single arguments of a call by name."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _single(str(key), entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _single(name, entry)
    elif name and value not in (None, "") and not isinstance(value, bool):
        yield name, value


def _made_up(name: str, value: object, known: KnownSoFar, speech: str) -> bool:
    """Whether an argument of an action is none that the user gave, a tool returned or the agent proposed."""
    text = str(value).strip()
    if isinstance(value, int | float) or re.fullmatch(r"\d{1,2}", text):
        return _made_up_number(float(text), known, speech, of_people=bool(_HEADS.search(name)))
    if _WHO.search(name) and _unheard(text, known):
        return True
    if _PERSONAL.search(name) and re.search(r"\d", text):
        return not known.has_code(closed(text))
    values = read_values(text)
    whole = len("".join(v.written for v in values)) >= 0.6 * len(text)
    return whole and any(_made_up_value(v, known, speech) for v in values)


def _unheard(text: str, known: KnownSoFar) -> bool:
    """Whether no word of a name or an address was ever heard."""
    if re.fullmatch(r"[A-Z]{3}", text) or known.has_text(text) or known.has_code(closed(text)):
        return False
    parts = [*re.findall(r"[a-z]{3,}", plain(text)), *re.findall(r"(?=([\u4e00-\u9fff]{2}))", text)]
    return bool(parts) and not any(map(known.has_text, parts))


def _made_up_number(number: float, known: KnownSoFar, speech: str, *, of_people: bool = False) -> bool:
    spans = any(number * unit in known.of("time_span") for unit in (1.0, 60.0, 1440.0, 10080.0))
    two_days = len(known.of("date")) >= 2 and not of_people  # of which it may be the nights
    if number <= 1 or spans or two_days or (number == 2 and _PAIR.search(speech)):
        return False
    return number not in known.spoken if of_people else not known.has_number(number)


def _made_up_value(value: TextValue, known: KnownSoFar, speech: str) -> bool:
    if value.kind in ("date", "weekday", "day"):
        if _RELATIVE.search(speech):
            days = known.of("weekday") if value.kind == "weekday" and not known.of("date") else set()
            return bool(days) and value.amount not in days and not known.of("day")
        return not (known.has(value) and known.values.keys() & {"date", "weekday", "day"})
    if value.kind == "clock":
        bare = any(n % 12 * 60 == value.amount % 720 for n in known.numbers if n <= 24)
        vague = not known.of("clock") and _RELATIVE.search(speech)
        return not (bare or vague or known.has(value))
    return value.kind in ("money", "number") and _made_up_number(value.amount, known, speech)


def _too_many(turn: TurnView, calls: Sequence[ToolOutcome], duty: Duty) -> Iterator[Signal]:
    """Yield a reply that chooses for the user, or lists everything, where a search returned many."""
    searches = [c for c in calls if not c.acts]
    entries = searches[-1].result.entries if searches else None
    if duty.threshold is None or entries is None or entries <= duty.threshold:
        return
    reply, speech = turn.reply.text, plain(turn.reply.text)
    named = len({plain(w) for w in searches[-1].result.words if _NAME.search(w) and plain(w) in speech})
    booked = any(c.acts for c in calls[calls.index(searches[-1]) :])
    chooses = booked or ((named or _CHOOSES.search(reply)) and not _narrows(reply))
    if not _ANY_WILL_DO.search(turn.user.text) and (named > duty.threshold or chooses):
        facts = {"n": entries, "threshold": duty.threshold}
        yield finding(turn, "too_many_results", 0.75, reply, "policy", None, **facts)


def _narrows(reply: str) -> bool:
    """Whether a reply asks for what narrows the results down, and not whether to book."""
    return any(_NARROWS.search(_PICKS.sub("", c)) for c in read_clauses(reply) if ASKS.search(c))
