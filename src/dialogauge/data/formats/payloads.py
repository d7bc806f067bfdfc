"""What a request asks and what its response says, in any provider's form, as messages in OpenAI's form.

A log keeps payloads as its client had them: a list of messages, a request or a response of an interface, the
state of a graph, a plain text, each of them as JSON or as a text of JSON. Blocks within messages stay as they
are: `blocks` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from dialogauge.core import ROLES
from dialogauge.data.formats.blocks import is_block
from dialogauge.data.formats.fields import list_at, object_at
from dialogauge.data.json_values import too_deep

Item = dict[str, Any]

_ROLES: Final[dict[str, str]] = {role: role for role in ROLES} | {
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "function": "tool",
    "ipython": "tool",
}
_COHERE: Final = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
"""The roles in a `chat_history` of Cohere's first interface, whose messages have a `message`."""
_OF_CLASSES: Final = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
}
_CALLS: Final = frozenset({"function_call", "custom_tool_call", "mcp_call", "web_search_call"}) | {
    *("file_search_call", "code_interpreter_call", "computer_call", "image_generation_call"),
    *("local_shell_call", "reasoning", "function.call", "tool.execution"),
}
"""Items of the Responses API that are the assistant's."""
_OUTPUTS: Final = frozenset({"function_call_output", "custom_tool_call_output", "computer_call_output"}) | {
    *("local_shell_call_output", "function.result"),
}
_SILENT: Final = frozenset({"mcp_list_tools", "item_reference", "compaction"})
_ASKING: Final = (
    *("question", "query", "user_input", "user_message", "user_query", "human_input", "message"),
    *("text", "content", "prompt", "input", "user"),
)
_SAYING: Final = (
    *("answer", "response", "reply", "output", "output_text", "text", "result", "content"),
    *("completion", "final_output", "generated_text", "message", "assistant"),
)
OTHER_CHOICES: Final = "choices beside the first of their response (n > 1)"
_CHOICES: Final = ("choices", "candidates", "generations")
_LANGCHAIN: Final = frozenset({"human", "ai", "system", "tool", "AIMessageChunk", "HumanMessageChunk"})
"""The types of LangChain's messages."""


def asked(value: object) -> list[Item] | None:
    """Return the messages that a request consists of; None where none can be read in it."""
    return _asked(parsed(value))


def replied(value: object) -> list[Item] | None:
    """Return the messages that a response consists of; None where none can be read in it.

    A response that repeats the request, as the state of a graph does, is returned whole. The pieces of one
    that was streamed are put together.
    """
    whole = assembled(value)
    return [whole] if whole is not None else _replied(parsed(value))


def parsed(value: object) -> object:
    """Return what a text of JSON holds, where that is a list or an object; else the value."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        inner = orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
    known = not too_deep(inner) and (_payload(inner, reply=True) or _payload(inner, reply=False))
    return inner if known else value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _asked(value: object) -> list[Item] | None:
    if isinstance(value, str):
        return [{"role": "user", "content": value}] if value.strip() else None
    if (items := _payload(value, reply=False)) is not None:
        return items
    if isinstance(value, dict):
        for key in ("kwargs", "args", "input", "inputs", "body", "request"):
            if isinstance(value.get(key), dict | list) and (items := _asked(value[key])) is not None:
                return _history(value) + items
        if text := next(filter(None, (_text(value.get(key)) for key in _ASKING)), None):
            return system_items(value) + _history(value) + [{"role": "user", "content": text}]
    if isinstance(value, list) and len(value) == 1:
        return _asked(value[0])
    return None


def _replied(value: object) -> list[Item] | None:
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}]
    if (items := _payload(value, reply=True)) is not None:
        return items
    if isinstance(value, dict):
        for key in _SAYING:
            if (
                isinstance(value.get(key), dict | list)
                and (items := _payload(value[key], reply=True)) is not None
            ):
                return items
        if (text := next((value[k] for k in _SAYING if isinstance(value.get(k), str)), None)) is not None:
            return [{"role": "assistant", "content": text}]
    if isinstance(value, list) and (len(value) == 1 or _is_choices(value)):
        return _replied(value[0])
    return None


def _is_choices(values: list[Any]) -> bool:
    """Say whether a list holds one reply beside the other: choices, or texts."""
    return bool(values) and all(
        isinstance(one, str) or (isinstance(one, dict) and is_message(one.get("message"))) for one in values
    )


def _history(value: Mapping[str, Any]) -> list[Item]:
    past = value.get("chat_history", value.get("history"))
    return messages_in(past) or [] if isinstance(past, list) and past else []


def _payload(value: object, *, reply: bool) -> list[Item] | None:
    """Return the messages of a payload that is told by its keys alone."""
    if isinstance(value, list):
        return _listed(value, reply=reply) if value else None
    if not isinstance(value, dict):
        return None
    if is_message(value):
        return messages_in([value])
    items = _response(value) if reply else None
    return items if items is not None else _request(value)


def _listed(values: list[Any], *, reply: bool) -> list[Item] | None:
    if all(isinstance(one, list) for one in values) and not _is_pairs(values):
        return _payload(values[0], reply=reply) if len(values) == 1 else None
    if all(map(is_block, values)) and not any(map(is_message, values)):
        return [{"role": "assistant" if reply else "user", "content": values}]
    return messages_in(values)


def _request(value: Mapping[str, Any]) -> list[Item] | None:
    for key in ("messages", "input_messages", "contents", "input", "prompt"):
        inner = value.get(key)
        if isinstance(inner, list) and (items := _payload(inner, reply=False)) is not None:
            return system_items(value) + items
    if isinstance(value.get("input"), str) and ("model" in value or "instructions" in value):
        return [*system_items(value), {"role": "user", "content": value["input"]}]
    return None


def others_in(value: object) -> int:
    """Return how many replies a response holds beside the first, which is the one that is read."""
    value = (
        parsed(value) if isinstance(value, str) and any(f'"{key}"' in value for key in _CHOICES) else value
    )
    if not isinstance(value, dict):
        return len(value) - 1 if isinstance(value, list) and _is_choices(value) else 0
    inner = next((value[key] for key in _CHOICES if isinstance(value.get(key), list)), None)
    if inner is None:
        return next((others_in(value[key]) for key in _SAYING if isinstance(value.get(key), dict)), 0)
    others = 0
    while isinstance(inner, list) and inner:
        others, inner = others + len(inner) - 1, inner[0]
    return others


def _response(value: Mapping[str, Any]) -> list[Item] | None:
    if "generation_id" in value and isinstance(value.get("text"), str):
        calls = {"tool_calls": value["tool_calls"]} if value.get("tool_calls") else {}
        return [{"role": "assistant", "content": value["text"], **calls}]
    for key in _CHOICES:
        first = value.get(key)
        while isinstance(first, list) and first:
            first = first[0]
        if isinstance(first, dict) and (items := _choice(first)) is not None:
            return items
    inner = value.get("output")
    if isinstance(inner, dict) and is_message(inner.get("message")):
        return messages_in([inner["message"]])
    return _payload(inner, reply=True) if isinstance(inner, list | dict) else None


def _choice(value: Mapping[str, Any]) -> list[Item] | None:
    """Return the message of the first choice, generation or candidate of a response."""
    for key in ("message", "content", "delta"):
        inner = value.get(key)
        if isinstance(inner, dict):
            return messages_in(
                [inner if "kwargs" in inner or "data" in inner else {"role": "assistant", **inner}]
            )
    text = value.get("text")
    return [{"role": "assistant", "content": text}] if isinstance(text, str) else None


_PROMPTS: Final = (
    *("system", "instructions", "systemInstruction", "system_instruction", "system_prompt", "preamble"),
)


def system_items(value: Mapping[str, Any]) -> list[Item]:
    """Return the system prompt that a request holds beside its messages, as a message; else nothing."""
    for key in _PROMPTS:
        inner = value.get(key)
        inner = inner.get("parts") if isinstance(inner, dict) else inner
        if isinstance(inner, str | list) and inner:
            return [{"role": "system", "content": inner}]
    return []


def is_message(value: object) -> bool:
    """Say whether a JSON value is one message, or one item of the Responses API."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if isinstance(kind, str):
        if kind in _CALLS or kind in _OUTPUTS or kind in _SILENT:
            return True
        if kind in _LANGCHAIN and ("content" in value or isinstance(value.get("data"), dict)):
            return True
    role = value.get("role")
    if isinstance(role, str) and role in _ROLES:
        return any(key in value for key in ("content", "parts", "tool_calls", "function_call", "refusal"))
    return _class_of(value) is not None or is_of_agents(value) or _is_of_cohere(value)


def _is_of_cohere(value: Mapping[str, Any]) -> bool:
    role = value.get("role")
    return (
        isinstance(role, str)
        and role in _COHERE
        and (isinstance(value.get("message"), str) or isinstance(value.get("tool_results"), list))
    )


def _of_cohere(value: Item) -> Iterator[Item]:
    """Yield a message of Cohere's first interface: one of a tool for each of its results."""
    results = value.get("tool_results")
    for result in results if isinstance(results, list) else ():
        call = result.get("call") if isinstance(result, dict) else None
        name = call.get("name") if isinstance(call, dict) else None
        yield {"role": "tool", "name": name, "content": result.get("outputs") if name else result}
    if isinstance(text := value.get("message"), str) and (text or not results):
        calls = {"tool_calls": value["tool_calls"]} if value.get("tool_calls") else {}
        yield {"role": _COHERE[value["role"]], "content": text, **calls}


def is_of_cohere(value: Mapping[str, Any]) -> bool:
    """Say whether it is a request of Cohere's first interface: the last message, and those before it."""
    beside = ("chat_history", "preamble", "model", "connectors", "conversation_id")
    return isinstance(value.get("message"), str) and any(key in value for key in beside)


def _class_of(value: Mapping[str, Any]) -> str | None:
    """Return the kind of a message that LangChain wrote as an object of one of its classes."""
    path, inner = value.get("id"), value.get("kwargs")
    if not isinstance(path, list) or not path or not isinstance(path[-1], str) or not isinstance(inner, dict):
        return None
    return _OF_CLASSES.get(path[-1].removesuffix("Chunk"))


def _is_pairs(value: Sequence[object]) -> bool:
    return all(
        isinstance(one, list) and len(one) == 2 and isinstance(one[0], str) and one[0] in _ROLES
        for one in value
    )


def messages_in(values: Sequence[object]) -> list[Item] | None:
    """Return messages of any provider in OpenAI's form; None where one of them is none."""
    if _is_pairs(values):
        return [{"role": _ROLES[one[0]], "content": one[1]} for one in values]  # type: ignore[index]  # checked
    if not all(map(is_message, values)):
        return None
    known = (value for value in values if isinstance(value, dict))
    return list(_joined(item for value in known for item in _restated(value)))


def _restated(value: Item) -> Iterator[Item]:
    """Yield a message in OpenAI's form; an item of the Responses API as a message of one block."""
    if is_of_agents(value):
        yield from items_of(value)
    elif _is_of_cohere(value):
        yield from _of_cohere(value)
    else:
        yield _one(value)


def _one(value: Item) -> Item:
    """Return one message in OpenAI's form; an item of the Responses API as a message of one block."""
    kind = value.get("type")
    if isinstance(kind, str) and kind in _CALLS | _OUTPUTS | _SILENT:
        blocks = [] if kind in _SILENT else [value]
        return {"role": "tool" if kind in _OUTPUTS else "assistant", "content": blocks, "type": kind}
    if kind == "message" and isinstance(value.get("content"), list) and value.get("role") == "assistant":
        return {"role": "assistant", "content": value["content"], "type": kind}
    if (name := _class_of(value)) is not None:
        value = {"type": name, **value["kwargs"]}
    elif isinstance(value.get("data"), dict):
        value = {"type": kind, **value["data"]}
    if "role" not in value or (isinstance(value["role"], str) and value.get("type") in ("ai", "human")):
        return _of_langchain(value)
    item = {key: inner for key, inner in value.items() if inner is not None and key not in ("parts", "type")}
    role = value["role"]
    item["role"] = _ROLES.get(role, role) if isinstance(role, str) else role
    item["content"] = value["parts"] if "parts" in value else value.get("content")
    return item


def _of_langchain(value: Item) -> Item:
    more = object_at(value, "additional_kwargs")
    item = {
        key: inner
        for key, inner in value.items()
        if inner not in (None, [], {}) and key not in ("type", "additional_kwargs", "example")
    }
    if "tool_calls" not in item and "function_call" not in item:
        item |= {key: more[key] for key in ("tool_calls", "function_call") if more.get(key)}
    others = {key: inner for key, inner in more.items() if key not in ("tool_calls", "function_call")}
    name = value.get("type")
    item |= {
        "role": _ROLES.get(name, name) if isinstance(name, str) else name,
        "content": value.get("content"),
    }
    return item | ({"additional_kwargs": others} if others else {})


def _joined(items: Iterable[Item]) -> Iterator[Item]:
    """Put together the items of the Responses API that follow on each other in one message."""
    blocks: list[object] = []
    for item in items:
        own = item.get("type") in _CALLS | {"message"} and isinstance(item["content"], list)
        if item.get("type") in _SILENT:
            continue
        if own and item["role"] == "assistant":
            blocks += item["content"]
            continue
        if blocks:
            yield {"role": "assistant", "content": blocks}
            blocks = []
        yield {key: inner for key, inner in item.items() if key != "type"}
    if blocks:
        yield {"role": "assistant", "content": blocks}


_KINDS: Final = ("request", "response")
_SPOKEN: Final = (
    "TextMessage",
    "MultiModalMessage",
    "ToolCallSummaryMessage",
    "StopMessage",
    "HandoffMessage",
)
_AGENTS_CALLS: Final = "ToolCallRequestEvent"
_RESULTS: Final = "ToolCallExecutionEvent"
_THOUGHT: Final = "ThoughtEvent"
_AGENTS_SILENT: Final = ("ModelClientStreamingChunkEvent", "UserInputRequestedEvent", "MemoryQueryEvent")
AUTOGEN: Final = frozenset({*_SPOKEN, _AGENTS_CALLS, _RESULTS, _THOUGHT, *_AGENTS_SILENT})
"""The types of AutoGen's messages and events."""


def is_of_agents(value: Mapping[str, Any]) -> bool:
    """Say whether a JSON object is a message of Pydantic AI, or a message or event of AutoGen."""
    kind = value.get("type")
    autogen = isinstance(kind, str) and kind in AUTOGEN and isinstance(value.get("source"), str)
    return autogen or _is_of_pydantic(value)


def _is_of_pydantic(value: Mapping[str, Any]) -> bool:
    if value.get("kind") not in _KINDS or not isinstance(value.get("parts"), list):
        return False
    return all(isinstance(part, dict) and isinstance(part.get("part_kind"), str) for part in value["parts"])


def items_of(value: Item) -> Iterator[Item]:
    """Yield what such a message says, in OpenAI's form with blocks."""
    yield from _of_pydantic(value) if _is_of_pydantic(value) else _of_autogen(value)


def _of_pydantic(value: Item) -> Iterator[Item]:
    blocks: list[Item] = []
    for part in value["parts"]:
        kind, content = part["part_kind"], part.get("content")
        if kind == "system-prompt":
            yield {"role": "system", "content": content}
        elif kind == "user-prompt":
            yield {"role": "user", "content": _typed(content)}
        elif kind.endswith("tool-return") or (kind == "retry-prompt" and part.get("tool_name")):
            yield {
                "role": "tool",
                "content": content,
                "tool_call_id": part.get("tool_call_id"),
                "name": part.get("tool_name"),
            }
        elif kind == "retry-prompt":
            text = content if isinstance(content, str) else orjson.dumps(content).decode()
            yield {"role": "user", "content": text}
        else:
            blocks.append(_block(kind, part))
    if value["kind"] == "response":
        yield {"role": "assistant", "content": blocks}


def _typed(content: object) -> object:
    if not isinstance(content, list):
        return content
    return [
        {"type": one["kind"], **one} if isinstance(one, dict) and "kind" in one else one for one in content
    ]


def _block(kind: str, part: Item) -> Item:
    if kind == "text":
        return {"type": "text", "text": part.get("content")}
    if kind == "thinking":
        return {"type": "thinking", "thinking": part.get("content")}
    if kind.endswith("tool-call"):
        return {
            "type": "tool_call",
            "name": part.get("tool_name"),
            "arguments": part.get("args") or {},
            "id": part.get("tool_call_id"),
        }
    return {**part, "type": kind}


def _of_autogen(value: Item) -> Iterator[Item]:
    kind, content, source = value["type"], value.get("content"), value["source"]
    if kind == _AGENTS_CALLS and isinstance(content, list):
        yield {"role": "assistant", "content": [_as("tool_call", call) for call in content]}
    elif kind == _RESULTS and isinstance(content, list):
        yield {"role": "tool", "content": [_as("tool_result", result) for result in content]}
    elif kind == _THOUGHT:
        yield {"role": "assistant", "content": [{"type": "thinking", "thinking": content}]}
    elif kind not in _AGENTS_SILENT:
        role = "user" if source.lower().startswith("user") else "assistant"
        yield {"role": role, "content": content, "source": source}


def _as(kind: str, block: object) -> object:
    return {**block, "type": kind} if isinstance(block, dict) else block


_OF_BEDROCK: Final = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)
_OF_ANTHROPIC: Final = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"}
) | {"message_stop", "ping"}
_MARK: Final = "data:"


def assembled(value: object) -> Item | None:
    """Return the message that the pieces of a stream make, in OpenAI's form; None for anything else.

    Pieces are listed, or stand in lines as they were sent: `data: {...}`.
    """
    pieces = _sent(value) if isinstance(value, str) else value
    if not isinstance(pieces, list) or not pieces or not all(map(_is_piece, pieces)):
        return None
    reply = _StreamedReply()
    for piece in pieces:
        for number, text, call in _added(piece):
            reply.add(number, text, call)
    calls = [call for call in reply.calls.values() if call["name"]]
    message: Item = {"role": "assistant", "content": "".join(reply.texts) or None}
    return message | ({"tool_calls": calls} if calls else {})


def _sent(text: str) -> list[Any] | None:
    if not text.lstrip().startswith((_MARK, "event:")):
        return None
    lines = (line.removeprefix(_MARK).strip() for line in text.splitlines() if line.startswith(_MARK))
    try:
        return [orjson.loads(line) for line in lines if line and line != "[DONE]"]
    except orjson.JSONDecodeError:
        return None


@dataclass(slots=True)
class _StreamedReply:
    texts: list[str] = field(default_factory=list)
    calls: dict[object, Item] = field(default_factory=dict)

    def add(self, number: object, text: object, call: Mapping[str, Any]) -> None:
        """Add a piece: a text, or what is new of a call with its number."""
        if isinstance(text, str):
            self.texts.append(text)
        if call:
            whole = self.calls.setdefault(number, {"id": "", "name": "", "arguments": ""})
            for key, value in call.items():
                if key in whole and isinstance(value, str):
                    whole[key] += value


def _is_piece(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    kind, choices = value.get("type"), value.get("choices")
    if isinstance(choices, list):
        return all(isinstance(one, dict) and "delta" in one for one in choices)
    return kind in _OF_ANTHROPIC if isinstance(kind, str) else bool(value) and value.keys() <= _OF_BEDROCK


def _added(value: Mapping[str, Any]) -> Iterator[tuple[object, object, Item]]:
    """Yield number, text and call of what a chunk or an event adds."""
    for choice in value.get("choices") or ():
        own = {} if choice.get("index") else object_at(choice, "delta")
        yield None, own.get("content"), {}
        for call in list_at(own, "tool_calls"):
            if isinstance(call, dict):
                named = object_at(call, "function")
                yield call.get("index"), None, {"id": call.get("id"), **named}
    number, delta, begun = _of_event(value)
    yield None, delta.get("text"), {}
    if begun.get("name"):
        yield number, None, {"id": begun.get("id", begun.get("toolUseId")), "name": begun["name"]}
    arguments = delta.get("partial_json", object_at(delta, "toolUse").get("input"))
    if isinstance(arguments, str):
        yield number, None, {"arguments": arguments}


def _of_event(value: Mapping[str, Any]) -> tuple[object, Mapping[str, Any], Mapping[str, Any]]:
    """Return the number of a block, what an event adds to it, and the call that begins with it."""
    added, begun = object_at(value, "contentBlockDelta"), object_at(value, "contentBlockStart")
    if added or begun:
        number = added.get("contentBlockIndex", begun.get("contentBlockIndex"))
        return number, object_at(added, "delta"), object_at(object_at(begun, "start"), "toolUse")
    block = object_at(value, "content_block")
    return value.get("index"), object_at(value, "delta"), block if block.get("type") == "tool_use" else {}
