"""Runs the commands of a case in this process, and gathers what they did."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from in_process import run_main
from pins.cases import Case
from pins.inputs import answer_items, write_inputs
from pins.normal import Normal, hash_of
from pins.replies import pinned_server
from printed import check_printed
from tuned_folder import write_tuned

EXPECTED = Path(__file__).parent / "expected"
_SALT_BYTES = 32
_ENVIRONMENT = {"COLUMNS": "120", "TERM": "dumb"}
_UNSET = ("OPENAI_API_KEY", "OPENAI_BASE_URL")


def run_case(case: Case, folder: Path) -> dict[str, Any]:
    """Run a case in an empty folder.

    Returns:
        `steps`: the command line, exit code, JSON output and messages of each command;
        `requests`: how many requests the server got, by the schema asked for, and a hash of their
        messages; `files`: the names of all files made; `contents`: those that the case pins.
    """
    folder = folder.resolve()
    normal = Normal(folder, case.condensed)
    steps = []
    with pinned_server() as server, _settled(folder):
        write_inputs(folder, server.url)
        given = {p.name for p in folder.iterdir()} | {"long.jsonl", "short.jsonl", "cache"}
        for words in case.steps:
            if words[0] == "ANSWER":
                answer_items(folder / words[1])
            elif words[0] == "TUNED":
                write_tuned(folder / words[1])
            else:
                steps.append(_step(words, server.url, normal))
        asked = server.asked
    made = sorted(
        str(p.relative_to(folder))
        for p in folder.rglob("*")
        if p.is_file() and p.relative_to(folder).parts[0] not in given
    )
    contents = {name: normal.file(folder / name) for name in case.pins if (folder / name).exists()}
    record = {
        "steps": steps,
        "requests": _requests(asked),
        "files": [name for name in made if ".db" not in name and not name.endswith(".lock")],
        "contents": contents,
    }
    return {key: value for key, value in record.items() if value}


def _step(words: tuple[str, ...], url: str, normal: Normal) -> dict[str, Any]:
    words = tuple(word.replace("SERVER", url) for word in words)
    code, out, err = run_command(*words)
    command = normal.text(" ".join(words)).replace("http://SERVER/v1", "SERVER")
    step: dict[str, Any] = {"command": command, "exit": code}
    if "--json" in words and out.lstrip().startswith(("{", "[")):
        check_printed(words, json.loads(out))
        step["output"] = normal.output(out)
    if code != 0:
        step["messages"] = [normal.text(line) for line in err.splitlines()[:12]]
    return step


def run_command(*words: str) -> tuple[int, str, str]:
    """Run `dialogauge WORDS` in this process; returns exit code, output and messages."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        patch.object(sys, "argv", ["dialogauge", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run_main()
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return code, *texts


@contextlib.contextmanager
def _settled(folder: Path) -> Iterator[None]:
    """A working directory and cache of its own, no keys, and one salt for all hashed ids."""
    real = os.urandom

    def settled(count: int) -> bytes:
        return b"salt" * (count // 4) if count == _SALT_BYTES else real(count)

    environment = _ENVIRONMENT | {"DIALOGAUGE_CACHE": str(folder / "cache")}
    with (
        contextlib.chdir(folder),
        patch.dict(os.environ, environment),
        patch("os.urandom", settled),
        patch("random._urandom", settled),
    ):
        for name in _UNSET:
            os.environ.pop(name, None)
        yield


def _requests(asked: list[dict[str, Any]]) -> dict[str, Any]:
    if not asked:
        return {}
    names = Counter(
        (body.get("response_format", {}).get("json_schema") or {"name": "text"})["name"] for body in asked
    )
    shown = sorted(json.dumps(body["messages"], sort_keys=True) for body in asked)
    return {"by_schema": dict(sorted(names.items())), "messages": hash_of(shown)}
