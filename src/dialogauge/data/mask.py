"""A mask over conversations: personal data replaced by marks, ids by keyed digests.

What comes out is a conversation like any other: judges, stores and pages need not know that it was masked,
and cannot let through what they never see.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeVar

import orjson

from dialogauge.core import Conversation, InputError, Message, Place, Rating, ToolCall
from dialogauge.data.notes import Note
from dialogauge.data.sources import too_deep
from dialogauge.text import PersonalKind, count_personal, find_personal, redact


def count_in_value(value: object) -> Counter[PersonalKind]:
    """Count what looks personal in all texts and whole numbers of a JSON value, keys included."""
    found: Counter[PersonalKind] = Counter()
    for key, text in _texts("", value):
        if not key:
            found += count_personal(text)
        else:
            context = f"{key}: "
            spans = find_personal(context + text)
            found.update(span.kind for span in spans if span.start >= len(context))
    return found


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
    """Return a JSON value with every text redacted; a whole number that looks personal becomes its mark.

    Args:
        value: Any JSON value; it is not changed itself.
        key: The name it stands under: `phone` makes ten digits a telephone number.
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
    # Python refuses to write out whole numbers of over 4,300 digits; no personal number has 20.
    return str(value) if abs(value) < 10**20 else ""


def _redact_under(key: str, text: str) -> str:
    if not key:
        return redact(text)
    context = f"{key}: "
    spans = find_personal(context + text)
    if not spans:
        return text
    if spans[0].start < len(context):
        return redact(text)
    return redact(context + text)[len(context) :]


def _redact_mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, inner in value.items():
        name = clean = redact(str(key))
        number = 1
        while name in out:  # two addresses as keys are two entries still
            number += 1
            name = f"{clean} {number}"
        out[name] = redact_value(inner, str(key))
    return out


def redact_json_text(text: str) -> str:
    """Redact a text that may be JSON, as tools' arguments and results are, so that JSON stays JSON."""
    clean = redact(text)
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
_LEAST_TELLING: Final = 6
"""Ids of fewer characters, or without a digit, may be plain words: they are not looked for in texts."""

_EXCERPT: Final = re.compile(r"""(?:[\[{(]?['"“]|\{|\[).*|[0-9]{5,}""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Mask:
    """What to hide, and the key of the digests."""

    redact: bool
    """Replace telephone numbers, e-mail addresses, card and identity numbers in all texts."""
    hash_ids: bool
    """Replace the ids of users and conversations, wherever they stand."""
    salt: bytes
    """The same salt gives the same digests, so that masked files join with each other."""

    def id(self, kind: IdKind, name: str) -> str:
        """Return an id as it may be shown: `c_` or `u_` and 16 hex digits of HMAC-SHA-256.

        Without `hash_ids` only an id that holds personal data is replaced; a mark in its place would make
        two people one.
        """
        if not self.hash_ids and not (self.redact and find_personal(name)):
            return name
        text = f"{kind}\x1f{name}".encode("utf-8", "surrogatepass")
        return _PREFIX[kind] + hmac.new(self.salt, text, hashlib.sha256).hexdigest()[:_DIGEST]

    def text(self, text: str) -> str:
        """Return a text as it may be shown, ids aside."""
        return redact(text) if self.redact else text

    def value(self, value: Any, names: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 - any JSON
        """Return a JSON value as it may be shown; `names` maps ids to what stands in their place."""
        if names:
            value = _renamed(value, names)
        return redact_value(value) if self.redact else value

    def names(self, conversation_id: str | None, user_id: str | None) -> dict[str, str]:
        """Return what must not be shown of the ids of one conversation, with what is shown instead."""
        given: dict[str, str] = {}
        if user_id is not None:
            given[user_id] = self.id("user", user_id)
        if conversation_id is not None:
            given[conversation_id] = self.id("conversation", conversation_id)
        return {name: shown for name, shown in given.items() if name != shown}

    def conversation(self, conversation: Conversation) -> Conversation:
        """Return the conversation masked: texts, tool calls, ratings and all that is kept beside them."""
        c = conversation
        names = self.names(c.id, c.user_id)

        def clean(text: str) -> str:
            return self.text(_named(text, names))

        def value(given: Any) -> Any:  # noqa: ANN401 - any JSON value
            return self.value(given, names)

        return replace(
            c,
            id=self.id("conversation", c.id),
            messages=tuple(self._message(m, names) for m in c.messages),
            user_id=_maybe(c.user_id, lambda name: self.id("user", name)),
            scenario=_maybe(c.scenario, clean),
            context=_maybe(c.context, clean),
            profile=_maybe(c.profile, lambda p: value(dict(p))),
            candidate=_maybe(c.candidate, clean),
            ratings=tuple(self._rating(r, names) for r in c.ratings),
            metadata=value(dict(c.metadata)),
            place=_maybe(c.place, self.place),
        )

    def _message(self, message: Message, names: Mapping[str, str]) -> Message:
        def structured(text: str) -> str:
            text = _named(text, names)
            return redact_json_text(text) if self.redact else text

        def plain(text: str) -> str:
            return self.text(_named(text, names))

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
        def clean(text: str) -> str:
            return self.text(_named(text, names))

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
        """Return a place with its conversation masked; file and line stay, so that it can be found."""
        return replace(place, conversation_id=_maybe(place.conversation_id, self._place_id))

    def _place_id(self, name: str) -> str:
        return self.id("conversation", name)

    def fault(self, fault: InputError) -> InputError:
        """Return a fault without excerpts of the data; its place stays, for the owner of the data."""
        return type(fault)(
            self._without_excerpts(fault.message),
            place=_maybe(fault.place, self.place),
            hint=_maybe(fault.hint, self._without_excerpts),
        )

    def note(self, note: Note) -> Note:
        """Return a note without excerpts of the data."""
        return replace(note, examples=tuple(self.place(p) for p in note.examples))

    def _without_excerpts(self, message: str) -> str:
        # What is quoted may be cut off in the middle of a number, where no pattern finds it any more.
        return self.text(_EXCERPT.sub("…", message))


def _maybe(value: T | None, change: Callable[[T], T]) -> T | None:
    return None if value is None else change(value)


def _named(text: str, names: Mapping[str, str]) -> str:
    """Replace ids that stand in a text as words of their own, if they are telling enough."""
    for name, shown in names.items():
        telling = len(name) >= _LEAST_TELLING and any(c.isdigit() for c in name)
        if text == name:
            return shown
        if telling and name in text:
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", shown, text)
    return text


def _renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return _named(value, names)
    if isinstance(value, int) and not isinstance(value, bool):
        return names.get(str(value), value) if abs(value) < 10**20 else value
    if isinstance(value, Mapping):
        return {_named(str(key), names): _renamed(inner, names) for key, inner in value.items()}
    return [_renamed(inner, names) for inner in value] if isinstance(value, list | tuple) else value
