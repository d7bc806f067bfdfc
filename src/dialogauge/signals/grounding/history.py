"""Replies and actions against what the user said: details that are asked for again, other choices than named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from dialogauge.signals.dialogue import Dialogue, TurnView
from dialogauge.signals.grounding.duties import FREE
from dialogauge.signals.grounding.known import plain, stemmed
from dialogauge.signals.grounding.reading import ToolOutcome, arguments_of, calls_of
from dialogauge.signals.grounding.results import Found
from dialogauge.signals.grounding.values import TextValue, read_values
from dialogauge.signals.signal import Signal, finding

# ruff: noqa: E501 - a pattern is read as a whole

_ASKING: Final = re.compile(
    r"[?？]|\b(?:please (?:provide|tell|share|give|specify|let me know)|could you (?:provide|tell|share|give))\b|请(?:您)?(?:再)?(?:提供|告诉|告知|说|发)",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    r"\b(?:confirm|correct\w*|right|another|other|new|different|else|verify|change|double-?check)\b|确认|对吗|新的|其他|另|改",
    re.IGNORECASE,
)
_NEW_MATTER: Final = re.compile(
    r"\b(?:another|different|else|other|instead|wrong)\b|另|别的|还要|换|其他",
    re.IGNORECASE,
)
_OTHER_ONE: Final = re.compile(r"\b(?:another|also|different|other|new)\b|另|别的|其他|还有", re.IGNORECASE)
_CANNOT: Final = re.compile(
    r"\b(?:couldn't|could not|can't|cannot|unable|not (?:found|valid|match)|no (?:match|record|account|order|reservation)|error|incorrect|invalid|fail)|没(?:有)?(?:找到|查到)|找不到|有误|不正确",
    re.IGNORECASE,
)
_N: Final = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)"
_HAN_N: Final = r"[\d一二两三四五六七八九十]+"
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"


def _slot(asks: str, gives: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(asks, re.IGNORECASE), re.compile(gives, re.IGNORECASE)


_SLOTS: Final = (
    _slot(
        r"\bhow many (?:people|guests|persons|tickets|passengers|travell?ers|seats)\b|\b(?:party size|number of (?:people|guests|tickets|passengers))\b|几位|几个人|多少人|几张|人数",
        rf"\b{_N}\s+(?:people|guests|persons|adults|of us|tickets|passengers|seats)|\b(?:table|room|party|group) (?:for|of) {_N}\b|{_HAN_N} ?(?:个人|位|人|张)",
    ),
    _slot(
        r"\bhow many nights|how long (?:will|would|are) you (?:be )?stay|几晚|住多久|住几",
        rf"\b{_N} nights?\b|{_HAN_N} ?晚",
    ),
    _slot(
        r"\bwhere (?:would you like to be|should (?:we|the (?:taxi|driver|car)) |will you be|are you|do you want to be) ?(?:picked up|pick you up|leaving from|departing from|travell?ing from)|\bpick-?up (?:location|point|address)\b|\bwhere are you (?:leaving|departing|travell?ing|flying|coming) from|从哪(?:里|儿)?(?:出发|上车)|上车地点|出发地",
        r"\bfrom (?:the )?\w|从.{1,12}(?:到|去|出发)",
    ),
    _slot(
        r"\bwhere (?:would you like to go|are you (?:going|headed|travell?ing|flying)(?: to)?|do you want to go|should .{0,20}(?:drop|take) you)\b|\b(?:your|the) destination\b|去哪(?:里|儿)|目的地",
        r"\b(?:taxi|train|flight|ticket|bus|car|go|going|travel\w*|fly\w*|from \w+) to (?:the )?\w+|(?:到|去)[\u4e00-\u9fff]{2,}",
    ),
    _slot(
        r"\bwhat time\b|几点|什么时间",
        rf"\b\d{{1,2}}(?::\d{{2}})? ?[ap]\.?m\b|\b\d{{1,2}}:\d{{2}}\b|{_HAN_N}点",
    ),
    _slot(
        r"\b(?:what|which) (?:day|date)\b|\bwhat dates\b|哪(?:一)?天|什么日期|几号",
        rf"\b(?:on|next|this) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b|明天|后天|周[一二三四五六日]|\d月\d+|\b(?:from|on) \d{{1,2}}(?:st|nd|rd|th)? {_MONTH}|\b{_MONTH}[a-z]* \d{{1,2}}\b|\d{{4}}-\d\d-\d\d",
    ),
    _slot(
        r"\b(?:which|what) (?:\w+ )?model\b|(?:什么|哪[个款种]?)型号",
        r"\b[A-Z][a-z]+ [A-Z]+\d+\w*\b|型号是?[A-Za-z\d]",
    ),
)
"""How a detail is asked for, and how it is given."""
_ID_ASKED: Final = re.compile(
    r"\b(order|reservation|booking|tracking|ticket|account|confirmation|case|claim|policy|prescription|invoice)(?:'s)? (?:number|id|no\b|code|reference)|快递|运单|物流|包裹|订单|单号|预订号|工单",
    re.IGNORECASE,
)
_HAN_ID: Final = re.compile(r"(?:单号|快递|运单|包裹|订单|预订号|工单)[^。?!]{0,8}?[A-Za-z0-9-]{5,}")
_LONGEST: Final = 500
"""Characters of a reply that asks; a longer one answers something."""


def find_forgotten(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield questions for a detail that the user gave in this matter, and actions against the user's choice."""
    users: list[tuple[int, str]] = []
    named: list[tuple[int, str]] = []
    replies: list[str] = []
    rivals = {word: set(group) - {word} for group in _CHOICES for word in group}
    for turn in dialogue.turns:
        if _NEW_MATTER.search(turn.user.text):
            users.clear()
        if _OTHER_ONE.search(turn.user.text):
            named.clear()
        users.append((turn.number, turn.user.text))
        named.append((turn.number, turn.user.text))
        for call in calls_of(dialogue)[turn.number]:
            if turn.replied and not call.thinks:
                yield from _against(turn, call, [text for _, text in users], replies, rivals)
            _note_rivals(call.result, rivals)
        if turn.replied:
            yield from _asks_given(turn, users, named)
            yield from _misquotes(turn, [t.user.text for t in dialogue.turns if t.number <= turn.number])
        replies.append(turn.reply.text)


# Questions for what was given


def _asks_given(
    turn: TurnView, users: Sequence[tuple[int, str]], named: Sequence[tuple[int, str]]
) -> Iterator[Signal]:
    if _CANNOT.search(turn.reply.text) or len(turn.reply.text) > _LONGEST:
        return
    for sentence in turn.reply.sentences:
        text = sentence.text
        if not _ASKING.search(text) or _MORE.search(text):
            continue
        amounts = (_turn_of(gives, users) for asks, gives in _SLOTS if asks.search(text))
        number = next((n for n in (_id_given(text, named), *amounts) if n is not None), None)
        if number is not None:
            yield finding(turn, "asks_known", 0.7, text, "cohesion", "forgotten_fact", turn=number)
            return


def _id_given(sentence: str, users: Sequence[tuple[int, str]]) -> int | None:
    """Return the turn in which the user gave the number that is asked for, of the same kind of thing."""
    asked = _ID_ASKED.search(sentence)
    if asked is None:
        return None
    if asked[1] is None:
        return _turn_of(_HAN_ID, users)
    pattern = rf"\b{asked[1]}\b[^.?!\n]{{0,25}}?(?:#\w{{3,}}|\b(?=\w*\d)[\w-]{{5,}})|#\w*\d\w*"
    return _turn_of(re.compile(pattern, re.IGNORECASE), users)


def _turn_of(gives: re.Pattern[str], users: Sequence[tuple[int, str]]) -> int | None:
    return next((number for number, text in users if gives.search(text)), None)


# What the user is said to want


_SAID_TO_WANT: Final = re.compile(
    r"(?:按|照|如)(?:照)?您(?:说|要求|提到?)的?,?要(?P<a>[\u4e00-\u9fff\d]{2,6}?)(?:的|[,,。])"
    r"|\byou (?:asked for|wanted|requested|(?:said|told me) you (?:want|like|wanted|liked)) (?:an? |the |some )?(?P<b>[a-z]{4,})",
    re.IGNORECASE,
)


def _misquotes(turn: TurnView, users: Sequence[str]) -> Iterator[Signal]:
    """Yield a wish that a reply says the user has, where the user ruled that very thing out."""
    speech = plain("\n".join(users))
    for m in _SAID_TO_WANT.finditer(turn.reply.text):
        word = plain(m["a"] or m["b"])
        no = (
            rf"(?:不要|不想要|别要|不吃|不喝){word}"
            if m["a"]
            else rf"\b(?:no|not|without|don't (?:want|like)|avoid) (?:an? |any |the )?{word}"
        )
        if (ruled := re.search(no, speech)) is not None:
            yield finding(
                turn, "acts_against", 0.75, m[0], "cohesion", "ignored_correction", what=m[0], wish=ruled[0]
            )
            return


# Actions against a choice


_CHOICES: Final = (
    ("cheap", "moderate", "expensive"),
    ("north", "south", "east", "west", "centre"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("economy", "business", "first class"),
    ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
    ("今天", "明天", "后天"),
    ("上午", "下午", "晚上"),
)
"""Words of which one excludes the others."""
_COUNTED_KEYS: Final = (
    (re.compile(r"people|guests|party|persons|passengers|tickets|人数|张数", re.IGNORECASE), _SLOTS[0][1]),
    (re.compile(r"nights|stay|晚数", re.IGNORECASE), _SLOTS[1][1]),
)


def _other_number(arguments: Sequence[tuple[str, object]], users: Sequence[str]) -> tuple[str, str] | None:
    """Return a number of people or nights of a call where the user last named another."""
    for name, value in arguments:
        for keys, gives in _COUNTED_KEYS:
            wish = next((m[0] for text in reversed(users) if (m := gives.search(text))), None)
            if wish is None or not keys.search(name) or not re.fullmatch(r"\d{1,2}", str(value)):
                continue
            numbers = {v.amount / (1440 if v.kind == "time_span" else 1) for v in read_values(wish)}
            if numbers and float(str(value)) not in numbers:
                return f"{name}={value}", wish
    return None


def _note_rivals(result: Found, rivals: dict[str, set[str]]) -> None:
    """Remember words that stand for one another: numbers under names beside each other, values of one key."""
    groups: dict[str, set[str]] = {}
    for key, value in (field for rows in result.lists for row in rows for field in row.fields):
        if isinstance(value, int | float) and not isinstance(value, bool):
            groups.setdefault("\0", set()).add(plain(key))
        elif isinstance(value, str) and 0 < len(value) <= 24 and not re.search(r"\d", value):
            groups.setdefault(key, set()).add(plain(value))
    for group in groups.values():
        if 2 <= len(group) <= 12:
            for word in group:
                rivals.setdefault(word, set()).update(group - {word})


def _against(
    turn: TurnView,
    call: ToolOutcome,
    users: Sequence[str],
    replies: Sequence[str],
    rivals: Mapping[str, set[str]],
) -> Iterator[Signal]:
    """Yield an action with another amount, time or choice than the one that the user named."""
    arguments = arguments_of(call.tool)
    of_call = _other_amount(arguments, users[-1]) if call.acts else None
    wrong = (
        of_call
        or _other_number(arguments, users)
        or _other_choice(arguments, plain("\n".join(users)), plain("\n".join(replies[-2:])), rivals)
    )
    if wrong is not None:
        what, wish = wrong
        quote = f"{call.tool.name}({what})"
        yield finding(
            turn, "acts_against", 0.75, quote, "cohesion", "ignored_correction", what=what, wish=wish
        )


def _other_choice(
    arguments: Sequence[tuple[str, object]], speech: str, offered: str, rivals: Mapping[str, set[str]]
) -> tuple[str, str] | None:
    for name, value in arguments:
        word = plain(value) if isinstance(value, str) and "name" not in name else ""
        chosen = sorted(w for w in rivals.get(word, ()) if _stands_in(w, speech))
        if chosen and not _stands_in(word, speech) and not _stands_in(word, offered):
            return f"{name}={value}", chosen[0]
    return None


def _other_amount(arguments: Sequence[tuple[str, object]], request: str) -> tuple[str, str] | None:
    """Return the one amount or time of a call where the request names one of the kind, and another."""
    for kinds in (("money", "number"), ("clock",)):
        asked = [v for v in read_values(request) if v.kind in kinds and not _of_things(v, request)]
        amounts = [
            (name, value, read)
            for name, value in arguments
            if not FREE.search(name) and not re.search(r"\bid$|_id|number$|no$", name)
            for read in _amounts(value)
            if read.kind in kinds and read.amount > 1
        ]
        if len({v.amount for v in asked}) == len(amounts) == 1 and not _meant(
            asked[0], amounts[0][2], request
        ):
            return f"{amounts[0][0]}={amounts[0][1]}", asked[0].written
    return None


_ORDINAL: Final = re.compile(r"[\w ]*(?:items?|nd|st|th|ones?|options?|bags?)\b")


def _of_things(value: TextValue, request: str) -> bool:
    """Whether a number counts things, and is no amount."""
    return value.kind == "number" and (value.amount < 100 or bool(re.match(r" ?[a-z]", request[value.end :])))


def _meant(wish: TextValue, amounts: TextValue, request: str) -> bool:
    if amounts.amount == wish.amount or (wish.kind == "clock" and amounts.amount % 720 == wish.amount % 720):
        return True
    return wish.kind == "number" and bool(_ORDINAL.match(request[wish.end : wish.end + 16]))


def _amounts(value: object) -> tuple[TextValue, ...]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (TextValue("number", float(value), "", str(value), 0, 0),)
    return read_values(value) if isinstance(value, str) and len(value) <= 20 else ()


def _stands_in(word: str, text: str) -> bool:
    if not word.isascii():
        return word in text
    return bool(re.search(rf"(?<![a-z]){re.escape(stemmed(word))}", text))
