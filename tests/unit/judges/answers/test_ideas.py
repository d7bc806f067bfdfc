"""Ranks of ideas under shuffled letters."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import UsageError
from dialogauge.judges.answers import gold_rank_score, ideas_of, read_ranking, shuffled_letters

LETTERS = {"A": 2, "B": 0, "C": 1, "D": 3}
"""B is the published idea."""


def test_ideas_are_filled_up() -> None:
    assert ideas_of("one ---IDEA-SEPARATOR--- two") == ["one", "two", "NULL"]
    assert ideas_of("") == ["NULL"] * 3
    assert len(ideas_of("---IDEA-SEPARATOR---".join("abcde"))) == 5


def test_letters_are_shuffled_by_seed() -> None:
    orders = [shuffled_letters(3, seed) for seed in range(400)]
    assert orders[7] == shuffled_letters(3, 7)
    assert all(sorted(order.values()) == [0, 1, 2, 3] and list(order) == list("ABCD") for order in orders)
    counts = Counter(next(letter for letter, idea in order.items() if idea == 0) for order in orders)
    assert min(counts.values()) > 70  # of 100 expected
    for ideas in (0, 26):
        with pytest.raises(UsageError, match="1 to 25"):
            shuffled_letters(ideas, 1)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("1. **Hypothesis B**: new\n2. **Hypothesis A**\n3. **Hypothesis C**\n4. **Hypothesis D**", 0),
        ("1. **Hypothesis D**: unlike **Hypothesis C**\n2. **Hypothesis A**\n3. **Hypothesis B**", 1),
        ("1. Hypothesis A\n2) B is fine\n3. C\n4. Idea D", 1 / 3),
        ("My order: A > C > B > D.", 2 / 3),
        ("1. **假设C**\n2. **假设B**\n3. **假设A**\n4. **假设D**", 1 / 3),
        ("**Hypothesis A** is dull, **Hypothesis B** new.\n1. C\n2. D\n3. B\n4. A", 2 / 3),  # the list counts
        ("1. A\n2. B\n3. C\n4. D\nOn second thoughts:\n1. B\n2. A\n3. C\n4. D", 0),  # the last one
        ("A, B, C and D are good.", None),  # no ranking
        ("1. **Hypothesis A**\n2. **Hypothesis C**\n3. **Hypothesis D**", None),  # B is missing
        ("1. **Hypothesis B**", None),  # the others are
        ("I like all of them.", None),
        ("", None),
    ],
)
def test_rank_of_the_published_idea(reply: str, score: float | None) -> None:
    assert gold_rank_score(reply, LETTERS) == (None if score is None else pytest.approx(score))


def test_no_letters_no_ranking() -> None:
    assert read_ranking("1. A", []) is None
    assert gold_rank_score("1. A\n2. B", {"A": 1, "B": 2}) is None


@given(st.permutations("ABCD"), st.integers(0, 9))
def test_a_written_ranking_is_read_back(order: list[str], seed: int) -> None:
    letters = shuffled_letters(3, seed)
    reply = "\n".join(f"{n}. **Hypothesis {letter}**: because" for n, letter in enumerate(order, start=1))
    assert read_ranking(reply, list(letters)) == order
    assert gold_rank_score(reply, letters) == [letters[letter] for letter in order].index(0) / 3


@given(st.one_of(st.text(max_size=60), st.text(alphabet="ABCD>, \n*1.", max_size=60)))
def test_any_reply_has_a_score_or_none(reply: str) -> None:
    score = gold_rank_score(reply, LETTERS)
    assert score is None or 0 <= score <= 1
    assert len(ideas_of(reply)) >= 3
