import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.text import content_terms, listed_terms, pieces, words
from dialogauge.text.tokens import stem


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
    assert pieces("one two").units == 2
    assert round(pieces("一二三四五").units, 6) == 3


@given(st.text(max_size=200))
def test_any_text_has_tokens_that_stand_in_it(text):
    lowered = text.lower().replace("\u2019", "'")
    assert all(token in lowered for token in words(text))
    assert all(content_terms(pieces(text)))


def test_the_length_of_pieces_is_that_of_words():
    assert pieces("It's 3.50 for 谢谢你, ok").units == 4 + 0.6 * 3
    assert pieces("").units == 0
    assert pieces("谢谢").words == []
    assert pieces("ok").chinese == ""


@given(st.text(max_size=200) | st.text("ab1.,:/'’²½的我北京 \n", max_size=60))
def test_pieces_and_words_agree(text):
    han = "[\u3400-\u4dbf\u4e00-\u9fff]+"
    assert pieces(text).words == [w for w in words(text) if not re.match(han, w)]
    runs = [len(w) for w in words(text) if re.match(han, w)]
    assert pieces(text).units == pytest.approx(len(words(text)) - len(runs) + 0.6 * sum(runs))


@given(st.text("的我了北京旅行ab ", max_size=40))
def test_chinese_is_cut_at_function_characters(text):
    runs = re.findall("[北京旅行]+", text)
    bigrams = {run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))}
    assert {t for t in content_terms(pieces(text)) if not t.isascii()} == bigrams


def test_terms_with_repeats() -> None:
    text = pieces("The museums, a museum and 3.5 trains: 南京旅行")
    assert listed_terms(text) == ["museum", "museum", "3.5", "train", "南京", "京旅", "旅行"]
    assert content_terms(text) == frozenset(listed_terms(text))
    assert listed_terms(pieces("")) == []
