"""ROUGE-L in two senses and METEOR: by hand, and against the packages that print them."""

from __future__ import annotations

import builtins
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import MissingExtra
from dialogauge.judges.answers import (
    chinese_words,
    english_words,
    meteor_exact_stem,
    meteor_of_words,
    overlap,
    rouge_l,
    rouge_l_distinct,
)

PIECES = "a b c the cat cats Cat sat. mat ."
FEW = st.lists(st.sampled_from(PIECES.split()), max_size=14).map(" ".join)
WORDS = st.lists(st.sampled_from(["a", "B", "b", "the", "cat", "cats", "sat", "sit", "."]), max_size=12)
TEXTS = st.one_of(FEW, st.text(max_size=40))
PAIRS = st.tuples(TEXTS, TEXTS)


def test_two_senses_of_rouge_l() -> None:
    # Distinct: a, b of a, b. By occurrence: a common part of 2 words of 4 and of 2.
    assert rouge_l_distinct("a b a b", "a b") == pytest.approx(1)
    assert rouge_l("a b a b", "a b") == pytest.approx(2 / 3)
    # A permutation: one word in common order, of two each.
    assert rouge_l("b a", "a b") == pytest.approx(0.5)
    assert rouge_l("The Cat", "the cat") == 1
    assert rouge_l_distinct("The Cat", "the cat") == 0  # the package keeps the case


def test_one_empty_side_earns_nothing() -> None:
    for pair in (("", "a b"), ("a b", ""), ("", ""), (".", "a"), ("。", "苹果")):
        assert (rouge_l(*pair), rouge_l_distinct(*pair), meteor_exact_stem(*pair)) == (0, 0, 0)


def test_meteor_by_hand() -> None:
    # Two words of two match, in one chunk: (1 - .5 * (1/2)^3) * 1.
    assert meteor_exact_stem("The cats", "the cat") == pytest.approx(1 - 0.5 / 8)
    # In the other order two chunks: (1 - .5) * 1.
    assert meteor_exact_stem("cat the", "the cat") == pytest.approx(0.5)
    # One of two words, one of one: precision .5, recall 1, mean .5 / (.45 + .1).
    assert meteor_exact_stem("cat dog", "cat") == pytest.approx(0.5 * 0.5 / 0.55)
    assert meteor_exact_stem("dog", "cat") == 0


def test_english_words() -> None:
    assert english_words("I don't, it's 3.5% well-known...") == [
        "I", "do", "n't", ",", "it", "'s", "3.5", "%", "well-known", "...",
    ]  # fmt: skip
    assert english_words("CAN’T stop.") == ["CA", "N'T", "stop", "."]


@given(PAIRS)
def test_rouge_l_distinct_is_that_of_rouge(pair: tuple[str, str]) -> None:
    rouge = pytest.importorskip("rouge", reason="rouge is not installed").Rouge(metrics=["rouge-l"])
    if all(any(part for part in text.split(".")) for text in pair):  # else the package raises
        expected = rouge.get_scores(*pair)[0]["rouge-l"]["f"]
        assert rouge_l_distinct(*pair) == pytest.approx(expected)


@given(PAIRS)
def test_rouge_l_is_that_of_rouge_score(pair: tuple[str, str]) -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer", reason="rouge-score is not installed")
    expected = scorer.RougeScorer(["rougeL"]).score(pair[1], pair[0])["rougeL"].fmeasure
    assert rouge_l(*pair) == pytest.approx(expected)


class NoSynonyms:
    """A stub for WordNet, whose data would have to be downloaded."""

    def synsets(self, _: str) -> list[object]:
        return []


@given(
    st.tuples(
        *[st.lists(st.sampled_from(["a", "B", "b", "the", "cat", "cats", "sat", "sit", "."]), max_size=12)]
        * 2
    )
)
def test_meteor_is_that_of_nltk_without_synonyms(pair: tuple[list[str], list[str]]) -> None:
    meteor = pytest.importorskip("nltk.translate.meteor_score", reason="nltk is not installed")
    expected = meteor.single_meteor_score(pair[1], pair[0], wordnet=NoSynonyms())
    assert meteor_of_words(*pair) == pytest.approx(expected)


@given(PAIRS)
def test_any_texts_have_scores(pair: tuple[str, str]) -> None:
    for metric in (rouge_l, rouge_l_distinct, meteor_exact_stem):
        assert 0 <= metric(*pair) <= 1 + 1e-9
    assert rouge_l(*pair) == pytest.approx(rouge_l(*reversed(pair)))
    assert "".join(english_words(pair[0])) == "".join(pair[0].replace("\u2019", "'").split())


def test_long_texts_do_not_end_the_recursion() -> None:
    # PyPI's rouge raises RecursionError here.
    text = " ".join(f"w{n}" for n in range(3000))
    assert rouge_l_distinct(text, text) == pytest.approx(1)


@given(PAIRS.map(lambda pair: (pair[0] + "法院认为", pair[1] + "本院认为，被告人有罪。")))
def test_chinese_is_cut_by_jieba(pair: tuple[str, str]) -> None:
    pytest.importorskip("jieba", reason="jieba is not installed")
    for metric in (rouge_l, rouge_l_distinct, meteor_exact_stem):
        assert 0 <= metric(*pair, "zh") <= 1


def test_chinese_words() -> None:
    pytest.importorskip("jieba", reason="jieba is not installed")
    assert chinese_words("我来到北京清华大学") == ["我", "来到", "北京", "清华大学"]
    assert rouge_l("我来到北京。", "我来到 北京", "zh") == 1
    # 我, 来到 of 我, 来到, 北京 and of 我, 来到, 上海.
    assert rouge_l_distinct("我来到北京", "我来到上海", "zh") == pytest.approx(2 / 3)


def test_without_jieba_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_jieba(name: str, *args: object) -> object:
        if name == "jieba":
            raise ImportError(name)
        return real(name, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without_jieba)
    monkeypatch.delitem(sys.modules, "jieba", raising=False)
    overlap._jieba.cache_clear()
    with pytest.raises(MissingExtra, match=r"dialogauge\[zh\]"):
        rouge_l("苹果", "苹果", "zh")
    assert rouge_l("apple", "apple") == 1
