from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core.packing import squeeze, unsqueeze


@given(st.binary(max_size=300), st.integers(0, 200))
def test_what_was_squeezed_comes_back(data, times):
    whole = data * times
    assert zlib.decompress(squeeze(whole)) == whole


def test_small_tables_cost_hardly_any_length():
    text = " ".join(f"turn {n} of the conversation, said by {n % 7}" for n in range(250)).encode()
    assert len(text) < 1 << 14
    assert len(squeeze(text)) < 1.05 * len(zlib.compress(text, 1))


@given(st.binary(max_size=300), st.binary(max_size=300), st.integers(0, 200))
def test_what_was_squeezed_with_a_dictionary_comes_back_with_it(data, dictionary, times):
    whole = data * times
    assert unsqueeze(squeeze(whole, dictionary), dictionary) == whole


def test_what_stands_in_the_dictionary_costs_next_to_nothing():
    rows = [b'{"candidate":"c0","item":"%d","length":%d,"rationale":null}' % (n, 7 * n) for n in range(9)]
    assert len(squeeze(rows[8], b"".join(rows[:8]))) < 0.5 * len(squeeze(rows[8]))


@pytest.mark.parametrize("dictionary", [b"", b"said by the assistant"])
def test_damage_is_an_error(dictionary):
    whole = squeeze(b"what was said by the assistant " * 9, dictionary)
    damaged = (b"", whole[:-1], whole[:8], whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:], b"other" + whole)
    for data in damaged:
        with pytest.raises(zlib.error):
            unsqueeze(data, dictionary)
    with pytest.raises(zlib.error):
        unsqueeze(squeeze(b"said", b"one dictionary"), b"another one")
