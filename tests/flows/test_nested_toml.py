"""TOML nested without end is refused like any other faulty file, by whoever reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialogauge.app.merging import load_config
from dialogauge.core import DialogaugeError
from dialogauge.data import read_field_map
from dialogauge.llm import PriceTable
from dialogauge.rubrics import load_rubric

READERS = {
    "config": lambda path: load_config(str(path)),
    "field map": read_field_map,
    "prices": PriceTable.load,
    "rubric": load_rubric,
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
@pytest.mark.parametrize("text", ["a = " + "[" * 3000 + "]" * 3000, "a = " + "{a=" * 3000, "a" + ".a" * 5000])
def test_toml_nested_without_end(read, text: str, tmp_path: Path) -> None:
    path = tmp_path / "nested.toml"
    path.write_text(text)
    with pytest.raises(DialogaugeError, match=r"nested\.toml"):
        read(path)
