"""Conversations with a look at which signals were chosen are known by their words."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from dialogauge.data import read_conversations
from dialogauge.judges.local.evidence import looked_at
from talks import talk


def test_other_conversations_were_not_looked_at():
    assert not looked_at(talk("u: Hi.", "a: Hello."))
    assert not looked_at(talk())


@pytest.mark.skipif("DIALOGAUGE_SHARED" not in os.environ, reason="DIALOGAUGE_SHARED is not set")
def test_a_conversation_that_was_looked_at_is_known_under_any_id_and_no_part_of_it():
    file = Path(os.environ["DIALOGAUGE_SHARED"]) / "data" / "uss" / "MWOZ.txt"
    first = next(iter(read_conversations([str(file)])))
    assert looked_at(replace(first, id="another", ratings=()))
    assert not looked_at(replace(first, messages=first.messages[:-1]))
