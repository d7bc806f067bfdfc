"""What is looked for before a costlier pattern is tried must never miss a text that the pattern matches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, Message
from dialogauge.signals.attributes import ANY_QUESTION, ATTRIBUTES
from dialogauge.signals.dialogue import TextView, read_dialogue
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
def test_what_is_asked_for(text):
    plain = normalise(text)
    assert bool(ANY_QUESTION.search(plain)) == any(a.is_asked_in(plain) for a in ATTRIBUTES)


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
