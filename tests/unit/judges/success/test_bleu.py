"""BLEU by hand."""

import pytest

from dialogauge.judges.success.bleu import corpus_bleu, reply_counts, tokens_13a


def test_tokens():
    assert tokens_13a("It's at 3.50, in Mill-Road (north).") == [
        *("It's", "at", "3.50", ",", "in", "Mill-Road", "(", "north", ")", ".")
    ]


def test_one_word_of_six_differs():
    counts = reply_counts(["the cat sat on a mat"], ["the cat sat on the mat"])
    assert counts == [5, 3, 2, 1, 6, 5, 4, 3, 6, 6]
    assert corpus_bleu([counts]) == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_a_short_reply_is_taken_down_and_no_match_is_smoothed():
    same = reply_counts(["a b c d e"], ["a b c d e f g h i j"])
    assert corpus_bleu([same]) == pytest.approx(100 * 2.718281828 ** (1 - 10 / 5))
    # 1 of 4 words, then no match of 3, 2, 1: a half, a quarter, an eighth are counted in their place
    none = reply_counts(["a x y z"], ["a b c d"])
    assert corpus_bleu([none]) == pytest.approx(100 * (1 / 4 * 0.5 / 3 * 0.25 / 2 * 0.125) ** 0.25)


def test_sums_of_dialogues_are_those_of_all_their_replies():
    one, two = reply_counts(["a b"], ["a c"]), reply_counts(["d e f"], ["d e g"])
    both = reply_counts(["a b", "d e f"], ["a c", "d e g"])
    assert [a + b for a, b in zip(one, two, strict=True)] == both


def test_nothing_has_no_figure():
    assert corpus_bleu([]) is None
    assert corpus_bleu([reply_counts([], ["a"])]) is None
