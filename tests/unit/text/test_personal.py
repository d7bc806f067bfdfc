"""What looks personal is found, what only looks like it is not; numbers here are reserved or made up."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.text import count_personal, find_personal, redact
from sets import some_short

FOUND = {
    "phone": [
        "13800138000",
        "138 0013 8000",
        "138-0013-8000",
        "+86 13800138000",
        "+86-10-65520000",
        "0086 138 0013 8000",
        "010-65520000",
        "(010) 65520000",
        "（０１０）６５５２００００",
        "0755-12345678转801",
        "400-800-8820",
        "(212) 555-0123",
        "212-555-0123",
        "212.555.0123",
        "212 555-0123",
        "1-800-555-0199",
        "+1 212 555 0123",
        "+12125550123",
        "+44 20 7946 0958",
        "+44 (0)20 7946 0958",
        "020 7946 0958",
        "07700 900123",
        "07700900123",
        "01632 960123",
        "+49 30 901820",
        "+33 1 23 45 67 89",
        "+81-3-3648-0300",
        "138\u200b0013\u200b8000",
        "138\u20110013\u20118000",
    ],
    "email": ["zhang.san@example.com", "a+b@mail.example.co.uk", "josé@example.fr", "x_y@example.org"],
    "card": [
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111111111111111",
        "3782 822463 10005",
        "５５５５５５５５５５５５４４４４",
    ],
    "id": ["11010519491231002X", "110105 19491231 002X", "11010519491231002x", "123-45-6789"],
}


@pytest.mark.parametrize(("kind", "text"), [(k, t) for k, texts in FOUND.items() for t in texts])
def test_found_whole_alone_and_in_sentences(kind: str, text: str) -> None:
    assert [s.kind for s in find_personal(text)] == [kind]
    assert redact(text) == f"[{kind}]"
    assert redact(f"我的是{text}，谢谢。") == f"我的是[{kind}]，谢谢。"
    assert redact(f"It is {text}, thanks.") == f"It is [{kind}], thanks."
    assert redact(f'{{"value": "{text}"}}') == f'{{"value": "[{kind}]"}}'


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("phone: 2125550123", "phone: [phone]"),
        ('{"phone": "2125550123"}', '{"phone": "[phone]"}'),
        ("call 555-0123 now", "call [phone] now"),
        ("电话号码是65520000。", "电话号码是[phone]。"),
        ("SSN 123 45 6789", "SSN [id]"),
        ("social security number: 123456789", "social security number: [id]"),
        ("Tel:13800138000,13900139000", "Tel:[phone],[phone]"),
        ("4111 1111 1111 1111 12/27", "[card] 12/27"),
        ("wa: https://wa.me/13800138000", "wa: https://wa.me/[phone]"),
    ],
)
def test_found_by_its_context(text: str, clean: str) -> None:
    assert redact(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-15 10:30:45",
        "2024-01-15T10:30:45+00:00",
        "call on 2024-01-15",
        "2023.12.25-2024.01.05, 8:00-20:00",
        "order 13800138000",
        "order number: 212-555-0123",
        "order #4111111111111111",
        "订单号：13800138000",
        "订单编号是 13912345678",
        "$1,234,567.89 or 10,000,000 or ￥13800138000",
        "ISBN 978-7-115-42802-8, ISBN 0-306-40615-2, 9787115428028",
        "1700000000 and 1700000000000",
        "tracking number 9400 1000 0000 0000 0000 00",
        "1Z999AA10123456784",
        "192.168.100.100 and version 1.2.3.4567",
        "3.14159265358979 and 0.13800138000",
        "2019 2020 2021 2022",
        '"item_id": "9523456873", credit_card_9513926',
        "https://example.com/p/13800138000?ref=4111111111111111",
        "icon@2x.png, @property, git@github.com:foo/bar, me@home, a@1.2.3",
        "iPhone 15 128GB 5999",
        "1 2 3 4 5 6 7 8 9 10 11 12",
        "11010519491231002Y, 110105194912310021",
        "000-12-3456, 666-12-3456, 900-12-3456",
        "4111 1111 1111 1112",
        "A13800138000B",
    ],
)
def test_what_only_looks_like_it(text: str) -> None:
    assert redact(text) == text


def test_counts() -> None:
    assert count_personal("a@example.com, b@example.com, 13800138000") == {"email": 2, "phone": 1}


ANYTHING = st.text(
    st.one_of(st.sampled_from("0123456789 -.()+@xX/:，电话Aa\u200b\uff11"), st.characters()), max_size=80
)


@given(ANYTHING)
def test_spans_are_in_order_and_redacting_is_done_once(text: str) -> None:
    spans = find_personal(text)
    assert all(0 <= s.start < s.end <= len(text) for s in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    marks = sum(len(f"[{s.kind}]") - (s.end - s.start) for s in spans)
    assert len(redact(text)) == len(text) + marks


HOSTILE = [
    "1",
    "1 ",
    "1-",
    "a@",
    "@",
    "a.",
    "+1",
    "(",
    "1(2)",
    "123-45-",
    "4111 ",
    "00",
    "x@y.",
    "+",
    "电话1",
]


@pytest.mark.parametrize("unit", some_short(HOSTILE))
def test_long_hostile_texts_take_linear_time(unit: str) -> None:
    find_personal(unit * (100_000 // len(unit)))
