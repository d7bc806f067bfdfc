import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.text import containment, hashed_grams


def test_counts_distinct_grams():
    assert hashed_grams("aaaa", 2).size == 1
    assert hashed_grams("abcd", 2).size == 3
    assert hashed_grams("a", 2).size == 0


def test_overlap_of_known_sets():
    a, b = hashed_grams("abcd", 2), hashed_grams("bcde", 2)  # ab bc cd / bc cd de
    assert containment(a, b) == pytest.approx(2 / 3)
    assert containment(hashed_grams("", 2), a) == 0


def test_n_below_one_is_refused():
    with pytest.raises(ValueError, match="n >= 1"):
        hashed_grams("abc", 0)


def test_same_hashes_in_another_process():
    code = "from dialogauge.text import hashed_grams; print(int(hashed_grams('北京 trip', 3).sum()))"
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
    assert runs[0] == runs[1] == str(int(hashed_grams("北京 trip", 3).sum()))


@given(st.text(min_size=3, max_size=60), st.text(min_size=3, max_size=60))
def test_containment_agrees_with_sets(left, right):
    sets = [{t[i : i + 3] for i in range(len(t) - 2)} for t in (left, right)]
    share = containment(hashed_grams(left, 3), hashed_grams(right, 3))
    assert share == pytest.approx(len(sets[0] & sets[1]) / len(sets[0]))
