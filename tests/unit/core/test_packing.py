from __future__ import annotations

import zlib

from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core.packing import squeeze


@given(st.binary(max_size=300), st.integers(0, 200))
def test_what_was_squeezed_comes_back(data, times):
    whole = data * times
    assert zlib.decompress(squeeze(whole)) == whole


def test_small_tables_cost_hardly_any_length():
    text = " ".join(f"turn {n} of the conversation, said by {n % 7}" for n in range(250)).encode()
    assert len(text) < 1 << 14
    assert len(squeeze(text)) < 1.05 * len(zlib.compress(text, 1))
