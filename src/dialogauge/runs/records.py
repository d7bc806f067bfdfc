"""The public form of a judged target: one JSON row, as `judgements.jsonl` holds it."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import orjson

from dialogauge.core.conversation import Conversation, Message, Rating, ToolCall
from dialogauge.core.judgement import (
    Evidence,
    Judged,
    JudgeFailure,
    Judgement,
    Target,
    Usage,
)
from dialogauge.core.packing import squeeze, unsqueeze
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.scores import NotApplicable, Number, Score, score_of
from dialogauge.core.shape import read_as, reader_of
from dialogauge.runs.shapes import StoredConversation

_OWN_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
_HIDDEN = "\0extra"
"""Under this key stands what came under a key of ours and is not what that key means."""

_RATING = tuple(field.name for field in dataclasses.fields(Rating)[:7])
"""The fields of a rating that are always stored; its weight follows where it has one."""
_PLAIN = ("user_id", "scenario", "context", "candidate", "language")


def pack(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Write a JSON value as compressed bytes; see `packable`."""
    return squeeze(packable(value))


def packable(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Write a JSON value as bytes.

    What UTF-8 or 64 bits cannot hold is replaced: half a surrogate pair (a model that was cut off within
    an escaped emoji) by U+FFFD, a larger whole number by the nearest float.
    """
    return _dumped(value, orjson.OPT_NON_STR_KEYS)


def _dumped(value: Any, option: int) -> bytes:  # noqa: ANN401 - any JSON value
    try:
        return orjson.dumps(value, option=option)
    except orjson.JSONEncodeError:
        return orjson.dumps(_holdable(value), option=option)


def unpack(blob: bytes, dictionary: bytes = b"") -> Any:  # noqa: ANN401 - any JSON value
    """Read what `pack` wrote, or what was compressed with a dictionary; ValueError for anything else."""
    return orjson.loads(unsqueeze(read_as(blob, bytes), dictionary))


def _holdable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return float(value) if abs(value) < sys.float_info.max else None
    if isinstance(value, dict):
        return {_holdable(k): _holdable(v) for k, v in value.items()}
    return [_holdable(v) for v in value] if isinstance(value, list | tuple) else value


def encode_conversation(conversation: Conversation) -> bytes:
    """Write a conversation as compressed JSON; its place, and those of its ratings, are left out."""
    return pack(conversation_to_json(conversation))


def conversation_to_json(conversation: Conversation) -> dict[str, Any]:
    """Return a conversation as JSON values, as a run keeps it."""
    body: dict[str, Any] = {"id": conversation.id, "messages": [_stored(m) for m in conversation.messages]}
    body.update({k: v for k in _PLAIN if (v := getattr(conversation, k)) is not None})
    if conversation.profile is not None:
        body["profile"] = dict(conversation.profile)
    if conversation.metadata:
        body["metadata"] = dict(conversation.metadata)
    if conversation.ratings:
        body["ratings"] = [_stored_rating(r) for r in conversation.ratings]
    return body


def _stored(message: Message) -> dict[str, Any]:
    out = message.to_openai()
    hidden = {k: v for k, v in message.extra.items() if k not in out or k in _OWN_KEYS}
    if hidden:
        out[_HIDDEN] = hidden
    return out


def _stored_rating(rating: Rating) -> list[Any]:
    return [getattr(rating, name) for name in _RATING] + ([] if rating.weight is None else [rating.weight])


def _rating(values: Sequence[Any]) -> Rating:
    """Return the rating of what `_stored_rating` wrote."""
    rating = Rating(*values[:7])
    return dataclasses.replace(rating, weight=values[7]) if values[7:] else rating


def beside_digest(conversation: Conversation) -> bytes:
    """Return a digest of what `encode_conversation` writes and `conversation_digest` leaves out."""
    ratings = [_stored_rating(r) for r in conversation.ratings]
    if not ratings and not conversation.metadata:
        return b""
    return hashlib.sha256(packable([ratings, dict(conversation.metadata)])).digest()[:16]


def decode_conversation(blob: bytes) -> Conversation:
    """Read what `encode_conversation` wrote; ValueError for anything else."""
    return conversation_from_json(unpack(blob))


def conversation_from_json(value: object) -> Conversation:
    """Read what `conversation_to_json` returned; ValueError for anything else."""
    body: Any = reader_of(StoredConversation, parsed=True)(value)
    plain = {k: body.get(k) for k in _PLAIN}
    return Conversation(
        id=body["id"],
        messages=tuple(_message(m) for m in body["messages"]),
        profile=body.get("profile"),
        metadata=body.get("metadata", {}),
        ratings=tuple(_rating(values) for values in body.get("ratings", ())),
        **plain,
    )


def _message(raw: dict[str, Any]) -> Message:
    hidden = raw.pop(_HIDDEN, {})
    content = raw.pop("content")
    calls = raw.pop("tool_calls", ())
    return Message(
        role=raw.pop("role"),
        content=tuple(content) if isinstance(content, list) else content,
        tool_calls=tuple(ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in calls),
        tool_call_id=raw.pop("tool_call_id", None),
        name=raw.pop("name", None),
        extra={**raw, **hidden},
    )


# JSON allows these in strings as they are. But C1 controls and marks of direction act on a terminal that
# shows the file, and many readers of lines take U+0085, U+2028 and U+2029 for their end.
_ACTED_ON = lazy_pattern(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def json_line(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Write a value as one line of JSON."""
    return _inert(_dumped(value, orjson.OPT_APPEND_NEWLINE))


def json_document(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Write a value as indented JSON."""
    return _inert(_dumped(value, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _inert(raw: bytes) -> bytes:
    """Write what readers act on as escapes; the value stays the same."""
    if raw.isascii() and b"\x7f" not in raw:
        return raw
    text = raw.decode()
    return raw if _ACTED_ON.search(text) is None else _ACTED_ON.sub(_escape, text).encode()


def _escape(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


ROW_SCHEMA: Final = 2
"""The form of the rows, in the manifest and as the version of a run file; raised when its tables change."""


def is_failure(row: Mapping[str, Any]) -> bool:
    """Whether a row says why there is no judgement, reply or score."""
    return row.get("failure") is not None


def with_earlier(
    earlier: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the rows of a unit that was tried again: scores stay, what failed gives way.

    Of a row whose scores stay, what follows from those of other rows too, its verdict, may be new.
    """
    if not earlier:
        return list(rows)
    new = {_place(row): row for row in rows}
    kept = [_renewed(row, new.get(_place(row), row)) for row in earlier]
    places = {_place(row) for row in earlier}
    return kept + [row for place, row in new.items() if place not in places]


def _renewed(row: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    if is_failure(row):
        return new
    same = all(row.get(name) == new.get(name) for name in ("scores", "whole", "raw", "score", "text"))
    return {**new, "usage": row["usage"]} if same and "usage" in row else row


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("level", "turn", "item"))


def own_scores(row: Mapping[str, Any]) -> Mapping[str, Number]:
    """Return by dimension what counts and means are made of: the judge's whole score where it has one.

    A row that failed has none.
    """
    scores: Mapping[str, Number] = row["scores"] or {}
    return {**scores, **row["whole"]} if row["whole"] else scores


def raw_score(row: Mapping[str, Any], dimension: str) -> float | None:
    """Return the value before calibration; None where there is no number."""
    value = row["raw"].get(dimension, (row["scores"] or {}).get(dimension))
    return None if value is None or isinstance(value, str) else float(value)


def judged_of(row: Mapping[str, Any]) -> Judged:
    """Read a row back: what `row_json` was given, but for the conversation, the repeat and the judge."""
    target = Target(row["conversation_id"], row["level"], row["turn"], row["candidate"])
    usage = dict(row["usage"])
    by_role = {role: Usage(**used) for role, used in usage.pop("by_role").items()}
    return Judged(target, _outcome_of(row), Usage(**usage), row["prompt_digest"], by_role)


def standing(rows: Sequence[Mapping[str, Any]]) -> tuple[Judged, ...]:
    """Return the judgements among the rows of a unit that is tried again."""
    return tuple(judged_of(row) for row in rows if not is_failure(row))


def _outcome_of(row: Mapping[str, Any]) -> Judgement | JudgeFailure:
    failure = row["failure"]
    if failure is not None:
        return JudgeFailure(failure["kind"], failure["message"], failure.get("raw"))
    return Judgement(
        scores={name: _score_of(row, name, value) for name, value in row["scores"].items()},
        verdict=row["verdict"],
        verdict_basis=row["verdict_basis"],
        weakest_turn=row["weakest_turn"],
        issues=tuple(row["issues"]),
        evidence=tuple(_evidence_of(e) for e in row["evidence"]),
        rationale=row["rationale"],
        details=row["details"],
        overall=row["overall"],
    )


def _score_of(row: Mapping[str, Any], name: str, value: Number) -> Score | NotApplicable:
    if isinstance(value, str):
        return value
    whole, raw = row["whole"].get(name), row["raw"].get(name)
    if whole is None and raw is None:
        return score_of(value)
    return Score(value, value if whole is None and isinstance(value, int) else whole, raw)


def _evidence_of(value: Mapping[str, Any]) -> Evidence:
    kind: Literal["signal", "criterion"] = "signal" if "signal" in value else "criterion"
    return Evidence(value["turn"], value["quote"], value[kind], kind)
