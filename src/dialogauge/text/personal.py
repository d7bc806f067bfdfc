"""Finds telephone numbers, e-mail addresses, bank-card and identity-card numbers in text.

With precision in mind: dates, prices, order and tracking numbers, ISBNs and times should not count. What
is found is a shape, not a person: the number of a hotel counts like that of a guest. Names, postal
addresses, passport numbers and numbers written as words are not found; see `docs/privacy.md`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from dialogauge.text.check_digits import is_bank_card, is_chinese_id
from dialogauge.text.phone_shapes import CONTEXT, phone_end, says_other_number, says_phone

__all__ = ["PERSONAL_KINDS", "PersonalKind", "PersonalSpan", "count_personal", "find_personal", "redact"]

PersonalKind = Literal["phone", "email", "card", "id"]
PERSONAL_KINDS: Final[tuple[PersonalKind, ...]] = get_args(PersonalKind)

# Other digits, hyphens, spaces and at-signs; each becomes one character, so that places stay true.
_PLAIN: Final = str.maketrans(
    {
        **{chr(zero + n): str(n) for zero in (0xFF10, 0x660, 0x6F0, 0x966) for n in range(10)},
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000\t", " "),
        "\uff20": "@",
        "\uff0e": ".",
        "\uff0b": "+",
        "\uff08": "(",
        "\uff09": ")",
        "\uff3f": "_",
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f", "-"),
    }
)
_WORTH_A_LOOK: Final = re.compile(r"[@\uff20]|\d(?:\D{0,3}\d){6}")
_DIGITS: Final = re.compile("[0-9]+")
_CJK: Final = "\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef"
_LOCAL: Final = re.compile(rf"(?:[^\W{_CJK}]|[.%+'-]){{1,64}}\Z")
_DOMAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){1,8}")
_ENDING: Final = re.compile(r"[A-Za-z]{2,24}|xn--[A-Za-z0-9-]{2,59}")
_FILE_ENDINGS: Final = frozenset({"png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "py"})
_SSN: Final = re.compile(r"(?!000|666|9)[0-9]{3}([ -]?)(?!00)[0-9]{2}\1(?!0000)[0-9]{4}")
_SAYS_SSN: Final = re.compile(r"(?:ssn|social security)[^0-9]{0,20}\Z")
_MARKS: Final[dict[PersonalKind, str]] = {kind: f"[{kind}]" for kind in PERSONAL_KINDS}


@dataclass(frozen=True, slots=True)
class PersonalSpan:
    """Where something personal stands: `text[start:end]`."""

    kind: PersonalKind
    start: int
    end: int


def find_personal(text: str) -> tuple[PersonalSpan, ...]:
    """Return what looks personal, in order, without overlaps; the time is linear in the text."""
    if _WORTH_A_LOOK.search(text) is None:
        return ()
    plain = text.translate(_PLAIN)
    found = sorted((*_emails(plain), *_numbers(plain)), key=lambda span: (span.start, -span.end))
    out: list[PersonalSpan] = []
    for span in found:
        if not out or span.start >= out[-1].end:
            out.append(span)
    return tuple(out)


def count_personal(text: str) -> Counter[PersonalKind]:
    """Return how often each kind occurs."""
    return Counter(span.kind for span in find_personal(text))


def redact(text: str) -> str:
    """Return the text with `[phone]`, `[email]`, `[card]` or `[id]` in place of what looks personal."""
    spans = find_personal(text)
    if not spans:
        return text
    parts, at = [], 0
    for span in spans:
        parts += [text[at : span.start], _MARKS[span.kind]]
        at = span.end
    return "".join((*parts, text[at:]))


def _emails(text: str) -> Iterator[PersonalSpan]:
    at = text.find("@")
    while at >= 0:
        local = _LOCAL.search(text, max(0, at - 64), at)
        domain = _DOMAIN.match(text, at + 1)
        if local is not None and domain is not None and local.group() != "git":
            ending = domain.group().rstrip("-").rpartition(".")[2]
            if _ENDING.fullmatch(ending) and ending.lower() not in _FILE_ENDINGS:
                yield PersonalSpan("email", local.start(), domain.end())
        at = text.find("@", at + 1)


def _numbers(text: str) -> Iterator[PersonalSpan]:
    done = 0
    for group in _DIGITS.finditer(text):
        if group.start() < done:
            continue
        span = _number(text, group.start())
        if span is not None:
            yield span
            done = span.end


def _number(text: str, digit: int) -> PersonalSpan | None:
    """Return what begins at this digit, or at the plus or bracket in front of it."""
    start = digit
    while start > max(0, digit - 2) and text[start - 1] in "+(":
        start -= 1
    if not _begins(text, start) or _in_address(text, start):
        return None
    end = _card_or_id(text, digit)
    if end is not None:
        return PersonalSpan(end[0], digit, end[1])
    phone = phone_end(text, start)
    if phone is None and start < digit:
        start, phone = digit, phone_end(text, digit)
    return None if phone is None else PersonalSpan("phone", start, phone)


def _begins(text: str, start: int) -> bool:
    """Say whether no letter, digit or code stands in front of a number."""
    before = text[start - 1 : start]
    if text[start] in "+(":
        return not before.isdigit()
    if before.isalnum() and not "\u3000" <= before <= "\u9fff":
        return False
    return not (before == "_" or (before in ("-", ".") and text[start - 2 : start - 1].isdigit()))


def _in_address(text: str, start: int) -> bool:
    """Say whether a number is part of a web address that does not call it a telephone number."""
    before = text[max(0, start - 4 * CONTEXT) : start]
    word = before[max(before.rfind(" "), before.rfind("\n")) + 1 :]
    return ("://" in word or "www." in word) and not (
        says_phone(before) or any(mark in word for mark in ("wa.me/", "tel:", "phone=", "mobile="))
    )


def _card_or_id(text: str, start: int) -> tuple[PersonalKind, int] | None:
    """Look for a number of 13 to 19 digits with one kind of separator, or for a social security number."""
    ends: list[tuple[str, int]] = []
    digits, at, separator = "", start, None
    while (group := _DIGITS.match(text, at)) is not None and len(digits) + len(group.group()) <= 19:
        digits, at = digits + group.group(), group.end()
        ends.append((digits, at))
        if text[at : at + 1] not in ("-", " ") or separator not in (None, text[at]) or len(group.group()) < 3:
            break
        separator, at = text[at], at + 1
    other = says_other_number(text[max(0, start - CONTEXT) : start])
    for number, end in reversed(ends):
        kind = _proved(text, number, end)
        if kind is not None and (kind[0] == "id" or not other):
            return kind
    return _ssn(text, start)


def _proved(text: str, number: str, end: int) -> tuple[PersonalKind, int] | None:
    if len(number) == 17 and text[end : end + 1] in ("X", "x"):
        number, end = number + text[end], end + 1
    if not _stops(text, end):
        return None
    if is_chinese_id(number):
        return "id", end
    return ("card", end) if is_bank_card(number.rstrip("Xx")) and number.isdigit() else None


def _stops(text: str, end: int) -> bool:
    following = text[end : end + 1]
    if following.isalnum() and not "\u3000" <= following <= "\u9fff":
        return False
    return not (following == "_" or (following in ("-", ".") and text[end + 1 : end + 2].isdigit()))


def _ssn(text: str, start: int) -> tuple[PersonalKind, int] | None:
    found = _SSN.match(text, start)
    if found is None or not _stops(text, found.end()):
        return None
    announced = _SAYS_SSN.search(text[max(0, start - CONTEXT) : start].lower()) is not None
    return ("id", found.end()) if found[1] == "-" or announced else None
