"""An answerer without a model: dates by arithmetic, else words of what was recalled. A floor for models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from dialogauge.agents.memory.protocol import MemoryItem
from dialogauge.core.patterns import lazy_pattern
from dialogauge.text import ENGLISH_STOP, content_terms, has_chinese, pieces, sentences, words

EXTRACTING: Final = "extract 2"
"""The name of the way in which answers are made; changes with it."""
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH: Final = "|".join(m[:3] + (f"(?:{m[3:]})?" if m[3:] else "") for m in _MONTHS)
_DATE: Final = lazy_pattern(
    rf"(?P<y>\d{{4}})-(?P<m>\d\d)-(?P<d>\d\d)"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m2>{_MONTH})\b\.?,? (?P<y2>\d{{4}})"
    rf"|(?P<m3>{_MONTH})\b\.? (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y3>\d{{4}})"
    r"|(?P<y4>\d{4}) ?年 ?(?P<m4>\d{1,2}) ?月 ?(?P<d4>\d{1,2}) ?[日号]",
    re.IGNORECASE,
)
_WHEN: Final = lazy_pattern(
    r"\bwhen\b|\bwhat (?:date|day|year|month|time)\b|\bwhich (?:year|month|day)\b"
    r"|什么时候|何时|哪一?[天年日]|哪个?月|几[月号]",
    re.IGNORECASE,
)
_NUMBER: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "few": 3}
_SOME: Final = rf"(?P<n>\d{{1,3}}|{'|'.join(_NUMBER)})"
_TIME: Final = lazy_pattern(
    rf"\b(?:(?P<day>yesterday|last night|today|tonight|this morning|tomorrow)"
    rf"|(?P<way>last|next|this|past) (?P<unit>week(?:end)?|month|year|{'|'.join(_DAYS)}|{'|'.join(_MONTHS)})"
    rf"|{_SOME} (?P<units>day|week|month|year)s? ago"
    rf"|in (?P<month>{'|'.join(_MONTHS)})(?: (?P<year>\d{{4}}))?|in (?P<alone>(?:19|20)\d\d))\b",
    re.IGNORECASE,
)
_DIGITS: Final = "一二三四五六七八九十"
_TIME_ZH: Final = lazy_pattern(
    rf"(?P<day>前天|昨|今|明|后天)|(?P<n>\d{{1,2}}|[两{_DIGITS}]) ?(?P<unit>天|周|个?星期|个?礼拜|个月|年)前"
    r"|上个?(?P<back>周|星期|礼拜|月)(?P<on>[一二三四五六日天])?|(?P<year>去年)"
)
_SHIFT: Final = {"前天": -2, "昨": -1, "今": 0, "明": 1, "后天": 2}
_WORD: Final = lazy_pattern(r"[\w'’$%-]+")
_LENGTH: Final = {"day": 1, "week": 7}
_LONGEST: Final = 6
"""Words of an answer that is no date."""


def date_in(text: str | None) -> date | None:
    """Return the first date in a text, of day, month and year; None where there is none."""
    match = _DATE.search(text or "")
    if match is None:
        return None
    year, month, day = (str(match[k] or match[f"{k}2"] or match[f"{k}3"] or match[f"{k}4"]) for k in "ymd")
    number = int(month) if month.isdigit() else [m[:3] for m in _MONTHS].index(month[:3].lower()) + 1
    if int(year) < 1000:  # what is reckoned from it must be a year too
        return None
    try:
        return date(int(year), number, int(day))
    except ValueError:
        return None


def when_of(text: str, heard: date) -> str | None:
    """Return the time that a text speaks of, as somebody who heard it on a day would write it down.

    `yesterday`, heard on 8 May 2023: `7 May 2023`. `last week`: `the week before 8 May 2023`. None where it
    speaks of none.
    """
    if has_chinese(text):
        return _when_in_chinese(text, heard)
    match = _TIME.search(text)
    if match is None:
        return None
    of = {name: value.lower() for name, value in match.groupdict().items() if value}
    if "day" in of:
        shift = {"yesterday": -1, "last night": -1, "tomorrow": 1}.get(of["day"], 0)
        return _written(heard + timedelta(shift))
    if "units" in of:
        return _ago(_NUMBER.get(of["n"]) or int(of["n"]), of["units"], heard)
    if "way" in of:
        return _beside({"next": 1, "this": 0}.get(of["way"], -1), of["unit"], heard)
    return of.get("alone") or f"{of['month'].capitalize()} {of.get('year', heard.year)}"


def _ago(count: int, unit: str, heard: date) -> str:
    if unit == "year":
        return str(heard.year - count)
    return _month(heard, -count) if unit == "month" else _written(heard - timedelta(count * _LENGTH[unit]))


def _beside(step: int, unit: str, heard: date) -> str:
    """Return the last (-1), this (0) or next (1) of a unit of time."""
    if unit == "year":
        return str(heard.year + step)
    if unit == "month":
        return _month(heard, step)
    if unit in _MONTHS:
        return f"{unit.capitalize()} {heard.year - (step < 0 and _MONTHS.index(unit) + 1 >= heard.month)}"
    return f"the {unit} {('of', 'after', 'before')[step]} {_written(heard)}"


def _when_in_chinese(text: str, heard: date) -> str | None:
    """Return the same of a Chinese text: of 昨天, heard on 2024年5月8日, 2024年5月7日."""
    match = _TIME_ZH.search(text)
    if match is None:
        return None
    of = {name: value for name, value in match.groupdict().items() if value}
    if "day" in of:
        return _in_chinese(heard + timedelta(_SHIFT[of["day"]]))
    if "year" in of:
        return f"{heard.year - 1}年"
    if "n" in of:
        count = int(of["n"]) if of["n"].isdigit() else 2 if of["n"] == "两" else _DIGITS.index(of["n"]) + 1
        if of["unit"] == "年":
            return f"{heard.year - count}年"
        if of["unit"] != "个月":
            return _in_chinese(heard - timedelta(count * (1 if of["unit"] == "天" else 7)))
    elif of["back"] != "月":
        weekday = "一二三四五六日".index(of.get("on", "一").replace("天", "日"))
        return _in_chinese(heard - timedelta(heard.weekday() + 7 - weekday))
    months = heard.year * 12 + heard.month - 1 - (count if "n" in of else 1)
    return f"{months // 12}年{months % 12 + 1}月"


def _in_chinese(day: date) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


def _written(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1].capitalize()} {day.year}"


def _month(day: date, step: int) -> str:
    months = day.year * 12 + day.month - 1 + step
    return f"{_MONTHS[months % 12].capitalize()} {months // 12}"


def extract(question: str, items: Sequence[MemoryItem]) -> str:
    """Return an answer in the words of what was recalled; empty where nothing was.

    A question for a time gets the time that the best item speaks of, or else its date. Any other gets the
    words of the best sentence that the question does not hold, at most six. What only repeats the question,
    in other case or punctuation, is passed over.
    """
    if not items:
        return ""
    if _WHEN.search(question):
        for item in items:
            heard = date_in(item.date)
            if heard is not None:
                day = _in_chinese(heard) if has_chinese(question) else _written(heard)
                return when_of(item.text, heard) or day
    asked, asks = content_terms(pieces(question)), words(question)
    best = max(
        (
            (len(content_terms(pieces(text)) & asked) / (1 + place), -place, text)
            for place, item in enumerate(items)
            for text in sentences(item.text)
            if asks not in (words(text), words(item.text))  # who only repeats the question says nothing
        ),
        default=(0.0, 0, items[0].text),
    )[2]
    content = [w for w in _WORD.findall(best) if w.lower() not in ENGLISH_STOP]
    new = [w for w in content if not content_terms(pieces(w)) <= asked]
    return " ".join((new or content)[:_LONGEST])
