from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from dialogauge.runs.records import json_document, json_line

TEXT = st.text(st.characters(blacklist_categories=("Cs",)))


@given(TEXT)
def test_the_value_is_the_same_and_a_line_is_a_line_for_everyone(text: str) -> None:
    line = json_line({text: [text]}).decode()
    assert json.loads(line) == {text: [text]}
    assert line.splitlines(keepends=True) == [line]
    assert json.loads(json_document([text])) == [text]


def test_escapes_by_hand() -> None:
    assert json_line("\u2028\x9b\u202e\U000e0041") == b'"\\u2028\\u009b\\u202e\\udb40\\udc41"\n'
    assert json_line("中文 é 🙂\u200d🙂") == '"中文 é 🙂\u200d🙂"\n'.encode()
