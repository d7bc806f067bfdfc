"""Where a key stands in a TOML file."""

import pytest

from dialogauge.rubrics.load import line_of

TEXT = """id = "x"
[reply]
note = false

[[domains]]
name = "a"
[domains.slots]
stay = "nights"

[[domains]]
name = "b"
slots = { people = 1 }
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("id",), 1),
        (("reply", "note", "bool"), 3),
        (("reply", "missing"), 2),
        (("domains", 0, "name"), 6),
        (("domains", 0, "slots", "stay"), 8),
        (("domains", 1, "name"), 11),
        (("domains", 1, "slots", "people"), 12),
        (("domains", 1), 10),
        (("missing",), None),
    ],
)
def test_the_line_of_a_key_or_of_the_table_around_it(path, line):
    assert line_of(TEXT, path) == line
