"""Coverage-guided fuzzing of the readers with atheris, which is installed for this alone.

    python -m venv /tmp/fuzzing && /tmp/fuzzing/bin/pip install atheris -e .
    /tmp/fuzzing/bin/python -m benchmarks.fuzz_guided reply -runs=100000 -seed=1

Where `benchmarks.fuzz` breaks valid inputs by rules, this searches for bytes that reach code that no input
reached before. The first argument names the reader; the others are libFuzzer's. It starts from the valid
inputs of the tests and stops at the first fault.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

with atheris.instrument_imports(include=["dialogauge"]):
    import orjson

    from dialogauge.core import Conversation, DialogaugeError, InputError
    from dialogauge.data import read_conversations, read_field_map, read_ratings
    from dialogauge.judges.rubric.reply import ReplyFault, parse_reply
    from dialogauge.llm.json_text import NoJsonObject, extract_object
    from dialogauge.rubrics import Scope, load_rubric
    from dialogauge.runs.records import decode_conversation, encode_conversation
    from dialogauge.studies.judging.gate import parse_gate
    from dialogauge.text import redact
    from fuzzing import seeds

FOLDER = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
CARD = load_rubric("card")


def _placed(error: DialogaugeError) -> None:
    assert error.place is not None


def _worded(error: ValueError) -> None:
    assert str(error)


def conversations(data: bytes) -> None:
    (FOLDER / "log").write_bytes(data)
    try:
        for outcome in read_conversations([str(FOLDER / "log")]):
            if isinstance(outcome, Conversation):
                assert decode_conversation(encode_conversation(outcome)) == outcome
            else:
                _placed(outcome)
    except InputError as error:
        _placed(error)


def ratings(data: bytes) -> None:
    (FOLDER / "ratings").write_bytes(data)
    try:
        read_ratings(FOLDER / "ratings")
    except InputError as error:
        _placed(error)


def field_map(data: bytes) -> None:
    (FOLDER / "map.toml").write_bytes(data)
    try:
        read_field_map(FOLDER / "map.toml")
    except DialogaugeError as error:
        _placed(error)


def rubric(data: bytes) -> None:
    (FOLDER / "r.toml").write_bytes(data)
    try:
        load_rubric(FOLDER / "r.toml")
    except DialogaugeError as error:
        _placed(error)


def reply(data: bytes) -> None:
    try:
        found = extract_object(data.decode("utf-8", "replace"))
        parse_reply(CARD, Scope((1, 2), ("turn", "conversation")), found.value)
    except (NoJsonObject, ReplyFault) as error:
        _worded(error)


def gate(data: bytes) -> None:
    with contextlib.suppress(DialogaugeError):
        parse_gate(data.decode("utf-8", "replace"))


def personal(data: bytes) -> None:
    redact(data.decode("utf-8", "replace"))


RUBRIC = """
id = "x"
version = 1
level = "turn"
languages = ["en"]
shows = ["dialogue"]
template = "{{dialogue}} {{asked}} {{dimensions}} {{reply_format}}"
[[dimensions]]
name = "a"
description = "b"
anchors = { 1 = "bad", 5 = "good" }
"""
REPLY = """
{"per_turn": {"1": {"issues": [], "evidence": [],
"scores": {"context_use": 5, "helpfulness": 5, "safety": 5}}},
"conversation_level": {"coherence": {"note": "x", "score": 4}},
"decision_basis": "x", "weakest_turn": null, "verdict": "good"}
"""
SEEDS: dict[str, list[bytes]] = {
    "conversations": [
        *(orjson.dumps(record) for records in seeds.RECORDS.values() for record in records),
        seeds.CSV.encode(),
        seeds.USS.encode(),
    ],
    "ratings": [
        b"\n".join(map(orjson.dumps, rows)) for rows in (seeds.LONG_RATINGS, seeds.WIDE_RATINGS, seeds.PAIRS)
    ],
    "field_map": [seeds.FIELD_MAP.encode()],
    "rubric": [RUBRIC.encode()],
    "reply": [REPLY.encode(), b'<think>{"a": 1}</think>```json\n{"a": 2}\n```'],
    "gate": [g.encode() for g in seeds.GATES],
    "personal": [b"call +1 (212) 555-0123 or a@example.com, 4111 1111 1111 1111, 11010519491231002X"],
}


def main() -> None:
    """Fuzz one reader."""
    name, *rest = sys.argv[1:]
    corpus = FOLDER / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(SEEDS[name]):
        (corpus / str(number)).write_bytes(seed)
    atheris.Setup([sys.argv[0], *rest, "-timeout=5", "-max_len=4096", str(corpus)], globals()[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
