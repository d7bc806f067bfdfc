from hypothesis import given
from hypothesis import strategies as st

from dialogauge.text import content_terms, count_units, pieces, stem, words


def test_words_numbers_and_chinese_runs():
    assert words("I've paid $3.50 at 18:30, 谢谢你!") == ["i've", "paid", "3.50", "at", "18:30", "谢谢你"]


def test_content_terms_cut_function_words_and_take_bigrams():
    assert content_terms(pieces("I have booked the hotels")) == {"book", "hotel"}
    assert content_terms(pieces("我想去杭州旅行")) == {"杭州", "州旅", "旅行"}


def test_numbers_are_kept_whole():
    assert content_terms(pieces("3000 rooms")) == {"3000", "room"}


def test_forms_of_a_word_meet():
    assert len({stem(w) for w in ("book", "books", "booked", "booking")}) == 1
    assert len({stem(w) for w in ("plan", "plans", "planned", "planning")}) == 1


def test_a_chinese_character_counts_less_than_a_word():
    assert count_units(words("one two")) == 2
    assert round(count_units(words("一二三四五")), 6) == 3


@given(st.text(max_size=200))
def test_any_text_has_tokens_that_stand_in_it(text):
    lowered = text.lower().replace("\u2019", "'")
    assert all(token in lowered for token in words(text))
    assert all(content_terms(pieces(text)))
