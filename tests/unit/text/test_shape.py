import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.text import SHAPE, shape_of


def shape(text: str) -> dict[str, float]:
    return dict(zip(SHAPE, shape_of(text), strict=True))


def test_counts_what_can_be_counted_by_hand() -> None:
    text = "# Plan\n1. go 12 km\n2. rest\n\n- eat (soup)?"
    found = shape(text)
    counted = {"lines": 4, "list_items": 3, "numbered_items": 2, "headings": 1, "numbers": 3, "words": 6}
    for name, count in counted.items():
        assert found[name] == pytest.approx(math.log1p(count)), name
    assert found["length"] == pytest.approx(math.log1p(len(text)))
    assert found["digit_share"] == pytest.approx(100 * 4 / len(text))
    assert found["bracket_share"] == pytest.approx(100 * 1 / len(text))
    assert (found["ends_asking"], found["ends_closed"], found["table"]) == (1, 0, 0)
    assert found["blank_lines"] == pytest.approx(math.log(2))
    assert found["longest_line"] == pytest.approx(math.log1p(len("- eat (soup)?")))
    assert found["first_line"] == pytest.approx(math.log1p(len("# Plan")))


def test_chinese_marks_count_as_the_latin_ones() -> None:
    found = shape("**好**，第一天：去《故宫》😀！\n| 天 | 地 |")
    assert found["bold"] == found["exclamations"] == found["emoji"] == pytest.approx(math.log(2))
    assert found["quotes"] == pytest.approx(math.log(3))
    assert found["table"] == 1
    assert found["words"] == 0


def test_a_single_line_has_no_spread() -> None:
    assert shape("one line only")["line_spread"] == 0


@given(st.text())
def test_every_number_is_finite(text: str) -> None:
    assert all(map(math.isfinite, shape_of(text)))
    assert len(shape_of(text)) == len(SHAPE)


def test_half_a_surrogate_is_read() -> None:
    assert shape("a\ud800b")["length"] == pytest.approx(math.log(4))
