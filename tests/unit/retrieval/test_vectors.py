from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core.errors import InputError
from dialogauge.retrieval import VectorIndex
from sets import examples


def index_of(vectors: dict[str, list[float]]) -> VectorIndex:
    index = VectorIndex(len(next(iter(vectors.values()))))
    for id, vector in vectors.items():
        index.add(id, vector)
    return index


def test_the_cosine_by_hand() -> None:
    index = index_of(
        {"east": [2, 0], "diagonal": [1, 1], "north": [0, 3], "west": [-5, 0], "nowhere": [0, 0]}
    )
    assert index.search([1, 0], 5) == [
        ("east", 1.0),
        ("diagonal", pytest.approx(0.7071068, abs=1e-6)),
        ("north", 0.0),
        ("nowhere", 0.0),
        ("west", -1.0),
    ]
    assert [id for id, _ in index.search([0, 0], 2)] == ["diagonal", "east"]


def test_bad_vectors_are_refused() -> None:
    index = index_of({"a": [1, 0]})
    for vector in ([1], [1, 0, 0], [np.nan, 1], [np.inf, 1], [[1, 0]]):
        with pytest.raises(ValueError, match="2 finite numbers"):
            index.add("b", vector)
        with pytest.raises(ValueError, match="2 finite numbers"):
            index.search(vector, 1)
    with pytest.raises(ValueError, match="already"):
        index.add("a", [0, 1])
    with pytest.raises(ValueError, match="at least one dimension"):
        VectorIndex(0)
    with pytest.raises(ValueError, match="at least 1"):
        index.search([1, 0], 0)
    with pytest.raises(KeyError):
        index.remove("b")
    assert index.search([0, 1], 3) == [("a", 0.0)]
    assert VectorIndex(2).search([1, 0], 3) == []


def test_numbers_of_any_size_have_a_cosine() -> None:
    index = index_of({"large": [1e300, 1e300], "small": [1e-300, 0]})
    assert index.search([1e-300, 0], 2) == [("small", 1.0), ("large", pytest.approx(0.7071068, abs=1e-6))]


def test_copies_go_their_own_ways() -> None:
    index = index_of({"a": [1, 0]})
    twin = index.copy()
    twin.add("b", [0, 1])
    index.add("c", [1, 1])
    assert [id for id, _ in twin.search([0, 1], 3)] == ["b", "a"]
    assert [id for id, _ in index.search([0, 1], 3)] == ["c", "a"]
    twin.remove("a")
    assert len(index) == 2
    assert "a" in index


def test_saved_and_loaded_it_is_the_same() -> None:
    index = index_of({"a": [1, 0], "b": [0, 1], "c": [1, 2]})
    index.remove("b")
    again = VectorIndex.load(index.save())
    assert again.search([1, 1], 3) == index.search([1, 1], 3)
    again.add("b", [0, 1])
    assert again.search([0, 1], 1) == [("b", 1.0)]
    assert VectorIndex.load(VectorIndex(3).save()).width == 3
    for damaged in (b"", b"{}\n", b"[]", index.save()[:-1], index.save()[:-4], index.save() + b"1234"):
        with pytest.raises(InputError, match="no saved index"):
            VectorIndex.load(damaged)


def test_many_are_removed() -> None:
    rng = np.random.default_rng(0)
    vectors = {f"v{i:03}": rng.normal(size=48).tolist() for i in range(300)}
    index, query = index_of(vectors), rng.normal(size=48)
    for id in list(vectors)[:250]:
        index.remove(id)
        del vectors[id]
    assert index.search(query, 7) == index_of(vectors).search(query, 7)
    exact = {id: np.dot(v, query) / np.linalg.norm(v) / np.linalg.norm(query) for id, v in vectors.items()}
    assert [id for id, _ in index.search(query, 7)] == sorted(exact, key=lambda id: -exact[id])[:7]


@examples(100)
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from([0, 1, 2, 3])), max_size=20))
def test_it_equals_a_rebuild_where_vectors_are_equal(steps) -> None:
    kinds = np.random.default_rng(1).normal(size=(4, 33)).tolist()
    index, vectors = VectorIndex(33), {}
    for id, kind in steps:
        if id in vectors:
            index.remove(id)
            del vectors[id]
        else:
            index.add(id, kinds[kind])
            vectors[id] = kinds[kind]
    rebuilt = index_of(dict(sorted(vectors.items()))) if vectors else VectorIndex(33)
    assert index.search(kinds[0], 3) == rebuilt.search(kinds[0], 3)
