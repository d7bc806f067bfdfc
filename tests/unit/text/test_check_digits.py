"""Check digits, by numbers whose sums were done by hand or that their issuers publish for testing."""

from __future__ import annotations

import pytest

from dialogauge.text.pii import is_bank_card, is_chinese_id, luhn


def test_luhn_by_hand() -> None:
    # 7992739871 doubled from the right: 67 + check digit 3 = 70.
    assert luhn("79927398713")
    assert not any(luhn(f"7992739871{n}") for n in range(10) if n != 3)


@pytest.mark.parametrize(
    "digits",
    [
        "4111111111111111",
        "4012888888881881",
        "5555555555554444",
        "2223003122003222",
        "378282246310005",
        "30569309025904",
        "3530111333300000",
        "6011111111111117",
        "6200000000000005",
        "6304000000000000",
    ],
)
def test_published_test_cards(digits: str) -> None:
    assert is_bank_card(digits)
    other = "4" if digits[-1] != "4" else "5"
    assert not is_bank_card(digits[:-1] + other)


@pytest.mark.parametrize(
    "digits",
    [
        "9780306406157",  # an ISBN
        "1700000000000",  # a time in milliseconds
        "0000000000000000",
        "411111111111111",  # 15 digits of Visa
        "41111111111111111111",  # 20 digits
        "1234567812345670",  # Luhn holds, no issuer
    ],
)
def test_what_is_no_card(digits: str) -> None:
    assert not is_bank_card(digits)


def test_chinese_id() -> None:
    # The example of GB 11643-1999 itself, and the second by hand: the weighted sum leaves 9 -> "3".
    assert is_chinese_id("11010519491231002X")
    assert is_chinese_id("11010519491231002x")
    assert is_chinese_id("440524188001010014") is False  # right sum, born in 1880
    assert not is_chinese_id("110105194912310021")
    assert not is_chinese_id("11010519491331002X")  # a 13th month
    assert not is_chinese_id("99010519491231002X")  # no such province
    assert not is_chinese_id("11010519491231002")
