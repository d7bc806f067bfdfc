"""Who speaks: several names are one role only where it is noted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import ROLES, Conversation, RecordFault
from dialogauge.data import read_conversations
from dialogauge.data.formats.roles import ROLE_ALIASES
from sets import examples

ALIASES = sorted({*ROLE_ALIASES, "user", "assistant", "Agent", "Bot", "USER"})


def said(names):
    return [{"role": name, "content": f"text {n}"} for n, name in enumerate(names)]


SHAPES = {
    "messages": lambda names: [{"id": "a", "messages": said(names)}],
    "turns": lambda names: [{"id": "a", "turns": said(names)}],
    "rows": lambda names: [{"conversation_id": "a", **row} for row in said(names)],
}


@pytest.mark.parametrize("shape", SHAPES)
@examples(60)
@given(names=st.lists(st.sampled_from(ALIASES), min_size=2, max_size=5))
def test_two_names_are_never_one_role_without_a_word(shape, names, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, SHAPES[shape](names))), encoding="utf-8")
    reader = read_conversations([str(path)])
    (talk,) = reader
    assert isinstance(talk, Conversation)
    notes = [note.text for note in reader.notes if note.kind == "assumed"]
    for role in ("user", "assistant"):
        plain = {name.lower() for name, m in zip(names, talk.messages, strict=True) if m.role == role}
        shared = [note for note in notes if f"several speakers read as {role}: " in note]
        assert len(shared) == (len(plain) > 1)
        assert all(repr(name) in note for note in shared for name in plain)


@pytest.mark.parametrize("shape", SHAPES)
def test_strict_reading_refuses_it(shape, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, SHAPES[shape](["user", "agent", "assistant"]))))
    with pytest.raises(RecordFault, match="strict"):
        list(read_conversations([str(path)], strict=True))


def test_aliases_are_of_two_roles():
    assert set(ROLE_ALIASES.values()) == {"user", "assistant"}
    assert not ROLE_ALIASES.keys() & set(ROLES)
