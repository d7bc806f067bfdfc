"""Facts with a value: what a sentence says is so many days, so much money, at that hour."""

# ruff: noqa: E501 - a pattern is read as a whole, not in lines
from __future__ import annotations

import re
from dataclasses import dataclass

from dialogauge.signals.lazy import lazy
from dialogauge.text import content_marks, pieces

__all__ = ["Clause", "Fact", "holds_value", "read_facts"]

_MONTHS = {
    m: i
    for i, m in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_DAYS = {d: i for i, d in enumerate(["mon", "tue", "wed", "thu", "fri", "sat", "sun"], 1)}
_ZH_DAYS = {d: i for i, d in enumerate("一二三四五六日", 1)} | {"天": 7}
_ZH_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九十")} | {"两": 2, "半": 0.5}
_WORDS = {
    w: i
    for i, w in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
}

_NUM = r"(\d[\d,]*(?:\.\d+)?|(?<![零一二三四五六七八九十百千万])[零一二三四五六七八九十两半](?![一二三四五六七八九十])|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)"
_UNITS = {
    "people": r"(?:people|persons?|guests?|adults|passengers|travell?ers|participants|attendees|(?:个|位|名)(?:人|客人|宾客|大人)|人(?![民生间际均工物口员类家力数次选均]))",
    "night": r"(?:nights?|晚(?![上餐饭会])|夜)",
    "day": r"(?:days?|天(?![气空下然津])|日游)",
    "week": r"(?:weeks?|周(?![一二三四五六日末边围岁年])|个星期)",
    "month": r"(?:months?|个月)",
    "year": r"(?:years?|年(?![级纪龄轻底初代会货夜]))",
    "hour": r"(?:hours?|hrs?\b|个?小时|个钟头)",
    "minute": r"(?:minutes?|mins?\b|分钟)",
    "percent": r"(?:%|percent|per cent|折)",
    "km": r"(?:km\b|kilomet(?:er|re)s?|公里|千米)",
    "metre": r"(?:m\b|met(?:er|re)s?|米)",
    "mile": r"(?:miles?\b)",
    "kg": r"(?:kg\b|kilos?|公斤|千克)",
    "gram": r"(?:g\b|grams?|克(?![力拉服]))",
    "money": r"(?:dollars?|usd|euros?|eur\b|pounds?|gbp|yuan|rmb|cny|元(?![素旦宵])|块(?:钱)?|万元?)",
    "calorie": r"(?:k?cal\b|calories|千卡|大卡|卡路里)",
    "degree": r"(?:°c?|degrees?|度(?![假过量数]))",
}  # fmt: skip
_QUANTITY = re.compile(rf"{_NUM} ?-?(?:{'|'.join(f'(?P<{name}>{unit})' for name, unit in _UNITS.items())})")
_CURRENCY = re.compile(r"(?:[$£€¥]|rmb ?|usd ?)(\d[\d,]*(?:\.\d+)?)")
_CLOCK = re.compile(
    r"\b(\d{1,2})(?::(\d{2}))? ?(am|pm|a\.m\.|p\.m\.)|\b(\d{1,2}):(\d{2})\b|(上午|下午|晚上|早上|中午)? ?(\d{1,2}) ?点(半)?"
)
_DATE = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th)? (?:of )?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
    r"|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (\d{1,2})\b(?!:)|(\d{1,2}) ?月 ?(\d{1,2}) ?[日号]|\b\d{4}-(\d{2})-(\d{2})\b"
)
_WEEKDAY = re.compile(
    r"\b(mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?days?\b|(?:周|星期|礼拜)([一二三四五六日天])"
)
# What a clause must hold for the pattern to match: cheaper to look for.
_CLOCK_SIGN = re.compile(r"\d(?::\d\d| ?(?:[ap]\.?m|点))")
_DATE_SIGN = re.compile("|".join(["月", "-", *_MONTHS]))
_WEEKDAY_SIGN = re.compile("day|周|星期|礼拜")
_CLAUSE = re.compile(r"[,;。；!?](?= |[^\d]|$)|\.(?= |$)|\n| (?:and|but|while|then|plus) |而|但|并且|另外")


@dataclass(frozen=True)
class Clause:
    """A part of a sentence, and the values in it as they are written."""

    text: str
    values: tuple[str, ...]

    @lazy
    def terms(self) -> frozenset[str]:
        """The content terms of the rest, Chinese ones as single characters."""
        rest = self.text
        for value in self.values:
            rest = rest.replace(value, " ")
        return content_marks(pieces(rest))


@dataclass(frozen=True, slots=True)
class Fact:
    """One value and what it is a value of."""

    unit: str
    value: str
    shown: str
    """The value as written."""
    clause: Clause
    """What stands around it."""
    sentence: str
    sole: bool = True
    """Whether its clause holds no other value of the unit."""

    @property
    def key(self) -> frozenset[str]:
        """Content terms of the clause around the value; single characters in Chinese."""
        return self.clause.terms


# One set of first characters, then what follows each: a regular expression skips to such a set quickly.
_MAYBE = re.compile(
    r"[\d$£€¥周星礼一二三四五六七八九十两半dotfsenjma](?:"
    r"(?<=\d)(?: ?-?(?:[人位名晚夜天周个月年小分%％公千米克元块万度点日号折:：°]|[a-z])|\d{3}-\d\d)"
    r"|(?<=[$£€¥]) ?\d|(?:(?<=周)|(?<=星)期|(?<=礼)拜)[一二三四五六日天]"
    r"|(?<=[一二三四五六七八九十两半])(?: ?(?:[人位名晚夜天周年分元块万度点折]|个(?:人|月|星期|小时)|小时|公里|公斤|米))"
    r"|(?<=d)ay\b|(?:(?<=\bo)ne|(?<=\bt)(?:wo|hree|en|welve)|(?<=\bf)(?:our|ive)|(?<=\bs)(?:ix|even)"
    r"|(?<=\be)(?:ight|leven)|(?<=\bn)ine)\b"
    r"|(?:(?<=\bj)(?:an|un|ul)|(?<=\bf)eb|(?<=\bm)(?:ar|ay)|(?<=\ba)(?:pr|ug)|(?<=\bs)ep"
    r"|(?<=\bo)ct|(?<=\bn)ov|(?<=\bd)ec)[a-z]* \d)"
)


def holds_value(text: str) -> bool:
    """Say at little cost whether a text may hold a fact."""
    return bool(_MAYBE.search(text.lower()))


def read_facts(text: str, plain: str, limit: int = 60) -> list[Fact]:
    """Return the facts of a sentence or line, at most `limit`; `plain` is its normalised form."""
    out: list[Fact] = []
    start = 0
    for end in [m.end() for m in _CLAUSE.finditer(plain)] + [len(plain)]:
        if _MAYBE.search(plain, start, end):
            out.extend(_clause_facts(plain[start:end], text))
        start = end
    return out[:limit]


def _clause_facts(clause: str, sentence: str) -> list[Fact]:
    found = [*_quantities(clause), *_clocks(clause), *_dates(clause)]
    if not found:
        return []
    around = Clause(clause, tuple(shown for _, _, shown in found))
    values = {(unit, value) for unit, value, _ in found}
    crowded = {a for a, x in values for b, y in values if a == b and x != y} if len(values) > 1 else ()
    return [
        Fact(unit, value, shown.strip(), around, sentence, unit not in crowded)
        for unit, value, shown in found
    ]


def _quantities(clause: str) -> list[tuple[str, str, str]]:
    out = [(m.lastgroup or "", _number(m.group(1)), m.group()) for m in _QUANTITY.finditer(clause)]
    out += [("money", _number(m.group(1)), m.group()) for m in _CURRENCY.finditer(clause)]
    return out


def _number(text: str) -> str:
    if text in _ZH_DIGITS:
        return f"{_ZH_DIGITS[text]:g}"
    if text in _WORDS:
        return str(_WORDS[text])
    return f"{float(text.replace(',', '')):g}"


def _clocks(clause: str) -> list[tuple[str, str, str]]:
    out: list[tuple[str, str, str]] = []
    for m in _CLOCK.finditer(clause) if _CLOCK_SIGN.search(clause) else ():
        hour = int(m.group(1) or m.group(4) or m.group(7)) % 12  # 3 pm and 15:00 are one value
        minute = m.group(2) or m.group(5) or ("30" if m.group(8) else "00")
        out.append(("clock", f"{hour}:{minute}", m.group()))
    return out


def _dates(clause: str) -> list[tuple[str, str, str]]:
    out: list[tuple[str, str, str]] = []
    for m in _DATE.finditer(clause) if _DATE_SIGN.search(clause) else ():
        name = m.group(2) or m.group(3)
        month = _MONTHS[name] if name else int(m.group(5) or m.group(7))
        day = int(m.group(1) or m.group(4) or m.group(6) or m.group(8))
        out.append(("date", f"{month}-{day}", m.group()))
    for m in _WEEKDAY.finditer(clause) if _WEEKDAY_SIGN.search(clause) else ():
        number = _DAYS[m.group(1)] if m.group(1) else _ZH_DAYS[m.group(2)]
        out.append(("weekday", str(number), m.group()))
    return out
