"""OpenAI chat records."""

import json

import pytest

from dialogauge.core import Message, Rating, RecordFault, ToolCall
from dialogauge.data import read_conversations
from dialogauge.data.field_map import FieldMap

USER = {"role": "user", "content": "hi"}
REPLY = {"role": "assistant", "content": "yo"}


def read_one(tmp_path, record, **options):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    reader = read_conversations([str(path)], format=options.pop("format", "openai"), **options)
    (outcome,) = list(reader)
    return outcome, [n.text for n in reader.notes]


def test_everything_around_the_messages(tmp_path):
    record = {
        "session_id": 7,
        "user": "u1",
        "scenario": "support",
        "task_context": "A parcel is late.",
        "profile": {"age": 40},
        "language": "en",
        "model": "m1",
        "metadata": {"seed": 3},
        "extra": [1, 2],
        "messages": [USER, REPLY],
    }
    c, _ = read_one(tmp_path, record)
    assert (c.id, c.user_id, c.scenario, c.context) == ("7", "u1", "support", "A parcel is late.")
    assert (c.profile, c.language, c.candidate) == ({"age": 40}, "en", "m1")
    assert c.metadata == {"seed": 3, "extra": [1, 2]}
    assert c.messages == (Message("user", "hi"), Message("assistant", "yo"))


def test_the_first_name_wins_and_the_other_is_kept(tmp_path):
    c, _ = read_one(tmp_path, {"id": "b", "conversation_id": "a", "messages": [USER, REPLY]})
    assert c.id == "a"
    assert c.metadata == {"id": "b"}


def test_a_field_of_another_type_is_metadata(tmp_path):
    c, _ = read_one(tmp_path, {"id": "a", "context": ["x"], "user": {"n": 1}, "messages": [USER, REPLY]})
    assert c.context is None
    assert c.metadata == {"context": ["x"], "user": {"n": 1}}


def test_tools_parts_and_system(tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    messages = [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {}}],
        },
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "[]"},
        {"role": "assistant", "content": "none", "refusal": None},
    ]
    c, notes = read_one(tmp_path, {"id": "a", "messages": messages})
    assert c.messages[1].text == "see\n[image_url]"
    assert c.messages[2].tool_calls == (ToolCall("c1", "f", '{"x": 1}'),)
    assert c.messages[3].tool_call_id == "c1"
    assert [m.to_openai() for m in c.messages] == messages
    assert any("content parts" in n for n in notes)


def test_the_old_function_role(tmp_path):
    messages = [
        USER,
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "42"},
        REPLY,
    ]
    c, notes = read_one(tmp_path, {"id": "a", "messages": messages})
    assert c.messages[1].tool_calls == (ToolCall("call_2", "f", "{}"),)
    assert (c.messages[2].role, c.messages[2].tool_call_id, c.messages[2].name) == ("tool", "call_2", "f")
    assert sum("old" in n for n in notes) == 2


def test_arguments_that_are_no_text_are_written_as_json(tmp_path):
    call = {"id": "c1", "function": {"name": "f", "arguments": {"x": 1}}}
    messages = [USER, {"role": "assistant", "tool_calls": [call]}]
    c, _ = read_one(tmp_path, {"id": "a", "messages": messages})
    assert c.messages[1].tool_calls[0].arguments == '{"x":1}'


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        (None, "the messages are None: not a list"),
        ("hello", "not a list"),
        (["hello"], "message 1 is 'hello': not an object"),
        ([USER, {"content": "x"}], "message 2 has no 'role'"),
        ([USER, {"role": "assistant", "text": "x"}], "message 2 has no 'content'.*'text'"),
        ([USER, {"role": "assistant", "content": 5}], "message 2: the content is 5: neither text"),
        ([{"role": "user", "content": [3]}], "a content part is 3"),
        ([USER, {"role": "assistant", "tool_calls": "x"}], "tool_calls is 'x'"),
        ([USER, {"role": "assistant", "tool_calls": [{"id": "1"}]}], "names no function"),
    ],
)
def test_bad_messages(tmp_path, messages, message):
    fault, _ = read_one(tmp_path, {"id": "a", "messages": messages})
    assert isinstance(fault, RecordFault)
    with pytest.raises(RecordFault, match=message):
        raise fault


@pytest.mark.parametrize(("asks", "replies"), [("human", "AI"), ("Customer", "agent"), ("用户", "助手")])
def test_common_names_of_roles_are_read_and_said(tmp_path, asks, replies):
    messages = [{"role": asks, "content": "Where is it?"}, {"role": replies, "content": "Here."}]
    talk, notes = read_one(tmp_path, {"id": "a", "messages": messages})
    assert [message.role for message in talk.messages] == ["user", "assistant"]
    said = " ".join(map(str, notes))
    assert f"role {asks!r}: read as user" in said
    assert f"role {replies!r}: read as assistant" in said


def test_an_unknown_role_names_the_way_out(tmp_path):
    fault, _ = read_one(tmp_path, {"id": "a", "messages": [USER, {"role": "moderator", "content": "x"}]})
    assert "message 2 has the unknown role 'moderator'" in str(fault)
    assert "system, developer, user, assistant, tool" in fault.hint
    assert "--map" in fault.hint


def test_a_record_without_messages(tmp_path):
    fault, _ = read_one(tmp_path, {"id": "a", "text": "x"})
    assert "the record has no 'messages' (it has 'id', 'text')" in str(fault)


def test_a_bare_list_is_one_conversation(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([USER, REPLY], indent=1))
    (c,) = list(read_conversations([str(path)]))
    assert c.id == "a.json:1"
    assert len(c.messages) == 2


def test_ratings_on_messages_belong_to_their_turn_and_leave_the_message(tmp_path):
    messages = [
        REPLY,
        USER,
        {**REPLY, "satisfaction": "4", "weight": 2},
        USER,
        {**REPLY, "rating": {"score": 2, "rater": "r1", "note": "dull", "dimension": "fun"}},
        USER,
        {**REPLY, "ratings": {"a": 1, "b": "poor"}},
        USER,
        {**REPLY, "score": [3, 4.5]},
    ]
    c, _ = read_one(tmp_path, {"id": "x", "messages": messages})
    assert c.ratings == (
        Rating("x", "satisfaction", 4, 1),
        Rating("x", "fun", 2, 2, "r1", None, "dull"),
        Rating("x", "a", 1, 3),
        Rating("x", "b", "poor", 3),
        Rating("x", "score", 3, 4, "rater1"),
        Rating("x", "score", 4.5, 4, "rater2"),
    )
    assert c.messages[2].extra == {"weight": 2}
    assert not any(m.extra for m in c.messages[3:])


def test_ratings_of_the_record(tmp_path):
    rows = [{"dimension": "a", "score": 3, "turn": 1}, {"dimension": "b", "score": "ok", "rater": 5}]
    c, _ = read_one(tmp_path, {"id": "x", "messages": [USER, REPLY], "ratings": rows})
    assert c.ratings == (Rating("x", "a", 3, 1), Rating("x", "b", "ok", None, "5"))
    c, _ = read_one(tmp_path, {"id": "x", "messages": [USER, REPLY], "ratings": {"a": 3, "b": None}})
    assert c.ratings == (Rating("x", "a", 3),)
    assert c.metadata == {}


def test_numbers_beside_the_messages_rate_the_conversation_in_one_order(tmp_path):
    beside = {"reward": 1, "rating": "up", "satisfaction": 4, "score": 2}
    c, _ = read_one(tmp_path, {"id": "x", "messages": [USER, REPLY], **beside})
    assert c.ratings == (
        Rating("x", "satisfaction", 4),
        Rating("x", "rating", "up"),
        Rating("x", "reward", 1, rater="environment"),
    )
    assert c.metadata == {"score": 2}


def test_thumbs_and_stars_are_ratings_where_they_hold_one(tmp_path):
    messages = [
        USER,
        {**REPLY, "feedback": "thumbs_up"},
        {**USER, "feedback": "down"},
        {**REPLY, "feedback": "It was slow.", "stars": {"score": 2, "rater": "r1"}},
    ]
    c, notes = read_one(tmp_path, {"id": "x", "messages": messages, "stars": 4, "vote": "", "csat": "fine"})
    assert c.ratings == (
        Rating("x", "feedback", "thumbs_up", 1),
        Rating("x", "stars", 2, 2, "r1"),
        Rating("x", "stars", 4),
    )
    assert c.messages[3].extra == {"feedback": "It was slow."}
    assert c.metadata == {"vote": "", "csat": "fine"}
    said = [n for n in notes if "rating" in n]
    assert "messages have a feedback: read as a rating of the turn" in said
    assert "records have a stars: read as a rating of the conversation" in said
    assert any("have a csat that is neither a number nor a thumb" in n for n in said)


def test_thumbs_up_is_one_of_two_answers_and_no_dimension(tmp_path):
    messages = [USER, {**REPLY, "thumbs_up": False}]
    c, _ = read_one(tmp_path, {"id": "x", "messages": messages, "thumbs_up": True})
    assert c.ratings == (Rating("x", "thumbs", "false", 1), Rating("x", "thumbs", "true"))


def test_a_record_with_a_score_alone_says_that_it_is_not_used(tmp_path):
    c, notes = read_one(tmp_path, {"thread_id": "t", "messages": [USER, REPLY], "score": 0.4})
    assert (c.id, c.ratings) == ("t", ())
    assert any("have a score: not used as a rating" in n for n in notes)


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        ([{"score": None}], "the score is missing"),
        ([{"score": 3, "turn": "two"}], "the turn is 'two'"),
        ([{"score": 3, "conversation_id": "y"}], "a rating is for conversation 'y', but stands in 'x'"),
        ({"a": [1, 2]}, "neither a number nor a category"),
    ],
)
def test_bad_ratings_are_a_fault_of_the_record(tmp_path, ratings, message):
    fault, _ = read_one(tmp_path, {"id": "x", "messages": [USER, REPLY], "ratings": ratings})
    assert message in str(fault)


def test_a_field_map_reads_other_names(tmp_path):
    mapping = FieldMap(
        conversation_id="meta.session",
        messages="log",
        role="who.kind",
        content="said",
        user_id="meta.user",
        ratings={"satisfaction": "stars", "overall": "meta.stars"},
        roles={"bot": "assistant", "human": "user"},
    )
    record = {
        "meta": {"session": "s1", "user": 9, "stars": 5},
        "log": [
            {"who": {"kind": "human"}, "said": "hi"},
            {"who": {"kind": "bot"}, "said": "yo", "stars": 3},
        ],
    }
    c, _ = read_one(tmp_path, record, mapping=mapping, format=None)
    assert (c.id, c.user_id) == ("s1", "9")
    assert [(m.role, m.text) for m in c.messages] == [("user", "hi"), ("assistant", "yo")]
    assert set(c.ratings) == {Rating("s1", "satisfaction", 3, 1), Rating("s1", "overall", 5)}
    assert "log" not in c.metadata


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([{"role": ["user"], "content": "x"}], "unknown role"),
        ([{"role": {}, "content": "x"}], "unknown role"),
        ([{"role": "user", "content": [None]}], "content part is None"),
        ([{"role": "user", "content": ["x", None]}], "content part is None"),
    ],
)
def test_wrong_types_where_texts_are_meant(tmp_path, messages, message):
    fault, _ = read_one(tmp_path, {"messages": messages})
    assert isinstance(fault, RecordFault)
    assert message in fault.message


def test_ratings_that_stand_before_the_dialogue(tmp_path):
    """Nothing said of a system message is no rating; a score there is of no turn."""
    stars = FieldMap(ratings={"satisfaction": "stars"})

    def read(given):
        told = {"role": "system", "content": "Be brief.", "stars": given}
        record = {"id": "a", "messages": [told, USER, {**REPLY, "stars": 4}]}
        return read_one(tmp_path, record, mapping=stars)[0]

    for nothing in (None, ""):
        assert read(nothing).ratings == (Rating("a", "satisfaction", 4, 1),)
    fault = read(3)
    assert isinstance(fault, RecordFault)
    assert str(fault.place).endswith("a.jsonl:1, conversation 'a'")
    assert "message 1 is rated (satisfaction) but stands before the dialogue" in fault.message
    assert "take the rating off" in fault.hint


@pytest.mark.parametrize(
    ("times", "read", "note"),
    [
        ((40, 30, 30, 10), "dcba", "messages are not in order: put in that of their 'timestamp'"),
        (tuple(f"2026-05-04T10:00:{n}" for n in (40, 30, 30, 10)), "dcba", "messages are not in order"),
        ((10, 20, 20, 30), "abcd", None),
        ((10, 30, 20, 40), "abcd", "messages have times under 'timestamp' that rise and fall"),
        ((40, None, 20, 10), "abcd", None),
    ],
)
def test_messages_that_begin_with_the_latest(tmp_path, times, read, note):
    said = [
        {"role": "user" if n % 2 else "assistant", "content": "abcd"[n], "timestamp": time}
        for n, time in enumerate(times)
    ]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "c", "messages": said}))
    reader = read_conversations([str(path)])
    (c,) = list(reader)
    assert "".join(m.text for m in c.messages) == read
    timed = [n.text for n in reader.notes if "order" in n.text or "times" in n.text]
    assert len(timed) == bool(note)
    assert all(text.startswith(note) for text in timed)


@pytest.mark.parametrize(
    "shown", [{"refusal": "I cannot."}, {"audio": {"id": "a", "transcript": "I cannot."}}]
)
def test_a_refusal_and_what_a_sound_says_are_the_content(tmp_path, shown):
    for content in (None, ""):
        c, _ = read_one(tmp_path, [USER, {"role": "assistant", "content": content, **shown}])[:2]
        assert c.turns[0].reply_text == "I cannot."
    c = read_one(tmp_path, [USER, {"role": "assistant", "content": "Yes.", **shown}])[0]
    assert c.turns[0].reply_text == "Yes."


def test_rows_of_ratings_say_who_rated_which_turn_in_any_form(tmp_path):
    rows = [
        {"turn": 1, "rater": "ann", "satisfaction": 4, "effort": 2, "level": "turn"},
        {"turn": 1, "rater": "bob", "dimension": "satisfaction", "value": 3},
        {"coherence": 5},
    ]
    c, _ = read_one(tmp_path, {"id": "x", "messages": [USER, REPLY], "ratings": rows})
    assert [(r.dimension, r.score, r.turn, r.rater) for r in c.ratings] == [
        ("satisfaction", 4, 1, "ann"),
        ("effort", 2, 1, "ann"),
        ("satisfaction", 3, 1, "bob"),
        ("coherence", 5, None, None),
    ]
