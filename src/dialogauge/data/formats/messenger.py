"""Messages of Slack, Discord, Telegram, Teams, SillyTavern, and platforms of bots: Bot Framework, Botpress.

Bots are the assistant, people the user. Where no bot speaks, a field map says who the assistant is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from dialogauge.core import FileFault, Place, RecordFault
from dialogauge.data.formats.base import Context, Outcome, Sample, TextFormat, fault_in
from dialogauge.data.formats.chat import DELETED, EDITED
from dialogauge.data.formats.documents import listed
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.rows import RowTable, conversations_of
from dialogauge.data.formats.threads import DataRow
from dialogauge.data.json_values import JsonValue, is_object, json_values, outline
from dialogauge.data.markup import html_text
from dialogauge.data.notes import NoteBook, excerpt, file_fault
from dialogauge.data.sources import LineStream

_HEAD: Final = ("id", "name", "type", "channel")
_SPOKEN_IN_SLACK: Final = (None, "bot_message", "file_share", "thread_broadcast", "me_message")
_SPOKEN_IN_DISCORD: Final = ("Default", "Reply")
_OF_OTHERS: Final = (
    *({"character_name", "user_name"}, {"is_user", "mes"}),
    {"direction", "payload", "conversationId"},
)
"""Keys of lines of SillyTavern, and of messages of Botpress."""
_COLUMNS: Final = ("conversation_id", "role", "content", "timestamp", "speaker")
_SWIPES: Final = "replies beside the one that was chosen (swipes)"
_NOTICES: Final = "of a messenger itself"
_CHANGES: Final = ("edited", "edited_unixtime", "timestampEdited", "lastEditedDateTime")
_DELETIONS: Final = ("tombstone", "message_deleted", "messageDelete")
_PAGE: Final = "value"
"""The list in a page of messages of Teams; other exports list them under `messages`."""
_ALONE: Final = "in no thread, and no bot speaks among them"

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Said:
    """What somebody said."""

    thread: str | None
    """None for what stands in the channel itself."""
    speaker: str
    name: str | None
    bot: bool
    text: str
    at: object
    files: object = None
    asks: bool = False
    """Whether it begins its thread."""


def _recognises(sample: Sample) -> bool:
    record, mapping = sample.record, sample.mapping
    if not isinstance(record, dict) or mapping.messages or mapping.role or mapping.content:
        return False
    messages = record.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    if _is_teams(record) or _is_page(record):
        return True
    if isinstance(first, dict):
        return _is_telegram(record, first) or _is_discord(record, first)
    return _is_slack(record) or _is_activity(record) or any(keys <= record.keys() for keys in _OF_OTHERS)


def _is_slack(value: Item) -> bool:
    speaks = any(key in value for key in ("user", "bot_id", "subtype"))
    return value.get("type") == "message" and isinstance(value.get("ts"), str) and speaks


def _is_activity(value: Item) -> bool:
    """Say whether it is an activity of the Bot Framework."""
    who, talk = value.get("from"), value.get("conversation")
    return isinstance(who, dict) and isinstance(talk, dict) and "type" in value


def _is_teams(value: Any) -> bool:  # noqa: ANN401  # any JSON value
    """Say whether it is a message of Teams, as Microsoft Graph has it."""
    body = value.get("body") if isinstance(value, dict) else None
    return isinstance(body, dict) and "content" in body and {"messageType", "from"} <= value.keys()


def _is_page(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    messages = record.get(_PAGE) if isinstance(record, dict) else None
    return isinstance(messages, list) and bool(messages) and _is_teams(messages[0])


def _is_telegram(head: Item, value: Item) -> bool:
    return (
        isinstance(head.get("type"), str)
        and "date_unixtime" in value
        and value.get("type") in ("message", "service")
    )


def _is_discord(head: Item, value: Item) -> bool:
    author = value.get("author")
    return isinstance(head.get("channel"), dict) and isinstance(author, dict) and "isBot" in author


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    tally, mute = _tally(stream, context), replace(context, notes=NoteBook())

    def rows() -> Iterator[DataRow | RecordFault]:
        for number, (spoken, place) in enumerate(_all_spoken(stream, mute), start=1):
            if isinstance(spoken, RecordFault):
                yield spoken
            elif spoken.thread is not None or tally.together:
                cells = _cells(spoken, tally, context)
                yield DataRow(
                    cells | {"timestamp": number if spoken.at is None else spoken.at}, place, number
                )

    if tally.roles:
        yield from conversations_of(RowTable(_COLUMNS, rows), context)


@dataclass(frozen=True, slots=True)
class _Tally:
    """Who has which role, and whether what stands in no thread is one conversation."""

    roles: Mapping[str, str]
    together: bool


def _tally(stream: LineStream, context: Context) -> _Tally:
    """Look at all messages; raises `FileFault` where nobody is the assistant."""
    speakers: dict[str, tuple[bool, str | None]] = {}
    answers, alone = Counter[str](), Counter[str]()
    try:
        for spoken, _ in _all_spoken(stream, context):
            if isinstance(spoken, RecordFault):
                continue
            speakers[spoken.speaker] = (spoken.bot, spoken.name)
            answers[spoken.speaker] += not spoken.asks
            if spoken.thread is None:
                alone[spoken.speaker] += 1
    except FileFault:
        pass
    known = context.mapping.roles
    roles: dict[str, str] = {}
    for speaker, (bot, name) in speakers.items():
        stated = known.get(speaker) or known.get(name or "")
        roles[speaker] = stated or ("assistant" if bot else "user")
    if roles and "assistant" not in roles.values():
        likely = answers.most_common(1)[0][0]
        shown = ", ".join(
            excerpt(s if n is None else f"{n} ({s})") for s, (_, n) in list(speakers.items())[:5]
        )
        what = f"no bot speaks in this chat, and nothing says who the assistant is: it is of {shown}"
        hint = f"name the assistant, as in --map 'roles.{likely}=assistant'"
        raise file_fault(Place(context.source.name), what, hint)
    together = any(roles[speaker] == "assistant" for speaker in alone)
    if alone and not together:
        context.notes.leave_out(_ALONE, Place(context.source.name), count=alone.total())
    return _Tally(roles, together)


def _cells(spoken: _Said, tally: _Tally, context: Context) -> dict[str, Any]:
    files = spoken.files if isinstance(spoken.files, list) else []
    media = [{"type": "file", **one} for one in files if isinstance(one, dict)]
    texts = [{"type": "text", "text": spoken.text}] if spoken.text else []
    return {
        "conversation_id": spoken.thread or context.source.label,
        "role": tally.roles[spoken.speaker],
        "content": [*texts, *media] if media else spoken.text,
        "speaker": spoken.name or spoken.speaker,
    }


_NO_TEXT: Final[tuple[Any, ...]] = (None, "", [])


def _all_spoken(stream: LineStream, context: Context) -> Iterator[tuple[_Said | RecordFault, Place]]:
    # The key under which a document lists its messages.
    if "list" not in context.memo:
        first = next(iter(json_values(stream)), None)
        record = first.value if isinstance(first, JsonValue) else None
        if record is None and is_object(stream):
            record = outline(stream)
        context.memo["list"] = _PAGE if _is_page(record) else "messages"
    key: str = context.memo["list"]
    for head, value, entry in listed(stream, context, key, _HEAD):
        try:
            if isinstance(value, RecordFault):
                yield value, entry.place
                continue
            if not isinstance(value, dict):
                raise fault_in(entry, f"the message is {excerpt(value)}: not an object")
            spoken = _spoken_by(head, value)
            if isinstance(swipes := value.get("swipes"), list) and len(swipes) > 1 and spoken and spoken.bot:
                entry.leave_out(_SWIPES, len(swipes) - 1)
            if spoken is None:
                gone = value.get("subtype", value.get("type")) in _DELETIONS or value.get("deletedDateTime")
                entry.leave_out(DELETED if gone else _NOTICES)
            elif not spoken.speaker:
                raise fault_in(entry, f"the message is {excerpt(value)}: it does not say who speaks")
            elif not spoken.text and any(value.get(key) not in _NO_TEXT for key in ("text", "content")):
                raise fault_in(entry, f"the message is {excerpt(value)}: its text is none")
            else:
                if any(map(value.get, _CHANGES)):
                    entry.recognise(EDITED)
                yield spoken, entry.place
        except RecordFault as fault:
            yield fault, entry.place


def _spoken_by(head: Item, value: Item) -> _Said | None:
    """Return what a message says; None for what the messenger says itself."""
    if "messageType" in value:
        return _of_teams(value)
    if "is_user" in value or "character_name" in value:
        return _of_tavern(value)
    if isinstance(value.get("conversation"), dict) or "conversationId" in value:
        return _of_bots(value)
    if isinstance(value.get("author"), dict):
        return _of_discord(head, value, value["author"])
    return _of_slack(value) if "ts" in value else _of_telegram(head, value)


def _of_tavern(value: Item) -> _Said | None:
    who = text_at(value, "name")
    if not isinstance(value.get("mes"), str):
        return None
    return _Said(None, who or "", who, value.get("is_user") is False, value["mes"], None)


def _of_teams(value: Item) -> _Said | None:
    who, body, files = value.get("from"), value.get("body"), value.get("attachments")
    known = who if isinstance(who, dict) else {}
    user, bot = known.get("user"), known.get("application")
    speaks = bot if isinstance(bot, dict) else user
    notice = value.get("messageType") != "message" or value.get("eventDetail") is not None
    if notice or value.get("deletedDateTime") is not None or not isinstance(body, dict):
        return None
    begun = text_at(value, "replyToId")
    own = text_at(value, "id") if value.get("channelIdentity") else None
    thread = text_at(value, "chatId") or begun or own
    name = text_at(speaks, "displayName") if isinstance(speaks, dict) else None
    speaker = (text_at(speaks, "id") if isinstance(speaks, dict) else None) or name or ""
    text = text_at(body, "content") or ""
    text = html_text(text) if body.get("contentType") == "html" else text
    shown = [one for one in files if not _is_quoted(one)] if isinstance(files, list) else None
    return _Said(
        thread, speaker, name, speaks is bot, text, value.get("createdDateTime"), shown, asks=begun is None
    )


def _is_quoted(file: Any) -> bool:  # noqa: ANN401  # any JSON value
    """Say whether an attachment is the message that this one answers."""
    return isinstance(file, dict) and file.get("contentType") == "messageReference"


def _of_discord(head: Item, value: Item, author: Item) -> _Said | None:
    if value.get("type", "Default") not in _SPOKEN_IN_DISCORD:
        return None
    channel = head.get("channel")
    thread = text_at(channel, "id") if isinstance(channel, dict) else None
    bot, text = author.get("isBot") is True, text_at(value, "content") or ""
    speaker, name = text_at(author, "id") or "", text_at(author, "name")
    return _Said(thread, speaker, name, bot, text, value.get("timestamp"), value.get("attachments"))


def _of_telegram(head: Item, value: Item) -> _Said | None:
    if value.get("type") != "message":
        return None
    thread = str(head["id"]) if head.get("id") is not None else None
    names = (text_at(value, "from_id") or text_at(value, "from") or "", text_at(value, "from"))
    bot = head.get("type") == "bot_chat" and names[1] is not None and names[1] == head.get("name")
    media = [{"media": key} for key in ("photo", "file", "media_type") if value.get(key)][:1]
    return _Said(thread, *names, bot, _telegram_text(value.get("text")), value.get("date_unixtime"), media)


def _of_slack(value: Item) -> _Said | None:
    if value.get("subtype") not in _SPOKEN_IN_SLACK:
        return None
    bot = value.get("subtype") == "bot_message" or isinstance(value.get("bot_id"), str)
    profile = value.get("user_profile")
    name = text_at(value, "username") or (
        text_at(profile, "real_name") if isinstance(profile, dict) else None
    )
    speaker = text_at(value, "user") or text_at(value, "bot_id") or name or ""
    thread, text = text_at(value, "thread_ts"), text_at(value, "text") or ""
    begins = thread is None or thread == value.get("ts")
    return _Said(thread, speaker, name, bot, text, value.get("ts"), value.get("files"), asks=begins)


def _of_bots(value: Item) -> _Said | None:
    """Return what an activity of the Bot Framework or a message of Botpress says; None for other ones."""
    who, payload, talk = value.get("from"), value.get("payload"), value.get("conversation")
    if isinstance(who, dict) and isinstance(talk, dict):
        bot, files = who.get("role") == "bot", value.get("attachments")
        speaker, text, at = (
            text_at(who, "id") or text_at(who, "role"),
            value.get("text"),
            value.get("timestamp"),
        )
        thread = text_at(talk, "id")
        if value.get("type") != "message":
            return None
    else:
        bot, files = value.get("direction") == "outgoing", None
        text = payload.get("text") if isinstance(payload, dict) else None
        thread, at = text_at(value, "conversationId"), value.get("createdAt")
        speaker = "bot" if bot else text_at(value, "userId")
        files = None if isinstance(text, str) else [{"payload": payload}]
    return _Said(thread, speaker or "", None, bot, text if isinstance(text, str) else "", at, files)


def _telegram_text(value: object) -> str:
    """Return a text that may be parted by its links and its bold words."""
    parts = value if isinstance(value, list) else [value]
    texts = (text_at(part, "text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


MESSENGER = TextFormat("messenger", _recognises, _read)
