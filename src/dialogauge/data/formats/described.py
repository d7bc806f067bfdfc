"""Records of a source that an entry describes: `form` says what an entry may say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from dialogauge.core import Conversation
from dialogauge.data.field_map import FieldMap
from dialogauge.data.form import Calls, MessagePart, SourceForm, Tree, listed, scored
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.documents import ListedFormat
from dialogauge.data.formats.fields import conversation_from
from dialogauge.data.formats.openai import NO_MESSAGES, MessageReader, unknown_role
from dialogauge.data.formats.order import branch, in_time, latest
from dialogauge.data.notes import excerpt
from dialogauge.data.paths import MISSING, condition_of, is_there, path_of, text_of, word_of

_EMPTY: Final = "messages were left out: they say nothing"
_BRANCHES: Final = "messages were left out: regenerated or edited, they are on no branch that was shown"
_VERSIONS: Final = "versions of messages are left out: they stand beside the chosen one"
ITEMS: Final = "@"
"""The messages of a record, in its paths."""
_DEEPEST: Final = 200
"""Messages that stand within each other at most."""

Item = dict[str, Any]


def described_format(name: str, forms: Mapping[str, SourceForm]) -> RecordFormat:
    """Return the format of records that have one of several forms."""
    kinds = "" if [*forms] == [name] else f" ({', '.join(forms)})"

    def fits(record: Any) -> SourceForm | None:  # noqa: ANN401  # any JSON value
        return next((form for form in forms.values() if meets(record, form)), None)

    def recognise(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
        return not (mapping.messages or mapping.role or mapping.content) and fits(record) is not None

    def convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
        if (form := fits(record)) is None:
            raise fault_in(entry, f"the record is {excerpt(record)}: no conversation of {name}{kinds}")
        return converted(record, form, entry)

    lists = tuple({form.records: None for form in forms.values() if form.records})
    if lists:
        return ListedFormat(name, recognise, convert, takes_order=False, lists=lists)
    return RecordFormat(name, recognise, convert, takes_order=False)


def meets(record: Any, form: SourceForm) -> bool:  # noqa: ANN401  # any JSON value
    """Say whether a record meets all conditions of a form."""
    return all(condition_of(one)(record) for one in listed(form.when))


def converted(record: Any, form: SourceForm, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    """Return the conversation in a record; raises `RecordFault` where it has none."""
    for text in form.says:
        entry.recognise(text)
    items = _items(record, form, entry)
    record = {**(record if isinstance(record, dict) else {}), ITEMS: items}
    numbered = enumerate(_ordered(items, record, form, entry), start=1)
    spoken = [
        one for number, item in numbered for one in _Speaker(record, form, entry, number).messages(item)
    ]
    if not spoken and not form.absent:
        raise fault_in(entry, "nobody says anything in it")
    system = None if form.system is None or not spoken else text_of(path_of(form.system)(record))
    prompt = [{"role": "system", "content": system}] if system else []
    reader = MessageReader(entry, ordered=form.order is not None or form.tree is not None)
    messages = reader.read([*prompt, *spoken]) if spoken else ()
    if not spoken:
        entry.recognise(NO_MESSAGES)
    return conversation_from(_about(record, form), messages, reader.rated, entry, messages_key="messages")


def _items(record: Any, form: SourceForm, entry: Entry) -> list[Item]:  # noqa: ANN401  # any JSON value
    """Return the messages of a record as they stand there."""
    items: list[Any] = []
    values = [path_of(path)(record) for path in listed(form.messages)]
    if all(value is MISSING for value in values) and not form.absent:
        keys = ", ".join(map(repr, record)) if isinstance(record, dict) else excerpt(record)
        what = f"the record has nothing under {' or '.join(map(repr, listed(form.messages)))}"
        raise fault_in(entry, what, f"it has {keys}")
    for value in values:
        items += value if isinstance(value, list) else [] if value is MISSING or value is None else [value]
    if form.version is not None:
        items = [_chosen(item, number, form.version, entry) for number, item in enumerate(items, start=1)]
    for number, item in enumerate(items, start=1):
        if not isinstance(item, dict):
            raise fault_in(entry, f"message {number} is {excerpt(item)}: not an object")
    if form.same is not None and len({word_of(path_of(form.same)(item)) for item in items}) > 1:
        what = f"the messages differ in {form.same}: they are of several conversations"
        raise fault_in(entry, what, "give each a record of its own")
    return items


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
        return _branch([*_flat(items, form.tree, None, entry)], record, form.tree, entry)
    if form.order is not None:
        ordered = replace(entry.context, mapping=FieldMap(order_by=form.order))
        return in_time(items, Entry(ordered, entry.place, entry.made_id))
    return items


def _flat(
    items: Sequence[Item], tree: Tree, before: str | None, entry: Entry, depth: int = 0
) -> Iterator[Item]:
    """Yield all messages, each before those that follow it, which may stand within it."""
    for item in items:
        if depth > _DEEPEST:
            raise fault_in(entry, f"more than {_DEEPEST} messages stand within each other")
        inner = item.get(tree.children) if tree.children else None
        own = {key: value for key, value in item.items() if key != tree.children}
        yield own if before is None or tree.parent is None else {**own, tree.parent: before}
        if isinstance(inner, list):
            children = [one for one in inner if isinstance(one, dict)]
            yield from _flat(children, tree, text_of(path_of(tree.id)(item)), entry, depth + 1)


def _branch(items: list[Item], record: Any, tree: Tree, entry: Entry) -> Sequence[Item]:  # noqa: ANN401
    """Return the messages on the branch that is read; all where none names the one before it."""
    by_id = {id: item for item in items if (id := text_of(path_of(tree.id)(item))) is not None}
    parent = path_of(tree.parent or "parent")
    parents = {id: text_of(parent(item)) for id, item in by_id.items()}
    if len(by_id) < len(items) or not any(one in by_id for one in parents.values()):
        return items
    last = text_of(path_of(tree.last)(record)) if tree.last is not None else None
    numbers = {id: number for number, id in enumerate(by_id)}
    time = path_of(tree.time or "time")
    try:
        if last not in by_id:
            last = latest(parents, lambda id: f"{text_of(time(by_id[id])) or ''}\0{numbers[id]:09}")
        shown = branch(parents, last or "")
    except ValueError as error:
        raise fault_in(entry, str(error)) from error
    if len(shown) < len(items):
        entry.context.notes.recognise(_BRANCHES, entry.place, count=len(items) - len(shown))
    return [by_id[id] for id in shown]


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
        if form.pair is not None:
            for role, path in zip(("user", "assistant"), form.pair, strict=True):
                if (text := text_of(path_of(path)(item))) is not None:
                    yield {"role": role, "content": text}
            return
        role, content = self._role(item), self._content(item)
        if content in ("", []):
            self.entry.recognise(f"messages were left out: {form.left_out}" if form.left_out else _EMPTY)
            return
        kept = {key: item[key] for key in form.keep if is_there(item.get(key))}
        yield {"role": role, "content": content, **kept, **_scores(item, form.rated_replies)}

    def content(self, item: Item) -> Any:  # noqa: ANN401  # text or blocks
        """Return what a message says; None for one that is left out."""
        return None if self._left_out(item) else self._content(item)

    def _left_out(self, item: Item) -> str | None:
        """Return why a message is left out; None for one that is read."""
        for path, values in self.form.skip.items():
            if (word := word_of(path_of(path)(item))) in map(word_of, values):
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
        for path in listed(part.text) or (("content",) if part is self.form else ()):
            yield from self._text(path_of(path)(item))
        if part.tools is not None:
            yield from self._calls(item, part.tools)
        shown = None if part.shown is None else path_of(part.shown)(item)
        for kind, of in shown.items() if isinstance(shown, dict) else ():
            if is_there(of):
                yield {"type": f"data-{kind}", kind: of}
        files = MISSING if part.files is None else path_of(part.files)(item)
        key = re.match(r"\w*", part.files or "")
        if isinstance(files, dict) and key and key[0]:
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
        for pattern, instead in self.form.edit.items():
            text = re.sub(pattern, instead, text or "")
        if text:
            yield {"type": "text", "text": text}

    def _calls(self, item: Item, tools: Calls) -> Iterator[Item]:
        calls = path_of(tools.list)(item)
        for call in calls if isinstance(calls, list) else [calls] if isinstance(calls, dict) else []:
            id, name = (word_of(path_of(path)(call)) for path in (tools.id, tools.name))
            value = path_of(tools.arguments)(call)
            if name is not None:
                yield {"type": "tool_use", "id": id, "name": name, "input": {} if value is MISSING else value}
            result = MISSING if tools.result is None else path_of(tools.result)(call)
            if is_there(result):
                yield {"type": "tool_result", "tool_use_id": id, "content": result}


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
    "id": "conversation_id",
    "user": "user_id",
    "candidate": "model",
    "context": "scenario_description",
}
"""What a form calls otherwise than records of ours."""


def _about(record: Any, form: SourceForm) -> Item:  # noqa: ANN401  # any JSON value
    """Return what holds for a conversation: what a form names, its ratings, and the rest as it stands."""
    named: Item = {}
    for key in ("id", "user", "candidate", "scenario", "context", "profile", "language"):
        if (path := getattr(form, key)) is None:
            continue
        value = path_of(path)(record)
        if key == "candidate" and isinstance(value, list):
            value = "+".join(sorted({one for one in value if isinstance(one, str) and one}))
        if is_there(value):
            named[_NAMES.get(key, key)] = value
    scores = _scores(record, form.rated)
    note, rater = (text_of(path_of(path)(record)) if path else None for path in (form.note, form.rater))
    beside = {key: value for key, value in (("note", note), ("rater", rater)) if value}
    if scores:
        named["ratings"] = [{"dimension": name, "score": of, **beside} for name, of in scores.items()]
    used = {ITEMS, *form.drop, *(path.split(".")[0] for path in _used(form))}
    kept = {*record} if form.about is None else {*form.about}
    rest = {key: value for key, value in record.items() if key in kept - used and is_there(value)}
    return {**rest, **named}


def _used(form: SourceForm) -> Iterator[str]:
    """Yield the paths of a record that are read, and so are no metadata."""
    paths = [*listed(form.messages), *(scored(path)[0] for path in form.rated)]
    paths += [of for of in (form.id, form.candidate, form.system, form.context, form.profile) if of]
    yield from (one.strip().lstrip("<") for path in paths for one in path.split(" | "))


def _scores(record: Any, paths: Mapping[str, Mapping[str, Any]]) -> Item:  # noqa: ANN401
    """Return the scores under paths by their dimensions, in the words of a form."""
    scores: Item = {}
    for path, words in paths.items():
        where, dimension = scored(path)
        value = path_of(where)(record)
        value = value[-1] if isinstance(value, list) and value else value
        score = words.get(word_of(value) or "", MISSING) if words else value
        if is_there(score):
            scores[dimension] = score
    return scores
