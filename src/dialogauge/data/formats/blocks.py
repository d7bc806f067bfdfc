"""Content blocks of any provider, as messages: texts, media, tool calls and results, and what was thought.

One mechanism for the parts of OpenAI's messages and items, the blocks of Anthropic and Bedrock, the parts of
Gemini, the AI SDK, LangChain and OpenTelemetry: each block is told by its type, or by the key that holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson

from dialogauge.core import Message, Role, ToolCall
from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.notes import excerpt
from dialogauge.data.reasoning import REASONING

Block = Mapping[str, Any]
Kind = Literal["text", "media", "call", "result", "thought", "mark"]

_NAMES: Final[dict[Kind, str]] = {
    "text": "text input_text output_text summary_text text-plain refusal",
    "call": "tool_use tool_call tool-call server_tool_use mcp_tool_use function_call custom_tool_call "
    "mcp_call server_tool_call invalid_tool_call dynamic-tool function.call tool.execution",
    "result": "tool_result tool-result tool_call_response function_call_output custom_tool_call_output "
    "computer_call_output local_shell_call_output server_tool_result server_tool_call_response "
    "function.result",
    "thought": "thinking redacted_thinking reasoning reasoning_content redacted-reasoning thought",
    "media": "image image_url image_file input_image image-url audio input_audio output_audio audio_url "
    "video video_url file input_file document search_result container_upload blob uri media "
    "computer_screenshot source-url source-document",
    "mark": "cachePoint step-start",
}
_OF_PROVIDER: Final = (
    "web_search_call file_search_call code_interpreter_call computer_call local_shell_call "
    "image_generation_call executableCode executable_code"
)
_HOSTED: Final = frozenset(_OF_PROVIDER.split())
"""Calls of tools that the provider runs: their type is their name."""
_KINDS: Final[dict[str, Kind]] = {
    **{name: kind for kind, names in _NAMES.items() for name in names.split()},
    **dict.fromkeys(_HOSTED, "call"),
}
"""What a block is, by its type; a mark says nothing."""
_HELD_NAMES: Final[dict[Kind, str]] = {
    "text": "guardContent",
    "call": "toolUse functionCall function_call executableCode executable_code tool_call",
    "result": "toolResult functionResponse function_response codeExecutionResult code_execution_result "
    "tool_call_result",
    "thought": "reasoningContent reasoning",
    "media": "image document video inlineData inline_data fileData file_data",
    "mark": "cachePoint",
}
_HELD: Final = {name: kind for kind, names in _HELD_NAMES.items() for name in names.split()}
"""What a block without a type is, by the key that holds it, as those of Bedrock and Gemini."""
_IDS: Final = ("tool_use_id", "toolUseId", "call_id", "tool_call_id", "toolCallId", "id")
_ARGUMENTS: Final = ("arguments", "args", "input", "action", "queries", "code")
_RESULTS: Final = ("content", "output", "result", "response", "outputs", "results", "errorText")
_ANSWERED: Final = frozenset({"mcp_call", "code_interpreter_call", "file_search_call", "dynamic-tool"})
"""Calls that may hold their result."""


def _told(block: Block) -> tuple[Kind | None, str, Block]:
    """Return what a block is, its name, and what holds its content."""
    name = block.get("type")
    if isinstance(name, str) and (kind := _KINDS.get(name) or _kind_like(name, block)) is not None:
        inner = block.get("toolInvocation") if name == "tool-invocation" else None
        return kind, name, inner if isinstance(inner, dict) else block
    if block.get("thought") is True:
        return "thought", "thought", block
    for key, inner in block.items() if not isinstance(name, str) else ():
        if key in _HELD and isinstance(inner, dict):
            return _HELD[key], key, inner
    return ("text" if _text(block) is not None else None), "text", block


def _kind_like(name: str, block: Block) -> Kind | None:
    """Return what a block is whose type is made of the name of a tool, or of its data."""
    if name.endswith("_tool_result"):
        return "result"
    if name.startswith("tool-") and ("toolCallId" in block or "toolInvocation" in block):
        return "call"
    return "media" if name.startswith("data-") else None


def _text(block: Block) -> str | None:
    for key in ("text", "content", "refusal"):
        value = block.get(key)
        if key == "text" and isinstance(value, dict):
            value = value.get("value", value.get("text"))
        if isinstance(value, str):
            return value
    return None


def parts_of(blocks: Sequence[object], number: int, entry: Entry) -> tuple[dict[str, Any], ...]:
    """Return texts and media as content parts; raises `RecordFault` for any other block."""
    message = "messages have content parts: kept, and read as their texts joined by newlines"
    entry.recognise(message)
    return tuple(_part(block, number, entry) for block in blocks)


def _part(block: object, number: int, entry: Entry) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if not isinstance(block, dict):
        raise fault_in(entry, f"message {number}: a content part is {excerpt(block)}: not an object")
    kind, name, inner = _told(block)
    if kind == "text" and (text := _text(inner)) is not None:
        if isinstance(block.get("type"), str) and block["type"] not in _KINDS:
            entry.assume(f"messages have parts of the unknown type {block['type']!r}: read as their text")
        if isinstance(block.get("text"), str):
            return block
        others = {key: value for key, value in block.items() if key not in ("text", "content", "refusal")}
        return {**others, "type": "text", "text": text}
    if kind == "media":
        entry.recognise("messages have images, sound or files: kept, a judge reads their kind alone")
        shown = {key: value for key, value in block.items() if key != "text"}
        return {"type": name, **shown}
    keys = ", ".join(map(repr, block)) or "nothing"
    what = f"of the type {excerpt(block['type'])}" if "type" in block else "without a type"
    raise fault_in(
        entry,
        f"message {number}: a content part {what} cannot be read: it has {keys}",
        "known are texts, images, sound, files, tool calls and results, and reasoning, as the providers' "
        "interfaces name them",
    )


@dataclass(slots=True)
class _Draft:
    """Messages that are put together of the blocks of one."""

    role: Role
    number: int
    entry: Entry
    parts: list[dict[str, Any]] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    thoughts: list[object] = field(default_factory=list)
    out: list[Message] = field(default_factory=list)

    def add(self, block: object) -> None:
        kind, name, inner = _told(block) if isinstance(block, dict) else (None, "", {})
        if kind == "call":
            self._add_call(inner, name)
        elif kind == "result":
            self._add_result(inner)
        elif kind == "thought":
            self.thoughts.append(block)
        elif kind != "mark":
            if self.calls:
                self.close()
            self.parts += parts_of([block], self.number, self.entry)

    def _add_call(self, block: Block, name: str) -> None:
        if self.role != "assistant":
            raise fault_in(self.entry, f"message {self.number}: the {self.role} calls a tool")
        self.calls.append(_call(block, name, self.number, self.entry))
        holds = name in _ANSWERED or (name.startswith("tool-") and name != "tool-call")
        if holds and any(block.get(key) is not None for key in _RESULTS):
            self._add_result(block)

    def _add_result(self, block: Block) -> None:
        if self.role == "user":
            self.entry.recognise("results of tools in messages of the user were read as messages of the tool")
        self.close()
        self.out.append(_result(block, self.number, self.entry))

    def close(self) -> None:
        """End the message, if there is anything in it."""
        if self.parts or self.calls or self.thoughts:
            content = tuple(self.parts) if self.parts or not self.calls else None
            extra = {REASONING: self.thoughts} if self.thoughts else {}
            self.out.append(Message(self.role, content, tuple(self.calls), extra=extra))
            self.parts, self.calls, self.thoughts = [], [], []


def messages_of(role: Role, blocks: Sequence[object], number: int, entry: Entry) -> list[Message]:
    """Return the blocks of message `number` as messages in their order, at least one.

    Texts, media and the calls after them stay together in a message of the role; each result of a tool is a
    message of its own, wherever it stands. Raises `RecordFault` for a block that cannot be read, and for a
    call by anybody but the assistant.
    """
    draft = _Draft(role, number, entry)
    for block in blocks:
        draft.add(block)
    draft.close()
    return draft.out or [Message(role, ())]


def _call(block: Block, name: str, number: int, entry: Entry) -> ToolCall:
    function = _name(block)
    if function is None and (name in _HOSTED or (name.startswith("tool-") and name != "tool-call")):
        function = name.removeprefix("tool-").removesuffix("_call")
    if not isinstance(function, str) or not function:
        raise fault_in(entry, f"message {number}: a tool call names no function")
    value: object = next((block[key] for key in _ARGUMENTS if key in block), {})
    return ToolCall(_id(block), function, arguments_of(value, entry))


def _name(block: Block) -> object:
    return next((block[key] for key in ("name", "toolName", "tool_name") if key in block), None)


def arguments_of(value: object, entry: Entry) -> str:
    """Return the arguments of a tool call as text."""
    if isinstance(value, str):
        return value
    entry.recognise("tool calls have arguments that are not text: written as JSON")
    return orjson.dumps(value).decode("utf-8")


def _id(block: Block) -> str:
    value = next((block[key] for key in _IDS if block.get(key) is not None), "")
    return value if isinstance(value, str) else str(value)


def _result(block: Block, number: int, entry: Entry) -> Message:
    origin = block.get("origin")
    block = {**origin, **block} if isinstance(origin, dict) else block
    name = _name(block)
    value = next((block[key] for key in _RESULTS if block.get(key) is not None), None)
    failed = any(block.get(key) is True for key in ("is_error", "isError", "error"))
    failed = failed or block.get("status") == "error" or block.get("state") == "output-error"
    return Message(
        "tool",
        result_of(value, number, entry),
        tool_call_id=_id(block) or None,
        name=name if isinstance(name, str) else None,
        extra={"is_error": True} if failed else {},
    )


def result_of(value: object, number: int, entry: Entry) -> str | tuple[dict[str, Any], ...]:
    """Return what a tool returned as content: text, parts where all are texts and media, else JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, dict) and value.get("type") in ("text", "json", "error-text", "error-json"):
        return result_of(value.get("value", value.get("text")), number, entry)
    if isinstance(value, list) and value and all(map(_is_shown, value)):
        return parts_of(value, number, entry)
    entry.recognise("results of tools were no text: written as JSON")
    return orjson.dumps(value).decode("utf-8")


def is_block(value: object) -> bool:
    """Say whether a JSON value is a block with a type that is known."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] in _KINDS


def is_result(block: object) -> bool:
    """Say whether a block is what a tool returned."""
    return isinstance(block, dict) and _told(block)[0] == "result"


def _is_shown(block: object) -> bool:
    return isinstance(block, str) or (isinstance(block, dict) and _told(block)[0] in ("text", "media"))
