"""The law of conservation: what a reader is given is in what it reads, or counted as left out."""

import csv
import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from dialogauge.core import Conversation, FileFault
from dialogauge.data import read_conversations
from dialogauge.data.formats.threads import moment_of
from fuzzing import logs, seeds

SHAPES = Path(__file__).parent / "shapes"
EXPECTED = json.loads((SHAPES / "expected.json").read_text(encoding="utf-8"))
READ = [shape["file"] for shape in EXPECTED.values() if shape["outcome"] == "read"]
OF_THE_PROGRAM = {"name", "span_name", "title", "header", "products", "goals"}
"""Keys of what names a step or a page, and of what a judge must not read: no text of a conversation."""
NAMES = ("agent run", "Gemini Apps Activity")
"""What two programs write of themselves in other places."""
TEMPLATES = re.compile(r"<\|[^|]*\|>|<[^<>]*>|\[/?INST\]|^Prompted |\bDONE\b|^- role: \w+\s+content: \|")


def texts(value):
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        try:
            yield from texts(json.loads(value))
        except ValueError:
            yield value
    elif isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from () if key in OF_THE_PROGRAM else texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)
    elif dataclasses.is_dataclass(value):
        yield from texts([getattr(value, field.name) for field in dataclasses.fields(value)])


def values_of(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return list(csv.DictReader(text.splitlines()))
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def words(text):
    return re.findall(r"\w+", TEMPLATES.sub(" ", text))


def missing(path, **options):
    """Return the texts of several words that are in no conversation, and how much was left out in words."""
    reader = read_conversations([str(path)], **options)
    try:
        outcomes = list(reader)
    except FileFault as fault:
        return [], [fault]
    talks = [o for o in outcomes if isinstance(o, Conversation)]
    kept = " ".join(" ".join(words(text)) for talk in talks for text in texts(talk))
    lost = [
        text
        for text in dict.fromkeys(texts(values_of(path)))
        if any(" ".join(words(line)) not in kept for line in lines(text))
    ]
    return lost, [n for n in reader.notes if n.left_out] + outcomes[len(talks) :]


def lines(text):
    """Return a text of several words; what a chat template holds line by line, without its roles."""
    if len(text.split()) == 1 or text in NAMES or moment_of(text) is not None:
        return []
    if not TEMPLATES.search(text) and not text.startswith("data:"):
        return [text]
    parts = TEMPLATES.sub("\n", text).splitlines()
    return [line for line in parts if len(words(line)) > 1 and "{" not in line]


@pytest.mark.parametrize("name", [name for name in READ if name.endswith((".json", ".jsonl", ".csv"))])
def test_of_every_shape_no_text_is_missing_without_a_count(name):
    lost, accounted = missing(SHAPES / name)
    assert not lost or accounted, lost


@pytest.mark.parametrize("format", seeds.RECORDS)
def test_of_every_format_no_text_is_missing_without_a_count(format, tmp_path):
    for number, record in enumerate(seeds.RECORDS[format]):
        path = tmp_path / f"{number}.{logs.ENDINGS[format]}"
        path.write_text(json.dumps(record), encoding="utf-8")
        lost, accounted = missing(path, format=format)
        assert not lost or accounted, (number, lost)
