"""What is known at a point of a dialogue: said, called or returned by tools; and what follows from it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.grounding.results import Found
from dialogauge.signals.grounding.values import TextValue, TextValueKind, closed, read_values

_HOURS: Final = lazy_pattern(
    r"\b(?:0\d|1[0-8])[0-5]\d\b|(?<![\d./-])\d{1,2} ?[-–] ?\d{1,2}(?![\d./-])|\b\d{10}(?:\d{3})?\b"
)
"""Times that are written as 0930, as 9-17, or as seconds since 1970."""
_MOST: Final = 100
"""Numbers that sums, differences and products are made of: the latest."""
_DAYS: Final = frozenset(("date", "day", "weekday"))
_AMOUNTS: Final[tuple[TextValueKind, ...]] = ("number", "money", "percent")


def plain(text: str) -> str:
    """Return a text without accents, in lower case, with one apostrophe and single spaces."""
    text = unicodedata.normalize("NFKD", text)
    text = "".join(c for c in text if not unicodedata.combining(c)).lower()
    return re.sub(r"[\s_]+", " ", text.replace("’", "'"))


@dataclass
class KnownSoFar:
    """What is known so far; it grows turn by turn."""

    values: dict[TextValueKind, set[float]] = field(default_factory=dict)
    numbers: dict[float, None] = field(default_factory=dict)
    """All amounts, in the order of their last mention."""
    spoken: set[float] = field(default_factory=set)
    """Amounts that stand in prose and in calls, apart from those of results."""
    texts: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    """The letters and digits of every text."""
    ids: set[str] = field(default_factory=set)
    of_tools: set[TextValueKind] = field(default_factory=set)
    """Kinds of values that results of tools have given."""

    def hear(self, text: str) -> None:
        """Take in what somebody said."""
        self.spoken |= {v.amount for v in self._take(text) if v.kind in _AMOUNTS}

    def learn(self, result: Found) -> None:
        """Take in what a tool returned."""
        self.of_tools |= {v.kind for v in self._take(result.text)}
        if _HOURS.search(result.text):
            self.of_tools.add("clock")
        self.numbers |= dict.fromkeys(result.numbers)
        if result.numbers:
            self.of_tools.add("number")

    def _take(self, text: str) -> tuple[TextValue, ...]:
        self.texts.append(plain(text))
        self.codes.append(closed(text))
        values = read_values(text)
        for value in values:
            self.values.setdefault(value.kind, set()).add(value.amount)
            self.ids.add(value.text)
            if value.kind in _AMOUNTS:
                self.numbers.pop(value.amount, None)
                self.numbers[value.amount] = None
        return values

    def of(self, kind: TextValueKind) -> set[float]:
        """Return the amounts of a kind that were given."""
        return self.values.get(kind, set())

    def has(self, value: TextValue) -> bool:
        """Whether a value was given, or follows from what was."""
        if value.kind == "code":
            return self.has_code(value.text)
        if value.kind == "clock":
            clocks, spans = self.of("clock"), [*self.of("time_span"), 0.0]
            times = {(c + sign * s) % 720 for c in clocks for s in spans for sign in (1, -1)}
            return value.amount % 720 in times
        if value.kind in ("date", "weekday", "day"):  # one follows from another by a calendar
            days = self.of(value.kind)
            return value.amount in days or not days or bool(self.values.keys() & _DAYS - {value.kind})
        return self.has_number(value.amount)

    def has_code(self, code: str) -> bool:
        """Whether a code, or what it is the end or the beginning of, was given."""
        return any(code in text for text in self.codes)

    def has_number(self, number: float) -> bool:
        """Whether a number was given, also rounded, in hundredths or in ten thousands, or follows."""
        forms = (form for n in self.numbers for form in (n, n / 100, n * 10_000, float(round(n))))
        return any(abs(form - number) < 0.006 for form in forms) or self._follows(number)

    def _follows(self, number: float) -> bool:
        """Whether a number is a sum, a difference, a product or a share of two that were given."""
        telling = (n for n in list(self.numbers)[-_MOST:] if n > 12 or n != int(n) or n in self.of("money"))
        amounts = {round(n, 2) for n in telling}
        if any(round(number - a, 2) in amounts or round(number + a, 2) in amounts for a in amounts):
            return True
        counts = {n for n in (*self.spoken, 2.0) if 1 < n <= 31 and n == int(n)}
        shares = {share for p in self.of("percent") for share in (p / 100, 1 - p / 100, 1 + p / 100)}
        factors = counts | {1 / n for n in counts} | shares
        return any(abs(a * f - number) < 0.006 for a in amounts for f in factors)

    def has_text(self, text: str) -> bool:
        """Whether a text stands somewhere as it is, but for case and spaces."""
        return any(plain(text) in known for known in self.texts)
