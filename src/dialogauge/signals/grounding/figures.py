"""Times, dates, codes, amounts and counts of a reply that have no source, or another one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dialogauge.signals.grounding.claims import Clause
from dialogauge.signals.grounding.known import KnownSoFar, plain, stemmed
from dialogauge.signals.grounding.reading import ReplyView
from dialogauge.signals.grounding.records import key_words
from dialogauge.signals.grounding.results import Found
from dialogauge.signals.grounding.values import TextValue, closed, read_values
from dialogauge.signals.signal import Signal, finding

# ruff: noqa: E501 - a pattern is read as a whole

_COUNTING: Final = re.compile(
    r"(?:\bthere (?:are|is|were|'re)|\bi(?:'ve| have)?(?: found| located| got| see)?|\bwe(?:'ve got| have| offer| found| carry)|\byou(?:'ve got| have)|\bfound|\bhere are(?: the)?|\btotal of|\bshowing|\bin total|\b(?:has|have|offers?|holds?|includes?|contains?|lists?)|\bamong the|\ball|\bthe|\bwith|^|共|有|找到|查到|剩|为您)\W*(?:(?:a total of|currently|exactly|about|around|over|only|just|now|still|available|up to|at the moment|total|the|list of|all|these|following)\W+)*$",
    re.IGNORECASE,
)
_FOUND: Final = re.compile(
    r"(?:\bthere (?:are|were)|\bi(?:'ve| have)? (?:found|see)|\bfound|\bwe have|\byou have|\bhere are|\bshowing|共|有|找到|查到)\W*(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)
_THINGS: Final = re.compile(
    r"^\W{0,3}(?:[\w'’/-]+\s+){0,4}?(?P<noun>[a-z][a-z'-]+s)\b(?<!is)(?<!has)(?<!was)(?<!this)", re.IGNORECASE
)
_MEASURE_WORD: Final = re.compile(r"[个家趟本张种款位名件条间套份班辆台部]$")
_HEDGED: Final = re.compile(
    r"\b(?:about|around|approximately|roughly|nearly|almost|over|under|more than|less than)\W*$|大约|大概|约|左右|差不多|近|超过|不到",
    re.IGNORECASE,
)
_MEASURE: Final = re.compile(
    r"\s?-?(?:kg|kilos?|g|grams?|km|cm|mm|m|miles?|gb|mb|tb|ml|l|litres?|liters?|lbs?|oz|°\w?|degrees?|sq|inch(?:es)?|feet|ft|stars?|公里|公斤|千克|克|米|升|度|级|星)(?![a-z])",
    re.IGNORECASE,
)
_ROUGHLY: Final = re.compile(r"\s?(?:左右|上下|前后|多|出头|or so\b)")
_WAY: Final = re.compile(
    r"\b(?:walk|drive|stroll|minutes? (?:away|from|on foot))\b|步行|走路|车程|开车", re.IGNORECASE
)
_TIMES: Final = re.compile(r"\s?[x×*]\s?\D?\d")
_LEFT: Final = re.compile(r"(?:还|剩|余)\S?$|\bonly\W*$|\bleft\b")
_PER: Final = re.compile(r"\b(?:per|a|an|each|average)\b|每|平均|人均|均价", re.IGNORECASE)
_YOURSELVES: Final = re.compile(
    r"(?:你们|您们|您|我们|咱们)$|\b(?:you|us|your (?:party|group) of)\W*$", re.IGNORECASE
)
_DEGREES: Final = re.compile(r"\s?(?:°|degrees?|度)")
_EARLY: Final = re.compile(r"\b(?:early|earlier|in advance|before|shortly|moments?)\b|提前", re.IGNORECASE)
_SMALL: Final = 12
"""What is no more than this may be said in passing."""
_WRONG, _COUNT, _MISSING, _UNSURE = 0.85, 0.8, 0.75, 0.7

Verdict = tuple[str, float] | None
"""The name and the strength of a finding."""


@dataclass(frozen=True, slots=True)
class _Figure:
    """A value with the words on either side, and what it is held against."""

    value: TextValue
    clause: Clause
    reading: ReplyView

    @property
    def known(self) -> KnownSoFar:
        return self.reading.known

    @property
    def before(self) -> str:
        return self.clause.text[: self.value.start]

    @property
    def after(self) -> str:
        return self.clause.text[self.value.end :]

    @property
    def rough(self) -> bool:
        """Whether it is said to be rough."""
        return bool(_HEDGED.search(self.before[-24:]) or _ROUGHLY.match(self.after))

    @property
    def of_way(self) -> bool:
        """Whether a span is said to be that of a way."""
        return bool(_WAY.search(self.clause.text))

    @property
    def derived(self) -> bool:
        """Whether the number follows from others."""
        return self.known.follows(self.value.amount, self.value.decimals)

    @property
    def shared(self) -> bool:
        """Whether it is the quotient of two amounts, or a percentage of one in another, and is called so."""
        of_one = self.value.kind == "percent" or bool(_PER.search(self.clause.text))
        return of_one and self.known.shares(self.value.amount, percent=self.value.kind == "percent")


def find_figures(reading: ReplyView) -> Iterator[Signal]:
    """Yield the values of a reply that stand in none of its sources and do not follow from them."""
    seen: set[str] = set()
    for clause in reading.clauses:
        for value in read_values(clause.text):
            verdict = _judge(_Figure(value, clause, reading))
            if verdict is None and not clause.supposed:
                reading.known.accept(value)
            if verdict is not None and value.written not in seen:
                seen.add(value.written)
                name, strength = verdict
                yield finding(
                    reading.turn, name, strength, clause.text, "backend", "tool_error", what=value.written
                )


def _judge(place: _Figure) -> Verdict:
    if place.value.kind == "number":
        return _number(place) if place.reading.results else None
    if (place.clause.supposed and place.value.kind != "code") or place.known.has(place.value):
        return None
    if place.value.kind == "clock" and place.rough and place.known.near_clock(place.value.amount):
        return None
    return None if _excused(place) else _strange(place)


def _excused(place: _Figure) -> bool:
    """Whether a value without a source is of a kind that needs none here."""
    value, known = place.value, place.known
    if value.kind in ("money", "percent"):
        return place.derived or (place.rough and known.near(value.amount)) or place.shared
    if value.kind == "time_span":
        if re.search(r"\bwould\b", place.clause.text) or re.search(
            r"\b(?:first|last|next|another|each)\s*$", place.before
        ):
            return True
        timed = {"time_span", "number", "clock"} & known.kinds
        return (
            bool(_EARLY.search(place.after[:16]))
            or place.rough
            or place.clause.asks
            or not (timed or place.of_way)
        )
    if value.kind == "code":
        short = len(value.text) < (4 if place.reading.results else 6)
        return short and not any(_alike(value.text, code) for code in known.codes)
    if value.kind in ("date", "weekday") and known.relative:
        return True
    return place.clause.asks and not place.reading.results


def _strange(place: _Figure) -> Verdict:
    value, known = place.value, place.known
    if value.kind == "code":
        rival = any(_alike(value.text, code) for code in known.codes)
    else:
        rival = value.kind in known.kinds or (value.kind in ("money", "percent") and "number" in known.kinds)
    if value.kind == "time_span":
        if rival:
            return "against_result", _UNSURE
        return ("unsourced", _UNSURE) if place.of_way and place.reading.results else None
    if rival and place.reading.results:
        return "against_result", _WRONG
    return "unsourced", _MISSING if place.reading.results else 0.6


def _alike(a: str, b: str) -> bool:
    return len(a) == len(b) and sum(x == y for x, y in zip(a, b, strict=True)) * 2 >= len(a)


# Numbers without a unit


def _number(place: _Figure) -> Verdict:
    """Judge a number: what a key names, a count, a measure, or a figure above twelve."""
    if _TIMES.match(place.after) and place.value.amount <= 2 * _SMALL:
        return None
    keyed = _keyed(place)
    if keyed is not None:
        return ("against_result", _COUNT) if _against_key(place, keyed) else None
    spelled = place.value.written.replace("-", " ")
    if not spelled.isdigit() and place.known.has_text(spelled):
        return None
    if _counts_things(place):
        return _miscounted(place)
    return ("against_result", _UNSURE) if _loose(place) else None


def _keyed(place: _Figure) -> frozenset[float] | None:
    """Return what results hold under the key that the words beside a number name; None where none does."""
    words, han = _beside(place.before, place.after)
    out: set[float] = set()
    for result in place.reading.results:
        for key, leaf in result.leaves:
            if _names(key, words, han):
                out |= _numbers_in(leaf)
    return frozenset(out) if out else None


def _beside(before: str, after: str) -> tuple[frozenset[str], str]:
    """Return the English words next to a number, and the Chinese ones before it."""
    nouns = [stemmed(w) for w in re.findall(r"[a-z]+", plain(after)[:28])[:2]]
    if nouns and nouns[0] not in ("more", "available", "free"):
        nouns = nouns[:1]
    heads: list[str] = []
    if re.search(r"[:=]\s*$|\b(?:is|of|are|at)\s*$", before):
        heads = [stemmed(w) for w in re.findall(r"[a-z]+", plain(before)[-28:])[-2:]]
    han = re.search(r"([\u4e00-\u9fff]{2,6}?)(?:为|是|:|:|达|有)?\s*$", before)
    return frozenset((*nouns, *heads)), han[1] if han else ""


def _names(key: str, words: frozenset[str], han: str) -> bool:
    if key_words(key) & words:
        return True
    return len(key) >= 2 and bool(han) and (han.endswith(key) or (key.endswith(han[-2:]) and len(key) <= 4))


def _numbers_in(leaf: object) -> set[float]:
    if isinstance(leaf, bool) or leaf is None:
        return set()
    if isinstance(leaf, int | float):
        return {float(leaf)}
    return {v.amount for v in read_values(str(leaf)) if v.kind in ("number", "money", "percent")}


def _against_key(place: _Figure, keyed: frozenset[float]) -> bool:
    value, known = place.value, place.known
    number = value.amount
    if number in keyed or any(round(k, value.decimals) == number for k in keyed):
        return False
    if (number > _SMALL or number != int(number)) and (
        known.has_number(number, value.decimals) or place.derived
    ):
        return False
    if number in known.counts and not _MEASURE.match(place.after):
        return False
    comparable = any(k == int(k) for k in keyed) or number != int(number)
    return comparable and not place.rough and number not in known.spoken


def _counts_things(place: _Figure) -> bool:
    value = place.value
    things = _THINGS.search(place.after) or _MEASURE_WORD.search(value.written)
    counting = _COUNTING.search(place.before[-40:])
    if _YOURSELVES.search(place.before):
        return False
    return value.amount == int(value.amount) and value.amount >= 2 and bool(things and counting)


def _miscounted(place: _Figure) -> Verdict:
    number, known, reading = place.value.amount, place.known, place.reading
    if number in known.counts or number in known.spoken or number in _listed(reading.reply, reading.results):
        return None
    if (
        number > 2 * _SMALL
        and len(known.counts) < 12
        and any(number - n in known.counts for n in known.counts)
    ):
        return None
    result = bool(_FOUND.search(place.before[-40:])) and not _LEFT.search(place.before[-6:])
    small = {n for n in (*known.numbers, *known.counts) if 1 < n <= _SMALL}
    if not result and (
        number in known.numbers or any(number in (a * b, a + b) for a in small for b in small)
    ):
        return None
    return "wrong_count", _COUNT if result else _UNSURE


def _listed(reply: str, results: Sequence[Found]) -> set[float]:
    """Return how many points a reply lists, and how many records it names."""
    points = re.findall(r"^\s*(?:\d{1,2}[.)、]|[-*•])\s", reply, re.MULTILINE)
    low = plain(reply)
    fields = (v for f in results[-3:] for rows in f.lists for r in rows for _, v in r.fields)
    named = {plain(v) for v in fields if isinstance(v, str) and len(v) > 3 and plain(v) in low}
    return {float(len(points)), float(len(named))} - {0.0}


def _loose(place: _Figure) -> bool:
    """Whether a measure, or a figure above twelve, has no source."""
    value, known = place.value, place.known
    number = value.amount
    if 1900 <= number <= 2100 and number == int(number):
        return False  # a year
    if _DEGREES.match(place.after) and any(a - number in known.numbers for a in known.numbers):
        return False
    telling = number > _SMALL or number != int(number) or (number > 1 and bool(_MEASURE.match(place.after)))
    if not telling or place.rough or known.has_number(number, value.decimals):
        return False
    if number > _SMALL or number != int(number):
        return not (
            place.derived or place.shared or (number >= 1000 and known.has_code(closed(value.written)))
        )
    return True
