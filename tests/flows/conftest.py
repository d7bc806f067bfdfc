from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from in_process import run_main
from printed import check_printed
from servers.openai_stub import OpenAIStub

SAMPLES = Path(__file__).resolve().parents[2] / "src/dialogauge/samples"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def unwrapped(self) -> str:
        """The output with one space for any white space: lines that were wrapped are whole again."""
        return " ".join(self.out.split())

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def dialogauge(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Done]:
    """Runs a command in this process, in a folder of its own, with a cache of its own.

    What it prints with `--json` is held against its schema.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["dialogauge", *(str(w) for w in words)])
        capfd.readouterr()
        code = run_main()
        out, err = capfd.readouterr()
        if "--json" in words and out:
            check_printed(tuple(map(str, words)), json.loads(out))
        return Done(code, out, err)

    return run


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the folders of `once`."""
    return tmp_path_factory.mktemp("prepared")


@pytest.fixture
def once(prepared: Path, tmp_path: Path) -> Callable[[str, Callable[[], object]], None]:
    """Fills the folder of a test by commands that run once for all tests that name the same.

    Each test has a copy of its own. Paths that a file in it holds lead to where it was made first.
    """

    def fill(name: str, make: Callable[[], object]) -> None:
        kept = prepared / name
        if kept.exists():
            copytree(kept, tmp_path, dirs_exist_ok=True)
        else:
            make()
            copytree(tmp_path, kept)

    return fill


@pytest.fixture
def serve() -> Iterator[Callable[..., OpenAIStub]]:
    """Starts stubs that stop at the end of the test."""
    with ExitStack() as stack:
        yield lambda *args, **options: stack.enter_context(OpenAIStub(*args, **options))


@pytest.fixture
def talk() -> Callable[..., dict[str, Any]]:
    """Makes a record with the given replies."""

    def make(name: str, *replies: str, **more: Any) -> dict[str, Any]:
        messages = []
        for number, reply in enumerate(replies or ("It opens at nine.",), 1):
            messages.append({"role": "user", "content": f"Question {number}: when does museum {name} open?"})
            messages.append({"role": "assistant", "content": reply})
        return {"conversation_id": name, "messages": messages, **more}

    return make


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Path]:
    """Writes records as JSONL; a string or bytes stands for a line as it is."""

    def write(*records: object, name: str = "log.jsonl") -> Path:
        path = tmp_path / name
        lines = []
        for record in records:
            if isinstance(record, bytes):
                lines.append(record)
            elif isinstance(record, str):
                lines.append(record.encode())
            else:
                lines.append(json.dumps(record, ensure_ascii=False).encode())
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path

    return write


def rows_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "judgements.jsonl").read_text().splitlines()]
