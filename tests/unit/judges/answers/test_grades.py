"""Grades of readability: the formulas by hand, textstat's counts, and a rule for syllables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.judges.answers import readability, syllables

TEXT = "The cat sat on the mat. Nobody understood the complicated explanation."
# 11 words, 2 sentences; 3+3+3+2+3+3 + 6+10+3+11+11 = 58 letters.
# Syllables: 6, No-bo-dy 3, un-der-stood 3, the 1, com-pli-cat-ed 4, ex-pla-na-tion 4: 21. Difficult are 4.


def test_the_formulas() -> None:
    grades = readability(TEXT)
    assert grades["coleman_liau_index"] == pytest.approx(0.0588 * 5800 / 11 - 0.296 * 200 / 11 - 15.8)
    assert grades["flesch_kincaid_by_rule"] == pytest.approx(0.39 * 5.5 + 11.8 * 21 / 11 - 15.59)
    assert grades["dale_chall_by_syllables"] == pytest.approx(0.1579 * 400 / 11 + 0.0496 * 5.5 + 3.6365)


def test_easy_words_have_no_extra() -> None:
    assert readability("The cat sat on the mat.")["dale_chall_by_syllables"] == pytest.approx(0.0496 * 6)


def test_a_sentence_of_two_words_is_none() -> None:
    # Three words and two sentences of at most two words: at least one sentence counts.
    grades = readability("Go on. Stop!")
    assert grades["flesch_kincaid_by_rule"] == pytest.approx(0.39 * 3 + 11.8 - 15.59)


@pytest.mark.parametrize("text", ["", "  ", "...", "12 %", "本院认为被告人有罪。", "Привет"])
def test_nothing_to_grade(text: str) -> None:
    assert set(readability(text).values()) == {None}


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("cat", 1), ("make", 1), ("table", 2), ("called", 1), ("wanted", 2), ("boxes", 2), ("people", 2),
        ("question", 2), ("education", 4), ("science", 2), ("being", 2), ("create", 2), ("unique", 2),
        ("requirements", 3), ("radio", 3), ("rhythm", 1), ("the", 1), ("", 1), ("x", 1),
    ],
)  # fmt: skip
def test_syllables(word: str, count: int) -> None:
    assert syllables(word) == count


PIECES = "It's a dog-house, isn't it? 'Yes' ! No... the 3.5 cats"
FEW = st.lists(st.sampled_from(PIECES.split()), max_size=20).map(" ".join)


@given(st.one_of(st.text(max_size=60), FEW))
def test_any_text_is_graded_or_none(text: str) -> None:
    assert all(grade is None or abs(grade) < 1000 for grade in readability(text).values())


@pytest.mark.long
@given(FEW)
def test_coleman_liau_is_that_of_textstat_but_for_a_digit(text: str) -> None:
    textstat = pytest.importorskip("textstat", reason="textstat is not installed")
    grade = readability(text)["coleman_liau_index"]
    if grade is not None:
        letters, words = textstat.letter_count(text), textstat.lexicon_count(text)
        assert grade == pytest.approx(textstat.coleman_liau_index(text) + 0.0008 * 100 * letters / words)
