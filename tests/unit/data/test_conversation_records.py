"""Records read back as the same conversations."""

from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, Message, Rating, ToolCall
from dialogauge.data import read_conversations
from sets import examples
from talks import write_conversations

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
PARTS = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXT}), max_size=2).map(tuple)
MESSAGES = st.one_of(
    st.builds(Message, st.sampled_from(["user", "system", "developer"]), TEXT | PARTS | st.none()),
    st.builds(
        Message,
        st.just("assistant"),
        TEXT | st.none(),
        st.lists(st.builds(ToolCall, TEXT, TEXT, TEXT), max_size=2).map(tuple),
        name=st.none() | NAME,
        extra=st.dictionaries(st.sampled_from(["weight", "logprobs"]), JSON, max_size=2),
    ),
    st.builds(Message, st.just("tool"), TEXT, tool_call_id=NAME),
)

SCORES = st.integers(-5, 5) | st.just(2.5) | st.sampled_from(["yes", "no"])


@st.composite
def conversations(draw):
    name = draw(NAME)
    optional = st.none() | NAME
    ratings = st.builds(
        Rating, st.just(name), NAME, SCORES, st.none() | st.integers(0, 3), optional, optional, optional
    )
    return Conversation(
        name,
        tuple(draw(st.lists(MESSAGES, min_size=1, max_size=4))),
        user_id=draw(optional),
        scenario=draw(optional),
        context=draw(optional),
        profile=draw(st.none() | st.dictionaries(TEXT, JSON, max_size=2)),
        candidate=draw(optional),
        language=draw(optional),
        ratings=tuple(draw(st.lists(ratings, max_size=2))),
        metadata=draw(st.dictionaries(st.sampled_from(["id", "user", "metadata", "z"]), JSON, max_size=2)),
    )


@examples(60)
@given(st.lists(conversations(), min_size=1, max_size=3, unique_by=lambda c: c.id))
def test_reading_what_was_written_gives_the_same(tmp_path, written):
    path = tmp_path / "x.jsonl"
    write_conversations(path, written)
    assert list(read_conversations([str(path)])) == written
