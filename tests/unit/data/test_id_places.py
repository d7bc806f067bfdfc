"""The memory for ids."""

import pytest

from dialogauge.data import notes
from dialogauge.data.notes import IdPlaces


@pytest.mark.parametrize("marks", [4, 1 << 22])
def test_every_first_place_is_found_again_across_settlings(monkeypatch, marks):
    monkeypatch.setattr(notes, "_FRESH", 16)
    monkeypatch.setattr(notes, "_MARKS", marks)
    ids = IdPlaces()
    for i in range(500):
        assert ids.add(f"c{i}", i % 3, i) is None
    assert len(ids._runs) <= 6
    for i in range(500):
        assert ids.add(f"c{i}", 9, 9) == (i % 3, i)
    assert ids.add("another", 2, 1) is None
    assert ids.add("another", 2, 7) == (2, 1)
