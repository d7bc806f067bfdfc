"""Values in texts: one form however they are written, and nothing that is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.signals.grounding.values import read_values

CASES = {
    "free from 14:30 to 16:15.": [("clock", 870), ("clock", 975)],
    "4:05 pm to 7:20 pm": [("clock", 965), ("clock", 1160)],
    "from 10 to 11 am": [("clock", 600), ("clock", 660)],
    "到2月11日早上6:40": [("date", 211), ("clock", 400)],
    "下午三点半": [("clock", 930)],
    "2025-03-04 10:00": [("date", 304), ("clock", 600)],
    "May 3rd and 5 June 2025": [("date", 503), ("date", 605)],
    "on Friday, tomorrow": [("weekday", 5), ("day", 1)],
    "1 hour and 45 minutes": [("time_span", 60), ("time_span", 45)],
    "三小时二十分钟": [("time_span", 180), ("time_span", 20)],
    "$1,250.50 or 86元 or 20 pounds": [("money", 1250.5), ("money", 86), ("money", 20)],
    "10% or 百分之四十": [("percent", 10), ("percent", 40)],
    "twenty-five dishes, 三家": [("number", 25), ("number", 3)],
    "还两千": [("number", 2000)],
    "500mg": [("number", 500)],
}
CODES = {
    "Call 01223 555 018": "01223555018",
    "+1 (555) 010-2233": "15550102233",
    "order #B77120": "b77120",
    "on NV204,": "nv204",
    "gate B22": "b22",
    "车牌沪A·D8821": "ad8821",
    "write to Ann@Example.org": "annexampleorg",
}
NONE = ["1. First\n2) Second", "Option 2", "24/7 support", "the 3rd floor", "第三个", "one of them", "v-neck"]


@pytest.mark.parametrize("text", CASES)
def test_values_have_one_form(text):
    assert [(v.kind, v.amount) for v in read_values(text)] == CASES[text]


@pytest.mark.parametrize("text", CODES)
def test_codes_are_their_letters_and_digits(text):
    assert [v.text for v in read_values(text)] == [CODES[text]]


@pytest.mark.parametrize("text", NONE)
def test_marks_ordinals_and_idioms_are_no_values(text):
    assert read_values(text) == ()


@given(st.text(alphabet="0123456789:.,-/$%# amp点月日号年元个一二十百半两twohours\n", max_size=40))
def test_any_text_can_be_read_and_values_stand_where_they_say(text):
    for value in read_values(text):
        assert 0 <= value.start < value.end <= len(text)
