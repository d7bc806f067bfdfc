from hypothesis import given
from hypothesis import strategies as st

from dialogauge.text import normalise


def test_width_case_quotes_and_space():
    assert normalise("  I\u2019m  ＯＫ，１２３\n") == "i'm ok,123"


@given(st.text(max_size=100))
def test_white_space_is_single(text):
    out = normalise(text)
    assert "  " not in out
    assert out == out.strip()
