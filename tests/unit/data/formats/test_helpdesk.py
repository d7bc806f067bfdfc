"""Conversations of Intercom and Chatwoot, tickets of Zendesk, by hand from the schemas of their makers."""

import json

import pytest

from dialogauge.core import Rating, RecordFault
from dialogauge.data import read_conversations

ANN, FIN, BEN = ({"type": kind, "id": kind[0]} for kind in ("user", "bot", "admin"))


def part(n, author, body, kind="comment", **more):
    return {"part_type": kind, "body": body, "created_at": n, "author": author, **more}


def intercom(*parts, **more):
    source = {"type": "conversation", "body": "<p>Is it open?</p>", "author": ANN}
    return {"type": "conversation", "id": "c", "source": source, "conversation_parts": parts, **more}


def comment(n, author, body, **more):
    return {
        "author_id": author,
        "body": body,
        "public": True,
        "created_at": f"2026-05-04T10:0{n}:00Z",
        **more,
    }


def read(tmp_path, *records):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    return outcomes, [str(note) for note in reader.notes]


def said(talk):
    return [(m.role, m.text) for m in talk.messages]


def test_notes_and_assignments_are_no_messages(tmp_path):
    parts = [
        part(1, FIN, "<p>From <b>nine</b>.</p>"),
        part(2, BEN, "<p>Regular!</p>", "note"),
        part(3, BEN, None, "assignment"),
        part(4, BEN, "<p>Bye.</p>", "close", attachments=[{"name": "map.pdf", "url": "x"}]),
    ]
    rating = {"conversation_rating": {"rating": 4, "remark": "nice"}}
    (talk,), notes = read(tmp_path, intercom(*parts, **rating))
    assert said(talk)[:2] == [("user", "Is it open?"), ("assistant", "From nine.")]
    assert [p.get("type") for p in talk.messages[2].content] == ["text", "file"]
    assert (talk.id, talk.user_id) == ("c", "u")
    assert talk.ratings == (Rating("c", "rating", 4, note="nice"),)
    assert any("2 messages were left out" in note for note in notes)


def test_a_ticket(tmp_path):
    comments = [
        comment(1, 20, "Is it open?"),
        comment(2, 7, "x", html_body="<p>From <b>nine</b>.</p>"),
        comment(3, 7, "Regular!", public=False),
    ]
    ticket = {"id": 35, "requester_id": 20, "comments": comments, "satisfaction_rating": {"score": "bad"}}
    (talk, page), notes = read(tmp_path, ticket, {"comments": comments, "next_page": None})
    assert said(talk) == said(page) == [("user", "Is it open?"), ("assistant", "From nine.")]
    assert (talk.id, talk.user_id, [(r.dimension, r.score) for r in talk.ratings]) == (
        *("35", "20"),
        [("satisfaction_rating", "down")],
    )
    assert any("who writes first is read as the user" in note for note in notes)


def chatwoot(n, kind, text, **more):
    sender = {"id": 4, "type": "contact"} if kind in (0, "incoming") else {"id": 9, "type": "agent_bot"}
    about = {"id": n, "conversation_id": 71, "created_at": 1777888800 + n, "private": False}
    return {**about, "content": text, "message_type": kind, "content_type": "text", "sender": sender, **more}


SURVEY = {"submitted_values": {"csat_survey_response": {"rating": 2, "feedback_message": "slow"}}}
PAYLOAD = [
    chatwoot(1, 0, "Is it open?"),
    chatwoot(2, 2, "Ann was assigned"),
    chatwoot(3, 1, "Regular!", private=True),
    chatwoot(4, 1, "From nine."),
    chatwoot(5, 1, "Oops", content_attributes={"deleted": True}),
    chatwoot(6, 0, None, attachments=[{"file_type": "image", "data_url": "x"}]),
    chatwoot(7, 3, "Please rate us", content_type="input_csat", content_attributes=SURVEY),
]


@pytest.mark.parametrize("messages", [PAYLOAD, PAYLOAD[::-1]])
@pytest.mark.parametrize("key", ["payload", "messages"])
def test_messages_of_chatwoot(tmp_path, messages, key):
    (talk,), notes = read(tmp_path, {"meta": {"labels": []}, key: messages})
    assert said(talk)[:2] == [("user", "Is it open?"), ("assistant", "From nine.")]
    assert [part["data_url"] for part in talk.messages[2].content] == ["x"]
    assert (talk.id, talk.user_id) == ("71", "4")
    assert [(r.dimension, r.score, r.note) for r in talk.ratings] == [("csat", 2, "slow")]
    assert any(note.startswith("4 messages were left out") for note in notes)


def test_types_of_chatwoot_in_words_and_a_greeting(tmp_path):
    log = [chatwoot(1, "template", "Welcome."), chatwoot(2, "incoming", "Is it open?")]
    (talk,), _ = read(tmp_path, {"payload": log})
    assert said(talk) == [("assistant", "Welcome."), ("user", "Is it open?")]


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"payload": [PAYLOAD[0], chatwoot(2, 1, "x", conversation_id=72)]}, "of several conversations"),
        ({"payload": [PAYLOAD[0], {"content": "x", "conversation_id": 71}]}, "it has no 'message_type'"),
        (intercom({"body": "x"}) | {"id": "other"}, "it does not say who speaks"),
        (intercom(part(1, FIN, "")) | {"source": {"author": ANN}}, "nobody says anything"),
        ({"comments": [comment(1, 20, None)]}, "nobody says anything"),
        ({"comments": [comment(1, 20, "x"), {"body": "y"}]}, "it does not say who speaks"),
        ({"other": 1}, "no conversation of helpdesk (intercom, zendesk, chatwoot, "),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, record, why):
    outcomes, _ = read(tmp_path, intercom(part(1, FIN, "Yes.")), record)
    assert isinstance(outcomes[1], RecordFault)
    assert why in str(outcomes[1])


@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_lists_tickets_or_conversations_beside_others(tmp_path, indent):
    asked = [comment(1, 7, "Is it open?"), comment(2, 9, "From nine.")]
    tickets = [{"id": n, "requester_id": 7, "comments": asked} for n in (1, 2)]
    people = [{"id": 7, "name": "Ann"}, {"id": 9, "name": "Ben"}]
    talks = [intercom(part(1, FIN, "From nine.")) | {"id": n} for n in "12"]
    pages = [
        {"tickets": [*tickets, 4], "users": people, "count": 3},
        {"type": "conversation.list", "conversations": [*talks, 4], "admins": people},
    ]
    for page in pages:
        path = tmp_path / "page.json"
        path.write_text(json.dumps(page, indent=indent))
        reader = read_conversations([str(path)])
        *read_rightly, fault = reader
        assert [f.format for f in reader.files.values()] == ["helpdesk"]
        assert [(talk.id, said(talk)) for talk in read_rightly] == [
            (n, [("user", "Is it open?"), ("assistant", "From nine.")]) for n in "12"
        ]
        assert isinstance(fault, RecordFault)
        assert fault.place.file.endswith("record 3")


ASKED = [("Is it open?", True), ("She is a regular.", None), ("From nine.", False)]
"""Text, and whether the customer says it; None is a note of the desk."""


def freshdesk():
    answers = [{"body_text": t, "user_id": 9, "private": by is None} for t, by in ASKED[1:]]
    return {"id": 4, "requester_id": 3, "description_text": ASKED[0][0], "conversations": answers}


def gorgias():
    said = [
        {"from_agent": not by, "body_text": t, "public": by is not None, "created_datetime": n}
        for n, (t, by) in enumerate(ASKED)
    ]
    return {"id": 4, "customer": {"id": 3}, "messages": said, "satisfaction_survey": {"score": 5}}


def helpscout():
    kinds = {True: "customer", False: "message", None: "note"}
    threads = [
        {"type": kinds[by], "body": f"<p>{t}</p>", "createdAt": f"2026-05-04T10:0{n}:00Z"}
        for n, (t, by) in enumerate(ASKED)
    ]
    return {"id": 4, "primaryCustomer": {"id": 3}, "_embedded": {"threads": threads[::-1]}}


def livechat():
    seen = {"type": "system_message", "text": "Chat started"}
    said = [
        {
            "type": "message",
            "text": t,
            "author_id": "c" if by else "b",
            "visibility": "all" if by is not None else "agents",
        }
        for t, by in ASKED
    ]
    users = [{"id": "b", "type": "agent"}, {"id": "c", "type": "customer"}]
    return {
        "id": 4,
        "users": users,
        "thread": {"events": [seen, *said], "properties": {"rating": {"score": 0}}},
    }


def tawk():
    kinds = {True: "v", False: "a", None: "s"}
    said = [{"sender": {"t": kinds[by]}, "type": "msg", "msg": t} for t, by in ASKED]
    return {"id": 4, "visitor": {"id": 3}, "messages": said, "rating": 1}


@pytest.mark.parametrize(
    ("record", "score"),
    [(freshdesk(), None), (gorgias(), 5), (helpscout(), None), (livechat(), "down"), (tawk(), "up")],
)
def test_tickets_and_chats_of_other_desks(tmp_path, record, score):
    (talk,), notes = read(tmp_path, record)
    assert said(talk) == [("user", "Is it open?"), ("assistant", "From nine.")]
    assert talk.id == "4"
    assert [rating.score for rating in talk.ratings] == ([] if score is None else [score])
    assert any("left out: internal notes" in note or "of the desk itself" in note for note in notes)
