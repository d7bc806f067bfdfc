"""What is known at a point of a dialogue: said, called or returned by tools; and what follows from it."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeGuard

from dialogauge.signals.grounding.results import Found, Scalar
from dialogauge.signals.grounding.values import TextValue, closed, read_values

_MOST: Final = 260
"""Numbers that sums, differences and products are made of: the latest."""
_WHOLE: Final = frozenset({60.0, 1440.0, 10080.0, 43200.0, 518400.0, 525600.0})
"""An hour, a day, a week, a month, a year: said of anything."""
_TINY: Final = 12
"""What is no more than this counts things, and is not added to amounts."""
_SPAN_KEY: Final = (
    (re.compile(r"(?:^|_)(?:s|sec|secs|seconds?)$|秒", re.IGNORECASE), 1 / 60),
    (re.compile(r"min(?:ute)?s?(?:$|_)|分钟", re.IGNORECASE), 1.0),
    (re.compile(r"(?:^|_)(?:h|hrs?|hours?)(?:$|_)|小时", re.IGNORECASE), 60.0),
    (re.compile(r"(?:^|_)(?:days?|nights?)(?:$|_)|天|晚", re.IGNORECASE), 1440.0),
    (re.compile(r"weeks?(?:$|_)|周", re.IGNORECASE), 10080.0),
    (re.compile(r"months?(?:$|_)|月", re.IGNORECASE), 43200.0),
    (re.compile(r"years?(?:$|_)|年", re.IGNORECASE), 525600.0),
)
_NO_AMOUNT: Final = re.compile(r"(?:^|_)(?:id|zip|phone|code|no)$|id$|电话|邮编|编号", re.IGNORECASE)
_PRICE: Final = re.compile(
    r"price|cost|fare|amount|total|balance|fee|refund|rent|价|费|额|人均", re.IGNORECASE
)
_CENTS: Final = re.compile(r"(?:^|_)(?:cents?|pence)(?:$|_)", re.IGNORECASE)
_IN_CELLS: Final = re.compile(
    r"(?<=\d,)\d+(?:\.\d+)?(?=\s*$)|(?<![^\s])\d+(?:\.\d+)?(?=/[^\d\s]|㎡)", re.MULTILINE
)
_ZONE: Final = re.compile(r"\b(?:UTC|GMT) ?([+-]\d{1,2})\b")
_QUANTITY: Final = re.compile(
    r"qty|quantity|nights|days|sessions|people|guests|seats|persons|tickets|times|items|months|weeks|hours|count|数量|天数|人数|晚数|次数|件数",
    re.IGNORECASE,
)
_RELATIVE_DAY: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|(?:next|this|coming) (?:\w+day|week|month|weekend))\b"
    r"|今天|明天|后天|下周|本周|这周|周末|下个月",
    re.IGNORECASE,
)
_RATE: Final = re.compile(
    r"rate|tax|discount|apr|percent|chance|prob|share|fee|率|折|概率|比例", re.IGNORECASE
)
_CURRENCIES: Final = frozenset(
    {"USD", "EUR", "GBP", "CNY", "RMB", "CHF", "JPY", "EST", "PST", "CST", "GMT", "UTC"}
)
_FEW: Final = 15
"""Of no more amounts than this, sums of three and of multiples are looked for."""
_SCALES: Final = (10_000.0, 0.0001, 100.0, 1000.0, 60.0, 0.01, 0.001, 1.609344, 0.621371, 2.20462, 0.453592)


def plain(text: str) -> str:
    """Return a text without accents, in lower case, with one apostrophe and single spaces."""
    text = unicodedata.normalize("NFKD", text)
    text = "".join(c for c in text if not unicodedata.combining(c)).lower()
    return re.sub(r"[\s_]+", " ", text.replace("’", "'"))


_TERM: Final = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


def stemmed(word: str) -> str:
    """Return a word without its plural or possessive ending."""
    word = word.removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@dataclass
class KnownSoFar:
    """What is known so far; it grows turn by turn."""

    words: set[str] = field(default_factory=set)
    codes: set[str] = field(default_factory=set)
    closed_texts: list[str] = field(default_factory=list)
    clocks: dict[float, bool] = field(default_factory=dict)
    dates: set[float] = field(default_factory=set)
    weekdays: set[float] = field(default_factory=set)
    spans: set[float] = field(default_factory=set)
    numbers: dict[float, None] = field(default_factory=dict)
    """In the order of their last mention."""
    amounts: dict[float, None] = field(default_factory=dict)
    """Of these what may be reckoned with: single numbers of records, money, and what was said."""
    priced: set[float] = field(default_factory=set)
    """Of these what is money, however little."""
    relative: bool = False
    """Whether somebody named a day by its distance from today: dates may follow from it."""
    quantities: set[float] = field(default_factory=set)
    """Numbers of records that say how many, for how long, or how often."""
    tokens: set[str] = field(default_factory=set)
    """Figures as they are written anywhere."""
    percents: set[float] = field(default_factory=set)
    days: set[float] = field(default_factory=set)
    coded_places: bool = False
    """Whether results name places by codes of three letters."""
    groups: list[tuple[float, ...]] = field(default_factory=list)
    """Numbers under one key of one list, which may be summed up."""
    counts: set[int] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    full_dates: set[datetime.date] = field(default_factory=set)
    spoken: set[float] = field(default_factory=set)
    """Numbers that stand in prose and in calls, apart from those of records."""
    spoken_clocks: set[float] = field(default_factory=set)
    spoken_codes: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    """Kinds of values that results of tools have given."""
    _derived: tuple[set[float], set[float]] | None = None

    def hear(self, text: str) -> None:
        """Take in what somebody said."""
        if text:
            self._take(text)
            self.relative |= bool(_RELATIVE_DAY.search(text))

    def learn(self, result: Found) -> None:
        """Take in what a tool returned."""
        self._take(result.text, of_tool=True)
        self.counts |= result.counts
        for key, leaf in result.leaves:
            self._leaf(key, leaf)
        self._take_units(result)
        self.groups.extend(column for column in result.columns if 2 <= len(column) <= 12)
        for rows in result.lists:
            for key in dict.fromkeys(key for row in rows for key, _ in row.fields):
                column = tuple(
                    abs(v) for row in rows for v in map(_number_of, row.values(key)) if v is not None
                )
                if 2 <= len(column) <= 12:
                    self.groups.append(column)

    def _take_units(self, result: Found) -> None:
        """Take in what cents come to, and the times that seconds since 1970 stand for, in their zone."""
        hours = [float(h) for h in _ZONE.findall(result.text)] or [0.0]
        for key, leaf in result.leaves:
            if _CENTS.search(key) and (cents := _number_of(leaf)) is not None:
                self._number(cents / 100)
                self.amounts[cents / 100] = None
                self.priced.add(abs(cents) / 100)
            seconds = _instant(key, leaf)
            for moment in () if seconds is None else (seconds + 3600 * h for h in {0.0, *hours}):
                at = datetime.datetime.fromtimestamp(moment, datetime.UTC)
                self.clocks[60.0 * at.hour + at.minute] = True
                self.dates.add(100.0 * at.month + at.day)
                self.full_dates.add(at.date())
                self.weekdays.add(float(at.isoweekday()))

    def _leaf(self, key: str, leaf: Scalar) -> None:
        if isinstance(leaf, str) and re.fullmatch(r"[A-Z]{3}", leaf):
            self.coded_places = True
        if isinstance(leaf, str) and (hours := re.fullmatch(r"(\d{1,2})-(\d{1,2})", leaf)):
            self.clocks.update({60.0 * (int(hour) % 24): False for hour in hours.groups()})
        if not (_is_amount(leaf) or (isinstance(leaf, str) and _is_number(leaf))):
            return
        number = float(str(leaf).replace(",", ""))
        self.kinds.add("number")
        if not _NO_AMOUNT.search(key):
            self._number(number)
            self.amounts[number] = None
        if _PRICE.search(key):
            self.priced.add(abs(number))
        if _QUANTITY.search(key):
            self.quantities.add(number)
        if _RATE.search(key) and 0 < number < 1:
            self.percents.add(round(100 * number, 4))
        self.spans.update(round(number * factor, 4) for pattern, factor in _SPAN_KEY if pattern.search(key))

    def _take(self, text: str, *, of_tool: bool = False) -> None:
        self._derived = None
        self.words.update(map(stemmed, _TERM.findall(plain(text))))
        self.texts.append(plain(text))
        self.tokens.update(re.findall(r"\d+(?:\.\d+)?", text))
        if of_tool:
            self.clocks.update(
                {
                    60.0 * int(t[:2]) + int(t[2:]): True
                    for t in re.findall(r"\b[01]\d[0-5]\d\b|\b2[0-3][0-5]\d\b", text)
                }
            )
            self.coded_places |= len(set(re.findall(r"\b[A-Z]{3}\b", text)) - _CURRENCIES) > 1
            for m in _IN_CELLS.finditer(text):
                self._number(float(m[0]))
                self.amounts[float(m[0])] = None
        self.closed_texts.append(closed(text))
        for value in read_values(text):
            if of_tool:
                self.kinds.add(value.kind)
            else:
                self._say(value)
            self._value(value, of_tool=of_tool)
        for m in re.finditer(r"\b(\d{1,2})/(\d{1,2})/\d{2,4}\b", text):  # of which either may be the month
            self.dates |= {100.0 * int(m[1]) + int(m[2]), 100.0 * int(m[2]) + int(m[1])}
        for m in re.finditer(r"\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})", text):
            try:
                self.full_dates.add(datetime.date(int(m[1]), int(m[2]), int(m[3])))
            except ValueError:
                continue
        self.weekdays |= {float(d.isoweekday()) for d in self.full_dates}

    def _say(self, value: TextValue) -> None:
        if value.kind in ("number", "money", "percent"):
            self.spoken.add(value.amount)
        elif value.kind == "clock":
            self.spoken_clocks.add(value.amount % 720)
        elif value.kind == "code":
            self.spoken_codes.add(value.text)

    def _value(self, value: TextValue, *, of_tool: bool) -> None:
        plain_sets = {"date": self.dates, "weekday": self.weekdays, "day": self.days, "time_span": self.spans}
        if value.kind in plain_sets:
            plain_sets[value.kind].add(value.amount)
        if value.kind == "clock":
            self.clocks[value.amount] = self.clocks.get(value.amount, False) or value.exact
        elif value.kind == "code":
            self.codes.add(value.text)
        elif value.kind == "time_span" and (first := re.match(r"\d[\d,]*(?:\.\d+)?", value.written)):
            self._number(float(first[0].replace(",", "")))
        elif value.kind in ("number", "money", "percent"):
            self._number(value.amount)
            if value.kind != "number":
                (self.percents if value.kind == "percent" else self.priced).add(value.amount)
            if value.kind != "number" or not of_tool or value.decimals == 2:
                self.amounts.pop(value.amount, None)
                self.amounts[value.amount] = None

    def _number(self, number: float) -> None:
        self.numbers.pop(number, None)
        self.numbers[number] = None
        self._derived = None

    # What is supported

    def speech(self, value: TextValue) -> bool:
        """Whether somebody said a value, apart from what tools returned."""
        if value.kind == "clock":
            return value.amount % 720 in self.spoken_clocks
        return value.text in self.spoken_codes if value.kind == "code" else value.amount in self.spoken

    def has(self, value: TextValue) -> bool:
        """Whether a value was given, or follows from what was."""
        checks: dict[str, Callable[[TextValue], bool]] = {
            "clock": self._has_clock,
            "date": self._has_date,
            "weekday": lambda v: (
                v.amount in self.weekdays or not self.weekdays or v.written[:3].lower() in self.words
            ),
            "percent": lambda v: self.has_number(v.amount, v.decimals) or f"{v.amount:g}" in self.tokens,
            "day": lambda v: v.amount in self.days or not self.days or bool(self.full_dates),
            "code": lambda v: self.has_code(v.text),
            "time_span": self._has_span,
            "money": self._has_money,
        }
        check = checks.get(value.kind)
        return self.has_number(value.amount, value.decimals) if check is None else check(value)

    def has_code(self, code: str) -> bool:
        """Whether a code, or what it is the end or the beginning of, was given."""
        return any(code in text for text in self.closed_texts)

    def _has_money(self, value: TextValue) -> bool:
        """Whether an amount was given, also in cents or in ten thousands."""
        if self.has_number(value.amount, value.decimals, plain_only=True):
            return True
        return any(abs(n * scale - value.amount) < 0.006 for n in self.numbers for scale in (0.01, 10_000))

    def _has_clock(self, value: TextValue) -> bool:
        other = (value.amount + 720) % 1440
        if value.amount in self.clocks or (other in self.clocks and not (value.exact and self.clocks[other])):
            return True
        later = {
            (c + sign * s) % 1440 for c in self.clocks for s in self.spans for sign in (1, -1) if s < 1440
        }
        return value.amount in later or (not value.exact and other in later)

    def _has_date(self, value: TextValue) -> bool:
        day = value.amount % 100
        if not self.dates or value.amount in self.dates or day in self.dates or self._near(value):
            return True
        return value.amount < 100 and (any(d % 100 == day for d in self.dates) or self.has_number(day))

    def _near(self, value: TextValue) -> bool:
        """Whether a date follows from another by a number of days that was named."""
        days = {s / 1440 for s in self.spans if s >= 1440} | {n for n in self.numbers if 0 < n <= 366} | {1.0}
        if value.amount < 100:
            return False
        at = _day_of_year(value.amount)
        gaps = {abs(at - _day_of_year(known)) for known in self.dates if known >= 100}
        weeks = {7 * (n + less) for n in self.numbers if 0 < n <= 60 for less in (-1, 0)}
        return any(gap in days | weeks or 366 - gap in days for gap in gaps)

    def _has_span(self, value: TextValue) -> bool:
        amount = value.amount
        if amount in self.spans or amount <= 1 / 60 or amount in _WHOLE:
            return True
        if amount > 600 and any(
            abs(amount - s) <= (0.01 if value.decimals else 0.051) * amount for s in self.spans
        ):
            return True
        unit = _unit_of(value)
        if self.has_number(round(amount / unit, 4), plain_only=True) or self._shares(amount / unit):
            return True
        if amount >= 1 and round(amount * 60, 4) in self.numbers:  # seconds
            return True
        if unit >= 1440 and self.follows(amount / unit, value.decimals):
            return True
        return self._between(amount) or self._of_spans(amount)

    def _shares(self, number: float) -> bool:
        numbers = {n for n in self.amounts if 0 < n <= 1000}
        return any(abs(a / b - number) < 1e-6 for a in numbers for b in numbers if b > 1)

    def _between(self, amount: float) -> bool:
        """Whether a span lies between two times or dates."""
        clocks = list(self.clocks)
        if amount <= 1440 and any((a - b) % 720 == amount % 720 for a in clocks for b in clocks if a != b):
            return True
        days = {abs((a - b).days) * 1440.0 for a in self.full_dates for b in self.full_dates}
        return not days.isdisjoint((amount, amount + 1440.0, amount - 1440.0))

    def _of_spans(self, amount: float) -> bool:
        """Whether a span is the sum, the difference or the multiple of others."""
        if any(amount in (a + b, a - b) for a in self.spans for b in self.spans):
            return True
        factors = {n for n in (*self.spoken, *self.quantities, *map(float, self.counts)) if 1 < n <= 60}
        clocks = list(self.clocks)[-8:]
        gaps = {(a - b) % 1440 for a in clocks for b in clocks if a > b}
        if any(amount == gap * f for gap in gaps for f in factors) or any(
            amount - gap in gaps for gap in gaps
        ):
            return True
        days = (
            factors | {n for n in self.numbers if 1 < n <= 31} | {n + 1 for n in self.numbers if 0 < n <= 30}
        )
        return any(
            abs(amount - span * f) < 1e-6 for span in self.spans for f in (days if span >= 1440 else factors)
        )

    def has_number(self, number: float, decimals: int = 0, *, plain_only: bool = False) -> bool:
        """Whether a number was given, also rounded, or with `plain_only` False in other units."""
        if "dozen" in self.words and number % 12 == 0 and number / 12 in self.numbers:
            return True
        if number in self.numbers or (number == int(number) and int(number) in self.counts):
            return True
        if any(_rounds(known, number, decimals) for known in self.numbers):
            return True
        if plain_only:
            return False
        return any(
            _rounds(known * scale, number, decimals) for known in self.numbers for scale in _SCALES
        ) or any(
            _rounds(degrees, number, 0)
            for known in self.numbers
            if abs(known) < 400
            for degrees in (known * 1.8 + 32, known - 273.15, (known - 273.15) * 1.8 + 32, (known - 32) / 1.8)
        )

    def follows(self, number: float, decimals: int = 0) -> bool:
        """Whether an amount is a sum, a difference, a product or a share of what was given."""
        number = round(number, 2)
        single, multiple = self._base()
        both = single | multiple
        few = len(single) <= _FEW
        if _in(multiple, number) or any(_in(both, number - a) or _in(single, a - number) for a in single):
            return True
        if any(number in sums for sums in map(_sums, self.groups)):
            return True
        if few and any(_in(both, number - a - b) for a in both for b in (0.0, *both)):
            return True
        if few and any(_in(single, number + a + b) for a in single for b in single):
            return True
        slack = 0.06 if decimals == 1 else 0.006
        return any(abs(share - number) < slack for share in self._parts(both if few else single))

    def _parts(self, amounts: set[float]) -> Iterator[float]:
        """Yield shares of amounts: by the percentages that were named, by small numbers, by months."""
        by_months = not self.words.isdisjoint(("month", "year", "annual", "monthly", "yearly"))
        small = {n for n in (*self.amounts, *map(float, self.counts)) if 1 < n <= _TINY}
        small |= {span / 1440 for span in self.spans if 1440 < span <= 31 * 1440}
        for a in amounts:
            for b in self.percents:
                yield from (a * b / 100, a - a * b / 100, a + a * b / 100)
            for b in small:
                yield a / b
                if by_months:
                    yield from (a * b / 12, a - a * b / 12)

    def near_clock(self, time: float) -> bool:
        """Whether a time said to be rough is within an hour of one that is known."""
        return any((clock - time) % 720 < 60 for clock in self.clocks)

    def shares(self, number: float, *, percent: bool) -> bool:
        """Whether a number is the quotient of two amounts or of their sums, in hundredths with `percent`."""
        amounts = [abs(a) for a in list(self.amounts)[-40:] if a]
        sums = [*amounts, *(sum(g) for g in self.groups), *map(float, self.counts)]
        if percent and abs(sum(self.percents) - number) < 5 and number > 90:
            return True
        scale = 100 if percent else 1
        return (
            any(abs(scale * a / b - number) <= 0.5 + 1e-9 for a in amounts for b in sums if b)
            if percent
            else any(abs(a / b - number) < 0.006 * max(1, number / 100) for a in sums for b in sums if b > 1)
        )

    def near(self, number: float) -> bool:
        """Whether a number said to be rough is near one that is known or follows."""
        single, multiple = self._base()
        sums = {a + b for a in single for b in single} if len(single) <= _FEW else set()
        amounts = {*single, *multiple, *sums, *self.numbers, *self._parts(single)}
        return any(abs(n * scale - number) <= 0.1 * number for n in amounts for scale in (1, 10_000))

    def _is_sum(self, amount: float) -> bool:
        return abs(amount) > _TINY or amount != int(amount) or amount in self.priced

    def _base(self) -> tuple[set[float], set[float]]:
        """Return the amounts, and their multiples."""
        if self._derived is None:
            amounts = [abs(a) for a in list(self.amounts)[-_MOST:] if self._is_sum(a)]
            days = {s / 1440 for s in self.spans}
            days |= {float(abs((a - b).days)) for a in self.full_dates for b in self.full_dates}
            days |= {12.0} if "year" in self.words or any("年" in t for t in self.texts) else set()
            counted = (*self.spoken, *self.quantities, *days)
            small = {n for n in counted if 1 < n <= 31 and n == int(n)} | {2.0}
            single = {round(a, 2) for a in amounts}
            self._derived = single, {round(a * n, 2) for a in amounts[-60:] for n in small}
        return self._derived

    def accept(self, value: TextValue) -> None:
        """Take in a value that follows from what is known, so that others may follow from it."""
        if value.kind in ("money", "number") and value.amount not in self.amounts:
            self.amounts[value.amount] = None
            self.numbers[value.amount] = None
            self._derived = None
        elif value.kind == "time_span":
            self.spans.add(value.amount)
            self._derived = None
        elif value.kind == "percent":
            self.percents.add(value.amount)

    def has_words(self, words: Iterable[str]) -> bool:
        """Whether each word stands somewhere in what is known."""
        return all(stemmed(w) in self.words for w in words)

    def has_text(self, text: str) -> bool:
        """Whether a text stands somewhere as it is, but for case and spaces."""
        text = plain(text)
        return any(text in known for known in self.texts)


def _instant(key: str, leaf: Scalar) -> float | None:
    """Return the seconds since 1970 of a time stamp; None for another number."""
    if _NO_AMOUNT.search(key) or not (_is_amount(leaf) or (isinstance(leaf, str) and leaf.isdigit())):
        return None
    number = float(leaf)
    number = number / 1000 if number > 1e12 else number
    return number if 1e9 <= number < 2.2e9 else None


def _number_of(leaf: Scalar) -> float | None:
    amount = _is_amount(leaf) or (isinstance(leaf, str) and _is_number(leaf))
    return float(str(leaf).replace(",", "")) if amount else None


def _is_amount(leaf: Scalar) -> TypeGuard[int | float]:
    return isinstance(leaf, int | float) and not isinstance(leaf, bool)


def _day_of_year(date: float) -> int:
    """Return the day in a leap year of 100 x month + day."""
    month, day = int(date) // 100, int(date) % 100
    return sum(_MONTH_DAYS[: month - 1]) + day


_MONTH_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d{1,3}(?:,\d{3})*(?:\.\d+)?|-?\d+(?:\.\d+)?", text.strip()))


def _rounds(known: float, number: float, decimals: int) -> bool:
    return abs(known) == abs(number) or (
        known != int(known) and abs(round(abs(known), decimals) - abs(number)) < 1e-9
    )


def _in(base: set[float], number: float) -> bool:
    return round(number, 2) in base


def _sums(group: tuple[float, ...]) -> set[float]:
    sums = {0.0}
    for number in group:
        sums |= {round(s + number, 2) for s in sums}
    return sums


_UNITS: Final = (
    ("month", 43200.0), ("week", 10080.0), ("day", 1440.0), ("night", 1440.0), ("hour", 60.0), ("hr", 60.0),
    ("sec", 1 / 60), ("year", 525600.0), ("个月", 43200.0), ("星期", 10080.0), ("周", 10080.0),
    ("天", 1440.0),
    ("晚", 1440.0), ("小时", 60.0), ("秒", 1 / 60),
)  # fmt: skip


def _unit_of(value: TextValue) -> float:
    written = value.written.lower()
    return next((factor for word, factor in _UNITS if word in written), 1.0)
