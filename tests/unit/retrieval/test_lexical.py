from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.retrieval import LexicalIndex
from sets import examples

WORDS = ("kyoto", "trip", "museum", "ramen", "咖啡馆", "京都旅行", "the", "7")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


def index_of(texts: dict[str, str]) -> LexicalIndex:
    index = LexicalIndex()
    for id, text in texts.items():
        index.add(id, text)
    return index


def test_the_score_by_hand() -> None:
    index = index_of({"a": "The museum and the ramen", "b": "A museum"})
    # idf = ln(1 + 1.5 / 1.5); lengths 2 and 1, mean 1.5; 1.5 * (.25 + .75 * 2 / 1.5) = 1.875
    assert index.search("ramen", 1) == [("a", pytest.approx(0.693147 / 2.875, abs=1e-6))]
    # idf = ln(1 + .5 / 2.5) = .182322; 1.5 * (.25 + .75 * 1 / 1.5) = 1.125
    assert index.search("museums?", 2) == [
        ("b", pytest.approx(0.182322 / 2.125, abs=1e-6)),
        ("a", pytest.approx(0.182322 / 2.875, abs=1e-6)),
    ]
    assert index.search("ramen ramen", 1)[0][1] == pytest.approx(2 * 0.693147 / 2.875, abs=1e-6)


def test_equal_texts_stand_by_id_in_whatever_order_they_came() -> None:
    for ids in ("bca", "abc", "cab"):
        assert [id for id, _ in index_of(dict.fromkeys(ids, "ramen")).search("ramen", 2)] == ["a", "b"]


def test_what_shares_no_term_fills_up() -> None:
    index = index_of({"b": "ramen", "a": "museum", "c": "museum"})
    assert index.search("ramen", 2)[1] == ("a", 0.0)
    assert [id for id, _ in index.search("the", 5)] == ["a", "b", "c"]
    assert LexicalIndex().search("ramen", 5) == []


def test_chinese_without_punctuation_is_no_single_token() -> None:
    index = index_of({"a": "我们上周在京都旅行时去了一家咖啡馆", "b": "今天天气晴朗"})
    assert index.search("哪家咖啡馆", 1)[0][1] > 0
    assert index.search("京都", 1)[0][0] == "a"


def test_removed_texts_leave_nothing_behind() -> None:
    texts = {f"t{i:03}": WORDS[i % 5] + " trip" for i in range(200)}
    index = index_of(texts)
    for id in list(texts)[:180]:  # more than half: the gaps are closed on the way
        index.remove(id)
        del texts[id]
    assert len(index) == 20
    assert "t000" not in index
    assert index.search("kyoto museum trip", 20) == index_of(texts).search("kyoto museum trip", 20)
    index.add("t000", "ramen")
    assert "t000" in index


def test_an_id_stands_for_one_text() -> None:
    index = index_of({"a": "ramen"})
    with pytest.raises(ValueError, match="'a' is in the index already"):
        index.add("a", "museum")
    assert index.search("ramen", 1)[0][1] > 0
    with pytest.raises(KeyError):
        index.remove("b")
    with pytest.raises(ValueError, match="at least 1"):
        index.search("ramen", 0)


def test_copies_go_their_own_ways() -> None:
    index = index_of({"a": "ramen", "b": "museum"})
    twin = index.copy()
    twin.add("c", "ramen ramen")
    index.add("d", "ramen trip")
    index.remove("a")
    third = twin.copy()
    third.remove("c")
    assert twin.search("ramen", 3) == index_of({"a": "ramen", "b": "museum", "c": "ramen ramen"}).search(
        "ramen", 3
    )
    assert index.search("ramen", 3) == index_of({"b": "museum", "d": "ramen trip"}).search("ramen", 3)
    assert third.search("ramen", 3) == index_of({"a": "ramen", "b": "museum"}).search("ramen", 3)


@examples(200)
@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), TEXTS), max_size=30), TEXTS)
def test_it_equals_a_rebuild(steps, query) -> None:
    index, texts = LexicalIndex(), {}
    for id, text in steps:
        if id in texts:
            index.remove(id)
            del texts[id]
        else:
            index.add(id, text)
            texts[id] = text
    assert index.search(query, 4) == index_of(dict(sorted(texts.items()))).search(query, 4)


@examples(40)
@given(st.lists(TEXTS, min_size=1, max_size=12), TEXTS)
def test_it_ranks_as_bm25s(texts, query) -> None:
    bm25s = pytest.importorskip("bm25s")
    from dialogauge.text import listed_terms, pieces

    # A document that nobody asks for: bm25s takes no corpus without a term.
    texts = [*texts, "zebra"]
    corpus = [listed_terms(pieces(text)) for text in texts]
    oracle = bm25s.BM25(method="lucene", k1=1.5, b=0.75, dtype="float64")
    oracle.index(corpus, show_progress=False)
    terms = [term for term in listed_terms(pieces(query)) if term in oracle.vocab_dict]
    scores = oracle.get_scores(terms) if terms else [0.0] * len(texts)
    order = sorted(range(len(texts)), key=lambda i: (-round(float(scores[i]), 9), i))
    hits = index_of({f"{i:02}": text for i, text in enumerate(texts)}).search(query, len(texts))
    assert [score for _, score in hits] == pytest.approx([float(scores[i]) for i in order], abs=1e-6)
    assert [id for id, _ in hits] == [f"{i:02}" for i in order]
