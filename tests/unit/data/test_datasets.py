"""The register of public data sets."""

from dialogauge.data import DATA_SETS, format_names


def test_every_entry_is_whole():
    assert len({d.name for d in DATA_SETS}) == len(DATA_SETS)
    for entry in DATA_SETS:
        assert entry.format in format_names()
        assert all((entry.title, entry.source, entry.licence, entry.ratings))
