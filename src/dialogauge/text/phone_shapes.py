"""What telephone numbers look like: mainland China, North America, Britain, and the international form.

A number is taken by its shape alone only where the shape is telling (a plus, brackets, an area code that
is parted off, a Chinese mobile prefix); any other run of 7 to 12 digits only behind a word such as
"phone" or "电话". Behind a word such as "order" or "订单号" nothing is a telephone number. Every pattern
is bounded or possessive: matching at one place costs a constant.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["CONTEXT", "phone_end", "says_other_number", "says_phone"]

CONTEXT: Final = 32
"""Characters in front of a number that are looked at."""

_AREA = r"0(?:10|2[0-9]|[3-9][0-9]{2})"
_SHAPES: Final = tuple(
    re.compile(shape)
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
_BRITISH: Final = re.compile(
    r"\(?0[1-37-9][0-9]{1,4}\)?[ -]?[0-9]{3,8}(?:[ -][0-9]{3,4})?(?:[ -][0-9]{3,4})?"
)
_INTERNATIONAL: Final = re.compile(r"(?:\+|00)\(?[1-9][0-9]*+\)?(?:[ .-]?\(?[0-9]++\)?){0,7}")
_ANY: Final = re.compile(r"\(?[0-9]++\)?(?:[ .-][0-9]++){0,4}")
_DATE: Final = re.compile(r"(?:19|20)[0-9]{2}([ .-])[01]?[0-9]\1[0-3]?[0-9](?![0-9])")
_GROUP: Final = re.compile("[0-9]+")

_SAYS_PHONE: Final = re.compile(
    r"(?:(?<![a-z])(?:(?:tele)?phone|tel|mobile|cell|fax|whatsapp|call|dial|ring|text|sms)"
    r"|电话|手机|座机|传真|拨打|致电|联系方式)"
    r"[^0-9a-z\u4e00-\u9fff]{0,6}(?:(?:numbers?|no|号码?)[^0-9a-z\u4e00-\u9fff]{0,6})?"
    r"(?:(?:is|was|at|on|为|是|：)[^0-9a-z\u4e00-\u9fff]{0,6})?\Z"
)
_SAYS_OTHER: Final = re.compile(
    r"(?:(?<![a-z])(?:orders?|tracking|invoice|ticket|ref|reference|serial|booking|reservation|confirmation"
    r"|sku|isbn|issn|ean|upc|barcode|items?|product|model|part|case|flight|version|timestamp|imei|doi)"
    r"|订单|单号|编号|运单|快递|发票|序列号|流水号?|条码|型号|车次|航班|[#№$€£¥￥])"
    r"[^0-9a-z\u4e00-\u9fff]{0,6}(?:(?:numbers?|no|id|code|号码?)[^0-9a-z\u4e00-\u9fff]{0,6})?"
    r"(?:(?:is|was|为|是)[^0-9a-z\u4e00-\u9fff]{0,6})?\Z"
)


def says_phone(before: str) -> bool:
    """Say whether the words in front of a number announce a telephone number."""
    return _SAYS_PHONE.search(before.lower()) is not None


def says_other_number(before: str) -> bool:
    """Say whether the words in front of a number announce an order, a ticket, a price, a book ..."""
    return _SAYS_OTHER.search(before.lower()) is not None


def phone_end(text: str, start: int) -> int | None:
    """Return where a telephone number that begins at `start` ends; None when none does.

    Args:
        text: Text with ASCII digits, hyphens and spaces.
        start: Where a digit, a plus or a bracket stands.
    """
    before = text[max(0, start - CONTEXT) : start]
    announced = says_phone(before)
    if not announced and says_other_number(before):
        return None
    for shape in _SHAPES:
        found = shape.match(text, start)
        if found is not None and _ends(text, found.end()):
            return found.end()
    end = _international(text, start) or _british(text, start)
    return end or (_announced(text, start) if announced else None)


def _ends(text: str, end: int) -> bool:
    """Say whether no letter, digit or code goes on behind a number."""
    following = text[end : end + 1]
    if following.isalnum() and not "\u3000" <= following <= "\u9fff":
        return False
    return not (following in ("_", "%") or (following in ("-", ".") and text[end + 1 : end + 2].isdigit()))


def _cut(text: str, start: int, end: int, least: int, most: int) -> int | None:
    """Leave out whole groups at the end until there are at most `most` digits, if `least` remain."""
    groups = [(g.end(), len(g.group())) for g in _GROUP.finditer(text, start, end)]
    total = sum(length for _, length in groups)
    while groups and total > most:
        total -= groups.pop()[1]
    if total < least or not groups or not _ends(text, groups[-1][0]):
        return None
    return groups[-1][0]


def _international(text: str, start: int) -> int | None:
    found = _INTERNATIONAL.match(text, start)
    if found is None:
        return None
    if not text.startswith("+", start):  # 00 is as often padding: a parted country code tells
        if re.match(r"00[1-9][0-9]{0,2}[ -]", found.group()) is None:
            return None
        return _cut(text, start, found.end(), 11, 17)
    return _cut(text, start, found.end(), 9, 11 if text.startswith("+1", start) else 15)


def _british(text: str, start: int) -> int | None:
    found = _BRITISH.match(text, start)
    if found is None:
        return None
    parted = not found.group().isdigit()
    return _cut(text, start, found.end(), 10 if parted else 11, 11)


def _announced(text: str, start: int) -> int | None:
    found = _ANY.match(text, start)
    if found is None or _DATE.match(text, start):
        return None
    return _cut(text, start, found.end(), 7, 12)
