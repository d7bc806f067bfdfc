"""Conversations of support desks, and of Rasa's bots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dialogauge.core import Conversation, Role
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import conversation_from, text_at
from dialogauge.data.formats.markup import html_text
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.notes import excerpt

_ASKING: Final = ("user", "lead", "contact", "visitor")
"""Authors of Intercom who are customers; others are bots and people of the desk."""
_INTERNAL: Final = "note"
_PARTS: Final = "conversation_parts"
_LEFT_OUT: Final = "internal notes, assignments, and what has no text"
_IN_CHATWOOT: Final[dict[int | str | None, Role]] = {
    **dict.fromkeys((0, "incoming"), "user"),
    **dict.fromkeys((1, 3, "outgoing", "template"), "assistant"),
}
"""Who speaks, by the type of a message of Chatwoot; others are activities."""
_VERDICTS: Final = {"good": "up", "bad": "down"}

Item = dict[str, Any]


def _parts(record: Any) -> Sequence[Any] | None:  # noqa: ANN401  # any JSON value
    """Return what was written after the first message of a conversation of Intercom."""
    inner = (
        record.get(_PARTS) if isinstance(record, dict) and isinstance(record.get("source"), dict) else None
    )
    parts = inner.get(_PARTS) if isinstance(inner, dict) else inner
    return parts if isinstance(parts, list) else None


def _comments(record: Any) -> Sequence[Any] | None:  # noqa: ANN401  # any JSON value
    """Return the comments of a ticket of Zendesk, or of a page of its interface."""
    comments = record.get("comments") if isinstance(record, dict) else None
    first = comments[0] if isinstance(comments, list) and comments else None
    return comments if isinstance(first, dict) and "author_id" in first and "body" in first else None


def _messages(record: Any) -> Sequence[Any] | None:  # noqa: ANN401  # any JSON value
    """Return the messages of Chatwoot, in a page of its interface or in a conversation."""
    for key in ("payload", "messages"):
        messages = record.get(key) if isinstance(record, dict) else None
        first = messages[0] if isinstance(messages, list) and messages else None
        if isinstance(first, dict) and {"message_type", "content", "conversation_id"} <= first.keys():
            return messages
    return None


def _recognises_helpdesk(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    mapped = mapping.messages or mapping.role or mapping.content
    return not mapped and any(of(record) is not None for of in (_parts, _comments, _messages))


def _convert_helpdesk(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    parts, comments, spoken = _parts(record), _comments(record), _messages(record)
    if parts is not None:
        about, items = _of_intercom(record), list(_spoken_of_helpdesk([record["source"], *parts], entry))
    elif comments is not None:
        about, items = _of_zendesk(record), list(_written(record, comments, entry))
    elif spoken is not None:
        about, items = _of_chatwoot(record, spoken, entry), list(_exchanged(spoken, entry))
    else:
        raise fault_in(entry, f"the record is {excerpt(record)}: neither a conversation nor a ticket")
    if not items:
        raise fault_in(entry, "nobody says anything in it")
    entry.recognise("conversations are of a support desk: who asked is the user, who answers the assistant")
    reader = MessageReader(entry)
    messages = reader.read(items)
    return conversation_from(about, messages, reader.rated, entry, messages_key="comments")


def _rated(rating: object, dimension: str, scores: Mapping[str, str]) -> Item:
    """Return the `ratings` of a record whose desk holds one under its own name."""
    score = rating.get("rating", rating.get("score")) if isinstance(rating, dict) else None
    score = scores.get(score) if isinstance(score, str) else score
    if not isinstance(rating, dict) or score is None:
        return {}
    note = text_at(rating, "remark") or text_at(rating, "comment")
    return {"ratings": [{"dimension": dimension, "score": score, **({"note": note} if note else {})}]}


def _of_intercom(record: Item) -> Item:
    author = record["source"].get("author")
    about = {k: v for k, v in record.items() if k not in ("source", _PARTS, "conversation_rating")}
    user = author.get("id") if isinstance(author, dict) and author.get("type") in _ASKING else None
    return {**about, "user_id": user, **_rated(record.get("conversation_rating"), "rating", {})}


def _of_zendesk(record: Item) -> Item:
    about = {key: value for key, value in record.items() if key != "satisfaction_rating"}
    user = record.get("requester_id")
    return {
        **about,
        "user_id": user,
        **_rated(record.get("satisfaction_rating"), "satisfaction_rating", _VERDICTS),
    }


def _of_chatwoot(record: Item, messages: Sequence[Any], entry: Entry) -> Item:
    """Return what holds for a conversation, with the rating that its customer was asked for."""
    known = [one for one in messages if isinstance(one, dict)]
    if len({str(one.get("conversation_id")) for one in known}) > 1:
        raise fault_in(entry, "the messages are of several conversations", "give each a record of its own")
    asking = (one.get("sender") for one in known if _IN_CHATWOOT.get(_type(one)) == "user")
    user = next((one.get("id") for one in asking if isinstance(one, dict)), None)
    rated: Item = {}
    for one in known:
        answers = one.get("content_attributes")
        for key in ("submitted_values", "csat_survey_response"):
            answers = answers.get(key) if isinstance(answers, dict) else None
        if isinstance(answers, dict):
            note = {"comment": answers.get("feedback_message")}
            rated = _rated({"rating": answers.get("rating"), **note}, "csat", {})
    about = {key: value for key, value in record.items() if key not in ("payload", "messages", "meta", "id")}
    return {**about, "conversation_id": known[0]["conversation_id"], "user_id": user, **rated}


def _type(message: Item) -> int | str | None:
    kind = message.get("message_type")
    return kind if isinstance(kind, int | str) and not isinstance(kind, bool) else None


def _exchanged(messages: Sequence[Any], entry: Entry) -> Iterator[Item]:
    for message in messages:
        if not isinstance(message, dict) or (kind := _type(message)) is None:
            raise fault_in(entry, f"a message is {excerpt(message)}: without a type")
        role, text, files = _IN_CHATWOOT.get(kind), text_at(message, "content"), message.get("attachments")
        attributes = message.get("content_attributes")
        deleted = isinstance(attributes, dict) and attributes.get("deleted") is True
        asks = message.get("content_type") == "input_csat"
        if role is None or message.get("private") is True or asks or deleted or not (text or files):
            entry.leave_out(_LEFT_OUT)
            continue
        yield _message(role, text or "", files, message)


def _spoken_of_helpdesk(parts: Sequence[Any], entry: Entry) -> Iterator[Item]:
    for part in parts:
        author = part.get("author") if isinstance(part, dict) else None
        if not isinstance(author, dict):
            raise fault_in(entry, f"a part of the conversation is {excerpt(part)}: without an author")
        body, files = text_at(part, "body"), part.get("attachments")
        kind = part.get("part_type", "")
        if _INTERNAL in str(kind) or not (body or files):
            entry.leave_out(_LEFT_OUT)
            continue
        role: Role = "user" if author.get("type") in _ASKING else "assistant"
        yield _message(role, html_text(body) if body else "", files, part)


def _written(record: Item, comments: Sequence[Any], entry: Entry) -> Iterator[Item]:
    asking = record.get("requester_id")
    for comment in comments:
        if not isinstance(comment, dict) or "author_id" not in comment:
            raise fault_in(entry, f"a comment is {excerpt(comment)}: without an author")
        if asking is None:
            asking = comment["author_id"]
            entry.assume("tickets do not say who asks: who writes first is read as the user")
        if comment.get("public") is False:
            entry.leave_out(_LEFT_OUT)
            continue
        html = text_at(comment, "html_body")
        text = text_at(comment, "plain_body") or (html_text(html) if html else comment.get("body"))
        if not isinstance(text, str):
            raise fault_in(entry, f"a comment is {excerpt(text)}: no text")
        role: Role = "user" if comment["author_id"] == asking else "assistant"
        yield _message(role, text, comment.get("attachments"), comment)


def _message(role: Role, text: str, files: object, source: Mapping[str, Any]) -> Item:
    times = {key: source[key] for key in ("created_at",) if source.get(key) is not None}
    attached = (
        [{"type": "file", **file} for file in files if isinstance(file, dict)]
        if isinstance(files, list)
        else []
    )
    texts = [{"type": "text", "text": text}] if text else []
    return {"role": role, "content": [*texts, *attached] if attached else text, **times}


HELPDESK = RecordFormat("helpdesk", _recognises_helpdesk, _convert_helpdesk)
"""Conversations of support desks: Intercom's parts, comments of Zendesk's tickets, and messages of Chatwoot.

Whoever asked is the user; who answers, a bot or a person, is the assistant. Internal notes are left out.
"""


_ROLES: Final = {"user": "user", "bot": "assistant", "agent": "assistant"}


def _events(record: Any) -> list[Any] | None:  # noqa: ANN401  # any JSON value
    events = record.get("events") if isinstance(record, dict) and "sender_id" in record else None
    first = events[0] if isinstance(events, list) and events else None
    return events if isinstance(events, list) and isinstance(first, dict) and "event" in first else None


def _recognises_rasa(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    return not (mapping.messages or mapping.role or mapping.content) and _events(record) is not None


def _convert_rasa(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    events = _events(record)
    if events is None:
        raise fault_in(entry, f"the record is {excerpt(record)}: no tracker with its events")
    items = list(_spoken_of_rasa(events, entry))
    if not items:
        raise fault_in(entry, "nobody says anything in it")
    reader = MessageReader(entry)
    messages = reader.read(items)
    model = {"model": record["model_id"]} if text_at(record, "model_id") else {}
    about = {"conversation_id": record["sender_id"], **model}
    return conversation_from(about, messages, reader.rated, entry, messages_key="events")


def _spoken_of_rasa(events: list[Any], entry: Entry) -> Iterator[dict[str, Any]]:
    for event in events:
        name = event.get("event") if isinstance(event, dict) else None
        if not isinstance(name, str):
            raise fault_in(entry, f"an event is {excerpt(event)}: it has no name")
        if name not in _ROLES:
            continue
        text, shown = text_at(event, "text"), _shown(event)
        if text is None and not shown:
            entry.leave_out("no text and nothing that is shown", what="events")
            continue
        texts = [{"type": "text", "text": text}] if text is not None else []
        times = {"timestamp": event["timestamp"]} if "timestamp" in event else {}
        yield {"role": _ROLES[name], "content": [*texts, *shown] if shown else text, **times}


def _shown(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a bot shows beside its text: buttons, pictures, and what is its own."""
    data = event.get("data")
    inner = data.items() if isinstance(data, dict) else ()
    return [{"type": f"data-{key}", key: value} for key, value in inner if value]


RASA = RecordFormat("rasa", _recognises_rasa, _convert_rasa)
"""Trackers of Rasa: the events of a conversation, of which those of user and bot are its messages."""
