"""OpenAI chat records: `{"messages": [{"role", "content", ...}], ...}`, or a bare list of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from dialogauge.core import ROLES, Conversation, Message, Role, ToolCall
from dialogauge.data.field_map import NO_MAP, FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.blocks import arguments_of, is_result, messages_of, parts_of, result_of
from dialogauge.data.formats.fields import (
    INTERNAL,
    MESSAGE_KEYS,
    are_of_several,
    conversation_from,
    is_internal,
    labels_of,
)
from dialogauge.data.formats.order import in_time
from dialogauge.data.formats.react import unfold
from dialogauge.data.formats.roles import note_shared, role_named
from dialogauge.data.json_values import is_message_list
from dialogauge.data.notes import excerpt
from dialogauge.data.paths import MISSING, look_up, word_of
from dialogauge.data.reasoning import without_reasoning

_ROLES = frozenset(ROLES)
_KEYS = frozenset({"tool_calls", "tool_call_id", "name", "function_call"})
_USED: Final = ("tools_called", "toolsCalled")
_INPUTS: Final = ("input_parameters", "inputParameters", "input")
_SPEAKS_WITHOUT = ("tool_calls", "function_call", "refusal", "audio")

NO_MESSAGES: Final = "conversations have no messages: counted as absent, not judged"
"""What is said of a record with an empty list."""
_OF_OTHERS: Final = ("message", "text")
"""Keys under which other formats have the content of a message."""
_WITHIN: Final = ("chat", "conversation")
"""Keys of a record under which its messages may stand as `messages`."""
_BARE: Final = 2
"""Keys of a message with a role and a content alone."""

Rated = list[tuple[int, dict[str, Any]]]
"""Index of a message, and its keys with ratings."""


class MessageReader:
    """Reads the messages of one record, unless `ordered` in order of their times, if they have any.

    A field map may name the keys of role and content, and of the time.
    After `read`, `rated` has the ratings on messages: the `label_keys` of those by the assistant.
    """

    def __init__(
        self,
        entry: Entry,
        *,
        role_key: str = "role",
        content_key: str = "content",
        role_of: Callable[[str], Role | None] | None = None,
        label_keys: frozenset[str] = MESSAGE_KEYS,
        ordered: bool = False,
    ) -> None:
        mapping = entry.mapping
        self.entry = entry
        self.role_key = mapping.role or role_key
        self.content_key = mapping.content or content_key
        self.role_of = role_of or mapping.role_of
        self.label_keys = label_keys
        self.rated: Rated = []
        self._mapped = bool(mapping.roles) or bool(mapping.ratings) or self.role_key != "role"
        self._plain = not self._mapped and self.content_key == "content"
        self._ordered = ordered
        self._last_call: str | None = None
        self._names: dict[Role, set[str]] = {}

    def read(self, raw: object) -> tuple[Message, ...]:
        """Return the messages of a list; raises `RecordFault` for anything else."""
        if not isinstance(raw, list):
            hint = "write the list as JSON: is it cut off?" if isinstance(raw, str) else None
            raise fault_in(self.entry, f"the messages are {excerpt(raw)}: not a list", hint)
        if not raw:
            raise fault_in(self.entry, "the conversation has no messages")
        timed = isinstance(raw[0], dict) and len(raw[0]) > _BARE
        if len(raw) > 1 and not self._ordered and (timed or self.entry.mapping.order_by is not None):
            raw = list(in_time(raw, self.entry))
        if not (listed := self._messages(raw)):
            raise fault_in(self.entry, "nobody says anything in it")
        spoken = without_reasoning(listed)
        if self._names:
            self._note_names(raw)
        messages, ends = unfold(spoken, self.entry)
        self.rated = [(ends[index], rated) for index, rated in self.rated]
        return messages

    def read_or_absent(self, raw: object) -> tuple[Message, ...]:
        """Return the messages of a list, of an empty one none; raises `RecordFault` for anything else."""
        if raw != []:
            return self.read(raw)
        self.entry.recognise(NO_MESSAGES)
        return ()

    def _messages(self, raw: list[Any]) -> list[Message]:
        out: list[Message] = []
        if not self._plain:
            for number, item in enumerate(raw, start=1):
                self._add(item, number, out)
            return out
        for number, item in enumerate(raw, start=1):
            # Nearly every message has just these two keys; the fast path reads them.
            if type(item) is dict and len(item) == 2:
                content = item.get("content")
                role = item.get("role")
                if type(content) is str and type(role) is str and role in _ROLES:
                    out.append(Message(role, content))
                    continue
            self._add(item, number, out)
        return out

    def _add(self, item: object, number: int, out: list[Message]) -> None:
        """Add what message `number` says: one message, and more where its blocks hold results of tools."""
        if not isinstance(item, dict):
            raise fault_in(self.entry, f"message {number} is {excerpt(item)}: not an object")
        if self.entry.mapping.role is None and is_internal(item):
            self.entry.leave_out(INTERNAL)
            return
        role = self._role(item, number)
        out += used_tools(item, number, self.entry)
        calls = self._calls(item, number)
        answers = item.get("tool_call_id")
        if item.get("role") == "function" and role == "tool" and answers is None:
            answers = self._last_call
            self.entry.recognise("messages of the old role 'function' were read as tool results")
        content = self._content(item, number)
        if isinstance(content, list) and (role != "tool" or any(map(is_result, content))):
            spoken = messages_of(role, content, number, self.entry)
        elif role == "tool" and content is not None:
            spoken = [Message(role, result_of(content, number, self.entry))]
        else:
            spoken = [Message(role, content_of(content or self._shown(item, content), number, self.entry))]
        own = max((n for n, message in enumerate(spoken) if message.role == role), default=0)
        first, name = spoken[own], item.get("name")
        spoken[own] = Message(
            first.role,
            first.content,
            first.tool_calls + tuple(c for c in calls if c.id not in {one.id for one in first.tool_calls}),
            answers if isinstance(answers, str) else first.tool_call_id,
            name if isinstance(name, str) else first.name,
            {**self._extra(item, len(out) + own, role), **first.extra},
        )
        out += spoken

    def _role(self, item: dict[str, Any], number: int) -> Role:
        name = look_up(item, self.role_key)
        if name is MISSING:
            hint = f"it has {', '.join(map(repr, item)) or 'nothing'}; {_remedy('role', self.role_key)}"
            raise fault_in(self.entry, f"message {number} has no {self.role_key!r}", hint)
        plain = word_of(name)
        role = None if plain is None else self.role_of(plain)
        if role is None and isinstance(name, str) and (role := self.role_of(name.lower())) is not None:
            self.entry.assume(f"messages have the role {name!r}: read as {role}")
        if role is None:
            raise fault_in(self.entry, *unknown_role(number, name))
        self._names.setdefault(role, set()).add(str(name).lower())
        return role

    def _note_names(self, raw: list[Any]) -> None:
        """Note where a role has several names: the fast path reads those that are called as we do."""
        names = {role: set(own) for role, own in self._names.items() if own != {role}}
        for role in names:
            if any(isinstance(item, dict) and item.get(self.role_key) == role for item in raw):
                names[role].add(role)
        note_shared(names, self.entry)

    def _content(self, item: dict[str, Any], number: int) -> object:
        content = look_up(item, self.content_key)
        content = item.get("blocks", MISSING) if content is MISSING else content  # as LlamaIndex has it
        if content is MISSING:
            if not any(key in item for key in _SPEAKS_WITHOUT):
                hint = f"it has {', '.join(map(repr, item))}; {_remedy('content', self.content_key)}"
                raise fault_in(self.entry, f"message {number} has no {self.content_key!r}", hint)
            return None
        return content

    def _shown(self, item: dict[str, Any], content: object) -> object:
        """Return the text in the place of an empty content: a refusal, or what a sound says; else nothing."""
        audio = item.get("audio")
        beside = {"refusal": item.get("refusal")}
        beside["audio"] = audio.get("transcript") if isinstance(audio, dict) else None
        key = next((key for key, text in beside.items() if isinstance(text, str) and text), None)
        if key is None:
            return content
        self.entry.recognise(f"messages have a text under {key!r} and no content: read as the content")
        return beside[key]

    def _calls(self, item: dict[str, Any], number: int) -> tuple[ToolCall, ...]:
        legacy = item.get("function_call")
        if isinstance(legacy, dict):
            self._last_call = f"call_{number}"
            self.entry.recognise("function calls of the old form were read as tool calls")
            return (ToolCall(self._last_call, str(legacy.get("name", "")), self._arguments(legacy)),)
        calls = item.get("tool_calls")
        if not calls:
            return ()
        if not isinstance(calls, list):
            raise fault_in(self.entry, f"message {number}: tool_calls is {excerpt(calls)}: not a list")
        return tuple(self._call(call, number) for call in calls)

    def _call(self, call: object, number: int) -> ToolCall:
        if not isinstance(call, dict):
            raise fault_in(self.entry, f"message {number}: a tool call is {excerpt(call)}: not an object")
        function = call.get("function", call.get("custom", call))
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise fault_in(self.entry, f"message {number}: a tool call names no function")
        return ToolCall(str(call.get("id") or ""), function["name"], self._arguments(function))

    def _arguments(self, function: dict[str, Any]) -> str:
        value = next(
            (function[key] for key in ("arguments", "args", "input", "parameters") if key in function), ""
        )
        return arguments_of(value, self.entry)

    def _extra(self, item: dict[str, Any], index: int, role: Role) -> dict[str, Any]:
        own = (self.role_key, self.content_key)
        extra = {key: value for key, value in item.items() if key not in _KEYS and key not in own}
        if self.content_key not in item:
            extra.pop("blocks", None)
        if not extra:
            return extra
        mapped = self.entry.mapping.ratings
        values = {key: look_up(item, path) for key, path in mapped.items()} if mapped else {}
        rated = {key: value for key, value in values.items() if value is not MISSING}
        for path in mapped.values():
            extra.pop(path, None)
        if role == "assistant":
            labels = labels_of(extra, self.entry, self.label_keys)
            extra = {key: value for key, value in extra.items() if key not in labels}
            rated |= labels
        elif not self.label_keys.isdisjoint(extra):
            self.entry.recognise(f"messages of the {role} have a rating: not used, it belongs to the reply")
        if rated:
            self.rated.append((index, rated))
        return extra


def used_tools(item: Mapping[str, Any], number: int, entry: Entry) -> Iterator[Message]:
    """Yield the calls and results that stand beside the reply which they led to, as DeepEval has them."""
    used: list[Any] = next((item[key] for key in _USED if isinstance(item.get(key), list)), [])
    for at, call in enumerate(used):
        name, id = call.get("name") if isinstance(call, dict) else None, f"used_{number}_{at}"
        if isinstance(name, str):
            arguments = next((call[key] for key in _INPUTS if call.get(key) is not None), "")
            yield Message("assistant", None, (ToolCall(id, name, arguments_of(arguments, entry)),))
            yield Message("tool", result_of(call.get("output"), number, entry), tool_call_id=id, name=name)


def with_replies(messages: tuple[Message, ...], entry: Entry) -> tuple[Message, ...]:
    """Return messages in which a system that answers users, where nobody else does, is the assistant."""
    roles = [message.role for message in messages]
    start = roles.index("user") if "user" in roles else len(roles)
    if "system" not in roles[start:] or "assistant" in roles:
        return messages
    entry.assume("conversations have a system that replies, and no assistant: read as the assistant")
    replies = (replace(one, role="assistant") if one.role == "system" else one for one in messages[start:])
    return (*messages[:start], *replies)


def content_of(content: object, number: int, entry: Entry) -> str | tuple[dict[str, Any], ...] | None:
    """Return the content of message `number`; raises `RecordFault` for what is neither text nor media."""
    if isinstance(content, list):
        return parts_of(content, number, entry)
    if content is None or isinstance(content, str):
        return content
    message = f"message {number}: the content is {excerpt(content)}: neither text, a list of parts, nor null"
    raise fault_in(entry, message)


def _remedy(field: str, key: str) -> str:
    if key == field:
        return f"name the key by `{field}` in a field map"
    return "a field map reads messages of one shape; write calls and events of another as OpenAI's messages"


def unknown_role(number: int, name: object) -> tuple[str, str]:
    """Return message and hint for an unknown role."""
    known = ", ".join(ROLES)
    return (
        f"message {number} has the unknown role {excerpt(name)}",
        f'known: {known}; name others in a field map (--map): [roles] with lines like bot = "assistant"',
    )


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    if isinstance(record, list):
        return is_message_list(record) and (mapping.content or "content") in record[0]
    messages = look_up(_opened(record, mapping), mapping.messages or "messages")
    if not isinstance(messages, list) or (mapping.messages is None and are_of_several(messages)):
        return False
    return mapping != NO_MAP or not _is_of_others(messages)


def _is_of_others(messages: list[Any]) -> bool:
    """Say whether the first of messages is none, or holds its content as those of another format do."""
    first = messages[0] if messages else None
    if not isinstance(first, dict) or "content" in first:
        return isinstance(first, dict) and "role" not in first
    return "role" not in first or any(key in first for key in _OF_OTHERS)


def _opened(record: Any, mapping: FieldMap) -> Any:  # noqa: ANN401  # any JSON value
    """Return a record with what its `chat` (Open WebUI) or `conversation` (Azure) holds: the messages."""
    if not isinstance(record, dict) or mapping.messages is not None or "messages" in record:
        return record
    inner = {key: value for key in _WITHIN if isinstance(value := record.get(key), dict)}
    key = next((key for key, value in inner.items() if isinstance(value.get("messages"), list)), None)
    if key is None:
        return record
    within = {name: value for name, value in inner[key].items() if name not in ("history", "id")}
    return within | {name: value for name, value in record.items() if name != key}


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    key = entry.mapping.messages or "messages"
    if isinstance(record, dict) and "messages" not in record:
        _count_branches(record, entry)
    record = {key: record} if isinstance(record, list) else _opened(record, entry.mapping)
    if not isinstance(record, dict):
        raise fault_in(entry, f"the record is {excerpt(record)}: not an object")
    messages = look_up(record, key)
    if messages is MISSING:
        keys = ", ".join(map(repr, record)) or "nothing"
        raise fault_in(entry, f"the record has no {key!r}", f"it has {keys}")
    if prompt := system_prompt(record.get("system"), entry) if messages else ():
        record = {name: value for name, value in record.items() if name != "system"}
    messages = _exchanged(messages, entry)
    reader = MessageReader(
        entry, role_of=lambda name: "tool" if name == "function" else role_named(name, entry)
    )
    read = reader.read_or_absent(messages)
    rated = [(index + len(prompt), fields) for index, fields in reader.rated]
    return conversation_from(record, prompt + read, rated, entry, messages_key=key.split(".")[0])


def _count_branches(record: dict[str, Any], entry: Entry) -> None:
    """Count the messages of Open WebUI that are not on the branch that was shown."""
    tree, shown = (look_up(record, f"chat.{path}") for path in ("history.messages", "messages"))
    if isinstance(tree, dict) and isinstance(shown, list):
        ids = [one.get("id") for one in shown if isinstance(one, dict)]
        if others := sum(id not in ids for id in tree):
            entry.leave_out("regenerated or edited, and on no branch that was shown", others)


def _exchanged(messages: Any, entry: Entry) -> Any:  # noqa: ANN401  # any JSON value
    """Return messages from the user's side where AutoGen kept them from that of an agent."""
    first = messages[0] if isinstance(messages, list) and messages else None
    name = first.get("name") if isinstance(first, dict) and first.get("role") == "assistant" else None
    if not isinstance(name, str) or not name.lower().startswith("user"):
        return messages
    entry.assume(f"conversations have a user {name!r} in the role of the assistant: roles were exchanged")
    other = {"assistant": "user", "user": "assistant"}
    return [
        {**one, "role": other.get(one["role"], one["role"])}
        if isinstance(one, dict) and isinstance(one.get("role"), str)
        else one
        for one in messages
    ]


def system_prompt(value: object, entry: Entry) -> tuple[Message, ...]:
    """Return the system message that a record holds beside its messages, as Anthropic's interface takes it.

    One word is the name of a system, and no prompt.
    """
    if isinstance(value, list) and value and all(isinstance(block, dict) for block in value):
        prompt = Message("system", parts_of(value, 0, entry))
    elif isinstance(value, str) and len(value.split()) > 1:
        prompt = Message("system", value)
    else:
        return ()
    entry.recognise("records have a system prompt beside their messages: read as the first message")
    return (prompt,)


OPENAI = RecordFormat("openai", _recognises, _convert)
