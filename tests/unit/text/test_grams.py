import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.text import hashed_grams


def test_counts_distinct_grams():
    grams = hashed_grams(["aaaa", "abcd", "a", ""], 2, one_in=[1] * 4)
    assert list(map(len, grams)) == [1, 3, 0, 0]
    assert hashed_grams([], 2, one_in=[]) == []
    assert hashed_grams(["a"], 2, one_in=[1]) == [frozenset()]


def test_n_below_one_is_refused():
    with pytest.raises(ValueError, match="n >= 1"):
        hashed_grams(["abc"], 0, one_in=[1])
    with pytest.raises(ValueError, match="one_in >= 1"):
        hashed_grams(["abc"], 2, one_in=[0])


def test_same_hashes_in_another_process():
    code = "from dialogauge.text import hashed_grams; print(sum(*hashed_grams(['北京 trip'], 3, one_in=[1])))"
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": ":".join(p for p in sys.path if p), "PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1] == str(sum(*hashed_grams(["北京 trip"], 3, one_in=[1])))


TEXTS = st.lists(st.text(max_size=60), max_size=4)


@given(TEXTS, st.integers(1, 9))
def test_grams_are_shared_where_strings_are(texts, n):
    hashed = hashed_grams(texts, n, one_in=[1] * len(texts))
    plain = [{t[i : i + n] for i in range(len(t) - n + 1)} for t in texts]
    assert list(map(len, hashed)) == list(map(len, plain))
    for mine, strings in zip(hashed, plain, strict=True):
        assert [len(mine & h) for h in hashed] == [len(strings & p) for p in plain]


@given(TEXTS)
def test_a_sample_is_the_same_in_every_text(texts):
    whole = hashed_grams(texts, 3, one_in=[1] * len(texts))
    sample = hashed_grams(texts, 3, one_in=[4] * len(texts))
    assert sample == [frozenset(h for h in grams if h % 4 == 0) for grams in whole]
