"""Whole commands in this process, and what must hold of each, whatever it was given."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson

from dialogauge.cli.main import command_line
from dialogauge.core import DialogaugeError, UsageError
from dialogauge.llm.protocol import ChatRequest
from dialogauge.llm.scripted import ScriptedClient
from servers.schemas import instance

CODES = frozenset({0, 1, 2, 3, 100})
"""Exit codes that a command may end with; 130 is for interrupted ones."""

_PYTHON = re.compile(
    r"Traceback|\b[A-Z]\w+(?:Error|Exception)\b(?!\w)|NoneType|object has no attribute|unhashable|<class '"
)
"""What only Python says."""


class Unsound(AssertionError):
    """A command that ended as none may."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def read(self) -> bool:
        """Whether there is a result, and not only a refusal."""
        return self.code in (0, 3, 100)


Answer = Callable[[ChatRequest], str]


def plainest(request: ChatRequest) -> str:
    """Reply with the plainest value that the asked schema allows; without a schema, with a few words."""
    return "Fine, thank you." if request.schema is None else json.dumps(instance(dict(request.schema.schema)))


def command(*words: str, answer: Answer = plainest) -> Ended:
    """Run `dialogauge WORDS` here, with a model that answers without a network.

    Raises whatever no command may let through.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))

    def client(settings: Any, *_: Any) -> ScriptedClient:
        return ScriptedClient(answer, name=settings.model)

    with (
        patch.object(sys, "argv", ["dialogauge", *words]),
        patch("dialogauge.app.clients._http", client),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code: object = 0
        try:
            command_line()(list(words))
        except SystemExit as ended:
            code = ended.code
        except DialogaugeError as error:
            code = 2 if isinstance(error, UsageError) else 1
            err.write(f"dialogauge: {error}\n")
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return Ended(words, code if isinstance(code, int) else 1, *texts)


def sound(ended: Ended, own: str = "", *, foreign: bool = False) -> str:
    """Say what came of a command: `read`, or its exit code.

    Args:
        ended: The command.
        own: What the input said itself: a name in it is not a word of ours.
        foreign: Whether a library of others reads the input: its words are not ours either.

    Raises Unsound when the exit code is none of ours, a refusal says nothing, or a message is Python's.
    """
    said = f"{ended.out}\n{ended.err}"
    if ended.code not in CODES:
        raise Unsound(f"exit code {ended.code} of {shlex.join(ended.words)}: {said[-500:]}")
    told = "--json" in ended.words and ended.out  # which holds what could not be read
    if not ended.read and not told and not re.search(r"^(dialogauge|Error): \S", ended.err, re.MULTILINE):
        raise Unsound(f"exit code {ended.code} without a word: {shlex.join(ended.words)}: {said[-500:]}")
    for found in _PYTHON.finditer("" if foreign else said):
        if found.group() not in own:
            raise Unsound(f"{found.group()!r} of {shlex.join(ended.words)}: {ended.err[-500:]}")
    return "read" if ended.read else f"exit {ended.code}"


def sound_files(folder: Path, given: Mapping[Path, bytes]) -> None:
    """Hold that every file that a command wrote is whole: JSON as its standard has it, pages with their end.

    Args:
        folder: Everything in it is looked at.
        given: Files that were there before, with what they held.
    """
    for path in folder.rglob("*"):
        if not path.is_file() or path.suffix not in (".json", ".jsonl", ".html"):
            continue
        raw = path.read_bytes()
        if given.get(path) == raw:
            continue
        if path.name.startswith("."):
            raise Unsound(f"{path.name} was left behind")
        if path.suffix == ".html" and b"</html>" not in raw[-20:]:
            raise Unsound(f"{path.name} breaks off")
        try:
            if path.suffix == ".json":
                orjson.loads(raw)
            elif path.suffix == ".jsonl":
                for line in raw.splitlines():
                    orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise Unsound(f"{path.name} is no JSON: {error}: {raw[:200]!r}") from error


def counted(summary: Mapping[str, Any]) -> None:
    """Hold that a summary of judgements loses nothing: what was asked for is judged, failed, or left."""
    c = summary["conversations"]
    parts = ("judged", "failed", "without_reply", "unreadable", "pending", "absent")
    if c["requested"] != sum(c.get(name, 0) for name in parts):
        raise Unsound(f"conversations do not add up: {c}")
    for name, d in summary["dimensions"].items():
        if d["requested"] != d["n"] + d["n_na"] + d["n_failed"]:
            raise Unsound(f"{name} does not add up: {d}")


@contextlib.contextmanager
def in_folder(folder: Path) -> Iterator[None]:
    """Work in a folder, with the reply cache there and no keys."""
    environment = {"DIALOGAUGE_CACHE": str(folder / "cache"), "COLUMNS": "120", "TERM": "dumb"}
    with contextlib.chdir(folder), patch.dict(os.environ, environment):
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            os.environ.pop(name, None)
        yield
