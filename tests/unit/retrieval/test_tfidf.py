from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.retrieval import TfidfIndex
from dialogauge.retrieval.tfidf import Alphabet

TEXTS = ["Plan a trip to Kyoto", "plan a  trip to Osaka!", "a b c", "三日京都旅行计划，要便宜", "旅行 计划 a"]
KINDS = [(2, 4, True, None), (2, 5, False, None), (2, 5, False, 20), (4, 5, True, None)]


@pytest.mark.parametrize(("shortest", "longest", "sublinear", "limit"), KINDS)
def test_equals_sklearn(shortest, longest, sublinear, limit) -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    vectorizer = text.TfidfVectorizer(
        analyzer="char_wb",
        ngram_range=(shortest, longest),
        sublinear_tf=sublinear,
        max_features=limit,
    )
    matrix = vectorizer.fit_transform(TEXTS)
    index = TfidfIndex(TEXTS, shortest=shortest, longest=longest, sublinear=sublinear, max_features=limit)
    for query in [*TEXTS, "a trip 旅行", "unknown ßß"]:
        expected = (vectorizer.transform([query]) @ matrix.T).toarray()[0]
        assert np.allclose(index.cosines(query), expected, atol=1e-12)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4), st.text(max_size=30))
def test_cosines_lie_between_0_and_1(texts, query) -> None:
    cosines = TfidfIndex(texts, shortest=2, longest=4).cosines(query)
    assert cosines.shape == (len(texts),)
    assert (cosines >= 0).all()
    assert (cosines <= 1 + 1e-9).all()


def test_a_text_is_most_like_itself() -> None:
    index = TfidfIndex(TEXTS, shortest=2, longest=4)
    assert [int(np.argmax(index.cosines(t))) for t in TEXTS] == list(range(len(TEXTS)))
    assert index.cosines(TEXTS[0])[0] == pytest.approx(1)


def test_empty_texts_are_like_nothing() -> None:
    index = TfidfIndex(["", "abc"], shortest=2, longest=4)
    assert index.cosines("").tolist() == [0, 0]
    assert index.cosines("abc")[0] == 0
    with pytest.raises(ValueError, match="at least one text"):
        TfidfIndex([], shortest=2, longest=4)


def test_a_large_alphabet_still_fits() -> None:
    many = "".join(chr(0x4E00 + i) for i in range(5000))
    alphabet = Alphabet([many, "ab ab"], 5)
    grams = alphabet.grams("ab", 2)
    # " ab ": three windows of 2, two of 3, one of 4
    assert grams.counts.tolist() == [1] * 6
    index = TfidfIndex([many, "ab ab cd"], shortest=2, longest=5)
    assert int(np.argmax(index.cosines("cd ab"))) == 1
