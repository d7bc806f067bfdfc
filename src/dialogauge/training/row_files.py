"""Files of training rows read back, strictly and row by row: what a trainer is given is what was written.

A file holds rows of one kind, recognised by their keys. Nothing is skipped: a row that cannot be used is an
error with file and line, before the first step of a training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, NoReturn

import orjson

from dialogauge.agents import Scenario, scenario_of
from dialogauge.core import ROLES, FileFault, Place, RecordFault
from dialogauge.core.files import shown_path

RowKind = Literal["dpo", "segment", "kto", "sft", "rl"]

_HINT: Final = "rows are written by `dialogauge pairs`; docs/file-formats.md has the keys of each kind"
_SHARED: Final = "what stands before the first difference belongs into `prompt`, for both sides alike"


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row of a file."""

    kind: RowKind
    place: Place
    data: Mapping[str, Any]
    """The keys of its kind. Messages are in OpenAI form; arguments of tool calls are objects."""
    unchecked: bool
    """Whether it rests on a judge that nobody checked."""
    tools: tuple[Mapping[str, Any], ...]
    """Definitions of the tools that the assistant could call."""
    scenario: Scenario | None
    """Of the kind `rl`: what is played."""


def read_pair_file(path: str | Path) -> Iterator[FileRow]:
    """Yield the rows of a JSONL file, one in memory at a time.

    Raises:
        FileFault: It cannot be read, or holds no row.
        RecordFault: A row is no JSON, has other keys than a kind has, is of another kind than the first, has
            messages that do not fit its kind, or two prompts.
    """
    name, first = shown_path(str(path)), None
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                row = _row(line, Place(name, number))
                if first is not None and row.kind != first:
                    _fail(f"a row of the kind {row.kind} in a file of the kind {first}", row.place)
                first = row.kind
                yield row
    except OSError as error:
        msg = f"it cannot be read: {error.strerror or error}"
        raise FileFault(msg, place=Place(name), hint=_HINT) from error
    if first is None:
        msg = "the file holds no row"
        raise FileFault(msg, place=Place(name), hint=_HINT)


def _fail(message: str, place: Place, hint: str = _HINT) -> NoReturn:
    raise RecordFault(message, place=place, hint=hint)


def _row(line: bytes, place: Place) -> FileRow:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        _fail(f"this is no JSON: {error.msg}", place)
    if not isinstance(value, dict):
        _fail("a row is a JSON object, and this is none", place)
    unchecked, tools = value.pop("unchecked", False), value.pop("tools", None) or []
    kind = _kind(value, place)
    for key, expect in _KEYS[kind].items():
        expect(value[key], key, place)
    if "chosen" in value and value["chosen"] == value["rejected"]:
        _fail("chosen and rejected are the same", place, "leave the row out: nothing can be learnt of it")
    if not isinstance(unchecked, bool):
        _fail("unchecked is neither true nor false", place)
    if isinstance(tools, str):
        with suppress(orjson.JSONDecodeError):
            tools = orjson.loads(tools)
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        _fail("tools are no list of objects", place)
    scenario = scenario_of(value["scenario"], place) if kind == "rl" else None
    return FileRow(kind, place, value, unchecked, tuple(tools), scenario)


def _kind(value: Mapping[str, Any], place: Place) -> RowKind:
    """Return the kind whose keys a row has, each of them and no other."""
    keys = value.keys()
    for kind, wanted in _KEYS.items():
        if keys == wanted.keys():
            return kind
    if {"chosen", "rejected"} <= keys and "prompt" not in keys:
        hint = "put what both sides share into `prompt`, and leave the rest in `chosen` and `rejected`"
        _fail("a pair without a prompt: each side would be read with a prompt of its own", place, hint)
    near = max(_KEYS, key=lambda kind: len(keys & _KEYS[kind]) - len(_KEYS[kind].keys() - keys) / 100)
    missing = [key for key in _KEYS[near] if key not in keys]
    other = sorted(keys - _KEYS[near].keys())
    what = [f"{', '.join(these)} {how}" for these, how in ((missing, "missing"), (other, "unknown")) if these]
    hint = f"another version or program wrote it: write it again with `dialogauge pairs --kind {near}`"
    _fail(f"no kind of row has these keys; nearest is {near}: {'; '.join(what)}", place, hint)


def _expect_messages(messages: Any, key: str, place: Place, *, empty: bool = False) -> None:  # noqa: ANN401
    """Raise RecordFault for messages that no chat template could take."""
    if not isinstance(messages, list) or not (messages or empty):
        _fail(f"{key} is no list of messages", place)
    for number, one in enumerate(messages, 1):
        role = one.get("role") if isinstance(one, dict) else None
        if role not in ROLES:
            _fail(f"message {number} of {key} has no role that is known: {', '.join(ROLES)}", place)
        if not isinstance(one.get("content"), str) and not one.get("tool_calls"):
            _fail(f"message {number} of {key} has no text", place)


def _expect_answered(messages: Any, key: str, place: Place) -> None:  # noqa: ANN401
    _expect_messages(messages, key, place)
    if messages[-1]["role"] != "assistant" or messages[-1].get("tool_calls"):
        _fail(f"{key} does not end with a reply of the assistant", place)


def _expect_side(side: Any, key: str, place: Place, *, segment: bool = False) -> None:  # noqa: ANN401
    """Expect a reply, or a segment that the user begins."""
    _expect_answered(side, key, place)
    roles = [message["role"] for message in side]
    if "system" in roles or "developer" in roles or (roles[0] == "user" and not segment):
        _fail(f"the row has two prompts: {key} begins with one of its own", place, _SHARED)
    if segment and roles[0] != "user":
        _fail(f"{key} begins with {roles[0]}: a segment begins with what the user says", place)
    if not segment and len(side) > 1:
        _fail(f"{key} has {len(side)} messages: a pair of replies has one on each side", place)


def _expect_opening(messages: Any, key: str, place: Place) -> None:  # noqa: ANN401
    _expect_messages(messages, key, place)
    if messages[-1]["role"] == "user":
        _fail(f"{key} ends with the user: the simulated user speaks first in training", place)


def _expect_type(value: Any, key: str, place: Place, *, of: tuple[type, ...]) -> None:  # noqa: ANN401
    if type(value) not in of:
        _fail(f"{key} is {value!r}", place)


def _expect_count(value: Any, key: str, place: Place) -> None:  # noqa: ANN401
    if type(value) is not int or value < 0:
        _fail(f"{key} is {value!r}", place)


_SEGMENT: Final = partial(_expect_side, segment=True)
_FLAG: Final = partial(_expect_type, of=(bool,))
_NUMBER, _TEXT = partial(_expect_type, of=(int, float, NoneType)), partial(_expect_type, of=(str, NoneType))
_KEYS: Final[Mapping[RowKind, Mapping[str, Callable[[Any, str, Place], None]]]] = {
    "segment": {
        "prompt": partial(_expect_messages, empty=True),
        **dict.fromkeys(("chosen", "rejected"), _SEGMENT),
        **dict.fromkeys(("score_chosen", "score_rejected"), _NUMBER),
        **dict.fromkeys(("persona_id", "model_chosen", "model_rejected"), _TEXT),
        "step": partial(_expect_type, of=(int, NoneType)),
    },
    "dpo": {"prompt": _expect_messages, "chosen": _expect_side, "rejected": _expect_side},
    "kto": {
        "prompt": _expect_messages,
        "completion": _expect_side,
        "label": partial(_expect_type, of=(bool,)),
    },
    "rl": {
        "prompt": _expect_opening,
        "scenario": partial(_expect_type, of=(dict,)),
        "persona_id": _TEXT,
        "context_turns": _expect_count,
    },
    "sft": {"messages": _expect_answered},
}
"""By kind the keys of its rows, and what each of them is expected to hold."""
