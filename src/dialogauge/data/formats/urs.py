"""The session-level records of URS (User Reported Scenarios), as PersTurnBench reads them.

One JSON array a file, one session a record: `user_id`, `intent_label`, `user_satisfaction` (one of five
labels, in Chinese or English), `conversation_history`, `title`, `llm`. The rating is of the whole session.
Users are numbered within a language, so `zh_` or `en_` goes before their number, as in the published code
(`lib/urs_data.py` of github.com/wzf2000/RecLLMSim).
"""

from __future__ import annotations

from typing import Any

from dialogauge.core import Conversation, Place, Rating
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.notes import excerpt

_INTENTS = {
    "解决专业问题": "professional",
    "检索信息": "retrieval",
    "文本事务": "text",
    "获取建议": "advice",
    "寻求创意": "creative",
    "娱乐休闲": "leisure",
    "其他": "other",
    "Solve Professional Problem": "professional",
    "Information Retrieval": "retrieval",
    "Text Assistant": "text",
    "Ask for Advice": "advice",
    "Seek Creativity": "creative",
    "Leisure": "leisure",
    "Others": "other",
}
_CHINESE = ("很不满意", "不满意", "一般", "满意", "非常满意")
_ENGLISH = ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied")
_SCORES = {label: score for labels in (_CHINESE, _ENGLISH) for score, label in enumerate(labels, start=1)}
_DIMENSION = "satisfaction"
_USED = frozenset({"user_id", "intent_label", "user_satisfaction", "conversation_history", "title", "llm"})


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    return (
        isinstance(record, dict)
        and isinstance(record.get("conversation_history"), list)
        and "user_satisfaction" in record
    )


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or "conversation_history" not in record:
        raise fault_in(entry, f"the record is {excerpt(record)}: no session with a 'conversation_history'")
    name = entry.made_id
    entry.recognise("ids made from the file name and the number of the record")
    messages = MessageReader(entry).read(record["conversation_history"])
    language = _language(record, messages[0].text)
    user = record.get("user_id")
    user_id = None if user in (None, "") else f"{language}_{user}"
    label = record.get("user_satisfaction")
    ratings: tuple[Rating, ...] = ()
    if label in (None, ""):
        entry.assume("sessions have no rating: read as unrated")
    elif not isinstance(label, str) or label.strip() not in _SCORES:
        hint = f"one of {', '.join(_ENGLISH)}, or the Chinese of them"
        raise fault_in(entry, f"the satisfaction is {excerpt(label)}", hint)
    else:
        ratings = (Rating(name, _DIMENSION, _SCORES[label.strip()], None, user_id),)
    intent = text_at(record, "intent_label")
    return Conversation(
        name,
        messages,
        user_id=user_id,
        scenario=_INTENTS.get(intent, intent) if intent is not None else None,
        context=text_at(record, "title"),
        candidate=text_at(record, "llm"),
        language=language,
        ratings=ratings,
        metadata={key: value for key, value in record.items() if key not in _USED},
        place=Place(entry.place.file, entry.place.line, name),
    )


def _language(record: dict[str, Any], first: str) -> str:
    """Return the language of the labels, else of the first message."""
    labels = f"{record.get('user_satisfaction')}{record.get('intent_label')}"
    text = labels if labels != "NoneNone" else first
    return "zh" if any("\u4e00" <= c <= "\u9fff" for c in text) else "en"


URS = RecordFormat("urs", _recognises, _convert)
