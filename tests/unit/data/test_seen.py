"""The memory for ids."""

from dialogauge.data import seen
from dialogauge.data.seen import SeenIds


def test_every_first_place_is_found_again_across_settlings(monkeypatch):
    monkeypatch.setattr(seen, "_FRESH", 16)
    ids = SeenIds()
    for i in range(500):
        assert ids.add(f"c{i}", i % 3, i) is None
    assert len(ids._runs) <= 6
    for i in range(500):
        assert ids.add(f"c{i}", 9, 9) == (i % 3, i)
    assert ids.add("another", 2, 1) is None
    assert ids.add("another", 2, 7) == (2, 1)
