from __future__ import annotations

import pytest

from dialogauge.text import split_reasoning

HARMONY = ("b", "<|message|>a<|end|><|start|>assistant")


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
        ("<thought>a</thought>b", "b", "a"),
        ("<seed:think>a</seed:think>b", "b", "a"),
        ("[THINK]{a}[/THINK]b", "b", "{a}"),
        ("[THINK]{a}", "", "{a}"),
        ("◁think▷a◁/think▷b", "b", "a"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", *HARMONY),
        ("<|channel|>analysis<|message|>{a}", "", "<|message|>{a}"),
        ('[{"a": 1}]', '[{"a": 1}]', None),
        ('{"note": "says </think>"}', '{"note": "says </think>"}', None),
        ("1 < 2 <b>x</b>", "1 < 2 <b>x</b>", None),
    ],
)
def test_reasoning_is_split_off(text, answer, reasoning):
    assert split_reasoning(text) == (answer, reasoning)
