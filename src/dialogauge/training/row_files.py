"""Files of training rows read back, strictly and row by row: what a trainer is given is what was written.

A file holds rows of one kind, recognised by their keys. Nothing is skipped: a row that cannot be used is an
error with file and line, before the first step of a training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

import orjson

from dialogauge.agents import Scenario, scenario_of
from dialogauge.core import ROLES, FileFault, Place, RecordFault
from dialogauge.core.files import shown_path

RowKind = Literal["dpo", "segment", "kto", "sft", "rl"]
Messages = tuple[Mapping[str, Any], ...]
"""In OpenAI form; arguments of tool calls are objects."""

_HINT: Final = "rows are written by `dialogauge pairs`; docs/file-formats.md has the keys of each kind"
_SEGMENT: Final = (
    *("prompt", "chosen", "rejected", "score_chosen", "score_rejected"),
    *("persona_id", "step", "model_chosen", "model_rejected"),
)
_KEYS: Final[Mapping[RowKind, tuple[str, ...]]] = {
    "segment": _SEGMENT,
    "dpo": ("prompt", "chosen", "rejected"),
    "kto": ("prompt", "completion", "label"),
    "rl": ("prompt", "scenario", "persona_id", "context_turns"),
    "sft": ("messages",),
}
_BESIDE: Final = frozenset({"unchecked", "tools"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """What all rows of a file have in common."""

    place: Place
    unchecked: bool = False
    """Whether it rests on a judge that nobody checked."""
    tools: Messages = ()
    """Definitions of the tools that the assistant could call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceRow(FileRow):
    """Of the kinds `dpo` and `segment`: two sides under one prompt."""

    kind: Literal["dpo", "segment"]
    prompt: Messages
    chosen: Messages
    """Of `dpo` one reply; of `segment` user messages and replies, the user's first."""
    rejected: Messages
    persona: str | None = None
    step: int | None = None
    scores: tuple[float | None, float | None] = (None, None)
    models: tuple[str | None, str | None] = (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRow(FileRow):
    """Of the kind `kto`: one reply, and whether it is desirable."""

    prompt: Messages
    completion: Messages
    label: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueRow(FileRow):
    """Of the kind `sft`: a dialogue to follow; it ends with a reply."""

    messages: Messages


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRow(FileRow):
    """Of the kind `rl`: what sessions begin with that are sampled in training."""

    prompt: Messages
    scenario: Scenario
    context_turns: int


AnyRow = PreferenceRow | LabelledRow | DialogueRow | PromptRow


def read_pair_file(path: str | Path) -> Iterator[AnyRow]:
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
                place = Place(name, number)
                value = _object(line, place)
                kind = _kind(value, place)
                if first is not None and kind != first:
                    _fail(f"a row of the kind {kind} in a file of the kind {first}", place)
                first = kind
                yield _READERS[kind](value, place)
    except OSError as error:
        msg = f"it cannot be read: {error.strerror or error}"
        raise FileFault(msg, place=Place(name), hint=_HINT) from error
    if first is None:
        msg = "the file holds no row"
        raise FileFault(msg, place=Place(name), hint=_HINT)


def _fail(message: str, place: Place, hint: str = _HINT) -> NoReturn:
    raise RecordFault(message, place=place, hint=hint)


def _object(line: bytes, place: Place) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        _fail(f"this is no JSON: {error.msg}", place)
    if not isinstance(value, dict):
        _fail("a row is a JSON object, and this is none", place)
    return value


def _kind(value: Mapping[str, Any], place: Place) -> RowKind:
    """Return the kind whose keys a row has, each of them and no other."""
    keys = value.keys() - _BESIDE
    for kind, wanted in _KEYS.items():
        if keys == set(wanted):
            return kind
    if {"chosen", "rejected"} <= keys and "prompt" not in keys:
        hint = "put what both sides share into `prompt`, and leave the rest in `chosen` and `rejected`"
        _fail("a pair without a prompt: each side would be read with a prompt of its own", place, hint)
    near = max(_KEYS, key=lambda kind: len(keys & set(_KEYS[kind])) - len(set(_KEYS[kind]) - keys) / 100)
    wanted, missing = _KEYS[near], [key for key in _KEYS[near] if key not in keys]
    other = sorted(map(str, keys - set(wanted)))
    what = [f"{', '.join(missing)} missing"] if missing else []
    what += [f"{', '.join(other)} unknown"] if other else []
    hint = f"another version or program wrote it: write it again with `dialogauge pairs --kind {near}`"
    _fail(f"no kind of row has these keys; nearest is {near}: {'; '.join(what)}", place, hint)


def _beside(value: Mapping[str, Any], place: Place) -> dict[str, Any]:
    unchecked, tools = value.get("unchecked", False), value.get("tools") or []
    if not isinstance(unchecked, bool):
        _fail("unchecked is neither true nor false", place)
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        _fail("tools are no list of objects", place)
    return {"place": place, "unchecked": unchecked, "tools": tuple(tools)}


def _messages(value: Mapping[str, Any], key: str, place: Place, *, empty: bool = False) -> Messages:
    """Return the messages under a key; raises RecordFault for what no chat template could take."""
    messages = value[key]
    if not isinstance(messages, list) or not (messages or empty):
        _fail(f"{key} is no list of messages", place)
    for number, one in enumerate(messages, 1):
        role = one.get("role") if isinstance(one, dict) else None
        if role not in ROLES:
            _fail(f"message {number} of {key} has no role that is known: {', '.join(ROLES)}", place)
        if not isinstance(one.get("content"), str) and not one.get("tool_calls"):
            _fail(f"message {number} of {key} has no text", place)
    return tuple(messages)


def _answers(messages: Messages, key: str, place: Place) -> Messages:
    last = messages[-1]
    if last["role"] != "assistant" or last.get("tool_calls"):
        _fail(f"{key} does not end with a reply of the assistant", place)
    return messages


def _side(value: Mapping[str, Any], key: str, place: Place, *, segment: bool) -> Messages:
    """Return one side of a pair: a reply, or a segment that the user begins."""
    side = _answers(_messages(value, key, place), key, place)
    roles = [message["role"] for message in side]
    if "system" in roles or "developer" in roles or (roles[0] == "user" and not segment):
        hint = "what stands before the first difference belongs into `prompt`, for both sides alike"
        _fail(f"the row has two prompts: {key} begins with one of its own", place, hint)
    if segment and roles[0] != "user":
        _fail(f"{key} begins with {roles[0]}: a segment begins with what the user says", place)
    if not segment and len(side) > 1:
        _fail(f"{key} has {len(side)} messages: a pair of replies has one on each side", place)
    return side


def _preference(value: Mapping[str, Any], place: Place) -> PreferenceRow:
    segment = "persona_id" in value
    prompt = _messages(value, "prompt", place, empty=segment)
    sides = [_side(value, key, place, segment=segment) for key in ("chosen", "rejected")]
    if sides[0] == sides[1]:
        _fail("chosen and rejected are the same", place, "leave the row out: nothing can be learnt of it")
    known = {
        "persona": _optional(value, "persona_id", str, place),
        "step": _optional(value, "step", int, place),
        "scores": tuple(_optional(value, f"score_{s}", (int, float), place) for s in ("chosen", "rejected")),
        "models": tuple(_optional(value, f"model_{s}", str, place) for s in ("chosen", "rejected")),
    }
    kind: Literal["dpo", "segment"] = "segment" if segment else "dpo"
    return PreferenceRow(
        kind=kind,
        prompt=prompt,
        chosen=sides[0],
        rejected=sides[1],
        **(known if segment else {}),
        **_beside(value, place),
    )


def _optional(value: Mapping[str, Any], key: str, of: type | tuple[type, ...], place: Place) -> Any:  # noqa: ANN401
    one = value.get(key)
    if one is not None and (isinstance(one, bool) or not isinstance(one, of)):
        _fail(f"{key} is {one!r}", place)
    return one


def _labelled(value: Mapping[str, Any], place: Place) -> LabelledRow:
    if not isinstance(value["label"], bool):
        _fail("label is neither true nor false", place)
    return LabelledRow(
        prompt=_messages(value, "prompt", place),
        completion=_side(value, "completion", place, segment=False),
        label=value["label"],
        **_beside(value, place),
    )


def _dialogue(value: Mapping[str, Any], place: Place) -> DialogueRow:
    messages = _answers(_messages(value, "messages", place), "messages", place)
    return DialogueRow(messages=messages, **_beside(value, place))


def _prompt(value: Mapping[str, Any], place: Place) -> PromptRow:
    turns = value["context_turns"]
    if isinstance(turns, bool) or not isinstance(turns, int) or turns < 0:
        _fail(f"context_turns is {turns!r}", place)
    scenario = scenario_of(value["scenario"], place)
    prompt = _messages(value, "prompt", place)
    if prompt[-1]["role"] == "user":
        _fail("prompt ends with the user: the simulated user speaks first in training", place)
    return PromptRow(prompt=prompt, scenario=scenario, context_turns=turns, **_beside(value, place))


_READERS: Final[Mapping[RowKind, Callable[[Mapping[str, Any], Place], AnyRow]]] = {
    "segment": _preference,
    "dpo": _preference,
    "kto": _labelled,
    "rl": _prompt,
    "sft": _dialogue,
}
