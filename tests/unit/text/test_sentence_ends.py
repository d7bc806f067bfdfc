from hypothesis import given
from hypothesis import strategies as st

from dialogauge.text import sentences


def test_english_and_chinese_ends():
    assert sentences("It is 3.5 km. Really? 是的。走吧！") == ["It is 3.5 km.", "Really?", "是的。", "走吧！"]


def test_lines_of_a_list_stand_alone_without_marks():
    assert sentences("Take:\n- a hat\n* two pens") == ["Take:", "a hat", "two pens"]


@given(st.text(max_size=200))
def test_sentences_are_verbatim_parts(text):
    assert all(s and s in text for s in sentences(text))
