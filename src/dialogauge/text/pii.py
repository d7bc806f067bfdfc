"""Telephone numbers, e-mail addresses, bank-card and identity-card numbers in text.

The patterns aim at precision: dates, prices, order and tracking numbers, ISBNs and times should not match.
They match shapes, not persons: a hotel's number matches like a guest's. They do not match names, postal
addresses, passport numbers and numbers in words; see `docs/privacy.md`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from dialogauge.core.patterns import lazy_pattern

# Issuer prefixes with the lengths that their cards have: ISO/IEC 7812 and the networks' own pages.
_ISSUERS: Final = lazy_pattern(
    r"4(?:\d{12}|\d{15}|\d{18})"  # Visa
    r"|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|3(?:0[0-5]|09|6\d|[89]\d)\d{11,16}"  # Diners Club
    r"|35(?:2[89]|[3-8]\d)\d{12,15}"  # JCB
    r"|(?:6011|64[4-9]\d|65\d\d)\d{12,15}"  # Discover
    r"|62\d{14,17}"  # UnionPay
    r"|220[0-4]\d{12,15}"  # Mir
    r"|(?:50|5[678]|6[0379])\d{11,17}"  # Maestro and domestic debit cards
)

# The province, in the first two digits of an identity number (GB/T 2260).
_PROVINCES: Final = frozenset(
    f"{n:02d}"
    for first, last in ((11, 15), (21, 23), (31, 37), (41, 46), (50, 54), (61, 65), (71, 71), (81, 83))
    for n in range(first, last + 1)
)
_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECKS: Final = "10X98765432"


def luhn(digits: str) -> bool:
    """Say whether the digits have a Luhn sum that is a multiple of ten (ISO/IEC 7812-1, annex B)."""
    total = 0
    for position, character in enumerate(reversed(digits)):
        value = int(character)
        if position % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


def is_bank_card(digits: str) -> bool:
    """Say whether 13 to 19 digits are a bank card: issuer, its lengths, Luhn sum, not one digit only."""
    if not 13 <= len(digits) <= 19 or _ISSUERS.fullmatch(digits) is None:
        return False
    return len(set(digits)) > 1 and luhn(digits)


def is_chinese_id(text: str) -> bool:
    """Say whether 17 digits and a digit or X are a resident identity number (GB 11643-1999).

    Province, date of birth (from 1900 on) and check character must be valid.
    """
    if len(text) != 18 or text[:2] not in _PROVINCES:
        return False
    try:
        born = date(int(text[6:10]), int(text[10:12]), int(text[12:14]))
    except ValueError:
        return False
    if not 1900 <= born.year <= 2100:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(text, _WEIGHTS, strict=False))
    return _CHECKS[total % 11] == text[17].upper()


_CONTEXT: Final = 32  # characters before a number that count

_AREA = r"0(?:10|2[0-9]|[3-9][0-9]{2})"
_SHAPES: Final = tuple(
    lazy_pattern(shape)
    for shape in (
        # China: mobile, landline with an extension, service numbers
        r"(?:(?:\+|00)?\(?86\)?[ -]?)?1[3-9][0-9](?:[0-9]{8}|([ -])[0-9]{4}\1[0-9]{4})",
        rf"(?:\({_AREA}\)[ -]?|{_AREA}[ -])[1-9][0-9]{{2,3}}[ -]?[0-9]{{4}}"
        r"(?:(?:-| ?转 ?| ?[Ee]xt\.? ?)[0-9]{1,6})?",
        r"[48]00[ -](?:[0-9]{3}[ -]?[0-9]{4}|[0-9]{4}[ -]?[0-9]{3})",
        # North America
        r"(?:\+?1[ .-]?)?\([2-9][0-9]{2}\)[ .-]?[2-9][0-9]{2}[ .-]?[0-9]{4}",
        r"(?:\+?1[ .-]?)?[2-9][0-9]{2}([.-])[2-9][0-9]{2}\1[0-9]{4}",
        r"(?:\+?1[ .-])?[2-9][0-9]{2} [2-9][0-9]{2}-[0-9]{4}",
    )
)
_BRITISH: Final = lazy_pattern(
    r"\(?0[1-37-9][0-9]{1,4}\)?[ -]?[0-9]{3,8}(?:[ -][0-9]{3,4})?(?:[ -][0-9]{3,4})?"
)
_INTERNATIONAL: Final = lazy_pattern(r"(?:\+|00)\(?[1-9][0-9]*+\)?(?:[ .-]?\(?[0-9]++\)?){0,7}")
_ANY: Final = lazy_pattern(r"\(?[0-9]++\)?(?:[ .-][0-9]++){0,4}")
_DATE: Final = lazy_pattern(r"(?:19|20)[0-9]{2}([ .-])[01]?[0-9]\1[0-3]?[0-9](?![0-9])")
_GROUP: Final = lazy_pattern("[0-9]+")

_SAYS_PHONE: Final = lazy_pattern(
    r"(?:(?<![a-z])(?:(?:tele)?phone|tel|mobile|cell|fax|whatsapp|call|dial|ring|text|sms)"
    r"|电话|手机|座机|传真|拨打|致电|联系方式)"
    r"[^0-9a-z\u4e00-\u9fff]{0,6}(?:(?:numbers?|no|号码?)[^0-9a-z\u4e00-\u9fff]{0,6})?"
    r"(?:(?:is|was|at|on|为|是|：)[^0-9a-z\u4e00-\u9fff]{0,6})?\Z"
)
_SAYS_OTHER: Final = lazy_pattern(
    r"(?:(?<![a-z])(?:orders?|tracking|invoice|ticket|ref|reference|serial|booking|reservation|confirmation"
    r"|sku|isbn|issn|ean|upc|barcode|items?|product|model|part|case|flight|version|timestamp|imei|doi)"
    r"|订单|单号|编号|运单|快递|发票|序列号|流水号?|条码|型号|车次|航班|[#№$€£¥￥])"
    r"[^0-9a-z\u4e00-\u9fff]{0,6}(?:(?:numbers?|no|id|code|号码?)[^0-9a-z\u4e00-\u9fff]{0,6})?"
    r"(?:(?:is|was|为|是)[^0-9a-z\u4e00-\u9fff]{0,6})?\Z"
)


def _announces(pattern: re.Pattern[str], text: str, start: int) -> bool:
    """Say whether the words before a number match a pattern."""
    return pattern.search(text[max(0, start - _CONTEXT) : start].lower()) is not None


def _phone_end(text: str, start: int) -> int | None:
    """Return the end of a telephone number that begins at `start`; None without one.

    Args:
        text: Text with ASCII digits, hyphens and spaces.
        start: The position of a digit, a plus or a bracket.
    """
    announced = _announces(_SAYS_PHONE, text, start)
    if not announced and _announces(_SAYS_OTHER, text, start):
        return None
    for shape in _SHAPES:
        match = shape.match(text, start)
        if match is not None and _ends(text, match.end()):
            return match.end()
    end = _international(text, start) or _british(text, start)
    return end or (_announced(text, start) if announced else None)


def _ends(text: str, end: int, joins: tuple[str, ...] = ("_", "%")) -> bool:
    """Say whether a number ends at `end`: no letter, digit or code follows."""
    following = text[end : end + 1]
    if following.isalnum() and not "\u3000" <= following <= "\u9fff":
        return False
    return not (following in joins or (following in ("-", ".") and text[end + 1 : end + 2].isdigit()))


def _cut(text: str, start: int, end: int, least: int, most: int) -> int | None:
    """Return the end after whole groups with at most `most` digits; None for fewer than `least`."""
    groups = [(g.end(), len(g.group())) for g in _GROUP.finditer(text, start, end)]
    total = sum(length for _, length in groups)
    while groups and total > most:
        total -= groups.pop()[1]
    if total < least or not groups or not _ends(text, groups[-1][0]):
        return None
    return groups[-1][0]


def _international(text: str, start: int) -> int | None:
    match = _INTERNATIONAL.match(text, start)
    if match is None:
        return None
    if not text.startswith("+", start):  # 00 may be padding, unless a separate country code follows
        if re.match(r"00[1-9][0-9]{0,2}[ -]", match.group()) is None:
            return None
        return _cut(text, start, match.end(), 11, 17)
    return _cut(text, start, match.end(), 9, 11 if text.startswith("+1", start) else 15)


def _british(text: str, start: int) -> int | None:
    match = _BRITISH.match(text, start)
    if match is None:
        return None
    least = 11 if match.group().isdigit() else 10
    return _cut(text, start, match.end(), least, 11)


def _announced(text: str, start: int) -> int | None:
    match = _ANY.match(text, start)
    if match is None or _DATE.match(text, start):
        return None
    return _cut(text, start, match.end(), 7, 12)


PersonalKind = Literal["phone", "email", "card", "id"]

# Other digits, hyphens, spaces and at-signs -> ASCII, one character each, so positions stay the same.
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
_WORTH_A_LOOK: Final = lazy_pattern(r"[@\uff20]|\d(?:\D{0,3}\d){6}")
_DIGITS: Final = lazy_pattern("[0-9]+")
_CJK: Final = "\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef"
_LOCAL: Final = lazy_pattern(rf"(?:[^\W{_CJK}]|[.%+'-]){{1,64}}\Z")
_DOMAIN: Final = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){1,8}")
_ENDING: Final = lazy_pattern(r"[A-Za-z]{2,24}|xn--[A-Za-z0-9-]{2,59}")
_FILE_ENDINGS: Final = frozenset({"png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "py"})
_SSN: Final = lazy_pattern(r"(?!000|666|9)[0-9]{3}([ -]?)(?!00)[0-9]{2}\1(?!0000)[0-9]{4}")
_SAYS_SSN: Final = lazy_pattern(r"(?:ssn|social security)[^0-9]{0,20}\Z")


@dataclass(frozen=True, slots=True)
class PersonalSpan:
    """Personal data in `text[start:end]`."""

    kind: PersonalKind
    start: int
    end: int


def find_personal(text: str) -> tuple[PersonalSpan, ...]:
    """Return the personal data in order, without overlaps, in linear time."""
    if _WORTH_A_LOOK.search(text) is None:
        return ()
    plain = text.translate(_PLAIN)
    candidates = sorted((*_emails(plain), *_numbers(plain)), key=lambda span: (span.start, -span.end))
    out: list[PersonalSpan] = []
    for span in candidates:
        if not out or span.start >= out[-1].end:
            out.append(span)
    return tuple(out)


def count_personal(text: str) -> Counter[PersonalKind]:
    """Return the number of each kind."""
    return Counter(span.kind for span in find_personal(text))


def redact(text: str) -> str:
    """Return the text with `[phone]`, `[email]`, `[card]` or `[id]` in place of personal data."""
    spans = find_personal(text)
    if not spans:
        return text
    parts, at = [], 0
    for span in spans:
        parts += [text[at : span.start], f"[{span.kind}]"]
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
    """Return the personal number at this digit, or at the plus or bracket before it."""
    start = digit
    while start > max(0, digit - 2) and text[start - 1] in "+(":
        start -= 1
    if not _begins(text, start) or _in_address(text, start):
        return None
    end = _card_or_id(text, digit)
    if end is not None:
        return PersonalSpan(end[0], digit, end[1])
    phone = _phone_end(text, start)
    if phone is None and start < digit:
        start, phone = digit, _phone_end(text, digit)
    return None if phone is None else PersonalSpan("phone", start, phone)


def _begins(text: str, start: int) -> bool:
    """Say whether a number begins at `start`: no letter, digit or code precedes."""
    before = text[start - 1 : start]
    if text[start] in "+(":
        return not before.isdigit()
    if before.isalnum() and not "\u3000" <= before <= "\u9fff":
        return False
    return not (before == "_" or (before in ("-", ".") and text[start - 2 : start - 1].isdigit()))


def _in_address(text: str, start: int) -> bool:
    """Say whether a number is part of a web address and not a telephone number in it."""
    before = text[max(0, start - 4 * _CONTEXT) : start]
    word = before[max(before.rfind(" "), before.rfind("\n")) + 1 :]
    return ("://" in word or "www." in word) and not (
        _SAYS_PHONE.search(before.lower())
        or any(mark in word for mark in ("wa.me/", "tel:", "phone=", "mobile="))
    )


def _card_or_id(text: str, start: int) -> tuple[PersonalKind, int] | None:
    """Return kind and end of a number of 13 to 19 digits with one kind of separator, or of an SSN."""
    ends: list[tuple[str, int]] = []
    digits, at, separator = "", start, None
    while (group := _DIGITS.match(text, at)) is not None and len(digits) + len(group.group()) <= 19:
        digits, at = digits + group.group(), group.end()
        ends.append((digits, at))
        if text[at : at + 1] not in ("-", " ") or separator not in (None, text[at]) or len(group.group()) < 3:
            break
        separator, at = text[at], at + 1
    other = _announces(_SAYS_OTHER, text, start)
    for number, end in reversed(ends):
        kind = _checked(text, number, end)
        if kind is not None and (kind[0] == "id" or not other):
            return kind
    match = _SSN.match(text, start)
    if match is None or not _ends(text, match.end(), ("_",)):
        return None
    return ("id", match.end()) if match[1] == "-" or _announces(_SAYS_SSN, text, start) else None


def _checked(text: str, number: str, end: int) -> tuple[PersonalKind, int] | None:
    if len(number) == 17 and text[end : end + 1] in ("X", "x"):
        number, end = number + text[end], end + 1
    if not _ends(text, end, ("_",)):
        return None
    if is_chinese_id(number):
        return "id", end
    return ("card", end) if is_bank_card(number.rstrip("Xx")) and number.isdigit() else None
