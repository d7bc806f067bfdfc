"""Rows for training as files hold them: what kind they are, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from dialogauge.core import FileFault, Place, RecordFault
from dialogauge.core.files import shown_path

RowKind = Literal["dialogue", "pair"]

_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})
_KINDS: Final[Mapping[str, str]] = {
    "completion": "a labelled reply (kto)",
    "conversations": "a dialogue of ShareGPT",
    "prompt": "a prompt without replies (rl)",
}
_HINT: Final[Mapping[RowKind, str]] = {
    "dialogue": "give rows with messages, as `dialogauge pairs --kind sft` writes them",
    "pair": "give rows with prompt, chosen and rejected, as `dialogauge pairs --kind segment` writes them",
}


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A dialogue, or two continuations of one."""

    line: int
    prompt: Sequence[Mapping[str, Any]]
    """What stands before; empty for a dialogue."""
    sides: tuple[Sequence[Mapping[str, Any]], ...]
    """One dialogue, or the chosen and the rejected continuation."""
    tools: Sequence[Mapping[str, Any]] | None = None
    scores: tuple[float, float] | None = None
    """Of the sides of a pair, where they are given."""


def read_row_file(path: Path, kind: RowKind) -> list[TrainingRow]:
    """Read a file of rows of one kind.

    Raises:
        FileFault: It cannot be read, or holds no row.
        RecordFault: A line is no row of the kind; names the line.
    """
    name = shown_path(path)
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        msg = f"the file of rows cannot be read: {error.strerror}"
        raise FileFault(msg, place=Place(name)) from None
    rows = [_row(raw, kind, Place(name, number)) for number, raw in enumerate(lines, 1) if raw.strip()]
    if not rows:
        msg = "the file holds no row"
        raise FileFault(msg, place=Place(name), hint=_HINT[kind])
    return rows


def _row(raw: bytes, kind: RowKind, place: Place) -> TrainingRow:
    try:
        row = orjson.loads(raw)
    except ValueError as error:
        msg = f"the line is no JSON: {error}"
        raise RecordFault(msg, place=place) from None
    wanted = ("messages",) if kind == "dialogue" else ("prompt", "chosen", "rejected")
    if not isinstance(row, dict) or any(key not in row for key in wanted):
        raise RecordFault(_other(row), place=place, hint=_HINT[kind])
    prompt, *sides = [[], row["messages"]] if kind == "dialogue" else [row[key] for key in wanted]
    prompt_key = "messages" if kind == "dialogue" else "prompt"
    for key, messages in zip((prompt_key, *wanted[-len(sides) :]), (prompt, *sides), strict=True):
        _expect_messages(key, messages, place)
    for key, side in zip(wanted[-len(sides) :], sides, strict=True):
        if all(m["role"] != "assistant" for m in side):
            msg = f"the assistant says nothing in {key}"
            raise RecordFault(msg, place=place, hint="a row needs a reply to train on")
        if kind == "pair" and prompt and list(side[: len(prompt)]) == prompt:
            msg = f"{key} repeats the prompt: the pair would have two"
            raise RecordFault(msg, place=place, hint=f"leave in {key} only what follows the prompt")
    scores = row.get("score_chosen"), row.get("score_rejected")
    both = all(isinstance(s, int | float) and not isinstance(s, bool) for s in scores)
    return TrainingRow(
        place.line or 0,
        prompt,
        tuple(sides),
        row.get("tools") or None,
        (float(scores[0]), float(scores[1])) if both and kind == "pair" else None,  # type: ignore[arg-type]
    )


def _other(row: object) -> str:
    """Say what a row is that is not of the kind."""
    if not isinstance(row, dict):
        return "the line is no JSON object"
    if "chosen" in row and "rejected" in row:
        return "the pair has no prompt of its own: each side has one"
    if "chosen" in row and "prompt" in row:
        return "the pair has no rejected side"
    kind = "a dialogue" if "messages" in row else next((v for k, v in _KINDS.items() if k in row), None)
    return f"the row is {kind}" if kind else f"the row has the keys {', '.join(sorted(row)) or 'none'}"


def _expect_messages(key: str, messages: object, place: Place) -> None:
    """Raise RecordFault for what are no messages in OpenAI form."""
    if not isinstance(messages, list):
        msg = f"{key} is no list of messages"
        raise RecordFault(msg, place=place, hint='a message is {"role": "user", "content": "..."}')
    for number, message in enumerate(messages, 1):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in _ROLES:
            msg = f"message {number} of {key} has the role {role!r}"
            raise RecordFault(msg, place=place, hint=f"there are {', '.join(sorted(_ROLES))}")
        if not isinstance(message.get("content"), str) and not message.get("tool_calls"):
            msg = f"message {number} of {key} has no text"
            raise RecordFault(msg, place=place, hint="content is a text")
