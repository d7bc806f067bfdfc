"""Chats as text: `User: ...` lines, and what WhatsApp exports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dialogauge.core import ROLES, Conversation, FileFault, Message, Place, RecordFault, Role
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Context, Outcome, Sample, TextFormat
from dialogauge.data.formats.roles import ROLE_ALIASES
from dialogauge.data.notes import LONGEST, MESSAGE, excerpt, record_fault, too_long
from dialogauge.data.sources import LineStream

_TIME: Final = (
    r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}[,T]?\s*)?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?\s?[Mm]\.?)?"
)
_STAMPED: Final = re.compile(rf"\u200e?(?:\[({_TIME})\]|({_TIME})(?:\s+[-–])?)\s+(?:([^:]{{1,60}}?):\s)?(.*)")
"""A line of a messenger: its time, who speaks (nobody in a notice), and what."""
LABELLED: Final = re.compile(
    r"\s*(?:[-*>]\s+)?(?:#{1,6}\s+)?(?:\*\*|__)?"
    r"\[?([^\W\d_][\w .'-]{0,30}?)\]?(?:\s*[(\[][^)\]]{1,30}[)\]])?(?:\*\*|__)?"
    r"(?::(?:\*\*|__)?(?:\s+(.*)|$)|：(?:\*\*|__)?\s*(.*))"
)
"""A line on which somebody begins to speak: who, and what."""
_PARTED: Final = re.compile(
    r"\s*(?:[-=*_#~]{3,}|(?:#+\s*)?(?:conversation|dialogue|dialog|chat|session|transcript)\s*#?\s*\w{0,20}\s*:?)\s*",
    re.IGNORECASE,
)
"""A line between two conversations."""
_LETTERS: Final[Mapping[str, Role]] = {
    "q": "user",
    "a": "assistant",
    "you": "user",
    "chatgpt": "assistant",
    "claude": "assistant",
    "gemini": "assistant",
    "copilot": "assistant",
}
_RULE: Final = re.compile(r"\s*[-=*_#~]{3,}\s*")
"""A line that parts something: conversations, or messages where the assistant speaks after one."""
_CELL: Final = re.compile(r"""(?:^|[,;\t])"[^\W\d][\w .'-]{0,30}:""")
"""A cell of a table in which somebody begins to speak."""


@dataclass(frozen=True, slots=True)
class ChatLine:
    """One line: who begins to speak, or nobody where it goes on."""

    number: int
    text: str
    name: str | None = None
    time: str | None = None
    notice: bool = False
    """Whether it is the messenger's own."""


@dataclass(slots=True)
class ChatSoFar:
    """One conversation so far."""

    line: int = 0
    """Where it begins."""
    spoken: list[tuple[str, str | None, list[str]]] = field(default_factory=list)
    """Who, when, and the lines."""
    size: int = 0

    def take(self, line: ChatLine) -> bool:
        """Add a line; say whether it belongs to what is spoken."""
        if line.name is None and not self.spoken:
            return False
        self.line = self.line or line.number
        self.size += len(line.text) + (MESSAGE if line.name else 1)
        if self.size <= LONGEST:
            if line.name is not None:
                self.spoken.append((line.name, line.time, []))
            self.spoken[-1][2].append(line.text)
        return True


def _role(name: str, mapping: FieldMap) -> Role | None:
    plain = name.strip().lower()
    known = mapping.role_of(name) or mapping.role_of(plain)
    return known or ROLE_ALIASES.get(plain) or _LETTERS.get(plain)


def _stamped(lines: Sequence[str]) -> bool:
    return any((match := _STAMPED.fullmatch(line.strip("\r\n"))) and match[3] for line in lines[:3])


def _recognises(sample: Sample) -> bool:
    """Say whether it begins as a messenger's export, with a known speaker, or as two that take turns."""
    if not sample.lines or _stamped(sample.lines):
        return bool(sample.lines)
    if any(map(_CELL.search, sample.lines[1:])):
        return False
    first = next((line for line in sample.lines if not _PARTED.fullmatch(line.strip("\r\n"))), "")
    matches = [LABELLED.fullmatch(line.strip("\r\n")) for line in (first, *sample.lines)]
    known = {_role(match[1], sample.mapping) for match in matches if match and len(match[1]) > 1}
    if known >= {"user", "assistant"}:
        return True
    if matches[0] is None:
        return False
    names = [match[1] for match in matches[1:] if match is not None]
    first = matches[0][1]
    if _role(first, sample.mapping) is not None and (len(first) > 1 or {"Q", "A"} <= {*names}):
        return True
    return len(names) == len(sample.lines) > 3 and len(set(names)) == 2


def _lines(stream: LineStream, mapping: FieldMap) -> Iterator[ChatLine]:
    """Yield the lines; in a text without times only known names begin to speak, or the two most frequent."""
    stamped = _stamped([raw.decode("utf-8", "replace") for _, raw in _some(stream)])
    speakers = None if stamped else _speakers(stream, mapping)
    ruled = not stamped and _rules_part_messages(stream, mapping)
    begun = False
    for number, raw in stream.text():
        text = raw.rstrip("\r\n")
        match = (_STAMPED if stamped else LABELLED).fullmatch(text)
        if ruled and _RULE.fullmatch(text):
            continue
        if match is None:
            yield ChatLine(number, text)
        elif stamped:
            # An iPhone puts its notice of encryption into the mouth of the chat, behind a mark.
            notice = match[3] is None or (not begun and match[4].startswith("\u200e"))
            begun = begun or match[3] is not None
            yield ChatLine(number, match[4], match[3], match[1] or match[2], notice=notice)
        elif match[1] in (speakers or ()):
            yield ChatLine(number, match[2] or match[3] or "", match[1])
        else:
            yield ChatLine(number, text)


def _some(stream: LineStream) -> Iterator[tuple[int, bytes]]:
    return (pair for _, pair in zip(range(20), stream.written(), strict=False))


def _rules_part_messages(stream: LineStream, mapping: FieldMap) -> bool:
    """Say whether the assistant begins to speak behind a rule: then rules part no conversations."""
    behind = False
    for _, raw in stream.written():
        text = raw.decode("utf-8", "replace").rstrip("\r\n")
        match = LABELLED.fullmatch(text)
        if behind and match is not None and _role(match[1], mapping) == "assistant":
            return True
        behind = _RULE.fullmatch(text) is not None
    return False


def _speakers(stream: LineStream, mapping: FieldMap) -> set[str]:
    """Return the names that stand for roles; where none does, the two that label most lines."""
    labels: Counter[str] = Counter()
    for _, raw in stream.written():
        match = LABELLED.fullmatch(raw.decode("utf-8", "replace").rstrip("\r\n"))
        if match is not None and (match[1] in labels or len(labels) < 10_000):
            labels[match[1]] += 1
    known = {name for name in labels if _role(name, mapping) is not None}
    return known or {name for name, _ in labels.most_common(2)}


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    number, place = 0, Place(stream.source.name)
    talk = ChatSoFar()
    try:
        for line in _lines(stream, context.mapping):
            if line.name is None and not line.notice and _PARTED.fullmatch(line.text):
                if talk.size:
                    number += 1
                    yield chat_of(talk, number, context)
                talk = ChatSoFar()
            elif line.notice or not (talk.take(line) or not line.text.strip()):
                _pass_over(line, context)
    except FileFault:
        if talk.size:
            yield record_fault(replace(place, line=talk.line), "the file breaks off within this conversation")
        raise
    if talk.size:
        yield chat_of(talk, number + 1, context)


def _pass_over(line: ChatLine, context: Context) -> None:
    """Note a line that nobody speaks; raises `RecordFault` where the reading is strict."""
    place = Place(context.source.name, line.number)
    if line.notice:
        context.notes.recognise("lines of a messenger itself were left out", place)
    else:
        context.notes.assume("lines were left out: they stand before the first speaker", place)


def chat_of(talk: ChatSoFar, number: int, context: Context, *, joint: str = "\n") -> Outcome:
    """Return one conversation; `joint` stands between its lines."""
    name = f"{context.source.label.removesuffix('.txt')}_{number}"
    place = Place(context.source.name, talk.line, name)
    if talk.size > LONGEST:
        return too_long(place)
    names = list(dict.fromkeys(name for name, _, _ in talk.spoken))
    try:
        roles = _roles(names, context, place)
    except RecordFault as fault:
        return fault
    messages = tuple(
        Message(roles[who], joint.join(lines).strip(), extra={} if time is None else {"time": time})
        for who, time, lines in talk.spoken
    )
    return Conversation(name, messages, place=place)


def _roles(names: Sequence[str], context: Context, place: Place) -> dict[str, Role]:
    """Return who has which role; of two unknown ones the first to speak is the user, which is noted."""
    roles = {name: role for name in names if (role := _role(name, context.mapping)) is not None}
    unknown = [name for name in names if name not in roles]
    free: list[Role] = [role for role in ("user", "assistant") if role not in roles.values()]
    if len(unknown) > len(free):
        hint = f"--map 'roles.{unknown[0]}=user,...' names them; roles: {', '.join(ROLES)}"
        raise record_fault(
            place, f"the chat has other speakers: {', '.join(map(excerpt, unknown[:5]))}", hint
        )
    for name, role in zip(unknown, free, strict=False):
        context.notes.assume(f"chats have a speaker {excerpt(name)}: read as {role}", place)
        roles[name] = role
    for name in names:
        if name.lower() not in (*ROLES, *context.mapping.roles) and name not in unknown:
            context.notes.recognise(f"chats have a speaker {excerpt(name)}: read as {roles[name]}", place)
    return roles


CHAT = TextFormat("chat", _recognises, _read, json=False)
