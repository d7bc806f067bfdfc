"""Values in a text: clock times, dates, codes, amounts and counts, each in one form however it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

# ruff: noqa: E501, SIM905 - a pattern is read as a whole, and so is a list of words

TextValueKind = Literal["clock", "date", "weekday", "code", "money", "percent", "time_span", "day", "number"]

_NUM = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_MONTHS = {m: i for i, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\b\.?"
_DAYS = {d: i for i, d in enumerate("mon tue wed thu fri sat sun".split(), 1)}
_ZH_DAYS = {d: i for i, d in enumerate("一二三四五六日", 1)} | {"天": 7, "末": 6}
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = {w: float(i) for i, w in enumerate(_ONES)} | {w: 10.0 * i for i, w in enumerate(_TENS, 2)}
_WORD = rf"(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(sorted(_ONES[1:], key=len, reverse=True))}"
NUMBER_WORD = _WORD
"""A pattern of English numbers in words."""
_HAN = r"[零一二两三四五六七八九十百千]+"
_ANY = rf"(?:{_NUM}|\b(?:{_WORD}|an?|half an?)\b|{_HAN})"
_SPANS = {
    "s": 1 / 60, "sec": 1 / 60, "min": 1.0, "h": 60.0, "hr": 60.0, "hour": 60.0, "minute": 1.0, "second": 1 / 60, "day": 1440.0,
    "night": 1440.0, "week": 10080.0, "month": 43200.0, "year": 525600.0,
    "秒": 1 / 60, "分钟": 1.0, "分": 1.0, "小时": 60.0, "个小时": 60.0, "个钟头": 60.0, "天": 1440.0, "晚": 1440.0, "夜": 1440.0,
    "周": 10080.0, "个星期": 10080.0, "个月": 43200.0, "年": 525600.0,
}  # fmt: skip
_SPAN_UNIT = r"(?:(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|months?|years?)\b|(?:h|min)\b|个?小时|个钟头|分钟|秒钟?|天(?![气津])|晚(?![上餐饭])|夜|周(?![一二三四五六日末])|个星期|个月)"
_SPAN_ONE = rf"({_ANY})[- ]?(?:more |business |working |full )?({_SPAN_UNIT})"
_SPAN = re.compile(
    rf"(?:{_SPAN_ONE})(?:(?:,? and |, | )?(?:(?:{_ANY})[- ]?(?:{_SPAN_UNIT}|分(?![之店数享期]))|a half\b|半)|半)*",
    re.IGNORECASE,
)
_SPAN_PART = re.compile(rf"{_SPAN_ONE}|(a half|半)", re.IGNORECASE)
_HALF_HOUR = re.compile(
    r"\bhalf (?:an )?hour\b|\bthree quarters of an hour\b|\ba quarter of an hour\b|一?个?半小时|半个小时|一刻钟",
    re.IGNORECASE,
)
_HALF_HOURS = {
    "half": 30.0,
    "thre": 45.0,
    "a qu": 15.0,
    "一个半小": 90.0,
    "个半小时": 90.0,
    "半小时": 30.0,
    "半个小时": 30.0,
    "一刻钟": 15.0,
}

_ISO = re.compile(
    r"\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_DATE = re.compile(
    rf"\b(?P<m1>{_MONTH}) ?(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:|\d)(?:,? ?(?P<y1>\d{{4}})\b)?"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m2>{_MONTH})(?:,? ?(?P<y2>\d{{4}})\b)?"
    r"|(?:(?P<y3>\d{4}) ?年 ?)?(?P<m3>\d{1,2}) ?月 ?(?P<d3>\d{1,2}) ?[日号]?"
    r"|\b(?P<m4>\d{1,2})/(?P<d4>\d{1,2})(?:/(?P<y4>\d{4}|\d{2}))?\b"
    r"|\bthe (?P<d5>\d{1,2})(?:st|nd|rd|th)\b(?! (?:floor|time|option|one|item|row|street|avenue|century|anniversary))"
    r"|(?<![\d月路街巷道弄栋院第])(?P<d6>\d{1,2})[日号](?!线|楼|店|门|院|码|机|车|厅|桌|位)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?P<h0>\d{1,2})(?::(?P<n0>\d{2}))? ?(?:-|–|to|until|and) ?(?=\d{1,2}(?::\d{2})? ?(?P<pm0>[ap]\.?m\b))"
    r"|\b(?P<h1>\d{1,2})[:.](?P<n1>\d{2})(?::\d{2})? ?(?P<pm1>[ap]\.?m\b\.?)"
    r"|\b(?P<h2>\d{1,2}) ?(?P<pm2>[ap]\.?m\b\.?)"
    r"|(?:(?P<part3>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|晚)\s?)?(?<![\d.])(?<!\d:)(?P<h3>\d{1,2})[:：](?P<n3>\d{2})(?::\d{2})?(?![\d:])"
    rf"|(?:(?P<part4>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|晚)\s?)?(?P<h4>\d{{1,2}}|{_HAN})[点點](?!半?(?:评|左右手))(?P<n4>半|一刻|三刻|\d{{1,2}}|[零一二三四五]?十[一二三四五六七八九]?|零[一二三四五六七八九]|[一二三四五六七八九](?=分))?(?:分|钟)?"
    rf"|\b(?P<rel5>half past|quarter past|quarter to) (?P<h5>\d{{1,2}}|{_WORD})\b"
    rf"|\b(?P<h6>\d{{1,2}}|{_WORD}) o'?clock\b"
    r"|\b(?P<word7>noon|midnight)\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    r"\b(mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:days?)?\b(?![-/])|(?:周|星期|礼拜)([一二三四五六日天])",
    re.IGNORECASE,
)
_DAY = re.compile(r"\b(the day after tomorrow|tomorrow)\b|(大后天|后天|明[天日晚早]|次日)", re.IGNORECASE)
_MONEY = re.compile(
    rf"(?:[$£€¥￥]|\b(?:usd|gbp|eur|cny|rmb|chf)\b ?)\s?(?P<a>{_NUM})|(?P<b>{_NUM}|{_HAN}) ?(?:(?:dollars?|usd|euros?|eur|pounds?|gbp|yuan|rmb|cny|chf)\b|[€£]|元(?![素旦宵])|块钱?|万元)",
    re.IGNORECASE,
)
_PERCENT = re.compile(rf"(?P<a>{_NUM}) ?(?:%|percent\b|per cent\b)|百分之(?P<b>{_NUM}|{_HAN})", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+|\bwww\.\S+")
_POSTCODE = re.compile(r"\b[A-Za-z]{1,2}\d{1,2}[A-Za-z]? ?\d[A-Za-z]{2}\b")
_PHONE = re.compile(r"(?<![A-Za-z0-9_.,-])(?:\+\d{1,3} ?)?(?:\(\d{2,5}\) ?)?\d[\d -]{5,}\d(?![A-Za-z0-9_-])")
_CODE = re.compile(r"#?[A-Za-z0-9]+(?:[-_·][A-Za-z0-9]+)*")
_ORDINAL = re.compile(
    r"\d+(?:st|nd|rd|th|s|x|k)\b|\d+(?:\.\d+)?(?:mm|cm|km|kg|mg|ml|gb|tb|mb|ft|sq|am|pm|min|mins|h|hr|hrs|l|g|m|w|v|oz|lb|lbs|pcs|inch|in|hz|ghz|mah)\b|[a-z]-?\d$",
    re.IGNORECASE,
)
_MEASURES = r"mm|cm|km|kg|mg|g|ml|l|gb|tb|mb|ft|m|w|in|inch|oz|lbs?|pcs|mah|hz"
_HAN_NUMBER = re.compile(
    r"(?<![零一二两三四五六七八九十百千第])[一二两三四五六七八九][百千万][零一二三四五六七八九十百千]*(?!分之)"
)
_COUNTED = re.compile(
    rf"第?(?P<n>{_NUM}|{_HAN})(?P<m>[个家趟本张种款位名件条次间套份班辆台部双项处座只副篇人档门])"
)
_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_.,:/#-])(?P<n>{_NUM}|{_WORD})(?![0-9_:/]|[.,]\d|(?!(?:{_MEASURES})\b)[A-Za-z])",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(
    r"(?:^|(?<=[\n。;；])|(?<=[::] ))[ \t>*_#-]*(?:\(?\d{1,2}[.)、:]|（\d{1,2}）|\d{1,2}\. )(?!\d)|\b(?:option|step|flight|item|choice|room|stage|leg|segment|passenger|no\.?|number|round|part|section|chapter)\s*#?\d{1,2}\b(?!\d|[:.]\d)|(?:选项|方案|步骤|第)\s*[\d一二三四五六七八九十]+",
    re.IGNORECASE | re.MULTILINE,
)
_MARKUP = re.compile(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}|(?<=\w)\*\*")


@dataclass(frozen=True, slots=True)
class TextValue:
    """One value in a text."""

    kind: TextValueKind
    amount: float
    """Minutes since midnight, minutes of a span, 100 x month + day, the day of the week, days from today, or the number."""
    text: str
    """Letters and digits of a code in lower case; empty for others."""
    written: str
    start: int
    end: int
    exact: bool = True
    """False for a time of which the half of the day is not known."""
    decimals: int = 0


@lru_cache(maxsize=4096)
def read_values(text: str) -> tuple[TextValue, ...]:
    """Return the values of a text in order; marks of lists and Markdown are none."""
    rest = _MARKUP.sub(lambda m: " " * len(m[0]), text)
    rest = _LIST_MARK.sub(lambda m: " " * len(m[0]), rest)
    out: list[TextValue] = []
    for read in _READERS:
        spans = []
        for value, span in read(rest):
            if value is not None:
                out.append(value)
            spans.append(span)
        for start, end in reversed(spans):
            rest = rest[:start] + " " * (end - start) + rest[end:]
    return tuple(sorted(out, key=lambda v: v.start))


_Reader = Callable[[str], Iterator[tuple[TextValue | None, tuple[int, int]]]]


def number_of(text: str) -> float | None:
    """Return the number that digits, English or Chinese words spell, with thousands by commas."""
    text = text.lower().strip()
    if re.fullmatch(rf"-?(?:{_NUM})", text):
        return float(text.replace(",", ""))
    if text in ("a", "an"):
        return 1.0
    if text in ("half a", "half an"):
        return 0.5
    parts = re.split(r"[- ]", text)
    if all(p in _WORDS for p in parts):
        return sum(_WORDS[p] for p in parts)
    return _han_number(text)


def _han_number(text: str) -> float | None:
    digits = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"两": 2}
    total, current, seen = 0, 0, False
    for char in text:
        if char in digits:
            current, seen = digits[char], True
        elif char in "十百千":
            total += (current if seen else 1) * {"十": 10, "百": 100, "千": 1000}[char]
            current, seen = 0, False
        else:
            return None
    return float(total + current) if text else None


def _value(
    kind: TextValueKind, amount: float, m: re.Match[str], decimals: int = 0, *, exact: bool = True
) -> tuple[TextValue, tuple[int, int]]:
    return TextValue(kind, amount, "", m[0].strip(), m.start(), m.end(), exact, decimals), m.span()


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def closed(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return re.sub(r"[\W_]+", "", text).lower()


def _codes(pattern: re.Pattern[str]) -> _Reader:
    def read(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
        for m in pattern.finditer(text):
            yield TextValue("code", 0.0, closed(m[0]), m[0], m.start(), m.end()), m.span()

    return read


def _mixed(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    """Yield codes of letters and digits, or of five digits and more."""
    for m in _CODE.finditer(text):
        word = m[0]
        digits, letters = sum(c.isdigit() for c in word), sum(c.isalpha() for c in word)
        if not digits or _ORDINAL.fullmatch(word) or re.fullmatch(r"\d+-(?:[A-Za-z]+-?)+\d*", word):
            continue
        few = digits < 2 and len(word) < 6 and not re.fullmatch(r"[A-Z]+\d+[A-Z]*\d*", word)
        if few if letters else _is_figure(word, digits, text, m):
            continue
        yield TextValue("code", 0.0, closed(word), word, m.start(), m.end()), m.span()


def _is_figure(word: str, digits: int, text: str, m: re.Match[str]) -> bool:
    """Whether digits alone are an amount, and no code."""
    if digits < 5 or ("-" in word and digits < 6):
        return True
    part = bool(re.match(r"\.\d|,\d", text[m.end() : m.end() + 2])) or text[: m.start()][-1:] in (".", ",")
    return part or _before_money(text, m.start())


def _before_money(text: str, start: int) -> bool:
    return text[max(0, start - 2) : start].strip()[-1:] in ("$", "£", "€", "¥", "￥")


def _phones(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    for m in _PHONE.finditer(text):
        if sum(c.isdigit() for c in m[0]) >= 7:
            yield TextValue("code", 0.0, closed(m[0]), m[0], m.start(), m.end()), m.span()


def _iso(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    for m in _ISO.finditer(text):
        month, day = int(m[2]), int(m[3])
        if not (1 <= month <= 12 and 1 <= day <= 31):
            continue
        yield _value("date", 100 * month + day, m)
        if m[4]:
            yield _value("clock", 60 * int(m[4]) + int(m[5]), m)


def _dates(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    for m in _DATE.finditer(text):
        named = m["m1"] or m["m2"]
        month = _MONTHS[named[:3].lower()] if named else int(m["m3"] or m["m4"] or 0)
        day = int(m["d1"] or m["d2"] or m["d3"] or m["d4"] or m["d5"] or m["d6"])
        if m["m4"] and (
            month > 12 or day > 31 or (m["y4"] is None and month * day > 0 and day <= 12 and month <= 12)
        ):
            continue  # 24/7, or a fraction
        if 1 <= day <= 31 and month <= 12:
            yield _value("date", 100 * month + day, m, exact=bool(month))


def _clocks(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    for m in _CLOCK.finditer(text):
        if m["word7"]:
            yield _value("clock", 720.0 if m["word7"].lower() == "noon" else 0.0, m)
            continue
        hour = number_of(m["h0"] or m["h1"] or m["h2"] or m["h3"] or m["h4"] or m["h5"] or m["h6"])
        minute_text = m["n0"] or m["n1"] or m["n3"] or m["n4"] or "0"
        minute = {"半": 30.0, "一刻": 15.0, "三刻": 45.0}.get(minute_text, number_of(minute_text))
        if m["rel5"]:
            rel = m["rel5"].lower()
            minute = 30.0 if rel == "half past" else 15.0 if rel == "quarter past" else -15.0
        if hour is None or minute is None or hour > 24 or minute > 59 or m[0] in ("一点", "点"):
            continue  # `一点` is a little
        mark = (m["pm0"] or m["pm1"] or m["pm2"] or "").lower()
        part = m["part3"] or m["part4"] or ""
        if mark or part:
            late = (
                mark.startswith("p")
                or part in ("下午", "傍晚", "晚上", "夜里", "晚")
                or (part == "中午" and hour < 11)
            )
            if hour <= 12:
                hour = hour % 12 + (12 if late else 0) if not (part == "中午" and hour == 12) else 12
        sure = bool(mark or part) or hour > 12 or hour == 0 or bool(m["h3"] and m["h3"].startswith("0"))
        yield _value("clock", (60 * hour + minute) % 1440, m, exact=sure)


def _weekdays(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    for m in _WEEKDAY.finditer(text):
        short = m[1] and "day" not in m[0].lower()
        if short and not m[0][0].isupper():
            continue  # sat, sun, wed as words
        yield _value("weekday", _DAYS[m[1][:3].lower()] if m[1] else _ZH_DAYS[m[2]], m)


def _days(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    """Days counted from today, where it is not today."""
    for m in _DAY.finditer(text):
        word = m[0].lower()
        yield _value(
            "day", 3.0 if word == "大后天" else 2.0 if word in ("后天", "the day after tomorrow") else 1.0, m
        )


def _spans(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    for m in _HALF_HOUR.finditer(text):
        result = next((v for k, v in _HALF_HOURS.items() if m[0].lower().startswith(k)), None)
        if result is not None:
            yield _value("time_span", result, m)
    for m in _SPAN.finditer(_HALF_HOUR.sub(lambda m: " " * len(m[0]), text)):
        total, unit = 0.0, 60.0
        for part in _SPAN_PART.finditer(re.sub(r"分(?!钟)", "分钟", m[0])):
            if part[3]:
                total += unit / 2
                continue
            number = number_of(part[1])
            unit = _unit(part[2])
            total += (number or 0.0) * unit
        if total:
            yield _value("time_span", round(total, 4), m, _decimals(m[0]))


def _unit(word: str) -> float:
    word = word.lower()
    return _SPANS.get(word) or _SPANS.get(word.rstrip("s")) or _SPANS.get(word.rstrip("钟")) or 1.0


def _money(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    for m in _MONEY.finditer(text):
        number = number_of(m["a"] or m["b"])
        if number is not None:
            yield _value("money", number * (10_000 if "万" in m[0] else 1), m, _decimals(m["a"] or m["b"]))


def _percents(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    for m in _PERCENT.finditer(text):
        number = number_of(m["a"] or m["b"])
        if number is not None:
            yield _value("percent", number, m, _decimals(m["a"] or ""))


def _counted(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    """Chinese numbers before a measure word; `第三个` is an ordinal, and no count."""
    for m in _COUNTED.finditer(text):
        number = number_of(m["n"])
        ordinal = m[0].startswith("第") or (m["n"] == "一" and m["m"] in "个位种款次下")
        yield (None if number is None or ordinal else _value("number", number, m)[0]), m.span()


def _han_numbers(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    """Chinese numbers of a hundred and more, which need no measure word."""
    for m in _HAN_NUMBER.finditer(text):
        number = _han_number(m[0].replace("万", "")) if m[0].endswith("万") else _han_number(m[0])
        if number is not None:
            yield _value("number", number * (10_000 if m[0].endswith("万") else 1), m)


def _numbers(text: str) -> Iterator[tuple[TextValue | None, tuple[int, int]]]:
    for m in _NUMBER.finditer(text):
        number = number_of(m["n"])
        if number is not None and m[0].lower() != "one":
            yield _value("number", number, m, _decimals(m["n"]))


_READERS: tuple[_Reader, ...] = (
    _codes(_EMAIL), _iso, _clocks, _dates, _weekdays, _days, _codes(_POSTCODE), _phones, _percents, _money, _spans,
    _mixed, _counted, _han_numbers, _numbers,
)  # fmt: skip
