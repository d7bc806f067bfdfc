"""Shapes of Cohere, Azure, RAGAS, Continue and UltraChat, and what is only noted."""

import json

import pytest

from dialogauge.core import Conversation, FileFault
from dialogauge.data import read_conversations

ASK, REPLY = "Is it ready?", "Yes."
KINDS, TYPED = ("human", "ai"), ({"content": ASK}, {"content": REPLY})
ONE = [("user", ASK), ("assistant", REPLY)]
MESSAGES = [{"role": "user", "content": ASK}, {"role": "assistant", "content": REPLY}]


def read(tmp_path, *records):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    reader = read_conversations([str(path)])
    talks = [talk for talk in reader if isinstance(talk, Conversation)]
    return talks, {note.text: note.count for note in reader.notes}


def said(talk):
    return [(m.role, m.text) for m in talk.messages]


def cohere(asked, past=(), **more):
    return {"model": "command-r", "message": asked, "chat_history": list(past), **more}


PAST = [{"role": "USER", "message": ASK}, {"role": "CHATBOT", "message": REPLY}]


def test_calls_of_coheres_first_interface_are_one_conversation(tmp_path):
    first = {"request": cohere(ASK, preamble="Be kind."), "response": {"generation_id": "1", "text": REPLY}}
    second = {
        "request": cohere("Where?", PAST, preamble="Be kind."),
        "response": {"generation_id": "2", "text": "Here.", "chat_history": PAST},
    }
    (talk,), _ = read(tmp_path, second, first)
    assert said(talk) == [("system", "Be kind."), *ONE, ("user", "Where?"), ("assistant", "Here.")]


def test_a_response_beside_coheres_request_and_tools(tmp_path):
    call = {"name": "find", "parameters": {"id": 7}}
    past = [
        {"role": "CHATBOT", "message": "I look.", "tool_calls": [call]},
        {"role": "TOOL", "tool_results": [{"call": call, "outputs": [{"state": "ready"}]}]},
    ]
    record = cohere(ASK, [*PAST, *past], response={"generation_id": "1", "text": REPLY})
    (talk,), _ = read(tmp_path, record)
    assert [c.arguments for m in talk.messages for c in m.tool_calls] == ['{"id":7}']
    assert [m.role for m in talk.messages] == ["user", "assistant", "assistant", "tool", "user", "assistant"]
    assert said(talk)[-2:] == ONE


@pytest.mark.parametrize(
    ("record", "id"),
    [
        ({"id": "a", "conversation": {"messages": MESSAGES}}, "a"),
        (
            {"id": "a", "user_input": [{"type": "human", "content": ASK}, {"type": "ai", "content": REPLY}]},
            "a",
        ),
        ({"sessionId": "a", "history": [{"message": m, "contextItems": []} for m in MESSAGES]}, "a"),
        ({"id": "a", "data": [ASK, REPLY]}, "a"),
    ],
)
def test_messages_within(tmp_path, record, id):
    (talk,), _ = read(tmp_path, record)
    assert (said(talk), talk.id) == (ONE, id)


def test_a_text_without_a_reply_at_the_end(tmp_path):
    (talk,), notes = read(tmp_path, {"data": [ASK, REPLY, "Where?"]})
    assert said(talk) == [*ONE, ("user", "Where?")]
    assert any("pairs of texts" in note for note in notes)


def test_ratings_of_messages_in_calls(tmp_path):
    rated = {"role": "assistant", "content": REPLY, "rating": 4}
    messages = [MESSAGES[0], rated, {"role": "user", "content": "Where?"}]
    record = {"request": {"messages": messages}, "response": {"content": "Here.", "role": "assistant"}}
    (talk,), _ = read(tmp_path, record)
    assert [(r.dimension, r.score, r.turn) for r in talk.ratings] == [("rating", 4.0, 1)]
    assert "rating" not in talk.messages[1].extra


@pytest.mark.parametrize("more", [{"scores": {"help": 4}}, {"evaluation": {"x": 1}}, {"helpfulness": 4}])
def test_scores_of_unclear_meaning_are_noted(tmp_path, more):
    (talk,), notes = read(tmp_path, {"messages": MESSAGES, **more})
    assert not talk.ratings
    assert any(f"have a {next(iter(more))}: not used as a rating" in note for note in notes)
    _, notes = read(tmp_path, {"prompt": ASK, "response": REPLY, "helpfulness": 4, "coherence": 3})
    assert any("helpfulness, coherence: no ratings unless a field map" in note for note in notes)


def test_swipes_are_counted(tmp_path):
    lines = [
        {"user_name": "Ana", "character_name": "Bo"},
        {"name": "Ana", "is_user": True, "mes": ASK},
        {"name": "Bo", "is_user": False, "mes": REPLY, "swipe_id": 1, "swipes": ["No.", REPLY, "Maybe."]},
    ]
    (talk,), notes = read(tmp_path, *lines)
    assert said(talk) == ONE
    assert notes["messages were left out: replies beside the one that was chosen (swipes)"] == 2


def test_messages_without_roles_are_refused_with_a_map_in_order_of_time(tmp_path):
    said = [("Shop", REPLY + " Come by.", 2), ("Ana", ASK, 1)]
    messages = [{"sender_name": n, "content": t, "timestamp_ms": 1770000000000 + at} for n, t, at in said]
    with pytest.raises(FileFault, match="unknown format") as refusal:
        read(tmp_path, {"messages": messages})
    assert "roles.Ana=user,roles.Shop=assistant'" in refusal.value.hint
    with pytest.raises(FileFault) as refusal:
        read(tmp_path, {"payload": [{"kind": 0, "x": "a b"}, {"kind": 1, "x": "c d"}]})
    assert "--map messages=payload,role=...,content=..., of the keys in 'payload': 'kind', 'x'" in (
        refusal.value.hint
    )


@pytest.mark.parametrize("key", ["turns", "history", "transcript"])
def test_messages_whose_first_names_no_role_are_refused_and_not_broken_off(tmp_path, key):
    first = {"type": "human", "text": ASK}
    with pytest.raises(FileFault, match=r"log\.jsonl"):
        read(tmp_path, {key: [first, {"role": "assistant", "text": REPLY}]})
