"""Lists of messages in a provider's own form.

LangChain's, items of the Responses API, threads of Assistants, messages of `parts` (Gemini, the AI SDK).

`payloads` restates them as OpenAI's; the fields beside them are read as those of every record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from dialogauge.core import Conversation
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.agents import is_of_agents
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.columns import is_history
from dialogauge.data.formats.fields import conversation_from, text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.order import in_time
from dialogauge.data.formats.payloads import is_message, messages_in, system_items
from dialogauge.data.notes import excerpt

_LISTS: Final = (
    "messages",
    "contents",
    "chat_history",
    "history",
    "items",
    "entries",
    "data",
    "input",
    "user_input",
)
_KINDS: Final = ("_call", "_output", "message.input", "message.output", "function.call")
"""How the types of items end, those of Mistral's conversations too."""
_PROMPTS: Final = frozenset({"system", "instructions", "system_prompt", "values"}) | {
    *("systemInstruction", "system_instruction"),
}


def _list_in(record: Any) -> tuple[str, Sequence[Any]] | None:  # noqa: ANN401  # any JSON value
    """Return the list of messages in a record and its key; a page of an interface holds it as `data`."""
    if isinstance(record, list):
        return "messages", record
    for key in _LISTS if isinstance(record, dict) else ():
        inner = record.get(key)
        inner = inner.get("data") if isinstance(inner, dict) else inner
        if isinstance(inner, list) and inner:
            return key, inner
    events = record.get("events") if isinstance(record, dict) else None
    spoken = [one["content"] for one in events if _speaks(one)] if isinstance(events, list) else []
    return ("events", spoken) if spoken else None


def _speaks(event: Any) -> bool:  # noqa: ANN401  # any JSON value
    """Say whether an event of a session of Google's ADK holds a whole message."""
    content = event.get("content") if isinstance(event, dict) else None
    return isinstance(content, dict) and "parts" in content and not event.get("partial")


def _state(record: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return the values of a graph's state, which hold the messages; the record where it is none."""
    values = record.get("values") if isinstance(record, dict) else None
    return {**record, **values} if isinstance(values, dict) and "messages" in values else record


def _of_langchain(items: Sequence[Any]) -> bool:
    first = items[0] if items else None
    if not isinstance(first, dict) or "role" in first or not is_message(first):
        return False
    return first.get("type") in ("human", "ai", "system", "tool") or "kwargs" in first


def _of_responses(items: Sequence[Any]) -> bool:
    known = [item for item in items if isinstance(item, dict) and is_message(item)]
    kinds = [kind for item in known if (kind := text_at(item, "type")) is not None]
    if kinds and set(kinds) == {"message"}:
        parts = [part for item in known for part in item.get("content") or () if isinstance(part, dict)]
        return any(part.get("type") in ("input_text", "output_text") for part in parts)
    return any(kind == "reasoning" or kind.endswith(_KINDS) for kind in kinds)


def _of_assistants(items: Sequence[Any]) -> bool:
    return bool(items) and isinstance(items[0], dict) and items[0].get("object") == "thread.message"


def _item_format(name: str, is_of: Callable[[Sequence[Any]], bool]) -> RecordFormat:
    def recognise(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
        inner = _list_in(_state(record))
        if inner is None or mapping.messages is not None or not is_of(inner[1]):
            return False
        return not (isinstance(record, dict) and is_history(inner[0], record, mapping))

    return RecordFormat(name, recognise, _convert)


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    record = _state(record)
    inner = _list_in(record)
    if inner is None:
        raise fault_in(entry, f"the record is {excerpt(record)}: it has no list of messages")
    key, values = inner
    page = isinstance(record, dict) and record.get("object") == "list"
    ordered = in_time(values, entry, sort=_of_assistants(values))
    items = messages_in(ordered[::-1] if _ends_first(ordered, entry, page=page) else ordered)
    if items is None:
        number, odd = next((n, v) for n, v in enumerate(values, start=1) if not is_message(v))
        raise fault_in(entry, f"message {number} is {excerpt(odd)}: no message of a known form")
    prompt = system_items(record) if isinstance(record, dict) else []
    about = {k: v for k, v in record.items() if k not in _PROMPTS} if isinstance(record, dict) else {}
    threads = {text_at(value, "thread_id") for value in values if isinstance(value, dict)}
    if "thread_id" not in about and len(threads) == 1 and (thread := threads.pop()):
        about["conversation_id"] = thread
    reader = MessageReader(entry, ordered=True)
    messages = reader.read(prompt + items)
    return conversation_from(about, messages, reader.rated, entry, messages_key=key)


def _ends_first(values: Sequence[Any], entry: Entry, *, page: bool) -> bool:
    """Say whether items without times begin with the latest, as a page of the interface does."""
    items = [value for value in values if isinstance(value, dict)]
    asked: set[str | None] = set()
    for item in items:
        kind, call = text_at(item, "type") or "", text_at(item, "call_id")
        if call and kind.endswith("_output") and call not in asked:
            entry.recognise("items have results before their calls: read from the last to the first")
            return True
        asked.add(call)
    roles = [item["role"] for item in items if item.get("type") == "message" and "role" in item]
    if page and len(asked) < 2 and roles[:1] == ["assistant"] and roles[-1:] == ["user"]:
        entry.assume("pages have the assistant first and the user last: read from the last to the first")
        return True
    return False


def _of_parts(items: Sequence[Any]) -> bool:
    first = items[0] if items else None
    return isinstance(first, dict) and "content" not in first and "parts" in first and is_message(first)


def _of_agents(items: Sequence[Any]) -> bool:
    return bool(items) and isinstance(items[0], dict) and is_of_agents(items[0])


AGENTS = _item_format("agents", _of_agents)
LANGCHAIN = _item_format("langchain", _of_langchain)
RESPONSES = _item_format("responses", _of_responses)
ASSISTANTS = _item_format("assistants", _of_assistants)
PARTS = _item_format("parts", _of_parts)
