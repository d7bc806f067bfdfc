"""The data of MultiWOZ: its venues, which of them a reply names, and what a dialogue should achieve."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import orjson

from dialogauge.core import Conversation, FileFault, Place, RecordFault
from dialogauge.core.files import read_bytes, shown_path
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.shape import Misfit, read_as
from dialogauge.core.unit import digest_text

NAMED: Final = ("restaurant", "hotel", "attraction")
"""Domains whose venues have a name."""
TABLES: Final = (*NAMED, "train")
"""Domains with a table; others, such as taxi, have none."""
_SLOTS: Final = {"arriveby": "arrive", "leaveat": "leave"}
_NOT_ASKED: Final = frozenset({"location", "openhours", "takesbookings", "introduction", "signature"})
_ANY: Final = frozenset(
    {"dontcare", "don't care", "dont care", "do n't care", "do not care", "not mentioned"}
)
_NEARLY: Final = frozenset({"name", "food", "departure", "destination"})
"""Slots whose values need only be nearly the same."""
_ALIKE: Final = 0.9
_SPELLINGS: Final = (("bed and breakfast", "b and b"), ("guest house", "guesthouse"))
_STREET: Final = lazy_pattern(
    r"\d+\w? (?:\w+ ){1,3}?(?:street|road|lane|hill|avenue|way|parade|square|terrace|close|drive|place|row)\b"
)

Row = Mapping[str, str]


def slot_name(name: str) -> str:
    """Return a slot or column as the tables here call it: `arriveBy` is `arrive`, `entrance fee` one word."""
    name = name.lower().replace(" ", "").replace("_", "")
    return _SLOTS.get(name, name)


def plain_words(text: str) -> str:
    """Return words apart by one space, without punctuation and Markdown; the case stays."""
    text = re.sub(r"['’]", "", text).replace("&", " and ")
    return " ".join(re.sub(r"[^\w]+", " ", text).split())


@dataclass(frozen=True)
class Venues:
    """The tables, each a list of rows by slot."""

    tables: Mapping[str, tuple[Row, ...]]
    digest: str
    """Of the files that they were read from."""
    _answers: dict[tuple[str, frozenset[tuple[str, str]]], frozenset[str]] = field(
        default_factory=dict, repr=False
    )

    def matching(self, domain: str, constraints: Mapping[str, str]) -> frozenset[str]:
        """Return the keys of the rows that meet all constraints; none in a domain without a table.

        Constraints on columns that the table lacks, and those that say that anything will do, hold nothing
        back. A train may arrive earlier and leave later; names, food and stations need only be nearly the
        same; what the table does not know (`?`) is no obstacle.
        """
        rows = self.tables.get(domain, ())
        known = rows[0].keys() if rows else ()
        asked = frozenset((k, v) for k, v in constraints.items() if k in known and v not in _ANY)
        if (domain, asked) not in self._answers:
            fitting = (row for row in rows if all(_meets(slot, row.get(slot, "?"), v) for slot, v in asked))
            self._answers[domain, asked] = frozenset(row["key"] for row in fitting)
        return self._answers[domain, asked]

    def named(self, domain: str, reply: str) -> frozenset[str]:
        """Return the keys of the venues or trains that a reply names.

        A name of one word counts only with a capital letter: Ask is a restaurant, and ask a verb.
        """
        text = plain_words(reply)
        if domain == "train":
            ids = {m.replace(" ", "").upper() for m in re.findall(r"\btr ?\d{4}\b", text, re.IGNORECASE)}
            return frozenset(ids)
        if domain not in NAMED or not self.tables.get(domain):
            return frozenset()
        keys = _names(self, domain)
        matches = (m[0] for m in _one_of(tuple(keys)).finditer(text))
        return frozenset().union(*(keys[m.lower()] for m in matches if " " in m or m[0].isupper()))

    def names_any(self, reply: str) -> bool:
        """Whether a reply names a venue of any domain."""
        return any(self.named(domain, reply) for domain in NAMED)

    def gives_address(self, reply: str) -> bool:
        """Whether a reply gives the address of any venue."""
        return bool(_one_of(_addresses(self)).search(plain_words(reply)))

    def __hash__(self) -> int:
        """Tables are compared by what was read."""
        return hash(self.digest)


@cache
def _names(venues: Venues, domain: str) -> Mapping[str, frozenset[str]]:
    """Return by name and its usual spellings, in lower case, the venues that have it."""
    keys: dict[str, frozenset[str]] = {}
    for row in venues.tables[domain]:
        name = plain_words(row["name"]).lower()
        spellings = {name, name.removeprefix("the ")}
        for long, short in _SPELLINGS:
            spellings |= {s.replace(long, short) for s in spellings} | {
                s.replace(short, long) for s in spellings
            }
        for spelling in spellings:
            keys[spelling] = keys.get(spelling, frozenset()) | {row["key"]}
    return keys


@cache
def _addresses(venues: Venues) -> tuple[str, ...]:
    values = {row.get("address", "?") for domain in NAMED for row in venues.tables.get(domain, ())}
    return tuple({part for value in values for part in address_parts(value) if " " in part})


def address_parts(address: str) -> tuple[str, ...]:
    """Return an address in plain words, and where it begins with a house in a street that beginning too."""
    words = plain_words(address).lower()
    street = _STREET.match(words)
    return (words,) if street is None else (words, street[0])


@cache
def _one_of(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)


def _meets(slot: str, value: str, asked: str) -> bool:
    if value == "?":
        return True
    if slot == "arrive":
        return _minutes(value) <= _minutes(asked)
    if slot == "leave":
        return _minutes(value) >= _minutes(asked)
    return _alike(value, asked) if slot in _NEARLY else value == asked


def _minutes(time: str) -> int:
    """Return the minutes since midnight; what is no time counts as midnight."""
    match = re.match(r"(\d\d):(\d\d)", time)
    return 0 if match is None else 60 * int(match[1]) + int(match[2])


@cache
def _alike(one: str, other: str) -> bool:
    """Whether the shorter text stands in the longer one, nine tenths of it at least."""
    short, long = sorted((one, other), key=len)
    if short in long:
        return True
    matcher = SequenceMatcher(None, b=short, autojunk=False)
    for start in range(len(long) - len(short) + 1):
        matcher.set_seq1(long[start : start + len(short)])
        if matcher.real_quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE:
            return True
    return False


def read_venues(folder: str) -> Venues:
    """Read `restaurant_db.json`, `hotel_db.json`, `attraction_db.json` and `train_db.json` of a folder.

    Raises FileFault where one of them is missing, or is no list of rows.
    """
    tables, digests = {}, []
    for domain in TABLES:
        path = Path(folder) / f"{domain}_db.json"
        files = ", ".join(f"{d}_db.json" for d in TABLES)
        hint = f"--database takes a folder with {files}, as MultiWOZ has them"
        raw = read_bytes(path, f"table of {domain}s", FileFault, hint)
        digests.append(digest_text(raw.decode("utf-8", "replace")))
        tables[domain] = tuple(_rows(raw, domain, Place(shown_path(path)), hint))
    return Venues(tables, digest_text("".join(digests)))


def _rows(raw: bytes, domain: str, place: Place, hint: str) -> Iterable[Row]:
    try:
        rows: Any = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        msg = f"the table of {domain}s is not JSON: {error}"
        raise FileFault(msg, place=place, hint=hint) from error
    key, must = ("trainID", "trainID") if domain == "train" else ("id", "name")
    if not isinstance(rows, list) or not rows:
        msg = f"the table of {domain}s is no list of rows"
        raise FileFault(msg, place=place, hint=hint)
    for number, row in enumerate(rows, start=1):
        named = isinstance(row, dict) and isinstance(row.get(key), str | int)
        if not named or not isinstance(row.get(must), str):
            msg = f"row {number} of the table of {domain}s has no {key!r}, or no {must!r} that is a text"
            raise FileFault(msg, place=place, hint=hint)
        texts = {slot_name(k): v for k, v in row.items() if isinstance(v, str)}
        yield {"key": str(row[key]), **{k: v for k, v in texts.items() if k not in _NOT_ASKED}}


def json_object(text: str) -> dict[str, Any] | None:
    """Return the object that a text of JSON holds; None for anything else."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


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
        known = {key: stored[key] for key in _KEYS if stored.get(key) is not None}
        try:
            annotation = read_as(known, Annotation)
            goal_of(annotation.goal)
        except Misfit as error:
            msg = f"the goal, or what stands beside it, has another form: {error}"
            raise RecordFault(msg, place=place, hint=_HINT) from error
        except ValueError as error:
            raise RecordFault(str(error), place=place, hint=_HINT) from error
        return annotation

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
