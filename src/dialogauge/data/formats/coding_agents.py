"""Sessions of agents that write code: aider and Claude Code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dialogauge.core import Conversation, Message, Place, RecordFault, Role
from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, entries
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.notes import LONGEST, MESSAGE, too_long
from dialogauge.data.sources import LineStream

_START: Final = lazy_pattern(r"# aider chat started at (\S.*)")
_ASKED: Final = "#### "
_SHOWN: Final = ">"
_ENDS: Final = "  "
"""aider ends its own lines, and those of the user, with a line break of Markdown."""


@dataclass(slots=True)
class _AiderChat:
    """What was said since the program was started."""

    line: int
    time: str
    spoken: list[tuple[Role, list[str]]] = field(default_factory=list)
    size: int = 0
    asking: bool = False
    """Whether the last line was the user's: the next one may go on from it."""

    def take(self, text: str, ends: str) -> bool:
        """Add a line; say whether it is the program's own. Such lines, and the user's, end in `ends`."""
        own = text.endswith(ends)
        shown, asked = own and text.startswith(_SHOWN), own and text.startswith(_ASKED)
        if asked:
            self._say("user", text.removeprefix(_ASKED).rstrip(), goes_on=self.asking)
        elif not shown:
            self._say("assistant", text, goes_on=True)
        self.asking = asked
        return shown

    def _say(self, role: Role, text: str, *, goes_on: bool) -> None:
        self.size += len(text) + 1
        if goes_on and self.spoken and self.spoken[-1][0] == role:
            self.spoken[-1][1].append(text)
        elif text.strip():
            self.size += MESSAGE
            self.spoken.append((role, [text]))
        if self.size > LONGEST:
            self.spoken.clear()


def _recognises_aider(sample: Sample) -> bool:
    return bool(sample.lines) and _START.match(sample.lines[0]) is not None


def _read_aider(stream: LineStream, context: Context) -> Iterator[Outcome]:
    session, number, ends = _AiderChat(1, ""), 0, _ends(stream)
    for at, raw in stream.text():
        text = raw.rstrip("\r\n")
        start = _START.fullmatch(text.rstrip())
        if start is not None:
            yield from _finished(session, number, context)
            session, number = _AiderChat(at, start[1]), number + 1
        elif session.take(text, ends):
            context.notes.leave_out("of aider itself", Place(context.source.name, at), what="lines")
    yield from _finished(session, number, context)


def _ends(stream: LineStream) -> str:
    """Return how the lines of the user end: an editor may have taken the line breaks away."""
    asked = (raw.rstrip(b"\r\n") for _, raw in stream.written() if raw.startswith(_ASKED.encode()))
    return _ENDS if any(line.endswith(_ENDS.encode()) for line in asked) else ""


def _finished(session: _AiderChat, number: int, context: Context) -> Iterator[Outcome]:
    """Yield the conversation of a session; nothing where nobody was asked anything."""
    name = f"{context.source.label}_{number}"
    place = Place(context.source.name, session.line, name)
    if session.size > LONGEST:
        yield too_long(place)
        return
    spoken = [(role, "\n".join(lines).strip()) for role, lines in session.spoken]
    after = [*(role for role, _ in spoken[1:]), "user"]
    kept = [
        Message(role, text)
        for (role, text), then in zip(spoken, after, strict=False)
        if not (role == "user" and text.startswith("/") and then == "user")
    ]
    if left_out := len(spoken) - len(kept):
        context.notes.leave_out("commands of the user without a reply", place, count=left_out)
    if any(message.role == "user" for message in kept):
        yield Conversation(name, tuple(kept), metadata={"started": session.time}, place=place)
    elif number:
        context.notes.leave_out("nothing was asked", place, what="sessions")


AIDER = TextFormat("aider", _recognises_aider, _read_aider, json=False)
"""Chat histories of aider (`.aider.chat.history.md`): one conversation for each start of the program."""


_SESSION: Final = ("sessionId", "session_id")
_OWN: Final = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""Marks of messages that Claude Code wrote itself."""
_OWN_TAGS: Final = (
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "Caveat: The ",
)
_SYNTHETIC: Final = "<synthetic>"
"""The model of replies that none wrote."""
_KEPT: Final = ("cwd", "gitBranch", "version")
_SUBAGENT: Final = "subagent_of"

Line = Mapping[str, Any]


@dataclass(slots=True)
class _Spoken:
    """One message of a thread."""

    uuid: str | None
    parent: str | None
    """The message before it."""
    item: dict[str, Any]
    """Role and content as OpenAI or Anthropic write them."""
    is_prompt: bool


@dataclass(slots=True)
class _Thread:
    """What one session, or one of its subagents, said so far."""

    place: Place
    about: dict[str, Any]
    spoken: list[_Spoken] = field(default_factory=list)
    by_id: dict[str, _Spoken] = field(default_factory=dict)
    """Id of the interface -> the message whose parts stand on several lines."""
    models: set[str] = field(default_factory=set)
    size: int = 0


def _recognises_claude_code(sample: Sample) -> bool:
    record = sample.record
    return isinstance(record, dict) and _session(record) is not None and _message(record) is not None


def _session(line: Line) -> str | None:
    return next((text for key in _SESSION if (text := text_at(line, key))), None)


def _message(line: Line) -> dict[str, Any] | None:
    """Return the message of a line: of the user or the assistant, or what was typed while it worked."""
    message = line.get("message")
    if line.get("type") in ("user", "assistant") and isinstance(message, dict):
        return message
    queued = line.get("attachment") if line.get("type") == "attachment" else None
    if isinstance(queued, dict) and queued.get("type") == "queued_command" and queued.get("prompt"):
        return {"role": "user", "content": queued["prompt"]}
    return None


def _read_claude_code(stream: LineStream, context: Context) -> Iterator[Outcome]:
    transcript = _Transcript()
    for line, entry in entries(stream, context):
        if isinstance(line, RecordFault):
            yield line
        elif isinstance(line, dict):
            transcript.take(line, entry)
    for name, thread in transcript.threads.items():
        try:
            yield _conversation(name, thread, context)
        except RecordFault as fault:
            yield fault


@dataclass(slots=True)
class _Transcript:
    """The threads of a file so far."""

    threads: dict[str, _Thread] = field(default_factory=dict)
    parents: dict[str, str | None] = field(default_factory=dict)
    """Line that is no message -> the message before it."""
    names: dict[str | None, str] = field(default_factory=dict)
    """Message of a subagent -> its thread."""

    def take(self, line: Line, entry: Entry) -> None:
        """Add a line to its thread."""
        uuid, before, session = text_at(line, "uuid"), text_at(line, "parentUuid"), _session(line)
        if before is not None:
            before = self.parents.get(before, before)
        message = _message(line)
        if message is None or session is None:
            entry.leave_out("no messages (snapshots, summaries, progress)", what="lines")
            if uuid is not None:
                self.parents[uuid] = before
            return
        name = self._name(line, session, uuid, before)
        if name not in self.threads:
            about = {key: line[key] for key in _KEPT if line.get(key)}
            if name != session:
                about[_SUBAGENT] = session
            self.threads[name] = _Thread(entry.place, about)
        _add(self.threads[name], message, line, uuid, before, entry)

    def _name(self, line: Line, session: str, uuid: str | None, before: str | None) -> str:
        if not line.get("isSidechain") and not line.get("parent_tool_use_id"):
            return session
        agent = text_at(line, "agentId") or text_at(line, "parent_tool_use_id")
        name = f"{session}__{agent}" if agent else self.names.get(before, f"{session}__{uuid}")
        self.names[uuid] = name
        return name


def _add(
    thread: _Thread, message: dict[str, Any], line: Line, uuid: str | None, before: str | None, entry: Entry
) -> None:
    content, id = message.get("content"), text_at(message, "id")
    thread.size += _size(content) + MESSAGE
    if thread.size > LONGEST:
        thread.spoken.clear()
        thread.by_id.clear()
        return
    begun = thread.by_id.get(id) if id is not None else None
    if begun is not None and isinstance(content, list) and isinstance(begun.item["content"], list):
        begun.item["content"] = begun.item["content"] + content
        thread.spoken.append(_Spoken(uuid, before, {}, is_prompt=False))
        return
    role, own = message.get("role", line.get("type")), _is_own(message, line)
    if own:
        entry.recognise("messages were put in by Claude Code itself: read as system messages")
    elif role == "assistant" and (model := text_at(message, "model")) is not None:
        thread.models.add(model)
    marks = {"id": id, "uuid": uuid, "timestamp": text_at(line, "timestamp")}
    item = {"role": "system" if own else role, "content": content}
    item |= {key: value for key, value in marks.items() if value is not None}
    is_prompt = role == "user" and not own and not _has_results(content)
    thread.spoken.append(_Spoken(uuid, before, item, is_prompt=is_prompt))
    if id is not None:
        thread.by_id[id] = thread.spoken[-1]


def _size(value: object) -> int:
    """Return the characters of a content, without those of images."""
    if isinstance(value, dict):
        return sum(_size(one) for key, one in value.items() if key != "data")
    return sum(map(_size, value)) if isinstance(value, list) else len(str(value))


def _is_own(message: Line, line: Line) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"text": content}]
    first = blocks[0].get("text") if blocks and isinstance(blocks[0], dict) else None
    tagged = line.get("type") == "user" and isinstance(first, str) and first.startswith(_OWN_TAGS)
    return tagged or message.get("model") == _SYNTHETIC or any(line.get(mark) is True for mark in _OWN)


def _has_results(content: object) -> bool:
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks)


def _conversation(name: str, thread: _Thread, context: Context) -> Conversation:
    if thread.size > LONGEST:
        raise too_long(thread.place)
    entry = Entry(context, thread.place, name)
    items = [s.item for s in _standing(thread.spoken, entry) if s.item]
    return Conversation(
        name,
        MessageReader(entry).read(items),
        scenario="subagent" if _SUBAGENT in thread.about else None,
        candidate="+".join(sorted(thread.models)) or None,
        metadata=thread.about,
        place=Place(thread.place.file, thread.place.line, name),
    )


def _standing(spoken: list[_Spoken], entry: Entry) -> list[_Spoken]:
    """Return the messages without what followed a prompt that the user took back for another."""
    prompts: dict[str | None, str | None] = {s.parent: s.uuid for s in spoken if s.is_prompt and s.parent}
    gone: set[str | None] = set()
    standing = []
    for one in spoken:
        latest = not one.is_prompt or prompts.get(one.parent, one.uuid) == one.uuid
        if latest and (one.parent is None or one.parent not in gone):
            standing.append(one)
        else:
            gone.add(one.uuid)
    if len(standing) < len(spoken):
        entry.leave_out("prompts that the user took back, and what followed", len(spoken) - len(standing))
    return standing


CLAUDE_CODE = TextFormat("claude-code", _recognises_claude_code, _read_claude_code)
"""Transcripts of Claude Code: `~/.claude/projects/*/*.jsonl`, and its output as `stream-json`.

A line is a message or a part of one; those of a session are one conversation, those of each of its subagents
another. What Claude Code itself put in (reminders, summaries, output of local commands, errors of the
interface) is a system message, and what the user took back is left out.
"""
