"""The register of public data sets."""

import pytest

from dialogauge.core import UsageError
from dialogauge.data import DATA_SETS, format_names
from dialogauge.data.datasets import find_data_set


def test_every_entry_is_whole():
    assert len({d.name for d in DATA_SETS}) == len(DATA_SETS)
    for entry in DATA_SETS:
        assert entry.format in format_names()
        assert all((entry.title, entry.source, entry.licence, entry.ratings))


def test_look_up():
    assert find_data_set("recllmsim").licence == "Apache-2.0"
    with pytest.raises(UsageError, match=r"unknown data set 'x'.*recllmsim"):
        find_data_set("x")
