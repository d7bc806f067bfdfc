"""Records of a source that an entry describes: `form` says what an entry may say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from dialogauge.core import Conversation, RecordFault
from dialogauge.core.conversation import PREFIX
from dialogauge.data.field_map import FieldMap
from dialogauge.data.form import Calls, MessagePart, SourceForm, listed, scored
from dialogauge.data.formats.base import Context, Entry, Outcome, RecordFormat, TextFormat, fault_in
from dialogauge.data.formats.documents import ListedFormat, read_beside
from dialogauge.data.formats.fields import MESSAGE_KEYS, conversation_from
from dialogauge.data.formats.openai import NO_MESSAGES, MessageReader, unknown_role
from dialogauge.data.formats.order import in_time
from dialogauge.data.formats.payloads import is_message, messages_in
from dialogauge.data.formats.several import (
    all_branches,
    flat,
    is_document,
    merged,
    several,
    shown_branch,
    units_of,
)
from dialogauge.data.notes import IdPlaces, NoteBook, excerpt
from dialogauge.data.paths import HOLE, MISSING, condition_of, is_there, path_of, text_of, word_of
from dialogauge.data.ratings import score_at
from dialogauge.data.sources import LineStream

_EMPTY: Final = "messages were left out: they say nothing"
_VERSIONS: Final = "versions of messages are left out: they stand beside the chosen one"
ITEMS: Final = "@"
"""The messages of a record, in its paths."""

Item = dict[str, Any]


def described_format(name: str, forms: Mapping[str, SourceForm]) -> RecordFormat | TextFormat:
    """Return the format of records that have one of several forms."""
    described = _Described(name, forms)
    lists = tuple({form.records: None for form in forms.values() if form.records})
    if lists and not any(map(several, forms.values())):
        return ListedFormat(name, described.recognise, described.convert, takes_order=False, lists=lists)
    if not any(map(several, forms.values())):
        return RecordFormat(name, described.recognise, described.convert, takes_order=False)
    return TextFormat(name, lambda sample: described.recognise(sample.record, sample.mapping), described.read)


@dataclass(frozen=True, slots=True)
class _Described:
    """The forms of a source."""

    name: str
    forms: Mapping[str, SourceForm]

    def fits(self, record: Any) -> SourceForm | None:  # noqa: ANN401  # any JSON value
        return next((form for form in self.forms.values() if meets(record, form)), None)

    def recognise(self, record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
        if mapping.messages or mapping.role or mapping.content:
            return False
        return self.fits(record) is not None or any(is_document(record, form) for form in self.forms.values())

    def form_of(self, record: Any, entry: Entry) -> SourceForm:  # noqa: ANN401  # any JSON value
        if (form := self.fits(record)) is not None:
            return form
        own = {key: record[key] for key in record if key[:1] != "@"} if isinstance(record, dict) else record
        kinds = "" if [*self.forms] == [self.name] else f" ({', '.join(self.forms)})"
        what = f"the record is {excerpt(own)}: no conversation of {self.name}{kinds}"
        raise fault_in(entry, what, f"such a record has {', '.join(listed([*self.forms.values()][-1].when))}")

    def convert(self, record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
        return converted(record, self.form_of(record, entry), entry)

    def read(self, stream: LineStream, context: Context) -> Iterator[Outcome]:
        if any(form.merge for form in self.forms.values()):
            mute = replace(context, notes=NoteBook(), memo={})
            return merged(self._each(stream, mute), self._each(stream, context))
        return (outcome for outcome, _ in self._each(stream, context))

    def _each(self, stream: LineStream, context: Context) -> Iterator[tuple[Outcome, Entry]]:
        document = next((form for form in self.forms.values() if form.records is not None), None)
        for record, entry in units_of(stream, context, document, self.fits):
            try:
                if isinstance(record, RecordFault):
                    raise record  # as any other
                form = self.form_of(record, entry)
            except RecordFault as fault:
                yield fault, entry
            else:
                yield from ((outcome, entry) for outcome in conversations(record, form, entry))


def meets(record: Any, form: SourceForm) -> bool:  # noqa: ANN401  # any JSON value
    """Say whether a record meets all conditions of a form."""
    return all(condition_of(one)(record) for one in listed(form.when))


def converted(record: Any, form: SourceForm, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    """Return the conversation in a record; raises `RecordFault` where it has none."""
    return next(_branches(record, form, entry))


def conversations(record: Any, form: SourceForm, entry: Entry) -> Iterator[Outcome]:  # noqa: ANN401
    """Yield the conversations in a record: of its sides, of what it lists, and of the branches of a tree."""
    ids: dict[str, int] = {}
    if why := next((why for condition, why in form.ignore.items() if condition_of(condition)(record)), None):
        entry.recognise(why)
        return
    for side in form.sides or (form,):
        values = [record] if side.each is None else path_of(side.each)(record)
        for number, value in enumerate(values if isinstance(values, list) else [values], start=1):
            try:
                if side.each is not None and not isinstance(value, dict):
                    raise fault_in(entry, f"{side.each} {number} is {excerpt(value)}: not an object")
                one = value if side.each is None else {**record, **value, "@number": number}
                for talk in _branches(one, side, entry):
                    ids[talk.id] = ids.get(talk.id, 0) + 1
                    yield talk if ids[talk.id] == 1 else _renamed(talk, f"{talk.id}__{ids[talk.id]}")
            except RecordFault as fault:
                yield fault


def _one_of(messages: list[Item]) -> Item:
    """Return messages of one role as one."""
    blocks = [
        block
        for one in messages
        for block in (
            one["content"] if isinstance(one["content"], list) else [{"type": "text", "text": one["content"]}]
        )
    ]
    return messages[0] if len(messages) == 1 else {**messages[0], "content": blocks}


def _renamed(talk: Conversation, id: str) -> Conversation:
    ratings = tuple(replace(rating, conversation_id=id) for rating in talk.ratings)
    place = None if talk.place is None else replace(talk.place, conversation_id=id)
    return replace(talk, id=id, ratings=ratings, place=place)


def _branches(record: Any, form: SourceForm, entry: Entry) -> Iterator[Conversation]:  # noqa: ANN401
    """Yield the conversation of a record, or those on all branches of its tree."""
    record = _with_context(record, form, entry)
    for notes, note in ((form.says, entry.recognise), (form.doubts, entry.assume)):
        for condition, text in notes.items():
            if condition_of(condition)(record):
                note(text)
    for condition, text in form.needs.items():
        if not condition_of(condition)(record):
            raise fault_in(entry, HOLE.sub(lambda hole: excerpt(_there(hole[1], record)), text))
    for path, text in form.rest.items():
        if isinstance(several := path_of(path)(record), list) and len(several) > 1:
            entry.context.notes.recognise(text, entry.place, count=len(several) - 1)
    items = _items(record, form, entry)
    if form.tree is None or not form.tree.all:
        yield _conversation({**record, ITEMS: items}, _ordered(items, record, form, entry), form, entry)
        return
    rated: set[int] = set()
    for branch in all_branches([*flat(items, form.tree, None, entry)], form.tree, entry):
        shown = [{**item, "@rated": id(item) in rated} for item in branch]
        rated |= {*map(id, branch)}
        yield _conversation({**record, ITEMS: shown}, shown, form, entry)


def _there(path: str, record: Any) -> Any:  # noqa: ANN401  # any JSON value
    value = path_of(path)(record)
    return None if value is MISSING else value


def _with_context(record: Any, form: SourceForm, entry: Entry) -> Item:  # noqa: ANN401  # any JSON value
    """Return a record with what its paths find beside it."""
    label = entry.context.source.label
    about = {"@made": entry.made_id, "@file": label, "@stem": re.sub(r"\.jsonl?(\.gz)?$", "", label)}
    own: Item = {**(record if isinstance(record, dict) else {}), **about}
    if (file := form.beside) is None:
        return own
    kind = list if file.list else dict
    beside = read_beside(entry.context, file.file, file.what, kind, above=file.above)
    own |= {"@beside": beside, "@document": own.get("@document") or beside}
    key = None if file.key is None else _there(file.key, own)
    if is_there(key) and path_of(f"@beside[{{{file.key}}}]")(own) is MISSING:
        what = f"records are read without the {file.what} that they name: these were not found ({file.file})"
        entry.assume(what, hint=f"put the file beside them, or up to {file.above} folders above")
    return own


def _conversation(record: Item, items: Sequence[Item], form: SourceForm, entry: Entry) -> Conversation:
    """Return the conversation of the messages of a record."""
    spoken = [
        one
        for number, item in enumerate(items, start=1)
        for one in _Speaker(record, form, entry, number).messages(item)
    ]
    if form.plain == "items":
        spoken = messages_in(spoken) or []
    if form.together:
        spoken = [_one_of([*run]) for _, run in groupby(spoken, lambda one: one["role"])]
    if not spoken and not form.absent:
        raise fault_in(entry, "nobody says anything in it" if items else "the conversation has no messages")
    if form.answer is not None:
        reply = path_of(form.answer)(record)
        if not isinstance(reply, str):
            raise fault_in(entry, f"the {form.answer} is {excerpt(_there(form.answer, record))}: not a text")
        spoken.append({"role": "assistant", "content": reply})
    system = None if form.system is None or not spoken else _lines(path_of(form.system)(record))
    prompt = [{"role": "system", "content": system}] if system else []
    labels = MESSAGE_KEYS | {scored(path)[1] for path in form.rated_replies}
    ordered = form.order is not None or form.tree is not None
    reader = MessageReader(entry, ordered=ordered, label_keys=labels)
    messages = reader.read([*prompt, *spoken]) if spoken else ()
    if not spoken:
        entry.recognise(NO_MESSAGES)
    about = _about(record, form, entry, rated=bool(spoken))
    talk = conversation_from(about, messages, reader.rated, entry, messages_key="messages")
    more = {name: of for name, path in form.metadata.items() if is_there(of := _kept(path, record))}
    if form.judged == "last" and messages:
        more[PREFIX] = talk.turns[-1].start
    return replace(talk, metadata={**talk.metadata, **more}) if more else talk


def _kept(paths: str | Mapping[str, str], record: Item) -> Any:  # noqa: ANN401  # any JSON value
    """Return what stands under a path, or the tables that are made of a list."""
    if isinstance(paths, str):
        return path_of(paths)(record)
    rows, columns = path_of(paths["list"])(record), {k: path_of(of) for k, of in paths.items() if k != "list"}
    rows = [{name: read(row) for name, read in columns.items()} for row in rows if isinstance(row, dict)]
    return [{name: of for name, of in row.items() if of is not MISSING} for row in rows]


def _lines(value: object) -> str | None:
    """Return a text, or a table as lines."""
    if not isinstance(value, dict):
        return text_of(value)
    lists = {key: ", ".join(map(str, of)) if isinstance(of, list) else of for key, of in value.items()}
    return "\n".join(f"{key}: {of}" for key, of in lists.items() if is_there(of))


def _items(record: Any, form: SourceForm, entry: Entry) -> list[Item]:  # noqa: ANN401  # any JSON value
    """Return the messages of a record as they stand there."""
    if form.exchange is not None:
        return _exchanged(record, form.exchange, entry)
    items: list[Any] = []
    values = [path_of(path)(record) for path in listed(form.messages)]
    if all(value is MISSING for value in values) and not form.absent:
        keys = (
            ", ".join(repr(key) for key in record if key[:1] != "@")
            if isinstance(record, dict)
            else excerpt(record)
        )
        what = f"the record has nothing under {' or '.join(map(repr, listed(form.messages)))}"
        raise fault_in(entry, what, f"it has {keys}")
    for value in values:
        if value is not MISSING and not isinstance(value, list | dict | None):
            raise fault_in(entry, f"the messages are {excerpt(value)}: not a list")
        items += value if isinstance(value, list) else [] if value is MISSING or value is None else [value]
    if form.version is not None:
        items = [_chosen(item, number, form.version, entry) for number, item in enumerate(items, start=1)]
    for number, item in enumerate(items, start=1):
        if not isinstance(item, dict):
            raise fault_in(entry, f"message {number} is {excerpt(item)}: not an object")
    if form.inner is not None:
        inner = path_of(form.inner)
        each = (of if isinstance(of := inner(item), list) else [item] for item in items)
        items = [one for several in each for one in several]
    if form.same is not None and len({word_of(path_of(form.same)(item)) for item in items}) > 1:
        what = f"the messages differ in {form.same}: they are of several conversations"
        raise fault_in(entry, what, "give each a record of its own")
    return items


def _exchanged(record: Item, paths: tuple[str, str], entry: Entry) -> list[Item]:
    """Return prompts and replies as messages, in turn."""
    prompts, replies = (_texts(path_of(path)(record), path, entry) for path in paths)
    if len(prompts) != len(replies):
        what = f"there are {len(prompts)} prompts ({paths[0]}) and {len(replies)} replies ({paths[1]})"
        raise fault_in(entry, what)
    pairs = zip(prompts, replies, strict=True)
    return [
        {"role": role, "content": text}
        for pair in pairs
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]


def _texts(value: Any, path: str, entry: Entry) -> list[str]:  # noqa: ANN401  # any JSON value
    """Return a text, or those of a list, which may stand in a text as JSON."""
    if isinstance(value, str):
        parsed = path_of("text!")({"text": value}) if value.startswith("[") else None
        value = parsed if isinstance(parsed, list) else [value]
    texts = [one or "" for one in value] if isinstance(value, list) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        raise fault_in(
            entry, f"{path} is {excerpt(None if value is MISSING else value)}: neither text nor texts"
        )
    return texts


def _chosen(item: Any, number: int, version: tuple[str, str], entry: Entry) -> Any:  # noqa: ANN401
    """Return the version of a message that was chosen; an item without versions is one itself."""
    versions, chosen = (path_of(path)(item) for path in version)
    if versions is MISSING:
        return item
    at = chosen if isinstance(chosen, int) else 0
    if not isinstance(versions, list) or not 0 <= at < len(versions):
        raise fault_in(entry, f"message {number} is {excerpt(item)}: it has no chosen version")
    if len(versions) > 1:
        entry.context.notes.recognise(_VERSIONS, entry.place, count=len(versions) - 1)
    return versions[at]


def _ordered(items: list[Item], record: Any, form: SourceForm, entry: Entry) -> Sequence[Item]:  # noqa: ANN401
    """Return the messages that are read, from the first to the last."""
    if form.tree is not None:
        return shown_branch([*flat(items, form.tree, None, entry)], record, form.tree, entry)
    if form.order is not None:
        ordered = replace(entry.context, mapping=FieldMap(order_by=form.order))
        return in_time(items, Entry(ordered, entry.place, entry.made_id))
    return items


def said_in(item: Item, form: SourceForm, entry: Entry, number: int) -> Any:  # noqa: ANN401
    """Return the text or the blocks of a message that is a record itself; None for one that is left out."""
    return _Speaker(item, form, entry, number).content(item)


@dataclass(frozen=True, slots=True)
class _Speaker:
    """Says what a message of a record says, as OpenAI writes it."""

    record: Any
    form: SourceForm
    entry: Entry
    number: int

    def messages(self, item: Item) -> Iterator[Item]:
        """Yield what a message says: one message, none, or a prompt and its reply."""
        form = self.form
        if why := self._left_out(item):
            self.entry.recognise(f"messages were left out: {form.left_out or why}")
            return
        for condition, text in form.messages_need.items():
            if not condition_of(condition)(item):
                raise fault_in(self.entry, f"message {self.number} is {excerpt(item)}: {text}")
        if form.pair is not None:
            yield from self._pair(item, *form.pair)
            return
        if form.plain or form.exchange is not None:
            yield from self._plain(item)
            return
        role, content = self._role(item), self._content(item)
        if content in ("", []):
            self.entry.recognise(f"messages were left out: {form.left_out}" if form.left_out else _EMPTY)
            return
        kept = {key: item[key] for key in form.keep if is_there(item.get(key))}
        yield {"role": role, "content": content, **kept, **(self._rated(item) if role == "assistant" else {})}

    def _pair(self, item: Item, prompt: str, reply: str) -> Iterator[Item]:
        """Yield prompts, calls and replies of a message."""
        for text in self._said(item, prompt):
            yield {"role": "user", "content": self._edited(text)}
        for block in () if self.form.tools is None else self._calls(item, self.form.tools):
            yield {"role": "tool" if block["type"] == "tool_result" else "assistant", "content": [block]}
        for text in self._said(item, reply):
            yield {"role": "assistant", "content": text}

    def _said(self, item: Item, path: str) -> list[str]:
        value = path_of(path)(item)
        several = value if isinstance(value, list) else [] if value in (None, MISSING) else [value]
        texts = [text_of(one) for one in several]
        if None in texts:
            raise fault_in(self.entry, f"message {self.number} has under {path} {excerpt(value)}: no text")
        return [text for text in texts if text is not None]

    def _plain(self, item: Item) -> Iterator[Item]:
        """Yield a message that is as OpenAI writes it."""
        own = {**item, **{key: path_of(path)(item) for key, path in self.form.set.items()}}
        if self.form.set:
            own = {key: of for key, of in own.items() if of not in (None, MISSING) or key == "content"}
        if (role := self.form.roles.get(word_of(own.get("role")) or "")) is not None:
            own["role"] = role
        if self.form.set and own.get("role") == "user" and not is_there(own.get("content")):
            self.entry.recognise(f"messages were left out: {self.form.left_out or 'they say nothing'}")
            return
        yield {**own, **self._rated(item)}

    def _rated(self, item: Item) -> Item:
        return {} if item.get("@rated") else _scores(item, self.form.rated_replies)

    def _edited(self, text: str) -> str:
        for pattern, instead in self.form.edit.items():
            text = re.sub(pattern, instead, text)
        return text

    def content(self, item: Item) -> Any:  # noqa: ANN401  # text or blocks
        """Return what a message says; None for one that is left out."""
        return None if self._left_out(item) else self._content(item)

    def _left_out(self, item: Item) -> str | None:
        """Return why a message is left out; None for one that is read."""
        if self.form.plain == "items" and not is_message(item):
            return "of no known form"
        for path, values in self.form.skip.items():
            words, word = [*map(word_of, values)], word_of(path_of(path)(item))
            if word in words or any(re.match(one[1:], word or "") for one in words if one and one[0] == "~"):
                return f"{path} is {word}"
        for path, values in self.form.only.items():
            value, words = path_of(path)(item), [*map(word_of, values)]
            if value is MISSING and "null" not in words:
                raise fault_in(self.entry, f"message {self.number} is {excerpt(item)}: it has no {path!r}")
            if (word := word_of(None if value is MISSING else value)) not in words:
                return f"{path} is {word}"
        return None

    def _role(self, item: Item) -> str:
        if self.form.asker is not None:
            own, asking = path_of(self.form.asker[0])(item), path_of(self.form.asker[1])(self.record)
            if not is_there(own):
                raise fault_in(
                    self.entry, f"message {self.number} is {excerpt(item)}: it does not say who speaks"
                )
            if not is_there(asking):
                self.entry.assume("records do not say who asks: who writes first is read as the user")
                asking = path_of(self.form.asker[0])(self.record[ITEMS][0])
            return "user" if own == asking else "assistant"
        value, roles = path_of(self.form.role or "role")(item), self.form.roles
        if (name := word_of(value)) is None:
            raise fault_in(
                self.entry, f"message {self.number} is {excerpt(item)}: it does not say who speaks"
            )
        role = roles.get(name) or roles.get("*") or self.entry.mapping.role_of(name)
        if role is None:
            raise fault_in(self.entry, *unknown_role(self.number, name))
        return role

    def _content(self, item: Item) -> Any:  # noqa: ANN401  # text or blocks
        blocks = [*self._blocks(item, self.form)]
        if self.form.join is not None:
            blocks = [*_joined(blocks, self.form.join)]
        plain = len(blocks) == 1 and blocks[0].get("type") == "text"
        return blocks[0]["text"] if plain and (self.form.join == "" or not self.form.parts) else blocks

    def _blocks(self, item: Item, part: MessagePart) -> Iterator[Item]:
        """Yield what a message, or a part of one, says: reasoning, text, calls with results, and files."""
        thoughts = MISSING if part.thinking is None else path_of(part.thinking)(item)
        for thought in thoughts if isinstance(thoughts, list) else [thoughts]:
            if is_there(thought):
                yield {"type": "thinking", "thinking": thought}
        calls = [] if part.tools is None else [*self._calls(item, part.tools)]
        yield from calls if part.tools is not None and part.tools.first else ()
        for path in listed(part.text) or (("content",) if part is self.form else ()):
            yield from self._text(path_of(path)(item))
        yield from calls if part.tools is not None and not part.tools.first else ()
        shown = None if part.shown is None else path_of(part.shown)(item)
        for kind, of in shown.items() if isinstance(shown, dict) else ():
            if is_there(of):
                yield {"type": f"data-{kind}", kind: of}
        files = MISSING if part.files is None else path_of(part.files)(item)
        if isinstance(files, dict) and (key := re.match(r"\w+", part.files or "")):
            files = [{key[0]: files}]
        for file in files if isinstance(files, list) else [files] if is_there(files) else []:
            yield {"type": "file", **file} if isinstance(file, dict) else {"type": "file", "name": str(file)}

    def _text(self, value: Any) -> Iterator[Item]:  # noqa: ANN401  # any JSON value
        if isinstance(value, list) and any(isinstance(one, dict) for one in value):
            for one in ({"type": "text", "text": one} if isinstance(one, str) else one for one in value):
                parts = (part for kind, part in self.form.parts.items() if _is_of(one, kind))
                part = next(parts, None)
                yield from [one] if part is None else self._blocks(one, part)
            return
        texts = value if isinstance(value, list) else [value]
        text = "\n".join(texts) if all(isinstance(one, str) for one in texts) else None
        if text is None and is_there(value):
            raise fault_in(self.entry, f"message {self.number} says {excerpt(value)}: no text")
        if text and (text := self._edited(text)):
            yield {"type": "text", "text": text}

    def _calls(self, item: Item, tools: Calls) -> Iterator[Item]:
        calls = path_of(tools.list)(item)
        for number, call in enumerate(calls if isinstance(calls, list) else [calls], start=1):
            if calls in (MISSING, None):
                return
            if not isinstance(call, dict):
                raise fault_in(self.entry, f"message {self.number}: a call is {excerpt(call)}: not an object")
            id, name = (word_of(path_of(path)(call)) for path in (tools.id, tools.name))
            id = id or f"{self.number}.{number}"
            value = path_of(tools.arguments)(call)
            if name is not None:
                yield {"type": "tool_use", "id": id, "name": name, "input": {} if value is MISSING else value}
            result = MISSING if tools.result is None else path_of(tools.result)(call)
            if is_there(result):
                yield {"type": "tool_result", "tool_use_id": id, "name": name, "content": result}


def _is_of(part: Any, kind: str) -> bool:  # noqa: ANN401  # any JSON value
    """Say whether a part of a message is of a type, or meets a condition."""
    condition = kind if {*kind} & {*"=:.| "} else f"type={kind}"
    return condition_of(condition)(part)


def _joined(blocks: Sequence[Item], between: str) -> Iterator[Item]:
    """Yield blocks in which texts that stand one after the other are one."""
    for kind, group in groupby(blocks, lambda block: block.get("type")):
        for texts in [[*group]] if kind in ("text", "thinking") else ():
            yield {"type": kind, kind: between.join(str(one.get(kind, "")) for one in texts)}
        yield from group


_NAMES: Final = {
    "user": "user_id",
    "candidate": "model",
    "context": "scenario_description",
}
"""What a form calls otherwise than records of ours."""
_CODES: Final = (
    "english en, chinese zh, russian ru, french fr, spanish es, german de, portuguese pt, italian it, "
    "japanese ja, korean ko, turkish tr, arabic ar, vietnamese vi, indonesian id, polish pl, ukrainian uk"
)
LANGUAGES: Final = dict(pair.split() for pair in _CODES.split(", "))
"""Names of languages -> their codes."""


def _about(record: Item, form: SourceForm, entry: Entry, *, rated: bool) -> Item:
    """Return what holds for a conversation: what a form names, its ratings, and the rest as it stands."""
    named: Item = {}
    for key in ("user", "candidate", "scenario", "context", "profile", "language"):
        if (path := getattr(form, key)) is None:
            continue
        value = path_of(path)(record)
        if key in ("candidate", "scenario") and isinstance(value, list):
            value = "+".join(sorted({one for one in value if isinstance(one, str) and one}))
        if is_there(value):
            words = LANGUAGES if key == "language" else form.words.get(key, {})
            word = value.casefold() if key == "language" and isinstance(value, str) else word_of(value)
            named[_NAMES.get(key, key)] = words.get(word or "", value)
    if (own := _id(record, form, entry)) is not None:
        named["conversation_id"] = own
    scores = _scores(record, form.rated) if rated else {}
    if scores:
        named["ratings"] = [*_ratings(record, scores, form, named.get("model"), entry)]
    used = {ITEMS, *form.drop, *(path.split(".")[0] for path in _used(form))}
    kept = {*record} if form.about is None else {*form.about}
    rest = {
        key: record[key] for key in record if key in kept - used and is_there(record[key]) and key[:1] != "@"
    }
    return {**rest, **named}


def _id(record: Item, form: SourceForm, entry: Entry) -> str | None:
    """Return the first id of a form that no conversation before has."""
    paths = listed(form.id)
    ids = [id for path in paths if (id := text_of(path_of(path)(record)))]
    if ids and entry.made_id in ids[0]:
        hint = "give each an id of its own"
        entry.assume(f"conversations have no id: made from {entry.made_from}", hint)
    if len(ids) < 2:
        return ids[0] if ids else None
    before = entry.context.memo.setdefault("ids", IdPlaces())
    for id in ids[:-1]:
        if before.add(id, 0, entry.place.line or 0) is None:
            return id
    entry.recognise("conversations have the id of one before them: more of them is added to it")
    return ids[-1]


def _ratings(
    record: Item, scores: Item, form: SourceForm, candidate: str | None, entry: Entry
) -> Iterator[Item]:
    """Yield the ratings of a conversation."""
    note, rater = (text_of(path_of(path)(record)) if path else None for path in (form.note, form.rater))
    turn = None if form.rated_turn is None else path_of(form.rated_turn)(record)
    turn = turn if type(turn) is int and turn > 0 else None
    scale = MISSING if form.scale is None else path_of(form.scale)(record)
    beside = {"note": note, "rater": rater, "candidate": candidate, "turn": turn}
    for name, value in scores.items():
        if not name:
            raise fault_in(entry, "a rating is of no dimension", "name what was rated")
        score = score_at(entry.place, f"the rating of {name}", value)
        low_high = scale if isinstance(scale, list) and len(scale) == 2 else None
        if low_high and (isinstance(score, str) or not low_high[0] <= score <= low_high[1]):
            what = f"the rating of {name} is {excerpt(score)}: off its scale {low_high[0]:g}-{low_high[1]:g}"
            raise fault_in(entry, what, "mend the score, or the scale beside it")
        yield {"dimension": name, "score": score, **{key: of for key, of in beside.items() if of}}


def _used(form: SourceForm) -> Iterator[str]:
    """Yield the paths of a record that are read, and so are no metadata."""
    paths = [*listed(form.messages), *(where for path in form.rated if "." not in (where := scored(path)[0]))]
    paths += [*listed(form.id), *(form.exchange or ()), *(form.pair or () if form.messages == "." else ())]
    paths += [of for of in (form.system, form.context, form.profile, form.answer) if of]
    paths += form.candidate.split(" | ") if form.candidate and "." not in form.candidate else []
    yield from (one.strip().lstrip("<") for path in paths for one in path.split(" | ") if "{" not in one)


def _scores(record: Any, paths: Mapping[str, Mapping[str, Any]]) -> Item:  # noqa: ANN401
    """Return the scores under paths by their dimensions, in the words of a form."""
    scores: Item = {}
    for path, words in paths.items():
        where, dimension = scored(path)
        value = path_of(where)(record)
        if "*" in where and isinstance(value, list):
            value = value[-1] if value else MISSING
        score = words.get(word_of(value) or "", MISSING) if words else value
        if score is not MISSING and score not in (None, ""):
            name = text_of(path_of(dimension)(record)) if "{" in dimension else dimension
            scores.setdefault(name or "", score)
    return scores
