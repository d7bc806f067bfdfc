"""What an agent owes before it acts and after it searched: details from the user, and fewer options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dialogauge.signals.dialogue import Dialogue, TurnView
from dialogauge.signals.grounding.claims import FINDS, NOTHING, read_clauses
from dialogauge.signals.grounding.known import KnownSoFar, plain
from dialogauge.signals.grounding.reading import ToolOutcome, arguments_of, calls_of
from dialogauge.signals.grounding.results import Found
from dialogauge.signals.grounding.values import NUMBER_WORD, TextValue, closed, number_of, read_values
from dialogauge.signals.signal import Signal, finding

# ruff: noqa: E501 - a pattern is read as a whole

_RELATIVE: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|(?:next|this|coming|following) \w+|(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend|asap|now|same day)\b"
    r"|今|明|后天|昨|下周|下个|本周|这周|周[一二三四五六日末天]|星期|月底|月初|现在|马上|当天|次日",
    re.IGNORECASE,
)
_NEAR_DAY: Final = re.compile(r"tomorrow|today|tonight|明|今|后天", re.IGNORECASE)
_PART_OF_DAY: Final = re.compile(
    r"morning|noon|evening|now|asap|lunch|dinner|midnight|上午|中午|晚|现在|马上", re.IGNORECASE
)
_PAIR: Final = re.compile(
    r"\b(?:we|us|our|wife|husband|friend|partner|son|daughter|couple|both|double|myself and|and (?:me|i))\b|夫妻|两|俩|我和|我们|朋友|老婆|老公|孩子",
    re.IGNORECASE,
)
_HEADS: Final = re.compile(
    r"people|guests|party|persons|passengers|tickets|nights|stay|人数|晚数|张数", re.IGNORECASE
)
_WHO: Final = re.compile(
    r"name|mail|address|passenger|recipient|contact|payee|city|destination|origin|departure|姓名|联系人|收件人|地址|邮箱",
    re.IGNORECASE,
)
"""Arguments that say who and where."""
_PERSONAL: Final = re.compile(
    r"phone|mobile|passport|ssn|card|licen[cs]e|member|电话|手机|身份证|证件|护照|卡号|账号|会员号",
    re.IGNORECASE,
)
"""Arguments whose digits only a person can give."""
_BLANK: Final = re.compile(
    r"unknown|tbd|n/?a|placeholder|string|x{3,}|\?+|unspecified|not (?:provided|specified|given)|待定|未知|未提供",
    re.IGNORECASE,
)
FREE: Final = re.compile(
    r"think|calculat|note|comment|reason|memo|message|content|text|query|summary|description|issue|subject|title|expression|thought|currency|lang|type|mode|class|status|备注|内容|说明",
    re.IGNORECASE,
)
"""Arguments that an agent words as it likes."""
_BOOKS: Final = re.compile(r"book|reserv|buy|purchas|预订|订[座票]|购票|买票|下单", re.IGNORECASE)
_NARROWS: Final = re.compile(
    r"\b(?:which|what|any|do you have|prefer\w*|particular|specific|narrow|budget|price range|area|part of town|kind of|type of|type|looking for|in mind|like to (?:know|see|filter)|more (?:details|information)|other criteria|filter)\b|哪|什么|多少|偏好|预算|要求|范围|区域|条件|缩小|喜欢",
    re.IGNORECASE,
)
_PICKS: Final = re.compile(
    r"\b(?:which (?:one|of (?:these|them|those)))\b.*|\b(?:any|one|either) of (?:these|them|those)\b.*|哪一?[家个套款趟本间条班].*",
    re.IGNORECASE,
)
"""A choice among what is shown narrows nothing down."""
_ANY_WILL_DO: Final = re.compile(
    r"\b(?:don't|do not) (?:care|mind)\b|\bany (?:\w+ )?(?:will do|is fine|works)\b|\bjust (?:pick|choose|take|book) (?:any|one)|\bwhichever\b|随便|都行|都可以|任意|无所谓|你(?:来)?(?:定|决定)",
    re.IGNORECASE,
)
_OFFERS: Final = re.compile(
    r"\b(?:would you like (?:me )?to (?:book|reserve|go)|shall i (?:book|reserve|make)|(?:should|can|may) i (?:book|reserve)|want me to (?:book|reserve)|(?:book|reserve) (?:it|one|this|a table|a room)|go ahead)\b|(?:需要|要|现在).{0,6}(?:预订|下单|订).{0,4}[吗?？]",
    re.IGNORECASE,
)
_REQUESTS: Final = re.compile(
    r"\b(?:please|let me know|could you)\b.{0,80}\b(?:prefer|narrow|specif|detail|budget|which|what)",
    re.IGNORECASE,
)
_MANY: Final = re.compile(
    r"\b(?:many|several|multiple|numerous|a lot of|plenty|various|a number of|over \w+|more than)\b|很多|多家|不少|许多",
    re.IGNORECASE,
)
_ENOUGH: Final = 3
"""Of more results than may be presented so many may stand as examples beside the count and a question."""


@dataclass(frozen=True, slots=True)
class Duty:
    """What a policy asks for in one turn."""

    threshold: int | None = None
    """Of so many results all may be presented; None where no count rule holds."""
    slots: tuple[str, ...] = ()
    """What a booking needs, as the policy calls it: `bookday`, `booktime`, `bookpeople` ..."""
    strict: bool = False
    """Whether none may be shown where there are more."""


_COUNT_RULE: Final = re.compile(
    rf"\b(?:more than|over|exceed\w*|above) (?P<a>\d{{1,3}}|{NUMBER_WORD})\b(?! (?:days|hours|minutes|nights|people|guests|years|euros?|dollars?|kg|km))"
    r"|(?:超过|多于|大于)\s?(?P<b>\d{1,3}|[一二三四五六七八九十]+)\s?(?:[家个套款趟本间条班项种件]|结果)",
    re.IGNORECASE,
)
_ASK_FIRST: Final = re.compile(
    r"\bask\b|narrow|\bmust not\b|\bdo not\b|请.{0,12}(?:补充|缩小)|(?:询问|先问)|不得|不要", re.IGNORECASE
)
_SHOW_NONE: Final = re.compile(
    r"\b(?:do not|don't|never|must not|no) (?:\w+ ){0,3}?(?:list|show|present|recommend|products|results)|\bshow no\b|\bbefore you (?:present|show|list)|\bbefore (?:booking|showing)|(?:不得|不要|不能)(?:直接)?(?:推荐|列|展示)|必须先",
    re.IGNORECASE,
)


_NEEDS: Final = re.compile(r"\b(?:needs?|must have|requires?|required)\b|需要|必须", re.IGNORECASE)
_OF_PERSON: Final = {
    "phone": (re.compile(r"\bphone|电话|手机", re.IGNORECASE), re.compile(r"\d[\d -]{5,}\d")),
    "age": (
        re.compile(r"\bage\b|年龄", re.IGNORECASE),
        re.compile(
            r"\b(?:i'm|i am|aged?|is) (?:\d\d|\w+ty)\b|\b\d\d,? years|\d\d ?岁|\bborn\b", re.IGNORECASE
        ),
    ),
}
"""What only the user knows: how a policy asks for it, and how it is given."""


def read_duty(instructions: str) -> Duty:
    """Return what a system prompt asks for: `with more than ten, ask first`, and a phone or an age to book."""
    sentences = re.split(r"(?<=[.。！!])\s*|\n", instructions)
    needs = " ".join(s for s in sentences if _NEEDS.search(s))
    slots = tuple(slot for slot, (asked, _) in _OF_PERSON.items() if asked.search(needs))
    for sentence in sentences:
        m = _COUNT_RULE.search(sentence)
        if m and _ASK_FIRST.search(sentence) and (number := number_of(m["a"] or m["b"])) is not None:
            return Duty(int(number), slots, strict=bool(_SHOW_NONE.search(sentence)))
    return Duty(slots=slots)


def find_neglected(dialogue: Dialogue, duties: Mapping[int, Duty]) -> Iterator[Signal]:
    """Yield actions before their details are known, and too many options or too few questions.

    Args:
        dialogue: The dialogue.
        duties: By turn what its policy asks for.
    """
    known = KnownSoFar()
    known.hear(dialogue.context.text)
    known.hear(dialogue.opening.text)
    users: list[str] = []
    for turn in dialogue.turns:
        users.append(turn.user.text)
        known.hear(turn.user.text)
        duty = duties.get(turn.number, Duty())
        calls = calls_of(dialogue)[turn.number]
        for call in calls:
            if turn.replied and call.acts:
                yield from _unasked(turn, call, _Heard(known, "\n".join(users)), duty)
            known.learn(call.result)
            if call.thinks:
                known.hear(call.tool.arguments)
        if turn.replied:
            yield from _too_many(turn, calls, duty)
        known.hear(turn.reply.text)


# Before an action


@dataclass(frozen=True, slots=True)
class _Heard:
    """What is known before a call, and what the user said of it."""

    known: KnownSoFar
    speech: str


def _unasked(turn: TurnView, call: ToolOutcome, heard: _Heard, duty: Duty) -> Iterator[Signal]:
    """Yield what an action was called with that nobody gave, or what it needs that nobody gave."""
    tool, arguments = call.tool, arguments_of(call.tool)
    for name, value in arguments:
        if not FREE.search(name) and _made_up(name, value, heard):
            what = f"{name}={value}"
            quote = f"{tool.name}({what})"
            yield finding(turn, "acts_unasked", 0.75, quote, "policy", None, what=what, tool=tool.name)
            return
    if not _BOOKS.search(tool.name):
        return
    for slot in duty.slots:
        if not _given(slot, arguments, heard.speech):
            yield finding(
                turn, "books_without", 0.7, tool.arguments, "policy", None, what=slot, tool=tool.name
            )
            return


def _made_up(name: str, value: object, heard: _Heard) -> bool:
    """Whether an argument of an action is none that the user gave, a tool returned or the agent proposed."""
    if isinstance(value, bool) or value in (None, ""):
        return False
    text = str(value).strip()
    if isinstance(value, int | float) or re.fullmatch(r"\d{1,2}", text):
        return _made_up_number(float(text), heard, of_people=bool(_HEADS.search(name)))
    if _BLANK.fullmatch(text) or (_WHO.search(name) and _unheard(text, heard.known)):
        return True
    if _PERSONAL.search(name) and re.search(r"\d", text):
        return not heard.known.has_code(closed(text))
    values = read_values(text)
    whole = len("".join(v.written for v in values)) >= 0.6 * len(text)
    return bool(values) and whole and any(_made_up_value(v, heard) for v in values)


def _unheard(text: str, known: KnownSoFar) -> bool:
    """Whether no word of a name or an address was ever heard."""
    if re.fullmatch(r"[A-Z]{3}", text) or known.has_text(text) or known.has_code(closed(text)):
        return False
    words = re.findall(r"[a-z]{3,}", plain(text))
    han = [
        text[i : i + 2] for i in range(len(text) - 1) if re.fullmatch(r"[\u4e00-\u9fff]{2}", text[i : i + 2])
    ]
    return (
        bool(words or han)
        and not any(known.has_words([w]) for w in words)
        and not any(map(known.has_text, han))
    )


def _made_up_number(number: float, heard: _Heard, *, of_people: bool = False) -> bool:
    known = heard.known
    spans = any(number * unit in known.spans for unit in (1.0, 60.0, 1440.0, 10080.0))
    two_days = max(len(known.full_dates), len(known.dates)) >= 2  # of which it may be the nights
    if number <= 1 or spans or (two_days and not of_people) or (number == 2 and _PAIR.search(heard.speech)):
        return False
    if of_people:
        return number not in known.spoken
    return not (known.has_number(number, 2) or known.follows(number, 2))


def _made_up_value(value: TextValue, heard: _Heard) -> bool:
    known = heard.known
    if value.kind in ("date", "weekday", "day"):
        return _made_up_day(value, heard)
    if value.kind == "clock":
        vague = not known.clocks and _PART_OF_DAY.search(heard.speech)
        return not (known.has(value) or vague or _bare_hour(value, known))
    if value.kind == "money":
        return not (known.has(value) or known.follows(value.amount, value.decimals))
    return value.kind == "number" and _made_up_number(value.amount, heard)


def _made_up_day(value: TextValue, heard: _Heard) -> bool:
    known = heard.known
    if not _RELATIVE.search(heard.speech):
        return not (known.has(value) and (known.dates or known.weekdays or known.days))
    if value.kind != "weekday" or known.full_dates or _NEAR_DAY.search(heard.speech):
        return False
    return bool(known.weekdays) and value.amount not in known.weekdays


def _bare_hour(value: TextValue, known: KnownSoFar) -> bool:
    hours = {n % 12 for n in known.numbers if 1 <= n <= 24}
    return value.amount % 60 == 0 and (value.amount / 60) % 12 in hours


_KINDS: Final = (
    (re.compile(r"day$|date"), frozenset({"date", "weekday", "day"})),
    (re.compile(r"time$|leaveat|arriveby|hour"), frozenset({"clock"})),
    (re.compile(r"people|stay|guests|nights|tickets|party|count"), frozenset({"number", "time_span"})),
)


def _given(slot: str, arguments: Sequence[tuple[str, object]], speech: str) -> bool:
    """Whether a slot of the policy stands in a call, under whatever name, or in what the user said."""
    if slot in _OF_PERSON:
        asked, gives = _OF_PERSON[slot]
        return bool(gives.search(speech)) or any(asked.search(name) for name, _ in arguments)
    bare = slot.replace("_", "").lower()
    short = bare.removeprefix("book")
    names = {re.sub(r"[\W_]+", "", name).lower() for name, _ in arguments}
    if any(short in name or name in bare for name in names if len(name) > 2):
        return True
    kinds = next((kinds for pattern, kinds in _KINDS if pattern.search(short)), None)
    if kinds is None:
        return True
    texts = [speech, *(str(value) for _, value in arguments)]
    if any(v.kind in kinds for text in texts for v in read_values(text)):
        return True
    return bool((_PAIR if "number" in kinds else _RELATIVE).search(speech))


# After a search


def _too_many(turn: TurnView, calls: Sequence[ToolOutcome], duty: Duty) -> Iterator[Signal]:
    """Yield a reply that chooses for the user, or lists everything, where a search returned many."""
    if duty.threshold is None or not calls or _ANY_WILL_DO.search(turn.user.text):
        return
    searches = [c for c in calls if not c.acts]
    entries = searches[-1].result.entries if searches else None
    if entries is None:
        return
    result, reply = searches[-1].result, turn.reply.text
    facts = {"n": entries, "threshold": duty.threshold}
    named = _named(result, plain(reply))
    if entries <= duty.threshold:
        if entries and result.lists and calls[-1] is searches[-1] and _withholds(reply, named):
            yield finding(turn, "withholds_results", 0.7, reply, "policy", None, n=entries)
        return
    booked = any(c.acts and _BOOKS.search(c.tool.name) for c in calls[calls.index(searches[-1]) :])
    few = not duty.strict and len(named) <= _ENOUGH and _says_many(reply, entries)
    chooses = (named or booked or _CHOOSES.search(reply)) and not (few or (_narrows(reply) and not booked))
    if len(named) > duty.threshold or chooses:
        yield finding(turn, "too_many_results", 0.75, reply, "policy", None, **facts)


_CHOOSES: Final = re.compile(
    r"\b(?:i(?:'d| would)? (?:recommend|suggest)|how about|here (?:is|are)|i(?:'ve| have) (?:booked|picked|chosen))\b|推荐|以下是|为您(?:选|挑|订)",
    re.IGNORECASE,
)


def _withholds(reply: str, named: set[str]) -> bool:
    """Whether a reply names nothing of the few results, asks nothing and denies nothing."""
    if named or re.search(r"[?？\d]", reply) or NOTHING.search(reply):
        return False
    return bool(FINDS.search(reply)) and not _REQUESTS.search(reply)


def _named(result: Found, speech: str) -> set[str]:
    """Return the names of records that stand in a reply."""
    fields = (v for rows in result.lists for row in rows for _, v in row.fields)
    return {plain(v) for v in fields if isinstance(v, str) and _is_name(v) and plain(v) in speech}


def _is_name(text: str) -> bool:
    if re.search(r"[A-Z]\w+ [A-Z]|[\u4e00-\u9fff]{3,}|^[A-Z][a-z]{3,}$", text):
        return True
    return " " in text and len(text) > 6 and not re.search(r"\d|[.;]", text)


def _says_many(reply: str, entries: int) -> bool:
    counted = any(v.kind == "number" and v.amount == entries for v in read_values(reply))
    return (counted or bool(_MANY.search(reply))) and _narrows(reply)


def _narrows(reply: str) -> bool:
    """Whether a reply asks for what narrows the results down, and not whether to book."""
    questions = [c.text for c in read_clauses(reply) if c.text.rstrip()[-1:] in "?？"]
    asks = any(_NARROWS.search(_PICKS.sub("", q)) and not _OFFERS.search(q) for q in questions)
    return asks or bool(_REQUESTS.search(reply))
