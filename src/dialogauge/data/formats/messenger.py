"""Messages that are a record each, as messengers and platforms of bots export them; entries say where.

Bots are the assistant, people the user. Where no bot speaks, a field map says who the assistant is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from dialogauge.core import FileFault, Place, RecordFault
from dialogauge.data.form import SourceForm
from dialogauge.data.form import listed as paths_in
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, fault_in
from dialogauge.data.formats.chat import DELETED, EDITED
from dialogauge.data.formats.described import meets, said_in
from dialogauge.data.formats.documents import listed
from dialogauge.data.formats.rows import RowTable, conversations_of
from dialogauge.data.formats.threads import DataRow
from dialogauge.data.json_values import JsonValue, is_object, json_values, outline
from dialogauge.data.notes import NoteBook, excerpt, file_fault
from dialogauge.data.paths import MISSING, condition_of, path_of, text_of
from dialogauge.data.sources import LineStream

_COLUMNS: Final = ("conversation_id", "role", "content", "timestamp", "speaker")
_VERSIONS: Final = "replies beside the one that was chosen (swipes)"
_NOTICES: Final = "of a messenger itself"
_ALONE: Final = "in no thread, and no bot speaks among them"
DOCUMENT: Final = "@document"
"""What stands beside the list of messages, in their paths."""

Forms = Mapping[str, SourceForm]


@dataclass(frozen=True, slots=True)
class _SpokenMessage:
    """What somebody said."""

    thread: str | None
    """None for what stands in the channel itself."""
    speaker: str
    name: str | None
    bot: bool
    content: Any
    at: object
    answers: bool
    """Whether it stands in a thread that another message began."""


def messenger_format(name: str, forms: Forms) -> TextFormat:
    """Return the format of messages of one of several forms; those of a source are all of one."""

    def recognises(sample: Sample) -> bool:
        mapped = sample.mapping.messages or sample.mapping.role or sample.mapping.content
        return not mapped and _form_of(sample.record, forms) is not None

    return TextFormat(name, recognises, partial(_read, forms=forms))


def _form_of(record: Any, forms: Forms) -> SourceForm | None:  # noqa: ANN401  # any JSON value
    """Return the form of a message, or of the first in a document; None where it has none."""
    for form in forms.values() if isinstance(record, dict) else ():
        inner = record.get(form.records or "")
        first = inner[0] if isinstance(inner, list) and inner else None
        if meets(record, form) or (isinstance(first, dict) and meets({**first, DOCUMENT: record}, form)):
            return form
    return None


def _read(stream: LineStream, context: Context, *, forms: Forms) -> Iterator[Outcome]:
    place = Place(context.source.name)
    first = (value.value for value in json_values(stream) if isinstance(value, JsonValue))
    form = next((form for record in first if (form := _form_of(record, forms)) is not None), None)
    if form is None and is_object(stream):
        form = _form_of(outline(stream), forms)
    if form is None:
        raise file_fault(place, f"no message of {', '.join(forms)} stands in it")
    tally, mute = _tally(stream, context, form), replace(context, notes=NoteBook())

    def rows() -> Iterator[DataRow | RecordFault]:
        for number, (spoken, place) in enumerate(_all_spoken(stream, mute, form), start=1):
            if isinstance(spoken, RecordFault):
                yield spoken
            elif spoken.thread is not None or tally.together:
                cells = {
                    "conversation_id": spoken.thread or context.source.label,
                    "role": tally.roles[spoken.speaker],
                    "content": spoken.content,
                    "speaker": spoken.name or spoken.speaker,
                    "timestamp": number if spoken.at is MISSING else spoken.at,
                }
                yield DataRow(cells, place, number)

    if tally.roles:
        yield from conversations_of(RowTable(_COLUMNS, rows), context)


@dataclass(frozen=True, slots=True)
class _Tally:
    """Who has which role, and whether what stands in no thread is one conversation."""

    roles: Mapping[str, str]
    together: bool


def _tally(stream: LineStream, context: Context, form: SourceForm) -> _Tally:
    """Look at all messages; raises `FileFault` where nobody is the assistant."""
    speakers: dict[str, tuple[bool, str | None]] = {}
    answers, alone = Counter[str](), Counter[str]()
    try:
        for spoken, _ in _all_spoken(stream, context, form, brief=True):
            if isinstance(spoken, RecordFault):
                continue
            speakers[spoken.speaker] = (spoken.bot, spoken.name)
            answers[spoken.speaker] += spoken.answers
            if spoken.thread is None:
                alone[spoken.speaker] += 1
    except FileFault:
        pass
    known = context.mapping.roles
    roles: dict[str, str] = {}
    for speaker, (bot, name) in speakers.items():
        stated = known.get(speaker) or known.get(name or "")
        roles[speaker] = stated or ("assistant" if bot else "user")
    if roles and "assistant" not in roles.values():
        likely = answers.most_common(1)[0][0]
        shown = ", ".join(
            excerpt(s if n is None else f"{n} ({s})") for s, (_, n) in list(speakers.items())[:5]
        )
        what = f"no bot speaks in this chat, and nothing says who the assistant is: it is of {shown}"
        hint = f"name the assistant, as in --map 'roles.{likely}=assistant'"
        raise file_fault(Place(context.source.name), what, hint)
    together = any(roles[speaker] == "assistant" for speaker in alone)
    if alone and not together:
        context.notes.leave_out(_ALONE, Place(context.source.name), count=alone.total())
    return _Tally(roles, together)


def _all_spoken(
    stream: LineStream, context: Context, form: SourceForm, *, brief: bool = False
) -> Iterator[tuple[_SpokenMessage | RecordFault, Place]]:
    """Yield what is said; `brief` who says it alone."""
    values, reader = listed(stream, context, form.records or "", form.document), _SpokenReader(form)
    for number, (head, value, entry) in enumerate(values, start=1):
        try:
            if isinstance(value, RecordFault):
                yield value, entry.place
                continue
            if not isinstance(value, dict):
                raise fault_in(entry, f"the message is {excerpt(value)}: not an object")
            if (spoken := reader.spoken(value, head, entry, number, brief=brief)) is not None:
                yield spoken, entry.place
        except RecordFault as fault:
            yield fault, entry.place


class _SpokenReader:
    """Reads messages of a form."""

    def __init__(self, form: SourceForm) -> None:
        self._form = form
        self._gone, self._edited, self._bot = map(_condition, (form.deleted, form.edited, form.bot))
        names = (form.group, form.speaker, form.name, " | ".join(paths_in(form.id)))
        self._texts = [_path(name) for name in names]
        self._at, self._versions = _path(form.order), _path(form.version[0] if form.version else None)

    def spoken(
        self, value: Mapping[str, Any], head: object, entry: Entry, number: int, *, brief: bool
    ) -> _SpokenMessage | None:
        """Return what a message says; None for one that is left out."""
        item = {**value, DOCUMENT: head}
        gone = self._gone(item)
        content = None if gone else said_in(item, self._form, entry, number, brief=brief)
        if content is None:
            entry.leave_out(DELETED if gone else _NOTICES)
            return None
        thread, speaker, name, id = [text_of(read(item)) or None for read in self._texts]
        if speaker is None:
            raise fault_in(entry, f"the message is {excerpt(value)}: it does not say who speaks")
        if self._edited(item):
            entry.recognise(EDITED)
        if isinstance(versions := self._versions(item), list) and len(versions) > 1:
            entry.leave_out(_VERSIONS, len(versions) - 1)
        answers = thread is not None and thread != id
        return _SpokenMessage(thread, speaker, name, self._bot(item), content or "", self._at(item), answers)


def _condition(text: str | None) -> Callable[[Any], bool]:
    return (lambda item: False) if text is None else condition_of(text)


def _path(text: str | None) -> Callable[[Any], Any]:
    return path_of(text) if text else lambda item: MISSING
