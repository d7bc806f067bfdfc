"""Numbers that prove themselves: bank cards by the Luhn sum, Chinese identity cards by GB 11643."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

__all__ = ["is_bank_card", "is_chinese_id", "luhn"]

# Issuer prefixes with the lengths that their cards have: ISO/IEC 7812 and the networks' own pages.
_ISSUERS: Final = re.compile(
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
    """Say whether 13 to 19 digits are a bank card's: issuer, length for it, Luhn sum, not all alike."""
    if not 13 <= len(digits) <= 19 or _ISSUERS.fullmatch(digits) is None:
        return False
    return len(set(digits)) > 1 and luhn(digits)


def is_chinese_id(text: str) -> bool:
    """Say whether 17 digits and a digit or X are a resident identity number (GB 11643-1999).

    Province, date of birth (from 1900 on) and check character must be right.
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
