from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dialogauge.app.build import BuiltJudge
from dialogauge.app.judge import ENTRY
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.settings import JudgeOptions
from dialogauge.core import Conversation
from talks import FakeJudge


@dataclass
class Watcher:
    said: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.said.append(text)

    @contextlib.contextmanager
    def watching(self, *_: object) -> Iterator[None]:
        yield

    def interrupted(self, first: bool) -> None: ...


@dataclass
class Desk:
    """Judges logs in a folder of its own by a judge that needs no model."""

    folder: Path
    judge: FakeJudge = field(default_factory=FakeJudge)
    watcher: Watcher = field(default_factory=Watcher)
    module: str = ""
    """A module in the folder that holds models."""

    def log(
        self, *conversations: Conversation, name: str = "log.jsonl", keys: dict[str, Any] | None = None
    ) -> str:
        path = self.folder / name
        records = (
            {
                "conversation_id": c.id,
                "scenario": c.scenario,
                "messages": [m.to_openai() for m in c.messages],
                **(keys or {}),
            }
            for c in conversations
        )
        path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
        return str(path)

    def run(self, *inputs: str, out: str = "run", **options: Any) -> CommandOutcome[Any]:
        settings = JudgeOptions(inputs=inputs, out=str(self.folder / out), **options)
        return ENTRY.carry_out(settings, self.watcher)

    def rows(self, out: str = "run") -> list[dict[str, Any]]:
        lines = (self.folder / out / "judgements.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def json(self, name: str, out: str = "run") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / out / name).read_text(encoding="utf-8"))
        return found


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    made = Desk(tmp_path)
    build: Callable[..., BuiltJudge] = lambda _, **__: BuiltJudge(made.judge)  # noqa: E731
    monkeypatch.setattr("dialogauge.app.judge.build_judge", build)
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return made
