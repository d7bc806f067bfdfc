from __future__ import annotations

import pytest

from dialogauge.llm.prompt_watch import PromptWatch
from dialogauge.llm.wire import Completion


def answered(tokens, **options):
    return Completion("fine", "stop", prompt_tokens=tokens, **options)


def asked(*texts):
    return [{"role": "user", "content": text} for text in texts]


LONG = " ".join(f"word{n}" for n in range(6000))


def test_a_prompt_of_which_most_is_not_counted_is_noticed_once():
    watch = PromptWatch()
    assert watch.read(asked(LONG), answered(4096))
    assert "4,096 tokens" in watch.notice
    assert not watch.read(asked(LONG + " and more"), answered(4096))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (LONG, 6000),
        (LONG, 9000),
        ("\u4f60\u597d" * 9000, 3000),  # no spaces, no words
        ("short", 1),
        ("a" * 50_000, 700),
        (" \n" * 50_000, 400),
    ],
)
def test_a_prompt_that_may_have_been_read_whole_is_not(text, tokens):
    assert not PromptWatch().read(asked(text), answered(tokens))


def test_what_may_be_cached_is_not_expected_to_count():
    watch = PromptWatch()
    assert not watch.read(asked(LONG + " one"), answered(9000))
    assert not watch.read(asked(LONG + " two"), answered(3))
    assert not watch.read(asked(LONG + " two", "again"), answered(3))
    assert not watch.read(asked(LONG + " one"), answered(3))
    assert not PromptWatch().read(asked(LONG), answered(10, cached_tokens=10))
    assert not PromptWatch().read(asked(LONG), answered(0, counted=False))
