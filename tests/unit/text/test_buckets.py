import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.text import BUCKETS, gram_buckets, presence


def test_one_bucket_for_each_gram_of_each_size() -> None:
    assert gram_buckets("abcd").size == 4 + 3 + 2
    assert gram_buckets("abcd", 2, shortest=2).size == 3
    assert gram_buckets("a").size == 1
    assert gram_buckets("").size == 0


def test_equal_grams_share_a_bucket_and_others_do_not() -> None:
    first, second = gram_buckets("abab", 2, shortest=2), gram_buckets("ab", 2, shortest=2)
    assert first[0] == first[2] == second[0]
    assert np.unique(first).size == 2


def test_case_and_white_space_are_folded() -> None:
    assert (gram_buckets("A  b\n") == gram_buckets("a b")).all()


@given(st.text())
def test_presence_holds_what_occurs(text: str) -> None:
    buckets = gram_buckets(text)
    seen = presence(buckets)
    assert seen.shape == (BUCKETS,)
    assert int(seen.sum()) == np.unique(buckets).size


def test_same_buckets_in_another_process() -> None:
    code = "from dialogauge.text import gram_buckets; print(gram_buckets('北京 trip').tolist())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(gram_buckets("北京 trip").tolist())
