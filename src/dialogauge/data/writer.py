"""Writes conversations as OpenAI JSONL that reads back as what was written."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import orjson

from dialogauge.core import Conversation, Rating

__all__ = ["conversation_record", "write_conversations"]

_FIELDS = ("user_id", "scenario", "context", "candidate", "language")


def write_conversations(path: str | Path, conversations: Iterable[Conversation]) -> int:
    """Write one conversation a line and return how many; gzip when the path ends in `.gz`.

    Reading the file gives equal conversations, except for their place. Raises `OSError` when the file
    cannot be written.
    """
    file = Path(path)
    packed = file.suffix == ".gz"
    count = 0
    with file.open("wb") as raw, closing(gzip.GzipFile(fileobj=raw, mode="wb") if packed else raw) as out:
        for conversation in conversations:
            out.write(orjson.dumps(conversation_record(conversation), default=_plain) + b"\n")
            count += 1
    return count


def conversation_record(conversation: Conversation) -> dict[str, Any]:
    """Return a conversation as the JSON object of one line; what is not known is left out."""
    record: dict[str, Any] = {"conversation_id": conversation.id}
    for name in _FIELDS:
        value = getattr(conversation, name)
        if value is not None:
            record[name] = value
    if conversation.profile is not None:
        record["profile"] = dict(conversation.profile)
    record["messages"] = [message.to_openai() for message in conversation.messages]
    if conversation.ratings:
        record["ratings"] = [_rating(rating, conversation.id) for rating in conversation.ratings]
    if conversation.metadata:
        record["metadata"] = dict(conversation.metadata)
    return record


def _rating(rating: Rating, conversation_id: str) -> dict[str, Any]:
    row: dict[str, Any] = {"dimension": rating.dimension, "score": rating.score}
    if rating.conversation_id != conversation_id:
        row["conversation_id"] = rating.conversation_id
    for name in ("turn", "rater", "candidate", "note"):
        value = getattr(rating, name)
        if value is not None:
            row[name] = value
    return row


def _plain(value: object) -> dict[str, Any]:
    """Let mappings that are no dicts be written as objects."""
    try:
        return dict(cast("Any", value))
    except (TypeError, ValueError) as error:
        msg = f"{type(value).__name__} cannot be written as JSON"
        raise TypeError(msg) from error
