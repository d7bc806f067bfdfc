"""A mask over conversations: marks replace personal data, keyed digests replace ids.

A masked conversation is an ordinary conversation: judges, stores and pages never see the original.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import orjson

from dialogauge import text as texts  # the patterns behind its names are compiled when something is masked
from dialogauge.core import Conversation, InputError, Message, Place, Rating, ToolCall
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value
from dialogauge.data.json_values import too_deep
from dialogauge.data.notes import UNNAMED, Note

if TYPE_CHECKING:
    from dialogauge.text import PersonalKind


def count_in_value(value: object) -> Counter[PersonalKind]:
    """Count personal data in all texts, keys and whole numbers of a JSON value."""
    counts: Counter[PersonalKind] = Counter()
    for key, text in _texts("", value):
        if not key:
            counts += texts.count_personal(text)
        else:
            context = f"{key}: "
            spans = texts.find_personal(context + text)
            counts.update(span.kind for span in spans if span.start >= len(context))
    return counts


def _texts(key: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, int) and not isinstance(value, bool):
        yield key, _digits(value)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield "", str(name)
            yield from _texts(str(name), inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(key, inner)


def redact_value(value: Any, key: str = "") -> Any:  # noqa: ANN401 - any JSON value
    """Return a copy of a JSON value with all texts redacted; a personal whole number becomes its mark.

    Args:
        value: Any JSON value.
        key: The key of the value: `phone` makes ten digits a telephone number.
    """
    if isinstance(value, str):
        return _redact_under(key, value)
    if isinstance(value, int) and not isinstance(value, bool):
        clean = _redact_under(key, _digits(value))
        return clean if "[" in clean else value
    if isinstance(value, Mapping):
        return _redact_mapping(value)
    if isinstance(value, list | tuple):
        return [redact_value(inner, key) for inner in value]
    return value


def _digits(value: int) -> str:
    # Python does not print whole numbers of over 4,300 digits; no personal number has 20.
    return str(value) if abs(value) < 10**20 else ""


def _redact_under(key: str, text: str) -> str:
    if not key:
        return texts.redact(text)
    context = f"{key}: "
    spans = texts.find_personal(context + text)
    if not spans:
        return text
    if spans[0].start < len(context):
        return texts.redact(text)
    return texts.redact(context + text)[len(context) :]


def _redact_mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, inner in value.items():
        name = clean = texts.redact(str(key))
        number = 1
        while name in out:  # two addresses as keys stay two entries
            number += 1
            name = f"{clean} {number}"
        out[name] = redact_value(inner, str(key))
    return out


def redact_json_text(text: str) -> str:
    """Redact a text that may be JSON (tool arguments and results) so that JSON stays valid."""
    clean = texts.redact(text)
    if clean == text or text.lstrip()[:1] not in ("{", "["):
        return clean
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return clean
    if too_deep(value):
        return clean
    try:
        orjson.loads(clean)
    except orjson.JSONDecodeError:
        return orjson.dumps(redact_value(value)).decode()
    return clean


IdKind = Literal["conversation", "user"]
T = TypeVar("T")

_PREFIX: Final[Mapping[IdKind, str]] = {"conversation": "c_", "user": "u_"}
_DIGEST: Final = 16
_SHORTEST_DISTINCT: Final = 6
"""Shorter ids, or ids without a digit, may be plain words, so texts keep them."""
_EXCERPT: Final = lazy_pattern(r"""(?:[\[{(]?['"“]|\{|\[).*|[0-9]{5,}""", re.DOTALL)


class Mask(Value):
    """What is hidden, and the key of the digests."""

    redact: bool
    """Replace telephone numbers, e-mail addresses, card and identity numbers in all texts."""
    hash_ids: bool
    """Replace the ids of users and conversations everywhere."""
    salt: bytes
    """The same salt gives the same digests, so masked files still join."""

    def id(self, kind: IdKind, name: str) -> str:
        """Return the masked id: `c_` or `u_` and 16 hex digits of HMAC-SHA-256.

        Without `hash_ids`, only an id with personal data changes; marks would merge two people into one.
        """
        if not self.hash_ids and not (self.redact and texts.find_personal(name)):
            return name
        text = f"{kind}\x1f{name}".encode("utf-8", "surrogatepass")
        return _PREFIX[kind] + hmac.new(self.salt, text, hashlib.sha256).hexdigest()[:_DIGEST]

    def text(self, text: str) -> str:
        """Return the masked text, apart from ids."""
        return texts.redact(text) if self.redact else text

    def _text(self, text: str, names: Mapping[str, str]) -> str:
        return self.text(_rename(text, names))

    def value(self, value: Any, names: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 - any JSON
        """Return the masked JSON value; `names` maps ids to masked ids."""
        if names:
            value = _rename_in(value, names)
        return redact_value(value) if self.redact else value

    def names(self, conversation_id: str | None, user_id: str | None) -> dict[str, str]:
        """Return the ids of one conversation that change, each with its masked id."""
        ids: dict[str, str] = {}
        if user_id is not None:
            ids[user_id] = self.id("user", user_id)
        if conversation_id is not None:
            ids[conversation_id] = self.id("conversation", conversation_id)
        return {name: masked for name, masked in ids.items() if name != masked}

    def conversation(self, conversation: Conversation) -> Conversation:
        """Return the masked conversation, including tool calls, ratings and metadata."""
        c = conversation
        names = self.names(c.id, c.user_id)
        clean = partial(self._text, names=names)
        return replace(
            c,
            id=self.id("conversation", c.id),
            messages=tuple(self._message(m, names) for m in c.messages),
            user_id=_maybe(c.user_id, lambda name: self.id("user", name)),
            scenario=_maybe(c.scenario, clean),
            context=_maybe(c.context, clean),
            profile=_maybe(c.profile, lambda p: self.value(dict(p), names)),
            candidate=_maybe(c.candidate, clean),
            ratings=tuple(self._rating(r, names) for r in c.ratings),
            metadata=self.value(dict(c.metadata), names),
            place=_maybe(c.place, self.place),
        )

    def _message(self, message: Message, names: Mapping[str, str]) -> Message:
        def structured(text: str) -> str:
            text = _rename(text, names)
            return redact_json_text(text) if self.redact else text

        plain = partial(self._text, names=names)
        content = message.content
        if isinstance(content, str):
            content = structured(content) if message.role == "tool" else plain(content)
        elif content is not None:
            content = tuple(self.value([dict(part) for part in content], names))
        return Message(
            message.role,
            content,
            tuple(
                ToolCall(plain(call.id), plain(call.name), structured(call.arguments))
                for call in message.tool_calls
            ),
            _maybe(message.tool_call_id, plain),
            _maybe(message.name, plain),
            self.value(dict(message.extra), names),
        )

    def _rating(self, rating: Rating, names: Mapping[str, str]) -> Rating:
        clean = partial(self._text, names=names)
        return replace(
            rating,
            conversation_id=self.id("conversation", rating.conversation_id),
            dimension=clean(rating.dimension),
            score=clean(rating.score) if isinstance(rating.score, str) else rating.score,
            rater=_maybe(rating.rater, lambda name: self.id("user", name)),
            place=_maybe(rating.place, self.place),
            candidate=_maybe(rating.candidate, clean),
            note=_maybe(rating.note, clean),
        )

    def place(self, place: Place) -> Place:
        """Return a place with its conversation masked; file and line stay."""
        masked = _maybe(place.conversation_id, lambda name: self.id("conversation", name))
        return replace(place, conversation_id=masked)

    def fault(self, fault: InputError) -> InputError:
        """Return a fault without excerpts of the data; its file and line stay."""
        if fault is UNNAMED:
            return fault
        return type(fault)(
            self._without_excerpts(fault.message),
            place=_maybe(fault.place, self.place),
            hint=_maybe(fault.hint, self._without_excerpts),
        )

    def note(self, note: Note) -> Note:
        """Return a note without excerpts of the data."""
        return replace(note, examples=tuple(self.place(p) for p in note.examples))

    def _without_excerpts(self, message: str) -> str:
        # An excerpt may end in the middle of a number, which then matches no pattern.
        return self.text(_EXCERPT.sub("…", message))


def _maybe(value: T | None, change: Callable[[T], T]) -> T | None:
    return None if value is None else change(value)


def _rename(text: str, names: Mapping[str, str]) -> str:
    """Replace ids that are separate words of a text, unless they may be plain words."""
    for name, masked in names.items():
        if text == name:
            return masked
        distinct = len(name) >= _SHORTEST_DISTINCT and any(c.isdigit() for c in name)
        if distinct and name in text:
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", masked, text)
    return text


def _rename_in(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return _rename(value, names)
    if isinstance(value, int) and not isinstance(value, bool):
        return names.get(str(value), value) if abs(value) < 10**20 else value
    if isinstance(value, Mapping):
        return {_rename(str(key), names): _rename_in(inner, names) for key, inner in value.items()}
    return [_rename_in(inner, names) for inner in value] if isinstance(value, list | tuple) else value
