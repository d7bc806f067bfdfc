"""Chat histories of aider (`.aider.chat.history.md`): one conversation for each start of the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from dialogauge.core import Conversation, Message, Place, Role
from dialogauge.data.formats.base import Context, Outcome, Sample, TextFormat
from dialogauge.data.notes import LONGEST, MESSAGE, too_long
from dialogauge.data.sources import LineStream

_START: Final = re.compile(r"# aider chat started at (\S.*)")
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


def _recognises(sample: Sample) -> bool:
    return bool(sample.lines) and _START.match(sample.lines[0]) is not None


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    session, number, ends = _AiderChat(1, ""), 0, _ends(stream)
    for at, raw in stream.text():
        text = raw.rstrip("\r\n")
        start = _START.fullmatch(text.rstrip())
        if start is not None:
            yield from _finished(session, number, context)
            session, number = _AiderChat(at, start[1]), number + 1
        elif session.take(text, ends):
            context.notes.recognise("lines of aider itself were left out", Place(context.source.name, at))
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
        context.notes.recognise("commands of the user without a reply were left out", place, count=left_out)
    if any(message.role == "user" for message in kept):
        yield Conversation(name, tuple(kept), metadata={"started": session.time}, place=place)
    elif number:
        context.notes.recognise("sessions in which nothing was asked were left out", place)


AIDER = TextFormat("aider", _recognises, _read, json=False)
