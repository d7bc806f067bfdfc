"""Conversations that a chat template made one text of: the forms of ChatML, Llama, Mistral and Gemma."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import orjson

from dialogauge.core import ROLES, Conversation, Place, RecordFault
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value
from dialogauge.data.field_map import NO_MAP, FieldMap
from dialogauge.data.formats.base import Context, Entry, Outcome, RecordFormat, Sample, TextFormat, fault_in
from dialogauge.data.formats.columns import named_columns
from dialogauge.data.formats.fields import conversation_from
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.roles import ROLE_ALIASES, role_named
from dialogauge.data.json_values import too_deep
from dialogauge.data.notes import LONGEST, excerpt, too_long
from dialogauge.data.sources import LineStream

Item = dict[str, Any]

_BOS: Final = r"(?:<s>|<\|begin_of_text\|>|<bos>|<\|endoftext\|>)"
_EOS: Final = r"(?:</s>|<\|end_of_text\|>|<eos>|<\|endoftext\|>)"
_HEAD: Final = rf"\s*+(?:{_BOS}\s*+)*+"
_ROLES: Final = {"model": "assistant", "ipython": "tool", "function": "tool", "observation": "tool"}


class _Marks(Value):
    """The marks of one template, as regular expressions."""

    name: str
    start: str
    """Before a message; its first group is the role."""
    end: str
    verbatim: bool = False
    """Whether the template leaves the space around a text as it was."""

    @property
    def head(self) -> re.Pattern[str]:
        """The beginning of a text."""
        return re.compile(rf"{_HEAD}{self.start}")

    @property
    def boundary(self) -> re.Pattern[str]:
        """The end of a message: one that nothing else follows is a part of what is said."""
        follows = rf"(?:({_BOS})\s*+)?(?={self.start}|\Z)"
        return re.compile(rf"(?:{self.end})\s*+(?:{_EOS}\s*+)?{follows}")


_TEMPLATES: Final = (
    _Marks(
        "ChatML", r"<\|im_start\|>(\w+)(?: name=[^\s<]+)?[ \t]*+(?:\r?\n|\Z)", r"<\|im_end\|>", verbatim=True
    ),
    _Marks("Llama 3", r"<\|start_header_id\|>(\w+)<\|end_header_id\|>", r"<\|eo[tm]_id\|>"),
    _Marks("Llama 4", r"<\|header_start\|>(\w+)<\|header_end\|>", r"<\|eo[tm]\|>"),
    _Marks("Gemma", r"<start_of_turn>(\w+)[ \t]*+(?:\r?\n|\Z)", r"<end_of_turn>"),
)
_INST: Final = "[INST] of Llama 2 and Mistral"
_ASKS, _ASKED = "[INST]", "[/INST]"
_SYSTEM_FIRST: Final = lazy_pattern(
    rf"{_HEAD}\[SYSTEM_PROMPT\](.*?)\[/SYSTEM_PROMPT\]\s*+(?=\[INST\])", re.DOTALL
)
_INST_HEAD: Final = lazy_pattern(rf"{_HEAD}\[INST\]")
_SYSTEM_WITHIN: Final = lazy_pattern(r"\s*+<<SYS>>(.*?)<</SYS>>", re.DOTALL)
_REPLIED: Final = lazy_pattern(r"</s>\s*+(?:<s>\s*+)?(?=\[INST\]|\Z)")
_INST_MARK: Final = lazy_pattern(r"\[/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]|<</?SYS>>")
_CALL: Final = lazy_pattern(r"<tool_call>((?:(?!<tool_call>).)*?)</tool_call>", re.DOTALL)
_RESULT: Final = lazy_pattern(r"<tool_response>((?:(?!<tool_response>).)*?)</tool_response>", re.DOTALL)
_BEGINS: Final = lazy_pattern(rf"(?!<s>\s*\[INST\](?!\s*<<SYS>>)){_BOS}")
_OPENS: Final = lazy_pattern(
    rf"{_HEAD}(?:{'|'.join(marks.start for marks in _TEMPLATES)}|\[INST\]|\[SYSTEM_PROMPT\])"
)


def is_rendered(text: object) -> bool:
    """Say whether a value is a text that begins as a chat template begins one."""
    if not isinstance(text, str) or _OPENS.match(text) is None:
        return False
    return _ASKED in text or any(marks.head.match(text) for marks in _TEMPLATES)


def opens(line: str) -> bool:
    """Say whether a line begins a text of its own; in Llama 2 each message of the user begins with <s>."""
    return _BEGINS.match(line) is not None and _OPENS.match(line) is not None


def unrendered(text: str, entry: Entry, reply: str | None = None) -> list[Item]:
    """Return the messages of a text that `is_rendered`, in OpenAI's form.

    A last message without an end is kept; one that only asks for a reply is not. `reply` goes on from there.
    Raises `RecordFault` for several conversations in one text.
    """
    marks = next((one for one in _TEMPLATES if one.head.match(text)), None)
    items = list(_of_marks(text, marks, entry) if marks else _of_inst(text, entry))
    entry.recognise(
        f"texts have the marks of a chat template ({marks.name if marks else _INST}): read as messages"
    )
    open_end = items.pop() if items and not items[-1].pop("ended") else None
    for item in items:
        item.pop("ended", None)
    if open_end is not None and open_end["role"] != "assistant":
        items, open_end = [*items, *([open_end] if open_end["content"].strip() else [])], None
    begun = open_end["content"] if open_end is not None else ""
    if reply is not None:
        goes_on = re.sub(rf"(?:{marks.end if marks else '</s>'})\s*\Z", "", reply)
        items.append({"role": "assistant", "content": begun + goes_on})
        if begun.strip():
            entry.recognise("replies go on from what their prompt begins: joined")
    elif begun.strip():
        whole = begun if marks is not None and marks.verbatim else begun.rstrip()
        items.append({"role": "assistant", "content": whole})
    inner = [re.compile(f"{marks.start}|{marks.end}")] if marks else [_INST_MARK]
    if any(mark.search(item["content"]) for item in items for mark in inner):
        entry.assume("messages have marks of their chat template within: kept as text")
    return list(_with_tools(items))


def _of_marks(text: str, marks: _Marks, entry: Entry) -> Iterator[Item]:
    start, boundary = re.compile(marks.start), marks.boundary
    begun = marks.head.match(text)
    while begun is not None:
        end = boundary.search(text, begun.end())
        content = text[begun.end() : len(text) if end is None else end.start()]
        if not marks.verbatim:
            content = content.strip() if end is not None else content.lstrip()
        role = begun[1]
        yield {"role": _ROLES.get(role, role), "content": content, "ended": end is not None}
        begun = None if end is None else start.match(text, end.end())
        if begun is not None and end is not None and end[1] and end[1] != "<|endoftext|>":
            hint = "give each conversation a row of its own"
            raise fault_in(entry, "the text holds several conversations", hint)


def _of_inst(text: str, entry: Entry) -> Iterator[Item]:
    at = 0
    if (first := _SYSTEM_FIRST.match(text)) is not None:
        yield {"role": "system", "content": first[1].strip(), "ended": True}
        at = first.end()
    parted = "</s>" in text
    begun = _INST_HEAD.match(text, at)
    turn = 0
    while begun is not None:
        at, turn = begun.end(), turn + 1
        if turn == 1 and (system := _SYSTEM_WITHIN.match(text, at)) is not None:
            yield {"role": "system", "content": system[1].strip(), "ended": True}
            at = system.end()
        asked = text.find(_ASKED, at)
        yield {
            "role": "user",
            "content": text[at : asked if asked >= 0 else None].strip(),
            "ended": asked >= 0,
        }
        if asked < 0:
            return
        at = asked + len(_ASKED)
        end = _REPLIED.search(text, at) if parted else None
        over, on = (end.start(), end.end()) if end else (len(text), len(text))
        if not parted and (other := text.find(_ASKS, at)) >= 0:
            over = on = other
            entry.assume("texts have no </s>: each [INST] was read as the next message of the user")
        ended = over < len(text)
        reply = text[at:over]
        yield {"role": "assistant", "content": reply.strip() if ended else reply.lstrip(), "ended": ended}
        begun = _INST_HEAD.match(text, on)


def _with_tools(items: Sequence[Item]) -> Iterator[Item]:
    """Yield messages with the calls and results that a template writes as text (Hermes, Qwen)."""
    waiting: list[str] = []
    for number, item in enumerate(items, start=1):
        content = item["content"]
        if item["role"] == "assistant" and (calls := _calls(content, number)):
            waiting = [call["id"] for call in calls]
            yield {**item, "content": _CALL.sub("", content).strip() or None, "tool_calls": calls}
        elif item["role"] in ("user", "tool") and _is_results(content):
            for result in _RESULT.finditer(content):
                answers = {"tool_call_id": waiting.pop(0)} if waiting else {}
                yield {"role": "tool", "content": result[1].strip(), **answers}
        else:
            yield item


def _calls(content: str, number: int) -> list[Item]:
    """Return the calls in a reply; none where one of them cannot be read."""
    calls: list[Item] = []
    for n, block in enumerate(_CALL.finditer(content), start=1):
        try:
            call = orjson.loads(block[1])
        except orjson.JSONDecodeError:
            return []
        if too_deep(call) or not isinstance(call, dict) or not isinstance(call.get("name"), str):
            return []
        calls.append({"id": f"call_{number}_{n}", "type": "function", "function": call})
    return calls


def _is_results(content: str) -> bool:
    return "<tool_response>" in content and not _RESULT.sub("", content).strip()


_TEXT: Final = "text"


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or mapping.content is not None or mapping.prompt is not None:
        return False
    role = record.get("role")
    is_row = isinstance(role, str) and (role.lower() in ROLES or role.lower() in ROLE_ALIASES)
    beside = {"prompt", "reply"} <= named_columns(tuple(record), mapping).keys()
    return is_rendered(record.get(_TEXT)) and not is_row and not beside


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    text = record.get(_TEXT) if isinstance(record, dict) else None
    if not isinstance(text, str) or not is_rendered(text):
        raise fault_in(entry, f"the text is {excerpt(text)}: it does not begin as a chat template writes it")
    reader = MessageReader(entry, role_of=lambda name: role_named(name, entry), ordered=True)
    return conversation_from(
        record, reader.read(unrendered(text, entry)), reader.rated, entry, messages_key=_TEXT
    )


def _recognises_text(sample: Sample) -> bool:
    return sample.mapping == NO_MAP and is_rendered("".join(sample.lines))


def _read_text(stream: LineStream, context: Context) -> Iterator[Outcome]:
    lines, size, first, number = list[str](), 0, 1, 0
    for at, line in stream.text():
        if lines and size and opens(line):
            number += 1
            yield _read_one(lines, size, first, number, context)
            lines, size = [], 0
        first = first if size else at
        size += len(line) if line.strip() or size else 0
        if size <= LONGEST:
            lines.append(line)
    yield _read_one(lines, size, first, number + 1, context)


def _read_one(lines: list[str], size: int, line: int, number: int, context: Context) -> Outcome:
    name = f"{context.source.label.removesuffix('.txt')}_{number}"
    place = Place(context.source.name, line, name)
    if size > LONGEST:
        return too_long(place)
    entry = Entry(context, place, name)
    try:
        return _convert({"id": name, _TEXT: "".join(lines).rstrip("\r\n")}, entry)
    except RecordFault as fault:
        return fault


TEMPLATE = RecordFormat("template", _recognises, _convert, takes_order=False)
TEMPLATE_TEXT = TextFormat("template-text", _recognises_text, _read_text, json=False)
"""Texts that a chat template made of conversations: under `text` of a record, or a file of such a text."""
