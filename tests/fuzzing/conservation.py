"""The law of conservation: what a reader is given is in what it reads, or counted as left out."""

from __future__ import annotations

import codecs
import csv
import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dialogauge.core import Conversation
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.notes import Note, left_out_of

OF_THE_PROGRAM = {"name", "span_name", "title", "header", "products", "goals", "workflow_name"} | {
    *("request_preview", "response_preview", "mlflow.traceInputs", "mlflow.traceOutputs"),
}
"""Keys of what names a step or a page, of copies for a list, and of what a judge must not read."""
STEP = "working_start"
"""Marks a step of Inspect itself, which copies messages."""
NAMES = ("agent run", "Gemini Apps Activity")
"""What two programs write of themselves in other places."""
TEMPLATES = re.compile(r"<\|[^|]*\|>|<[^<>]*>|\[/?INST\]|^Prompted |\bDONE\b|^- role: \w+\s+content: \|")
_WORD = re.compile(r"\b[^\W\d_]{2,}\b")


class Unaccounted(AssertionError):
    """Something of the input is neither in what was read, nor counted."""


def texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value, those in strings of JSON too."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        try:
            yield from texts(json.loads(value))
        except (ValueError, RecursionError):
            yield value
    elif isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items() if STEP not in value else ():
            yield from () if key in OF_THE_PROGRAM else texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts(inner)
    elif dataclasses.is_dataclass(value):
        yield from texts([getattr(value, field.name) for field in dataclasses.fields(value)])


def values_of(path: Path) -> list[Any]:
    """Return the records of a file: of JSONL and CSV, of an array, or one document."""
    data = path.read_bytes()
    text = data.decode("utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8")
    if path.suffix == ".csv":
        return list(csv.DictReader(text.splitlines(), delimiter="\t" if "\t" in text else ","))
    try:
        value = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return value if isinstance(value, list) else [value]


def lost_of(record: Any, kept: str) -> list[str]:
    """Return the texts of several words in a record that are not in all words that were kept."""
    return [
        text
        for text in dict.fromkeys(texts(record))
        if any(" ".join(_words(line)) not in kept for line in _lines(text))
    ]


def kept_words(talks: Iterable[Conversation]) -> str:
    """Return all words of what was read."""
    return " ".join(" ".join(_words(text)) for talk in talks for text in texts(talk))


def account(records: Sequence[Any], outcomes: Sequence[Any], notes: Iterable[Note], *, alone: bool) -> None:
    """Raise `Unaccounted` where records or texts are neither read, nor a fault, nor counted.

    `alone`: each record is a conversation.
    """
    talks = [one for one in outcomes if isinstance(one, Conversation)]
    faults, counted = len(outcomes) - len(talks), left_out_of(notes)
    left_out = sum(sum(reasons.values()) for reasons in counted.values())
    if alone and len(records) != len(outcomes) + sum(counted.get("records", {}).values()):
        raise Unaccounted(f"{len(records)} records are {len(talks)} conversations, {faults} faults")
    kept = kept_words(talks)
    losing = [texts for record in records if (texts := lost_of(record, kept))]
    if len(losing) > left_out + (faults if alone else faults * len(records)):
        raise Unaccounted(f"missing, and not counted: {losing}")


def is_text(value: Any) -> bool:
    """Say whether a value is a text of several words, and no JSON."""
    return (
        isinstance(value, str)
        and value.strip()[:1] not in ("{", "[")
        and bool(_lines(value))
        and value not in "".join(NAMES)
    )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", TEMPLATES.sub(" ", text))


def _lines(text: str) -> list[str]:
    """Return a text of several words; what a chat template holds line by line, without its roles."""
    if len(text.split()) == 1 or len(_WORD.findall(text)) < 2 or text in NAMES or moment_of(text) is not None:
        return []
    if not TEMPLATES.search(text) and not text.startswith("data:"):
        return [text]
    parts = TEMPLATES.sub("\n", text).splitlines()
    return [line for line in parts if len(_words(line)) > 1 and "{" not in line]
