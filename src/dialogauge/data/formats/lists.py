"""Records with one list of messages, or of prompts with their replies, in any provider's own form.

`payloads` restates lists of providers as OpenAI's; the fields beside them are read as those of every record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeGuard

import orjson

from dialogauge.core import Conversation, Message, Role, ToolCall
from dialogauge.data.field_map import NO_MAP, FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.columns import is_history, named_columns
from dialogauge.data.formats.fields import conversation_from, labels_of, text_at
from dialogauge.data.formats.openai import (
    NO_MESSAGES,
    OPENAI,
    MessageReader,
    content_of,
    unknown_role,
    with_replies,
)
from dialogauge.data.formats.order import in_time
from dialogauge.data.formats.payloads import is_message, is_of_agents, messages_in, system_items
from dialogauge.data.formats.react import unfold
from dialogauge.data.formats.roles import role_named
from dialogauge.data.json_values import is_message_list, too_deep
from dialogauge.data.notes import excerpt
from dialogauge.data.paths import MISSING, look_up
from dialogauge.data.reasoning import without_reasoning
from dialogauge.data.splits import message_turns

_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})


def _recognises_anthropic(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    if mapping.messages or mapping.content:
        return False
    messages = record.get("messages") if isinstance(record, dict) else record
    if not isinstance(messages, list) or not isinstance(messages[0] if messages else None, dict):
        return False
    return _is_request(record) or any(map(_has_blocks, messages))


def _is_request(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    """Say whether a record has the system prompt, and the limit of tokens, as a request of the interface."""
    return (
        isinstance(record, dict) and isinstance(record.get("system"), str | list) and "max_tokens" in record
    )


def _has_blocks(message: object) -> bool:
    blocks = message.get("content") if isinstance(message, dict) else None
    types = (
        (block.get("type") for block in blocks if isinstance(block, dict)) if isinstance(blocks, list) else ()
    )
    return any(isinstance(name, str) and name in _BLOCKS for name in types)


def _convert_anthropic(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    about = record.get("metadata") if isinstance(record, dict) else None
    if isinstance(about, dict) and "user_id" not in record and (user := text_at(about, "user_id")):
        record = {**record, "user_id": user}
    return OPENAI.convert(record, entry)


ANTHROPIC = RecordFormat("anthropic", _recognises_anthropic, _convert_anthropic)
"""Records of Anthropic's Messages API: `messages` of content blocks, and the `system` prompt beside them."""


def _recognises_card(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    items = record.get("dialogue") if isinstance(record, dict) else record
    if isinstance(record, dict) and items == [] and "scenario_description" in record:
        return True
    return is_message_list(items) and "role" in items[0] and "text" in items[0]


def _convert_card(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    if isinstance(record, list):
        record = {"dialogue": record}
    if not isinstance(record, dict) or "dialogue" not in record:
        raise fault_in(entry, f"the record is {excerpt(record)}: no object with a 'dialogue'")
    reader = MessageReader(entry, content_key="text")
    messages = reader.read_or_absent(record["dialogue"])
    _compare_turns(messages, entry)
    messages = tuple(_without_turn(m) for m in messages)
    return conversation_from(record, messages, reader.rated, entry, messages_key="dialogue")


def _compare_turns(messages: tuple[Message, ...], entry: Entry) -> None:
    """Note turn numbers that differ from ours; the conversation uses ours."""
    for message, turn in zip(messages, message_turns(messages), strict=True):
        stated = message.extra.get("turn", turn)
        if turn is not None and stated != turn:
            entry.assume(
                "conversations number their turns differently: our numbers are used (a turn is what the user "
                "said and the reply to it, counted from 1)",
                hint=f"the first that differs is {stated!r}, ours is {turn}",
            )
            return


def _without_turn(message: Message) -> Message:
    if "turn" not in message.extra:
        return message
    return replace(message, extra={key: value for key, value in message.extra.items() if key != "turn"})


CARD = RecordFormat("card", _recognises_card, _convert_card)
"""The multi-turn card's own form: `{"scenario_description", "dialogue": [{"turn", "role", "text"}]}`.

Also a bare list of `{"turn", "role", "text"}`.
"""


_LISTS = (
    *("turns", "dialog", "dialogue", "history", "conversation", "conversations", "items", "utterances"),
    *("transcript", "transcript_object", "messages"),
)
_ROLE_KEYS = ("role", "speaker", "from")
_CONTENT_KEYS = ("content", "text", "value", "utterance", "message")

_DEEPEVAL = frozenset(
    {"expected_outcome", "expectedOutcome", "user_description", "userDescription"}
    | {"chatbot_role", "chatbotRole"}
)
"""Keys of a DeepEval test case, whose `scenario` is a description and not a name."""


def _recognises_turns(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    record = _opened(record)
    key = _list_key(record) if isinstance(record, dict) else None
    return key is not None and not is_history(key, record, mapping)


def _opened(record: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return a record in whose list each message stands under `message`, as Continue has it, without that."""
    for key in _LISTS if isinstance(record, dict) else ():
        items = record.get(key)
        inner = [one.get("message") for one in items] if _are_objects(items) else []
        if is_message_list(inner) and all(isinstance(one, dict) and "role" in one for one in inner):
            return {**record, key: inner}
    return record


def _are_objects(items: object) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(items, list) and all(isinstance(one, dict) for one in items)


def _list_key(record: dict[str, Any]) -> str | None:
    for key in _LISTS:
        items = record.get(key)
        if is_message_list(items) and all(
            any(name in items[0] for name in names) for names in (_ROLE_KEYS, _CONTENT_KEYS)
        ):
            return key
    return None


def _convert_turns(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    record = _opened(record)
    key = _list_key(record) if isinstance(record, dict) else None
    if key is None:
        raise fault_in(entry, f"the record is {excerpt(record)}: no messages under {', '.join(_LISTS)}")
    first = record[key][0]
    reader = MessageReader(
        entry,
        role_key=next(name for name in _ROLE_KEYS if name in first),
        content_key=next(name for name in _CONTENT_KEYS if name in first),
        role_of=lambda name: role_named(name, entry),
    )
    messages = with_replies(reader.read(record[key]), entry)
    if _DEEPEVAL & record.keys() and isinstance(record.get("scenario"), str):
        record = {**record, "scenario_description": record["scenario"]}
        del record["scenario"]
    return conversation_from(record, messages, reader.rated, entry, messages_key=key)


TURNS = RecordFormat("turns", _recognises_turns, _convert_turns)
"""Records whose messages stand under `turns`, `dialogue`, `conversation` and the like, as DeepEval's do."""


_ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "function_call": "assistant",
    "tool_call": "assistant",
    "observation": "tool",
    "function": "tool",
    "function_response": "tool",
    "tool_response": "tool",
    "tool": "tool",
    "system": "system",
}
_CALLS = frozenset({"function_call", "tool_call"})


def _recognises_sharegpt(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or not isinstance(record.get("conversations"), list):
        return False
    items = record["conversations"]
    return not items or (isinstance(items[0], dict) and "from" in items[0] and "value" in items[0])


def _convert_sharegpt(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or not isinstance(record.get("conversations"), list):
        raise fault_in(entry, "the record has no list under 'conversations'")
    if not record["conversations"]:
        entry.recognise(NO_MESSAGES)
        return conversation_from(record, (), (), entry, messages_key="conversations")
    rated: list[tuple[int, dict[str, Any]]] = []
    messages: list[Message] = []
    call: str | None = None
    system = record.get("system")
    if isinstance(system, str) and system:
        messages.append(Message("system", system))
        record = {key: value for key, value in record.items() if key != "system"}
    for number, item in enumerate(in_time(record["conversations"], entry), start=1):
        message, ratings = _message(item, number, entry, call)
        if ratings:
            rated.append((len(messages), ratings))
        call = message.tool_calls[0].id if message.tool_calls else call
        messages.append(message)
    unfolded, ends = unfold(without_reasoning(messages), entry)
    rated = [(ends[index], ratings) for index, ratings in rated]
    return conversation_from(record, unfolded, rated, entry, messages_key="conversations")


def _message(
    item: Any,  # noqa: ANN401  # any JSON value
    number: int,
    entry: Entry,
    call: str | None,
) -> tuple[Message, dict[str, Any]]:
    if not isinstance(item, dict):
        raise fault_in(entry, f"message {number} is {excerpt(item)}: not an object")
    if "value" not in item:
        raise fault_in(entry, f"message {number} has no 'value'", f"it has {', '.join(map(repr, item))}")
    sender = item.get("from")
    name = sender if isinstance(sender, str) else ""
    role = entry.mapping.roles.get(name) or _ROLES.get(name.lower())
    if role is None:
        message, hint = unknown_role(number, sender)
        raise fault_in(entry, message, f"in ShareGPT also {', '.join(_ROLES)}; {hint}")
    extra = {key: value for key, value in item.items() if key not in ("from", "value")}
    ratings = labels_of(extra, entry) if role == "assistant" else {}
    extra = {key: value for key, value in extra.items() if key not in ratings}
    content = content_of(item["value"], number, entry)
    if name.lower() in _CALLS:
        return Message(role, None, (_tool_call(item["value"], number),), extra=extra), ratings
    answers = call if role == "tool" else None
    return Message(role, content, tool_call_id=answers, extra=extra), ratings


def _tool_call(value: object, number: int) -> ToolCall:
    """Read a text `{"name": ..., "arguments": ...}`; any other text becomes the arguments."""
    text = value if isinstance(value, str) else ""
    try:
        call = orjson.loads(text)
    except orjson.JSONDecodeError:
        call = None
    if too_deep(call) or not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return ToolCall(f"call_{number}", "", text)
    arguments = call.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = orjson.dumps(arguments).decode("utf-8")
    return ToolCall(f"call_{number}", call["name"], arguments)


SHAREGPT = RecordFormat("sharegpt", _recognises_sharegpt, _convert_sharegpt)
"""ShareGPT records: `{"conversations": [{"from": "human", "value": "..."}]}`."""


_ITEMS_LISTS: Final = (
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
    for key in _ITEMS_LISTS if isinstance(record, dict) else ():
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

    return RecordFormat(name, recognise, _convert_items)


def _convert_items(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    record = _state(record)
    inner = _list_in(record)
    if inner is None:
        raise fault_in(entry, f"the record is {excerpt(record)}: it has no list of messages")
    key, values = inner
    if key == "events" and (others := len(record["events"]) - len(values)):
        entry.leave_out("partial, or without a message", others, what="events")
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
"""Lists of messages in a provider's own form.

LangChain's, items of the Responses API, threads of Assistants, messages of `parts` (Gemini, the AI SDK).

`payloads` restates them as OpenAI's; the fields beside them are read as those of every record.
"""


_EXCHANGES_LISTS: Final = (
    *("turns", "exchanges", "history", "conversation", "dialog", "dialogue", "messages", "chat", "rounds"),
    *("interactions", "qa_pairs", "pairs"),
)
_BY_TURNS: Final = ("data", "dialog", "dialogue", "conversation")
"""Keys of a list of texts of which the first is the user's, the next the assistant's, and so on."""
_SYSTEM: Final = ("system", "system_prompt")
_Speakers = Mapping[str, str]
"""`prompt` and `reply` -> their keys."""


def exchanged(items: object) -> list[dict[str, Any]] | None:
    """Return exchanges or pairs of texts as messages; None where the items are none."""
    if not isinstance(items, list):
        return None
    keys = _speakers(items[0], NO_MAP) if items else {}
    if keys is None or any(_speakers(item, NO_MAP) != keys for item in items):
        return None
    spoken = ([item[keys[name]] for name in ("prompt", "reply")] if keys else item for item in items)
    return [
        {"role": role, "content": text}
        for texts in spoken
        for role, text in zip(("user", "assistant"), texts, strict=True)
        if text is not None
    ]


def _speakers(item: object, mapping: FieldMap) -> _Speakers | None:
    """Return the keys of an exchange; those of a pair are none."""
    if isinstance(item, list):
        return {} if len(item) == 2 and all(one is None or isinstance(one, str) for one in item) else None
    if not isinstance(item, dict):
        return None
    named = named_columns(tuple(item), mapping)
    return {name: named[name] for name in ("prompt", "reply")} if "reply" in named else None


def _list_key_of_exchanges(record: Any, mapping: FieldMap) -> str | None:  # noqa: ANN401  # any JSON value
    for key in (mapping.messages,) if mapping.messages else _EXCHANGES_LISTS:
        items = look_up(record, key) if isinstance(record, dict) else None
        if isinstance(items, list) and items and _speakers(items[0], mapping) is not None:
            return key
    return None


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    record = _paired(record, mapping)
    key = _list_key_of_exchanges(record, mapping)
    return key is not None and not is_history(key, record, mapping)


def _paired(record: Any, mapping: FieldMap) -> Any:  # noqa: ANN401  # any JSON value
    """Return a record with a list of texts by turns, as UltraChat has it, with pairs of them."""
    if not isinstance(record, dict) or mapping != NO_MAP:
        return record
    key = next((key for key in _BY_TURNS if _are_texts(record.get(key))), None)
    if key is None:
        return record
    texts = [*record[key], None] if len(record[key]) % 2 else record[key]
    others = {name: value for name, value in record.items() if name != key}
    return others | {"pairs": [texts[n : n + 2] for n in range(0, len(texts), 2)]}


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(v, str) and v.strip() for v in value)


def _convert_exchanges(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    record = _paired(record, entry.mapping)
    key = _list_key_of_exchanges(record, entry.mapping)
    if key is None:
        raise fault_in(entry, f"the record is {excerpt(record)}: no list of prompts with their replies")
    items = look_up(record, key)
    first = _speakers(items[0], entry.mapping) or {}
    messages: list[Message] = []
    system = next((text for name in _SYSTEM if (text := text_at(record, name))), None)
    if system is not None:
        messages.append(Message("system", system))
        record = {name: value for name, value in record.items() if name not in _SYSTEM}
    rated: list[tuple[int, dict[str, Any]]] = []
    for number, item in enumerate(in_time(items, entry), start=1):
        labels = labels_of(item, entry) if first and isinstance(item, dict) else {}
        messages += _exchange(item, first, labels, number, entry)
        if labels:
            rated.append((len(messages) - 1, labels))
    if first:
        entry.recognise(f"conversations have exchanges: {first['prompt']!r} with {first['reply']!r}")
    else:
        entry.assume("conversations have pairs of texts: the first of each read as the user's")
    return conversation_from(record, tuple(messages), rated, entry, messages_key=key.split(".")[0])


def _exchange(
    item: Any,  # noqa: ANN401  # any JSON value
    keys: _Speakers,
    labels: Mapping[str, Any],
    number: int,
    entry: Entry,
) -> list[Message]:
    extra: dict[str, Any] = {}
    if keys and isinstance(item, dict):
        values = [look_up(item, keys[name]) for name in ("prompt", "reply")]
        extra = {k: v for k, v in item.items() if k not in (*keys.values(), *labels) and v is not None}
    elif not keys and isinstance(item, list) and len(item) == 2:
        values = item
    else:
        raise fault_in(entry, f"exchange {number} is {excerpt(item)}: not like the first")
    messages: list[Message] = []
    roles: tuple[Role, ...] = ("user", "assistant")
    for role, value in zip(roles, values, strict=True):
        if isinstance(value, str):
            messages.append(Message(role, value, extra=extra if role == "assistant" else {}))
        elif value is not None and value is not MISSING:
            raise fault_in(entry, f"exchange {number}: what the {role} says is {excerpt(value)}: no text")
    if not messages:
        raise fault_in(entry, f"exchange {number} has neither prompt nor reply")
    return messages


EXCHANGES = RecordFormat("exchanges", _recognises, _convert_exchanges)
"""Records that list prompts with their replies: `{"turns": [{"user": ..., "assistant": ...}]}`, or pairs."""
