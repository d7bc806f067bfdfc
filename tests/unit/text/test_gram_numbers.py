import pytest

from dialogauge.text import gram_number, word_grams


def test_words_pairs_numbers_and_the_question_mark():
    assert word_grams("Is room 12 free?") == [
        "is", "room", "0", "free", "?", "is room", "room 0", "0 free", "free ?",
    ]  # fmt: skip
    assert word_grams("房间") == ["房", "间", "房 间"]
    assert word_grams("A b.", 1) == ["a", "b"]
    assert word_grams("") == []


def test_no_words_are_no_grams():
    with pytest.raises(ValueError, match="at least one word"):
        word_grams("x", 0)


def test_numbers_are_the_same_in_every_process():
    assert gram_number("room", "reply") == 2557648055
    assert gram_number("room", "reply") != gram_number("room", "request")
