"""What is looked for before a costlier pattern is tried must never miss a text that the pattern matches."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, Message
from dialogauge.signals import exclusions, facts
from dialogauge.signals.dialogue import TextView, read_dialogue
from dialogauge.signals.facts import ANY_QUESTION, ATTRIBUTES
from dialogauge.signals.needless_questions import find_needless_questions
from dialogauge.text import normalise

WORDS = st.lists(
    st.sampled_from(["i am", "we're", "a", "vegan", "vegetarian", "no", "dairy-free", "gluten", "lactose"])
    | st.sampled_from(["allergic to", "nuts", "hate", "can't stand", "fish", "what is", "your", "budget"])
    | st.sampled_from(["how old", "phone number", ",", "。", "对海鲜过敏", "不吃", "鱼", "讨厌", "我吃素"])
    | st.sampled_from(["牛奶", "预算", "几岁", "怎么称呼"]),
    max_size=8,
).map(" ".join)


@given(WORDS)
def test_diets_and_dislikes(text):
    plain = normalise(text)
    assert bool(exclusions._ANY_DIET.search(plain)) == any(re.search(p, plain) for p, _ in exclusions._DIETS)
    assert bool(exclusions._ANY_RULED_OUT.search(plain)) == bool(exclusions._RULED_OUT.search(plain))


@given(WORDS)
def test_what_is_asked_for(text):
    plain = normalise(text)
    assert bool(ANY_QUESTION.search(plain)) == any(a.question.search(plain) for a in ATTRIBUTES)


PARTS = st.lists(
    st.sampled_from(["1", "12", "30", ":", " ", "am", "p.m.", "点", "半", "月", "日", "-", "may", "2024"])
    | st.sampled_from(["mon", "day", "周", "星期", "三", "th", "of", "oct", "下午", "礼拜", "天", "wednes"]),
    max_size=8,
).map("".join)


@given(PARTS)
def test_hours_dates_and_weekdays(clause):
    assert facts._CLOCK_SIGN.search(clause) or not facts._CLOCK.search(clause)
    assert facts._DATE_SIGN.search(clause) or not facts._DATE.search(clause)
    assert facts._WEEKDAY_SIGN.search(clause) or not facts._WEEKDAY.search(clause)


@pytest.mark.parametrize(
    "text",
    ["", "Short ‘one’!", "x" * 300, "Ab  " * 100, "A b" * 600, "Run ```code  X``` now", "全角，" * 900],
)
def test_forms_of_a_text_are_those_of_its_parts(text):
    view = TextView(text)
    assert view.plain == normalise(text[:4000])
    assert view.head == normalise(view.prose[:300])
    assert view.questions == tuple(s for s in view.sentences if s.text[-1] in "?？")


def test_what_was_given_first_counts_though_it_is_looked_up_late():
    said = [
        "My budget is $500.",
        "Fine.",
        "Still, a budget of $600.",
        "Right.",
        "And so?",
        "What is your budget?",
    ]
    roles = ("user", "assistant")
    talk = Conversation("c", tuple(Message(roles[i % 2], text) for i, text in enumerate(said)))
    (found,) = find_needless_questions(read_dialogue(talk))
    assert (found.turn, found.name) == (3, "asks_for_given")
    assert "turn 1" in found.note
