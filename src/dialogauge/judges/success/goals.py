"""What a dialogue of MultiWOZ should achieve, and what is stored beside it: read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import orjson

from dialogauge.core import Conversation, FileFault, Place, RecordFault
from dialogauge.core.files import read_bytes, shown_path
from dialogauge.core.shape import Misfit, read_as
from dialogauge.core.unit import digest_text
from dialogauge.judges.success.venues import slot_name

REQUESTABLE: Final = ("PHONE", "ADDRESS", "POST", "REFERENCE", "TRAINID")
"""What a goal can ask to be told; other requests of the corpus are not checked, as published."""
DOMAINS: Final = ("restaurant", "hotel", "attraction", "train", "taxi", "hospital", "police")
_IN_CORPUS: Final = {"phone": "PHONE", "address": "ADDRESS", "postcode": "POST", "trainID": "TRAINID"}
_KEYS: Final = ("goal", "booked", "readings", "states")
_IDS: Final = ("conversation_id", "id", "dialogue")
_HINT: Final = (
    f"a goal is {{domain: {{informable: {{slot: value}}, requestable: [{', '.join(REQUESTABLE)}]}}}}, "
    "or as in the corpus {domain: {info, reqt, book}}"
)


@dataclass(frozen=True, slots=True)
class DomainGoal:
    """What is to be found in one domain, and what is to be told of it."""

    informable: Mapping[str, str]
    """Slot -> value that the user asks for."""
    requestable: frozenset[str]
    """Of `REQUESTABLE`."""


Goal = Mapping[str, DomainGoal]


@dataclass(frozen=True, slots=True)
class _Slots:
    """A domain of a goal as a file writes it."""

    informable: Mapping[str, str]
    requestable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the source of a dialogue read off one turn."""

    delexicalised: str
    """The reply with `NAME`, `PHONE`, `ADDRESS`, `POST`, `REFERENCE`, `TRAINID` for values."""
    state: Mapping[str, Mapping[str, Any]]
    active: tuple[str, ...]
    """The domains that the turn is about."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What stands beside a dialogue."""

    goal: Mapping[str, Any]
    booked: tuple[tuple[str, ...], ...] | None = None
    """By turn the domains that are booked by then; None where only the agent's calls can say."""
    readings: tuple[Reading, ...] = ()
    """By turn; empty where nothing is stored."""
    states: tuple[Mapping[str, Mapping[str, Any]], ...] | None = None
    """By turn the gold state."""


def goal_of(value: Mapping[str, Any]) -> Goal:
    """Read a goal in either form; ValueError for anything else, and for an unknown domain."""
    goal = {}
    for domain, part in value.items():
        if domain not in DOMAINS:
            msg = f"the goal names {domain!r}, and the domains are {', '.join(DOMAINS)}"
            raise ValueError(msg)
        if not isinstance(part, dict) or not part.keys() & {
            "informable",
            "requestable",
            "info",
            "reqt",
            "book",
        }:
            msg = f"the goal for {domain!r} is neither of the known forms"
            raise ValueError(msg)
        if "informable" in part or "requestable" in part:
            informable, asked = part.get("informable", {}), part.get("requestable", [])
        else:
            informable = part.get("info", {})
            asked = [_IN_CORPUS[slot] for slot in part.get("reqt") or [] if slot in _IN_CORPUS]
            asked += ["REFERENCE"] if part.get("book") else []
        slots = read_as({"informable": informable, "requestable": asked}, _Slots)
        if unknown := sorted(set(slots.requestable) - set(REQUESTABLE)):
            msg = f"the goal for {domain!r} asks for {', '.join(unknown)}"
            raise ValueError(msg)
        goal[domain] = DomainGoal(
            {slot_name(k): v.lower() for k, v in slots.informable.items()}, frozenset(slots.requestable)
        )
    if not goal:
        msg = "the goal names no domain"
        raise ValueError(msg)
    return goal


def annotation_of(value: Mapping[str, Any], place: Place | None) -> Annotation:
    """Read what stands beside a dialogue: its goal, and of the other fields of `Annotation` what is known.

    Raises RecordFault, with the place, for what has another form.
    """
    known = {key: value[key] for key in _KEYS if value.get(key) is not None}
    try:
        annotation = read_as(known, Annotation)
        goal_of(annotation.goal)
    except Misfit as error:
        msg = f"the goal, or what stands beside it, has another form: {error}"
        raise RecordFault(msg, place=place, hint=_HINT) from error
    except ValueError as error:
        raise RecordFault(str(error), place=place, hint=_HINT) from error
    return annotation


@dataclass(frozen=True)
class Goals:
    """What a file says of dialogues, by their ids."""

    by_id: Mapping[str, tuple[Any, Place]]
    digest: str = ""

    def of(self, conversation: Conversation) -> Annotation:
        """Return what stands beside a conversation: in the file, else in its own record.

        Raises RecordFault where nothing does, or it has another form.
        """
        stored: Mapping[str, Any] = conversation.metadata
        place = conversation.place or Place("input", None, conversation.id)
        if conversation.id in self.by_id:
            value, place = self.by_id[conversation.id]
            place = replace(place, conversation_id=conversation.id)
            stored = value if isinstance(value, dict) and "goal" in value else {"goal": value}
        if stored.get("goal") is None:
            msg = "the dialogue has no goal"
            hint = "give goals by dialogue id with --goals FILE, or as `goal` in the record"
            raise RecordFault(msg, place=place, hint=hint)
        return annotation_of(stored, place)

    @cached_property
    def ids(self) -> frozenset[str]:
        """The dialogues that it knows."""
        return frozenset(self.by_id)


NO_GOALS: Final = Goals({})


def read_goals(path: str) -> Goals:
    """Read goals: a JSON object of goals by dialogue id, or a line of JSON for each dialogue with its id.

    Raises FileFault for a file that is neither, RecordFault for a line that is not.
    """
    name, hint = shown_path(path), "--goals takes {id: goal}, or lines {id, goal}"
    raw = read_bytes(path, "file of goals", FileFault, hint)
    by_id: dict[str, tuple[Any, Place]] = {}
    try:
        whole: Any = orjson.loads(raw)
    except orjson.JSONDecodeError:
        whole = None
    if isinstance(whole, dict) and whole and all(isinstance(value, dict) for value in whole.values()):
        by_id = {id: (value, Place(name)) for id, value in whole.items()}
        return Goals(by_id, digest_text(raw.decode("utf-8", "replace")))
    for number, line in enumerate(raw.splitlines(), start=1):
        if line.strip():
            id, value = _line(line, Place(name, number), hint)
            by_id[id] = (value, Place(name, number))
    if not by_id:
        msg = "the file of goals is empty"
        raise FileFault(msg, place=Place(name), hint=hint)
    return Goals(by_id, digest_text(raw.decode("utf-8", "replace")))


def _line(line: bytes, place: Place, hint: str) -> tuple[str, Any]:
    try:
        value: Any = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        msg = f"the line is not JSON: {error}"
        raise RecordFault(msg, place=place, hint=hint) from error
    id = next((value[key] for key in _IDS if key in value), None) if isinstance(value, dict) else None
    if not isinstance(id, str) or "goal" not in value:
        msg = "the line has no id or no goal"
        raise RecordFault(msg, place=place, hint=hint)
    return Path(id).name.removesuffix(".json"), value
