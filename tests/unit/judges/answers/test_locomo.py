"""LoCoMo's scores, by hand and against its own few lines with NLTK's stemmer; DialSim's exact match."""

from __future__ import annotations

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import UsageError
from dialogauge.judges.answers import (
    abstains,
    exact_match,
    locomo_f1,
    locomo_option,
    porter_stem,
    token_f1,
)

PIECES = "the and A hiking, trips; trip. 苹果 树， (a) 2023 May"
WORDS = st.text(alphabet="aeiouylstndbg", max_size=12)
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(PIECES.split()), max_size=8).map(" ".join),
)


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("dies", "die"),  # four letters: not di
        ("flies", "fli"),
        ("died", "die"),
        ("spied", "spi"),
        ("enjoy", "enjoy"),  # y after a vowel
        ("Happy", "happi"),
        ("agreed", "agre"),
        ("feed", "feed"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("geology", "geolog"),  # geologi by logi, whose l counts as of the stem
        ("skies", "sky"),
        ("innings", "inning"),
        ("relational", "relat"),
        ("adoption", "adopt"),
        ("is", "is"),
        ("", ""),
        ("苹果树", "苹果树"),
    ],
)
def test_stems(word: str, stem: str) -> None:
    assert porter_stem(word) == stem


@given(
    st.one_of(WORDS, st.text(max_size=12)),
    st.sampled_from(["", "ed", "ing", "ies", "alli", "ation", "ll", "logi"]),
)
def test_stems_are_those_of_nltk(word: str, suffix: str) -> None:
    porter = pytest.importorskip("nltk.stem.porter", reason="nltk is not installed")
    stemmer = porter.PorterStemmer()
    if "*d" not in word:  # a rule's name, which NLTK takes for a suffix
        assert porter_stem(word + suffix) == stemmer.stem(word + suffix)


def test_tokens_lose_commas_marks_and_articles() -> None:
    # Stems: camp, hike, trip. "1,000" is one word, and "and" is none.
    assert token_f1("The camping and hiking trips", "camping, hiking trip") == 1
    assert token_f1("1,000", "1000") == 1
    # go go home / go: one shared, precision 1/3, recall 1.
    assert token_f1("go go home", "go") == pytest.approx(0.5)


def test_nothing_shared_earns_nothing() -> None:
    for pair in (("", "May"), ("May", ""), ("", ""), ("the", "a"), ("June", "May")):
        assert token_f1(*pair) == 0


def test_chinese_counts_characters() -> None:
    # 苹, 果, 树 against 苹, 果: 2 shared of 3 and 2.
    assert token_f1("苹果树。", "苹果", "zh") == pytest.approx(0.8)
    assert token_f1("苹果树", "苹果", "en") == 0  # one word each
    assert locomo_f1("苹果、梨", "梨，苹果", 1, "zh") == 1
    assert locomo_f1("梨", "梨；也许苹果", 3, "zh") == 1


def test_rules_of_the_categories() -> None:
    # 1: of the golds a and b, "pear" is one whole, and plum has nothing.
    assert locomo_f1("pear, fig", "pear, plum", 1) == pytest.approx(0.5)
    # 2 and 4: one text, 1 of 2 words each.
    assert locomo_f1("pear, fig", "pear, plum", 2) == pytest.approx(0.5)
    assert locomo_f1("pear", "pear; plum", 3) == 1
    assert locomo_f1("pear", "pear; plum", 4) == pytest.approx(2 / 3)
    with pytest.raises(UsageError, match="1 to 4, not for 5"):
        locomo_f1("pear", "pear", 5)


OPTIONS = {"a": "Not mentioned in the conversation", "b": "a cat"}


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("a", 1),
        ("A", 1),
        ("b", 0),
        ("x", 0),  # any other character is b
        (" (a) ", 1),
        ("(b)", 0),
        ("cat", 0),  # three characters: b
        ("(a) Not mentioned", 1),
        ("(b) a cat", 0),
        ("No information available.", 1),
        ("", 0),
    ],
)
def test_options_of_category_five(reply: str, score: int) -> None:
    assert locomo_option(reply, OPTIONS) == score


def test_options_in_the_other_order_or_none() -> None:
    swapped = {"a": "a cat", "b": "Not mentioned in the conversation"}
    assert (locomo_option("a", swapped), locomo_option("b", swapped), locomo_option("a")) == (0, 1, 0)
    assert locomo_option("b", {"a": "a cat"}) == 0


@pytest.mark.parametrize(
    ("reply", "says_so"),
    [
        ("That is not mentioned.", True),
        ("The conversation doesn’t say.", True),
        ("There is no information about that", True),
        ("I don't know", True),
        ("This cannot be determined", True),
        ("对话中没有提到", True),
        ("不知道。", True),
        ("She went to Paris in May", False),
        ("He does not eat meat", False),
        ("他没有去", False),
        ("", False),
    ],
)
def test_abstains(reply: str, says_so: bool) -> None:
    assert abstains(reply) == says_so


def test_exact_match_of_dialsim() -> None:
    assert exact_match(" Monica. ", "monica") == 1
    assert exact_match("莫妮卡。", "莫妮卡") == 1
    assert exact_match("monica", "Monica.") == 0  # the stop may only be the reply's
    assert exact_match("It was Monica", "Monica") == 0
    assert (exact_match("", ""), exact_match("", "Monica")) == (1, 0)


@given(TEXTS, TEXTS, st.sampled_from([1, 2, 3, 4]), st.sampled_from(["en", "zh"]))
def test_any_texts_have_scores(reply: str, gold: str, category: int, lang: str) -> None:
    assert 0 <= locomo_f1(reply, gold, category, lang) <= 1
    assert token_f1(reply, gold, lang) == pytest.approx(token_f1(gold, reply, lang))
    assert token_f1(gold, gold, lang) in (0, pytest.approx(1))
    for score in (locomo_option(reply, OPTIONS), abstains(reply), exact_match(reply, gold)):
        assert score in (0, 1)


@given(TEXTS, TEXTS)
def test_f1_is_that_of_the_published_lines(reply: str, gold: str) -> None:
    stem = pytest.importorskip("nltk.stem.porter", reason="nltk is not installed").PorterStemmer().stem

    def tokens(text: str) -> list[str]:
        text = "".join(c for c in text.replace(",", "").lower() if c not in string.punctuation)
        return [stem(word) for word in re.sub(r"\b(a|an|the|and)\b", " ", text).split()]

    def f1(one: str, other: str) -> float:
        first, second = tokens(one), tokens(other)
        shared = sum((Counter(first) & Counter(second)).values())
        if not shared:
            return 0
        precision, recall = shared / len(first), shared / len(second)
        return 2 * precision * recall / (precision + recall)

    assert locomo_f1(reply, gold, 4) == pytest.approx(f1(reply, gold))
    parts = [max(f1(one, part) for one in reply.split(",")) for part in gold.split(",")]
    assert locomo_f1(reply, gold, 1) == pytest.approx(sum(parts) / len(parts))
