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
from dialogauge.data.formats.facts import ITEMS, about_of, kept_of, scores_of
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
from dialogauge.data.notes import NoteBook, excerpt
from dialogauge.data.paths import HOLE, MISSING, condition_of, is_there, path_of, text_of, there, word_of
from dialogauge.data.sources import LineStream

_EMPTY: Final = "they say nothing"
_VERSIONS: Final = "versions beside the one that was chosen"
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
    for side in form.sides or (form,):
        for number, one in enumerate(_units(record, side.each), start=1):
            try:
                if not isinstance(one, dict) and side.each is not None:
                    raise fault_in(entry, f"{side.each} {number} is {excerpt(one)}: no object and no name")
                for talk in _branches(one, side, entry):
                    ids[talk.id] = ids.get(talk.id, 0) + 1
                    yield talk if ids[talk.id] == 1 else _renamed(talk, f"{talk.id}__{ids[talk.id]}")
            except RecordFault as fault:
                yield fault


def _units(record: Any, each: str | None) -> list[Any]:  # noqa: ANN401  # any JSON value
    """Return what in a record is a conversation each, with what the record says beside."""
    if each is None:
        return [record]
    values = path_of(each)(record)
    if isinstance(values, list) and all(isinstance(one, str) for one in values):
        return [{**record, "@each": one} for one in dict.fromkeys(values)]
    return [
        {**record, **one, "@number": number} if isinstance(one, dict) else one
        for number, one in enumerate(values if isinstance(values, list) else [values], start=1)
    ]


def _answer_calls(spoken: list[Item]) -> None:
    """Give each result of a tool without an id that of the last call of its name, else of the last call."""
    calls: list[Item] = []
    for one in spoken:
        if isinstance(one.get("content"), list):
            calls += [b for b in one["content"] if isinstance(b, dict) and b.get("type") == "tool_use"]
        elif one.get("role") == "tool" and calls and "tool_call_id" not in one:
            own = [call for call in calls if call["name"] == one.get("name")] or calls
            one["tool_call_id"] = own[-1]["id"]


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
    for condition, text in form.needs.items():
        if not condition_of(condition)(record):
            raise fault_in(entry, _worded(text, record))
    if why := next((why for condition, why in form.ignore.items() if condition_of(condition)(record)), None):
        entry.leave_out(why, what="records")
        return
    for path, text in form.rest.items():
        if isinstance(values := path_of(path)(record), list) and len(values) > 1:
            entry.leave_out(text, len(values) - 1)
    items = _items(record, form, entry)
    if form.tree is None or not form.tree.all:
        shown = _ordered(items, record, form, entry)
        if form.tree is not None and form.tree.message is not None:
            messages = map(path_of(form.tree.message), shown)
            items = shown = [message for message in messages if isinstance(message, dict)]
        yield _conversation({**record, ITEMS: items}, shown, form, entry)
        return
    rated: set[int] = set()
    for branch in all_branches([*flat(items, form.tree, None, entry)], form.tree, entry):
        shown = [{**item, "@rated": id(item) in rated} for item in branch]
        rated |= {*map(id, branch)}
        yield _conversation({**record, ITEMS: shown}, shown, form, entry)


def _worded(text: str, record: Any) -> str:  # noqa: ANN401  # any JSON value
    """Return words about a record with what stands there."""
    return HOLE.sub(lambda hole: excerpt(there(hole[1], record)), text)


def _with_context(record: Any, form: SourceForm, entry: Entry) -> Item:  # noqa: ANN401  # any JSON value
    """Return a record with what its paths find beside it."""
    label, path = entry.context.source.label, entry.context.source.path
    about = {"@made": entry.made_id, "@file": label, "@stem": re.sub(r"\.jsonl?(\.gz)?$", "", label)}
    own: Item = {**(record if isinstance(record, dict) else {}), **about}
    own["@path"] = [] if path is None else [*path.resolve().parts[:-1], path.name.removesuffix(".gz")]
    if (file := form.beside) is None:
        return own
    kind = list if file.list else dict
    beside = read_beside(entry.context, file.file, file.what, kind, above=file.above)
    own |= {"@beside": beside, "@document": own.get("@document") or beside}
    key = None if file.key is None else there(file.key, own)
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
    _answer_calls(spoken)
    if form.plain == "items":
        spoken = messages_in(spoken) or []
    if form.together:
        spoken = [_one_of([*run]) for _, run in groupby(spoken, lambda one: one["role"])]
    if not spoken and not form.absent:
        raise fault_in(entry, "nobody says anything in it" if items else "the conversation has no messages")
    if form.answer is not None:
        reply = path_of(form.answer)(record)
        if not isinstance(reply, str):
            raise fault_in(entry, f"the {form.answer} is {excerpt(there(form.answer, record))}: not a text")
        spoken.append({"role": "assistant", "content": reply})
    system = None if form.system is None or not spoken else text_of(path_of(form.system)(record))
    prompt = [{"role": "system", "content": system}] if system else []
    labels = MESSAGE_KEYS | {scored(path)[1] for path in form.rated_replies}
    ordered = form.order is not None or form.tree is not None
    reader = MessageReader(entry, ordered=ordered, label_keys=labels)
    messages = reader.read([*prompt, *spoken]) if spoken else ()
    if not spoken:
        entry.recognise(NO_MESSAGES)
    for notes, note in ((form.says, entry.recognise), (form.doubts, entry.assume)):
        for condition, text in notes.items():
            if condition_of(condition)(record):
                note(text)
    about = about_of(record, form, entry, rated=bool(spoken))
    talk = conversation_from(about, messages, reader.rated, entry, messages_key="messages")
    more = {name: of for name, path in form.metadata.items() if is_there(of := kept_of(path, record))}
    if form.judged == "last" and messages:
        more[PREFIX] = talk.turns[-1].start
    return replace(talk, metadata={**talk.metadata, **more}) if more else talk


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
        entry.leave_out(_VERSIONS, len(versions) - 1)
    return versions[at]


def _ordered(items: list[Item], record: Any, form: SourceForm, entry: Entry) -> Sequence[Item]:  # noqa: ANN401
    """Return the messages that are read, from the first to the last."""
    if form.tree is not None:
        return shown_branch([*flat(items, form.tree, None, entry)], record, form.tree, entry)
    if form.order is not None:
        ordered = replace(entry.context, mapping=FieldMap(order_by=form.order))
        return in_time(items, Entry(ordered, entry.place, entry.made_id))
    return items


def said_in(item: Item, form: SourceForm, entry: Entry, number: int, *, brief: bool = False) -> Any:  # noqa: ANN401
    """Return the text or the blocks of a message that is a record itself; None for one that is left out.

    Of one that is read, `brief` returns nothing of what it says.
    """
    speaker = _Speaker(item, form, entry, number)
    if speaker.why_left_out(item):
        return None
    return "" if brief else speaker.content(item)


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
        if why := self.why_left_out(item):
            self.entry.leave_out(form.left_out or why)
            return
        for condition, text in form.messages_need.items():
            if not condition_of(condition)({**item, "@record": self.record}):
                raise fault_in(self.entry, f"message {self.number}: {_worded(text, item)}")
        if form.pair is not None:
            yield from self._pair(item, *form.pair)
            return
        if form.plain or form.exchange is not None:
            yield from self._plain(item)
            return
        role, content = self._role(item), self.content(item)
        if content in ("", []) and form.silent:
            content = ""
        elif content in ("", []):
            self.entry.leave_out(form.left_out or _EMPTY)
            return
        kept = {key: item[key] for key in form.keep if is_there(item.get(key))}
        kept |= {key: of for key, path in form.set.items() if is_there(of := path_of(path)(item))}
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
            self.entry.leave_out(self.form.left_out or _EMPTY)
            return
        yield {**own, **self._rated(item)}

    def _rated(self, item: Item) -> Item:
        """Return the scores of a reply, with what was said with them, and by whom."""
        item, form = {**item, "@record": self.record}, self.form
        scores = {} if item.get("@rated") else scores_of(item, form.rated_replies)
        note, rater = (there(path, item) if path else None for path in (form.reply_note, form.reply_rater))
        if note is None and rater is None:
            return scores
        first = next(iter(scores), None)
        beside = {"rater": rater} if rater else {}
        return {
            name: {"score": of, **beside, **({"note": note} if note and name == first else {})}
            for name, of in scores.items()
        }

    def _edited(self, text: str) -> str:
        for pattern, instead in self.form.edit.items():
            text = re.sub(pattern, instead, text)
        return text

    def why_left_out(self, item: Item) -> str | None:
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
        if (sides := self.form.asker or self.form.replier) is not None:
            own, asking = path_of(sides[0])(item), path_of(sides[1])(self.record)
            if not is_there(own):
                raise fault_in(
                    self.entry, f"message {self.number} is {excerpt(item)}: it does not say who speaks"
                )
            if not is_there(asking):
                self.entry.assume("records do not say who asks: who writes first is read as the user")
                asking = path_of(sides[0])(self.record[ITEMS][0])
            return "user" if (own == asking) is (self.form.asker is not None) else "assistant"
        value, roles = path_of(self.form.role or "role")(item), self.form.roles
        if value in (MISSING, None):
            raise fault_in(
                self.entry, f"message {self.number} is {excerpt(item)}: it does not say who speaks"
            )
        name = word_of(value) or ""
        role = roles.get(name) or roles.get("*") or self.entry.mapping.role_of(name)
        if role is None:
            raise fault_in(self.entry, *unknown_role(self.number, value))
        return role

    def content(self, item: Item) -> Any:  # noqa: ANN401  # text or blocks
        """Return what a message says."""
        blocks = [*self._blocks(item, self.form)]
        if self.form.join is not None:
            blocks = [*_joined(blocks, self.form.join)]
        plain = len(blocks) == 1 and blocks[0].get("type") == "text"
        return blocks[0]["text"] if plain and (self.form.join == "" or not self._has_parts(item)) else blocks

    def _has_parts(self, item: Item) -> bool:
        values = (path_of(path)(item) for path in listed(self.form.text) if self.form.parts)
        return any(isinstance(one, dict) for of in values if isinstance(of, list) for one in of)

    def _blocks(self, item: Item, part: MessagePart) -> Iterator[Item]:
        """Yield what a message, or a part of one, says: reasoning, text, calls with results, and files."""
        thoughts = MISSING if part.thinking is None else path_of(part.thinking)(item)
        for thought in thoughts if isinstance(thoughts, list) else [thoughts]:
            if is_there(thought):
                yield {"type": "thinking", "thinking": thought}
        calls = [] if part.tools is None else [*self._calls(item, part.tools)]
        yield from calls if part.tools is not None and part.tools.first else ()
        if calls and part.tools is not None and part.tools.only:
            yield from calls
            return
        if part.block is not None:
            yield {**item, "type": part.block}
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
            for one in value:
                if isinstance(one, str):
                    yield from [{"type": "text", "text": one}] if one else []
                    continue
                if not isinstance(one, dict):
                    raise fault_in(self.entry, f"message {self.number} says {excerpt(one)}: no text")
                part = next((part for kind, part in self.form.parts.items() if _is_of(one, kind)), None)
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
