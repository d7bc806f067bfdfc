"""Values in a text: clock times, dates, codes, amounts and counts, each in one form however it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from dialogauge.core.patterns import lazy_pattern

# ruff: noqa: E501, SIM905 - a pattern is read as a whole, and so is a list of words

TextValueKind = Literal["clock", "date", "weekday", "code", "money", "percent", "time_span", "day", "number"]

_NUM = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_MONTHS = {m: i for i, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\b\.?"
_DAYS = {d: i for i, d in enumerate("mon tue wed thu fri sat sun".split(), 1)}
_ZH_DAYS = {d: i for i, d in enumerate("一二三四五六日", 1)} | {"天": 7, "末": 6}
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = (
    {"a": 1.0, "an": 1.0}
    | {w: float(i) for i, w in enumerate(_ONES)}
    | {w: 10.0 * i for i, w in enumerate(_TENS, 2)}
)
NUMBER_WORD = rf"(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(sorted(_ONES[1:], key=len, reverse=True))}"
"""A pattern of English numbers in words."""
_HAN = r"[零一二两三四五六七八九十百千]+"
_UNITS = (
    (r"s|sec|second|秒", 1 / 60), (r"min|minute|分钟", 1.0), (r"h|hr|hour|个?小时|个钟头", 60.0),
    (r"day|night|天|晚|夜", 1440.0), (r"week|周|个星期", 10080.0), (r"month|个月", 43200.0), (r"year|年", 525600.0),
)  # fmt: skip
_SPAN = rf"(?P<n>{_NUM}|\b(?:{NUMBER_WORD}|an?)\b|{_HAN})[- ]?(?:more |business |working |full )?(?P<unit>(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|months?|years?|h|min)\b|个?小时|个钟头|分钟|秒钟?|天(?![气津])|晚(?![上餐饭])|夜|周(?![一二三四五六日末])|个星期|个月)"
_DATE = (
    r"\b\d{4}[-/](?P<m0>\d{1,2})[-/](?P<d0>\d{1,2})(?:T(?=\d{2}:\d{2}))?"
    r"|(?:\d{4} ?年 ?)?(?P<m3>\d{1,2}) ?月 ?(?P<d3>\d{1,2}) ?[日号]?"
    rf"|\b(?P<m1>{_MONTH}) ?(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:|\d)(?:,? ?\d{{4}}\b)?"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m2>{_MONTH})(?:,? ?\d{{4}}\b)?"
    r"|\b(?P<m4>\d{1,2})/(?P<d4>\d{1,2})(?P<y4>/(?:\d{4}|\d{2}))?\b"
    r"|\bthe (?P<d5>\d{1,2})(?:st|nd|rd|th)\b(?! (?:floor|time|option|one|item|row|street|avenue|century|anniversary))"
    r"|(?<![\d月路街巷道弄栋院第])(?P<d6>\d{1,2})[日号](?!线|楼|店|门|院|码|机|车|厅|桌|位)"
)
_PART_OF_DAY = r"(?:(?P<part{0}>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|晚)\s?)?"
_CLOCK = (
    r"(?P<h0>\d{1,2})(?::(?P<n0>\d{2}))? ?(?:-|–|to|until|and) ?(?=\d{1,2}(?::\d{2})? ?(?P<pm0>[ap]\.?m\b))"
    r"|\b(?P<h1>\d{1,2})[:.](?P<n1>\d{2})(?::\d{2})? ?(?P<pm1>[ap]\.?m\b\.?)"
    r"|\b(?P<h2>\d{1,2}) ?(?P<pm2>[ap]\.?m\b\.?)"
    rf"|{_PART_OF_DAY.format(3)}(?<![\d.])(?<!\d:)(?P<h3>\d{{1,2}})[:：](?P<n3>\d{{2}})(?::\d{{2}}(?:\.\d+)?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?(?![\d:])"
    rf"|{_PART_OF_DAY.format(4)}(?P<h4>\d{{1,2}}|{_HAN})[点點](?!半?(?:评|左右手))(?P<n4>半|一刻|三刻|\d{{1,2}}|[零一二三四五]?十[一二三四五六七八九]?|零[一二三四五六七八九]|[一二三四五六七八九](?=分))?(?:分|钟)?"
    rf"|\b(?P<h6>\d{{1,2}}|{NUMBER_WORD}) o'?clock\b|\b(?P<word7>noon|midnight)\b"
)
_WEEKDAY = r"\b(mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:days?)?\b(?![-/](?!(?:mon|tue|wed|thu|fri|sat|sun)))|(?:周|星期|礼拜)([一二三四五六日天])"
_DAY = r"\b(?:the day after tomorrow|tomorrow)\b|大后天|后天|明[天日晚早]|次日"
_MONEY = rf"(?:[$£€¥￥]|\b(?:usd|gbp|eur|cny|rmb|chf)\b ?)\s?(?P<a>{_NUM})|(?P<b>{_NUM}|{_HAN}) ?(?:(?:dollars?|usd|euros?|eur|pounds?|gbp|yuan|rmb|cny|chf)\b|[€£]|元(?![素旦宵])|块钱?|万元)"
_PERCENT = rf"(?P<a>{_NUM}) ?(?:%|percent\b|per cent\b)|百分之(?P<b>{_NUM}|{_HAN})"
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+|\bwww\.\S+"
_PHONE = r"(?<![A-Za-z0-9_.,-])(?:\+\d{1,3} ?)?(?:\(\d{2,5}\) ?)?(?=(?:[\d -]*\d){7})\d[\d -]{5,}\d(?![A-Za-z0-9_-])"
_CODE = r"#?[A-Za-z0-9]+(?:[-_·][A-Za-z0-9]+)*"
_NO_CODE = lazy_pattern(
    r"(?i)\d+(?:st|nd|rd|th|s|x|k)\b|\d+(?:\.\d+)?(?:mm|cm|km|kg|mg|ml|gb|tb|mb|ft|sq|am|pm|min|mins|h|hr|hrs|l|g|m|w|v|oz|lb|lbs|pcs|inch|in|hz|ghz|mah)\b|[a-z]-?\d$|\d+-(?:[A-Za-z]+-?)+\d*"
)
_COUNTED = rf"(?<!第)(?!一[个位种款次下])(?P<n>{_NUM}|{_HAN})(?P<m>[个家趟本张种款位名件条间次套份班辆台部双项处座只副篇人档门])"
_HAN_NUMBER = r"(?<![零一二两三四五六七八九十百千第])[一二两三四五六七八九][百千万][零一二三四五六七八九十百千]*(?!分之)"
_NUMBER = rf"(?<![A-Za-z0-9_.,:/#-])(?P<n>{_NUM}|(?!one\b)(?:{NUMBER_WORD}))(?![0-9_:/]|[.,]\d|(?!(?:mm|cm|km|kg|mg|g|ml|l|gb|tb|mb|ft|m|w|in|inch|oz|lbs?|pcs|mah|hz)\b)[A-Za-z])"
_LIST_MARK = lazy_pattern(
    r"(?im)(?:^|(?<=[\n。;；])|(?<=[::] ))[ \t>*_#-]*(?:\(?\d{1,2}[.)、:]|（\d{1,2}）|\d{1,2}\. )(?!\d)|\b(?:option|step|flight|item|choice|room|stage|leg|segment|passenger|no\.?|number|round|part|section|chapter)\s*#?\d{1,2}\b(?!\d|[:.]\d)|(?:选项|方案|步骤|第)\s*[\d一二三四五六七八九十]+"
    r"|[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}"
)


@dataclass(frozen=True, slots=True)
class TextValue:
    """One value in a text."""

    kind: TextValueKind
    amount: float
    """Minutes, 100 x month + day, the day of the week, days from today, or the number; 0 for a code."""
    text: str
    """Letters and digits of a code in lower case; empty for others."""
    written: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def read_values(text: str) -> tuple[TextValue, ...]:
    """Return the values of a text in order; marks of lists and Markdown are none."""
    rest = _LIST_MARK.sub(lambda m: " " * len(m[0]), text)
    out: list[TextValue] = []
    for kind, pattern, amount_of in _READERS:
        spans = []
        for m in pattern.finditer(rest):
            amount = amount_of(m)
            if amount is not None:
                code = closed(m[0]) if kind == "code" else ""
                out.append(TextValue(kind, amount, code, m[0].strip(), m.start(), m.end()))
                spans.append(m.span())
        for start, end in reversed(spans):
            rest = rest[:start] + " " * (end - start) + rest[end:]
    return tuple(sorted(out, key=lambda v: v.start))


def number_of(text: str) -> float | None:
    """Return the number that digits, English or Chinese words spell, with thousands by commas."""
    if re.fullmatch(rf"-?(?:{_NUM})", text):
        return float(text.replace(",", ""))
    parts = re.split(r"[- ]", text.lower())
    if all(p in _WORDS for p in parts):
        return sum(_WORDS[p] for p in parts)
    return _han_number(text)


def _han_number(text: str) -> float | None:
    digits = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"两": 2}
    total, current, seen = 0, 0, False
    for char in text:
        if char in digits:
            current, seen = digits[char], True
        elif char in "十百千万":
            total += (current if seen else 1) * {"十": 10, "百": 100, "千": 1000, "万": 10_000}[char]
            current, seen = 0, False
        else:
            return None
    return float(total + current) if text else None


def closed(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return re.sub(r"[\W_]+", "", text).lower()


def _mixed(m: re.Match[str]) -> float | None:
    """Take codes of letters and digits, or of five digits and more."""
    word = m[0]
    digits, letters = sum(c.isdigit() for c in word), sum(c.isalpha() for c in word)
    if not digits or _NO_CODE.fullmatch(word):
        return None
    if letters:
        few = digits < 2 and len(word) < 6 and not re.fullmatch(r"[A-Z]+\d+[A-Z]*\d*", word)
        return None if few else 0.0
    around = m.string[max(0, m.start() - 2) : m.start()].strip()[-1:], m.string[m.end() : m.end() + 2]
    part = around[0] in ("$", "£", "€", "¥", "￥", ".", ",") or re.match(r"[.,]\d", around[1])
    return None if part or digits < 5 + ("-" in word) else 0.0


def _date(m: re.Match[str]) -> float | None:
    named = m["m1"] or m["m2"]
    month = _MONTHS[named[:3].lower()] if named else int(m["m0"] or m["m3"] or m["m4"] or 0)
    day = int(next(g for g in (m[f"d{i}"] for i in range(7)) if g))
    if m["m4"] and m["y4"] is None and (day <= 12 or day > 31):
        return None  # 24/7, or a fraction
    return 100.0 * month + day if 1 <= day <= 31 and month <= 12 else None


def _clock(m: re.Match[str]) -> float | None:
    if m["word7"]:
        return 720.0 if m["word7"].lower() == "noon" else 0.0
    hour = number_of(next(g for g in (m[f"h{i}"] for i in (0, 1, 2, 3, 4, 6)) if g))
    minute_text = m["n0"] or m["n1"] or m["n3"] or m["n4"] or "0"
    minute = {"半": 30.0, "一刻": 15.0, "三刻": 45.0}.get(minute_text, number_of(minute_text))
    if hour is None or minute is None or hour > 24 or minute > 59 or m[0] in ("一点", "点"):
        return None  # `一点` is a little
    mark, part = (m["pm0"] or m["pm1"] or m["pm2"] or "").lower(), m["part3"] or m["part4"] or ""
    if (mark or part) and hour <= 12:
        late = mark.startswith("p") or part in ("下午", "傍晚", "晚上", "夜里", "晚") or part == "中午"
        hour = hour % 12 + (12 if late and not (part == "中午" and hour == 11) else 0)
    return (60 * hour + minute) % 1440


def _weekday(m: re.Match[str]) -> float | None:
    if m[1] and "day" not in m[0].lower() and not m[0][0].isupper():
        return None  # sat, sun, wed as words
    return float(_DAYS[m[1][:3].lower()] if m[1] else _ZH_DAYS[m[2]])


def _span(m: re.Match[str]) -> float | None:
    number, unit = number_of(m["n"]), m["unit"].lower()
    factor = next((f for names, f in _UNITS if re.fullmatch(rf"(?:{names})(?:s|钟)?", unit)), 1.0)
    return round(number * factor, 4) if number else None


def _amount(m: re.Match[str]) -> float | None:
    number = number_of(m["a"] or m["b"])
    return None if number is None else number * (10_000 if "万元" in m[0] else 1)


def _readers() -> Iterator[tuple[TextValueKind, re.Pattern[str], Callable[[re.Match[str]], float | None]]]:
    """Yield the readers in the order in which they take from a text."""
    days = {"大后天": 3.0, "后天": 2.0, "the day after tomorrow": 2.0}
    patterns: tuple[tuple[TextValueKind, str, Callable[[re.Match[str]], float | None]], ...] = (
        ("code", _EMAIL, lambda _: 0.0),
        ("date", _DATE, _date),
        ("clock", _CLOCK, _clock),
        ("weekday", _WEEKDAY, _weekday),
        ("day", _DAY, lambda m: days.get(m[0].lower(), 1.0)),
        ("code", _PHONE, lambda _: 0.0),
        ("percent", _PERCENT, _amount),
        ("money", _MONEY, _amount),
        ("time_span", _SPAN, _span),
        ("code", _CODE, _mixed),
        ("number", _COUNTED, lambda m: number_of(m["n"])),
        ("number", _HAN_NUMBER, lambda m: number_of(m[0])),
        ("number", _NUMBER, lambda m: number_of(m["n"])),
    )
    return ((kind, re.compile(pattern, re.IGNORECASE), read) for kind, pattern, read in patterns)


_READERS = tuple(_readers())
