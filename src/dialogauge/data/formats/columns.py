"""Which columns of a table hold what: by the field map, or by their usual names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dialogauge.core.values import Value
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.fields import MESSAGE_KEYS, PERHAPS, REPLIES, names_talk
from dialogauge.data.formats.threads import DataRow
from dialogauge.data.paths import MISSING, look_up
from dialogauge.data.tables import find_column

USUAL: Final[dict[str, tuple[str, ...]]] = {
    "conversation_id": (
        *("conversation_id", "conversation", "dialogue_id", "dialog_id", "thread_id", "chat_id"),
        *("session_id", "session", "thread", "dialogue", "dialog", "ticket_id", "id"),
        *("会话id", "会话_id", "会话编号", "对话id", "对话_id", "对话编号", "会话", "对话"),
    ),
    "role": (
        *("role", "speaker", "from", "author", "sender", "sender_type", "author_role", "direction"),
        *("角色", "发送者", "发言人", "说话人"),
    ),
    "content": (
        *("content", "text", "message", "utterance", "value", "body", "message_text"),
        *("内容", "消息", "消息内容", "文本"),
    ),
    "prompt": (
        *("prompt", "user_message", "user_input", "user_prompt", "user_query", "question", "query"),
        *("instruction", "human", "request", "input"),
        *("问题", "提问", "用户问题"),
    ),
    "input": ("input",),
    "reply": REPLIES,
    "system": ("system", "system_prompt", "system_message"),
    "history": ("history", "chat_history", "conversation_history", "message_history", "past_messages"),
    "order_by": (
        *("timestamp", "created_at", "time", "ts", "datetime", "date", "sent_at", "created", "create_time"),
        *("时间", "发送时间"),
        *("message_index", "message_number", "seq", "sequence", "position", "index"),
    ),
    "user_id": ("user_id", "user", "用户id", "用户_id"),
    "scenario": ("scenario",),
    "context": ("scenario_description", "task_context", "context"),
    "candidate": ("candidate", "model"),
    "language": ("language", "lang"),
    "turn": ("turn", "turn_id", "turn_index", "turn_number"),
    "rater": ("rater", "annotator"),
}
_SPEAKERS: Final = (
    ("user", "assistant"),
    ("user", "bot"),
    ("customer", "agent"),
    ("human", "ai"),
    *((user, assistant) for user in ("用户", "客户", "顾客") for assistant in ("助手", "客服", "机器人")),
)
"""Columns that may be a prompt and its reply, where both are there."""
_MESSAGES: Final = frozenset({"role", "content"})
_EXCHANGES: Final = frozenset({"prompt", "input", "reply", "system", "history"})
_OF_CONVERSATION: Final = ("user_id", "scenario", "context", "candidate", "language")


class RowColumns(Value):
    """The columns of the fields and of the dimensions."""

    named: Mapping[str, str]
    ratings: Mapping[str, str]

    used: frozenset[str] = frozenset()
    """The columns that hold a field or ratings."""

    @property
    def of_conversation(self) -> list[str]:
        """The fields that are the same in all rows of a conversation."""
        return [name for name in _OF_CONVERSATION if name in self.named]

    @property
    def exchanges(self) -> bool:
        """Whether a row is a prompt and its reply."""
        return "reply" in self.named

    def value(self, row: DataRow, name: str) -> Any:  # noqa: ANN401  # any JSON value
        """Return what a row has of a field; None where it has nothing."""
        column = self.named.get(name)
        if column is None:
            return None
        value = row.cells[column] if column in row.cells else look_up(row.cells, column)
        return None if value is MISSING or value == "" else value

    def get(self, row: DataRow, name: str) -> str | None:
        """Return that as a text; None where it is a list or an object."""
        value = self.value(row, name)
        if type(value) is str:
            return value
        return None if value is None or isinstance(value, dict | list) else str(value)

    def rest(self, row: DataRow) -> dict[str, Any]:
        """Return what no column is used for."""
        used = self.used
        return {k: v for k, v in row.cells.items() if k not in used and v is not None and v != ""}


def named_columns(columns: Sequence[str], mapping: FieldMap) -> dict[str, str]:
    """Return field -> column, by the field map or a usual name.

    They are those of messages (`role`, `content`) or those of exchanges (`prompt`, `reply`).
    """
    named: dict[str, str] = {}
    for name, usual in USUAL.items():
        mapped = getattr(mapping, name, None)
        # The map may be of the ratings beside the table, which call its conversations otherwise.
        usual = () if mapped and name != "conversation_id" else usual
        column = mapped if has_column(columns, mapped) else find_column(columns, usual)
        if column is not None:
            named[name] = column
    if not mapping.conversation_id and named.get("conversation_id", "id").lower() == "id":
        own = [c for c in columns if names_talk(c)]
        named |= {"conversation_id": own[0]} if own else {}
    if not named.keys() >= {"prompt", "reply"} and not (mapping.prompt or mapping.reply):
        pairs = ((find_column(columns, [one]), find_column(columns, [other])) for one, other in _SPEAKERS)
        named |= next(({"prompt": p, "reply": r} for p, r in pairs if p and r), {})
    exchanges = mapping.prompt or mapping.reply or not named.keys() >= _MESSAGES
    for name in _MESSAGES if exchanges and named.keys() >= {"prompt", "reply"} else _EXCHANGES:
        named.pop(name, None)
    if (named.get("prompt") or "").lower() != "instruction":
        named.pop("input", None)
    if named.get("user_id") in (named.get("prompt"), named.get("role")):
        named.pop("user_id", None)
    return named


def has_column(columns: Sequence[str], path: str | None) -> bool:
    """Say whether a table has a column, or one that a path leads into."""
    return path is not None and any(path == c or path.startswith(f"{c}.") for c in columns)


def is_whole(named: Mapping[str, str]) -> bool:
    """Say whether there is all that a message or an exchange needs."""
    return named.keys() >= _MESSAGES or named.keys() >= {"prompt", "reply"}


def is_history(key: str, record: Mapping[str, Any], mapping: FieldMap) -> bool:
    """Say whether messages of a record only come before the prompt and the reply beside them."""
    known = key in USUAL["history"] and mapping.messages is None
    return known and is_whole(named_columns(tuple(record), mapping))


def rating_columns(columns: Sequence[str], mapping: FieldMap) -> dict[str, str]:
    """Return dimension -> column, by the field map or a usual name."""
    return dict(mapping.ratings) or {c: c for c in columns if c.lower() in MESSAGE_KEYS | PERHAPS}
