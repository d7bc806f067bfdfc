"""The `conversations.json` of a Claude export: messages by `human` and `assistant`, in a row or a tree.

Where messages name the one before them, the branch is read that was last on the screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dialogauge.core import Conversation, Place, Role
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.trees import branch, latest
from dialogauge.data.notes import excerpt

_ROLES: Final[Mapping[str, Role]] = {"human": "user", "user": "user", "assistant": "assistant"}
_LIST: Final = "chat_messages"
_PARENT: Final = "parent_message_uuid"
_USED: Final = frozenset({"uuid", "account", "model", "current_leaf_message_uuid", _LIST})
_MARKS: Final = frozenset({"token_budget", "flag"})
"""Blocks that say nothing."""


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    return isinstance(record, dict) and isinstance(record.get(_LIST), list)


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    raw = record.get(_LIST) if isinstance(record, dict) else None
    if not isinstance(raw, list):
        raise fault_in(entry, f"the chat_messages are {excerpt(raw)}: not a list")
    for number, message in enumerate(raw, start=1):
        if not isinstance(message, dict):
            raise fault_in(entry, f"message {number} is {excerpt(message)}: not an object")
    name = text_at(record, "uuid")
    if name is None:
        name = entry.made_id
        entry.assume(f"conversations have no uuid: their ids are made from {entry.made_from}")
    if not raw:
        entry.recognise("conversations are empty in the export: they are absent")
    reader = MessageReader(entry, role_key="sender", role_of=_ROLES.get)
    account = record.get("account")
    shown = [_message(message) for message in _shown(raw, record.get("current_leaf_message_uuid"), entry)]
    return Conversation(
        name,
        reader.read(shown) if shown else (),
        user_id=text_at(account, "uuid") if isinstance(account, dict) else None,
        candidate=text_at(record, "model"),
        metadata={
            key: value for key, value in record.items() if key not in _USED and value not in (None, "")
        },
        place=Place(entry.place.file, entry.place.line, name),
    )


def _shown(raw: Sequence[Mapping[str, Any]], last: object, entry: Entry) -> Sequence[Mapping[str, Any]]:
    """Return the messages on the branch that was last on the screen; all where none names the one before."""
    by_id = {id: message for message in raw if (id := text_at(message, "uuid")) is not None}
    parents = {id: text_at(message, _PARENT) for id, message in by_id.items()}
    if len(by_id) < len(raw) or not any(parent in by_id for parent in parents.values()):
        return raw
    try:
        if not isinstance(last, str) or last not in by_id:
            last = latest(parents, lambda id: text_at(by_id[id], "created_at") or "")
        shown = branch(parents, last)
    except ValueError as error:
        raise fault_in(entry, str(error)) from error
    if len(shown) < len(raw):
        entry.recognise(
            "conversations have messages that were regenerated or edited: only what was last shown"
        )
    return [by_id[id] for id in shown]


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message with its files in its content, and the text of older exports as its content."""
    content, text = message.get("content"), message.get("text")
    blocks = [b for b in content if not _is_mark(b)] if isinstance(content, list) else content
    if not blocks or blocks == [{"type": "text", "text": ""}]:
        blocks = text if text is not None else content
    files = [*_files(message.get("attachments")), *_files(message.get("files"))]
    if files:
        own = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        blocks = [*own, *files] if isinstance(own, list) else own
    marks = {key: message[key] for key in ("uuid", "created_at") if message.get(key)}
    return {"sender": message.get("sender"), "content": blocks, **marks}


def _is_mark(block: object) -> bool:
    return isinstance(block, dict) and text_at(block, "type") in _MARKS


def _files(files: object) -> Iterator[dict[str, Any]]:
    """Yield files as content parts: with their text where the export holds it."""
    for file in files if isinstance(files, list) else ():
        if isinstance(file, dict):
            name, text = text_at(file, "file_name") or "file", text_at(file, "extracted_content")
            yield {"type": "text", "text": f"[{name}]\n{text}"} if text else {"type": "file", "name": name}


CLAUDE = RecordFormat("claude", _recognises, _convert)
