from __future__ import annotations

import pytest

from dialogauge.llm.wire import split_reasoning


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("plain", "plain", None),
        ("  spaces stay ", "  spaces stay ", None),
        ("<think>a</think>b", "b", "a"),
        ("\n<THINKING>a</THINKING>\n b ", "b", "a"),
        ("<think>a</think><think>b</think>c", "c", "a\nb"),
        ("<think>never closed", "", "never closed"),
        ("opened in the prompt</think>answer", "answer", "opened in the prompt"),
        ("<think></think>answer", "answer", None),
        ('{"note": "says </think>"}', '{"note": "says </think>"}', None),
        ("1 < 2 <b>x</b>", "1 < 2 <b>x</b>", None),
    ],
)
def test_reasoning_is_split_off(text, answer, reasoning):
    assert split_reasoning(text) == (answer, reasoning)
