"""Chats as text: `User: ...` lines, what WhatsApp exports, captions of calls, and lists written in YAML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import islice
from typing import Any, Final

from dialogauge.core import ROLES, Conversation, FileFault, Message, MissingExtra, Place, RecordFault, Role
from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Context, Outcome, Sample, TextFormat
from dialogauge.data.formats.roles import ROLE_ALIASES
from dialogauge.data.notes import LONGEST, MESSAGE, excerpt, file_fault, record_fault, too_long
from dialogauge.data.sources import LineStream

_TIME: Final = (
    r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}[,T]?\s*)?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?\s?[Mm]\.?)?"
)
_STAMPED: Final = lazy_pattern(
    rf"\u200e?(?:\[({_TIME})\]|({_TIME})(?:\s+[-–])?)\s+(?:([^:]{{1,60}}?):\s)?(.*)"
)
"""A line of a messenger: its time, who speaks (nobody in a notice), and what."""
LABELLED: Final = lazy_pattern(
    r"\s*(?:[-*>]\s+)?(?:#{1,6}\s+)?(?:\*\*|__)?"
    r"\[?([^\W\d_][\w .'-]{0,30}?)\]?(?:\s*[(\[][^)\]]{1,30}[)\]])?(?:\*\*|__)?"
    r"(?::(?:\*\*|__)?(?:\s+(.*)|$)|：(?:\*\*|__)?\s*(.*))"
)
"""A line on which somebody begins to speak: who, and what."""
_PARTED: Final = lazy_pattern(
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
_RULE: Final = lazy_pattern(r"\s*[-=*_#~]{3,}\s*")
"""A line that parts something: conversations, or messages where the assistant speaks after one."""
_CELL: Final = lazy_pattern(r"""(?:^|[,;\t])"[^\W\d][\w .'-]{0,30}:""")
"""A cell of a table in which somebody begins to speak."""


_IN_CODE: Final = "lines of code look as if somebody began to speak: read as code"


@dataclass(frozen=True, slots=True)
class ChatLine:
    """One line: who begins to speak, or nobody where it goes on."""

    number: int
    text: str
    name: str | None = None
    time: str | None = None
    notice: bool = False
    """Whether it is the messenger's own."""
    code: bool = False
    """Whether it stands in a code block."""


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
    matches = [_STAMPED.fullmatch(line.strip("\r\n")) for line in lines[:3]]
    names = [match[3] for match in matches if match and match[3]]
    return bool(names) and not any(map(_LEVEL.match, names))


def _recognises(sample: Sample) -> bool:
    """Say whether it begins as a messenger's export, with a known speaker, or as two that take turns."""
    if not sample.lines or _stamped(sample.lines):
        return bool(sample.lines)
    if any(map(_CELL.search, sample.lines[1:])):
        return False
    lines = [text for _, text, code in _uncoded(enumerate(sample.lines)) if not code]
    first = next((line for line in lines if not _PARTED.fullmatch(line.strip("\r\n"))), "")
    matches = [LABELLED.fullmatch(line.strip("\r\n")) for line in (first, *lines)]
    known = {_role(match[1], sample.mapping) for match in matches if match and len(match[1]) > 1}
    if known >= {"user", "assistant"}:
        return True
    if matches[0] is None:
        return False
    names = [match[1] for match in matches[1:] if match is not None]
    first = matches[0][1]
    if _role(first, sample.mapping) is not None and (len(first) > 1 or {"Q", "A"} <= {*names}):
        return True
    return len(names) == len(lines) > 3 and len(set(names)) == 2


_FENCE: Final = lazy_pattern(r"(?:[^`:]{1,60}:)?\s*(```+|~~~+)([^`]*)")
_LONGEST_CODE: Final = 5_000
"""Lines between two fences."""


_LEVEL: Final = lazy_pattern(r"\W*(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b")
"""How the line of a program's log goes on behind its time."""
_GONE: Final = lazy_pattern(r"\W*(?:this message was deleted|you deleted this message)\W*", re.IGNORECASE)
_CHANGED: Final = lazy_pattern(r"\s*\u200e?<this message was edited>\s*$", re.IGNORECASE)
_FILE: Final = lazy_pattern(
    r"\u200e?(?:<attached: [^>]+>|<media omitted>|[\w ]{3,20} omitted|.{1,200} \(file attached\))",
    re.IGNORECASE,
)
EDITED: Final = "messages were edited: read as they are now"
DELETED: Final = "somebody deleted them"


def _as_sent(text: str, place: Place, context: Context) -> str | None:
    """Return what somebody sent by a messenger, None where it was deleted; note what happened to it."""
    if _GONE.fullmatch(text):
        context.notes.leave_out(DELETED, place)
        return None
    if _FILE.fullmatch(text.strip()):
        context.notes.recognise("messages have a file, of which the export has at most the name", place)
    if kept := _CHANGED.search(text):
        context.notes.recognise(EDITED, place)
        return text[: kept.start()]
    return text


def _uncoded(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str, bool]]:
    """Yield numbered lines without their ends, and whether they stand in a code block that is closed."""
    block: list[tuple[int, str]] = []
    fence = ""
    for number, line in lines:
        text = line.rstrip("\r\n")
        match = _FENCE.fullmatch(text) if "```" in text or "~~~" in text else None
        closes = match is not None and match[1].startswith(fence) and text.strip() == match[1]
        if not fence or (match is not None and not closes) or len(block) > _LONGEST_CODE:
            # Outside, or after a fence that nobody closed.
            yield from ((*kept, False) for kept in block)
            block, fence = [], match[1] if match is not None else ""
            yield number, text, False
        elif closes:
            yield from ((*kept, True) for kept in block)
            block, fence = [], ""
            yield number, text, True
        else:
            block.append((number, text))
    yield from ((*kept, False) for kept in block)


def _decoded(stream: LineStream) -> Iterator[tuple[int, str]]:
    return ((number, raw.decode("utf-8", "replace")) for number, raw in stream.written())


def _lines(stream: LineStream, context: Context) -> Iterator[ChatLine]:
    """Yield the lines; in a text without times only known names begin to speak, or the two most frequent."""
    mapping = context.mapping
    stamped = _stamped([text for _, text in islice(_decoded(stream), 20)])
    speakers = None if stamped else _speakers(stream, mapping)
    ruled = not stamped and _rules_part_messages(stream, mapping)
    begun = False
    for number, text, code in _uncoded(stream.text()):
        match = (_STAMPED if stamped else LABELLED).fullmatch(text)
        if ruled and not code and _RULE.fullmatch(text):
            continue
        if code and match is not None and (stamped or match[1] in (speakers or ())):
            context.notes.recognise(_IN_CODE, Place(stream.source.name, number))
        if match is None or code:
            yield ChatLine(number, text, code=code)
        elif stamped:
            # An iPhone puts its notice of encryption into the mouth of the chat, behind a mark.
            notice = match[3] is None or (not begun and match[4].startswith("\u200e"))
            begun = begun or match[3] is not None
            sent = match[4] if notice else _as_sent(match[4], Place(stream.source.name, number), context)
            if sent is not None:
                yield ChatLine(number, sent, match[3], match[1] or match[2], notice=notice)
        elif match[1] in (speakers or ()):
            yield ChatLine(number, match[2] or match[3] or "", match[1])
        else:
            yield ChatLine(number, text)


def _rules_part_messages(stream: LineStream, mapping: FieldMap) -> bool:
    """Say whether the assistant begins to speak behind a rule: then rules part no conversations."""
    behind = False
    for _, text, code in _uncoded(_decoded(stream)):
        match = None if code else LABELLED.fullmatch(text)
        if behind and match is not None and _role(match[1], mapping) == "assistant":
            return True
        behind = not code and _RULE.fullmatch(text) is not None
    return False


def _speakers(stream: LineStream, mapping: FieldMap) -> set[str]:
    """Return the names that stand for roles; where none does, the two that label most lines."""
    labels: Counter[str] = Counter()
    for _, text, code in _uncoded(_decoded(stream)):
        match = None if code else LABELLED.fullmatch(text)
        if match is not None and (match[1] in labels or len(labels) < 10_000):
            labels[match[1]] += 1
    known = {name for name in labels if _role(name, mapping) is not None}
    return known or {name for name, _ in labels.most_common(2)}


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    number, place = 0, Place(stream.source.name)
    talk = ChatSoFar()
    try:
        for line in _lines(stream, context):
            if not (line.name or line.notice or line.code) and _PARTED.fullmatch(line.text):
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
        context.notes.leave_out("of a messenger itself", place, what="lines")
    else:
        context.notes.leave_out("they stand before the first speaker", place, what="lines", assumed=True)


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
    shared = Counter(roles.values())
    messages = tuple(
        Message(
            roles[who],
            joint.join(lines).strip(),
            extra=({} if time is None else {"time": time})
            | ({"speaker": who} if shared[roles[who]] > 1 else {}),
        )
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


_HEAD: Final = lazy_pattern(r"\ufeff?WEBVTT(?:[ \t].*)?")
_AT: Final = r"(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_TIMING: Final = lazy_pattern(rf"({_AT})(?:[ \t]*-->[ \t]*|,){_AT}(?:[ \t].*)?")
"""The times of a caption, in WebVTT, SubRip (.srt) and YouTube's .sbv."""
_VOICE: Final = lazy_pattern(r"<v(?:\.[^\s>]*)?[ \t]+([^>]+)>")
_TAG: Final = lazy_pattern(r"</?[^>]*>|\{\\[^}]*\}")


def _recognises_captions(sample: Sample) -> bool:
    first = [line.strip() for line in sample.lines[:2]]
    if first and _HEAD.fullmatch(first[0]):
        return True
    return any(map(_TIMING.fullmatch, first[:1] if not first or not first[0].isdecimal() else first[1:]))


def _blocks(stream: LineStream) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the captions: the number of the first line, the time, and the lines of text."""
    time, first, lines = "", 0, list[str]()
    for number, raw in stream.text():
        text = raw.strip("\r\n")
        timing = _TIMING.fullmatch(text.strip())
        if timing is not None:
            if time:  # no line between two captions but the number of the second
                yield first, time, lines[:-1] if lines[-1:] and lines[-1].isdecimal() else lines
            time, first, lines = timing[1], number, []
        elif text.strip() and time:
            lines.append(text.strip())
        elif time:
            yield first, time, lines
            time = ""
    if time:
        yield first, time, lines


def _captions(stream: LineStream) -> Iterator[ChatLine]:
    """Yield what is said: a caption without a name goes on with what the one before says."""
    for number, time, lines in _blocks(stream):
        voices = _VOICE.split(" ".join(lines))
        for name, text in zip([None, *voices[1::2]], voices[::2], strict=True):
            shown = unescape(_TAG.sub("", text)).strip()
            label = LABELLED.fullmatch(shown) if name is None and shown else None
            if label is not None:
                yield ChatLine(number, label[2] or label[3] or "", label[1], time)
            elif shown:
                yield ChatLine(number, shown, name and unescape(name).strip(), time)


def _read_captions(stream: LineStream, context: Context) -> Iterator[Outcome]:
    talk, last = ChatSoFar(), None
    for line in _captions(stream):
        if line.name == last:  # one who goes on speaks on
            line = ChatLine(line.number, line.text)
        if not talk.take(line):
            place = Place(context.source.name, line.number)
            context.notes.leave_out(
                "they stand before the first speaker", place, what="captions", assumed=True
            )
        last = line.name or last
    if not talk.size:
        what = "the captions do not say who speaks"
        hint = "export the transcript with names of speakers: <v Name>, or Name: at the head of a caption"
        raise file_fault(Place(context.source.name), what, hint)
    yield chat_of(talk, 1, context, joint=" ")


CAPTIONS = TextFormat("captions", _recognises_captions, _read_captions, json=False)
"""Transcripts in WebVTT, .srt or .sbv: captions that name who speaks, as `<v Name>` or `Name:`."""


YAML_CHAT: Final = lazy_pattern(r"\s*-[ ]+(role|content):")
"""The beginning of such a list."""
_KEYS: Final = frozenset({"role", "content", "name"})
_TEXT: Final = "tag:yaml.org,2002:str"


def yaml_messages(text: str) -> list[dict[str, Any]]:
    """Return the messages of a list in YAML; raises `ValueError` for what is no such list of texts.

    Raises `MissingExtra` without PyYAML.
    """
    try:
        import yaml
    except ImportError as error:
        msg = "a prompt is YAML, and reading that needs PyYAML"
        raise MissingExtra(msg, hint="pip install 'dialogauge[yaml]'") from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split())) from error
    out = []
    for item in root.value if isinstance(root, yaml.SequenceNode) else ():
        fields = item.value if isinstance(item, yaml.MappingNode) else []
        message = {key.value: value.value for key, value in fields if key.tag == value.tag == _TEXT}
        if len(message) < len(fields) or not {"role", "content"} <= message.keys() <= _KEYS:
            msg = f"line {item.start_mark.line + 1} begins no message with role and content as texts"
            raise ValueError(msg)
        out.append(message)
    return out
