"""The tiny policy of the toy, made once for all tests of a process, and rows and sessions to train it on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

STEPS = 80
"""Of its training: enough for replies in words, in a third of the time."""


def tiny_policy(base: Path) -> Path:
    """Return the folder of the policy below the tests' temporary folder; it is made by who asks first."""
    from benchmarks.toy_roleplay import build_policy

    return build_policy(base / "tiny_policy", steps=STEPS)


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def train_on_sessions(
    policy: Path,
    out: Path,
    judge: Any = None,
    *,
    second: Any = None,
    single_turn: bool = False,
    folder: Any = None,
    trainer: Any = None,
    **more: object,
) -> tuple[Any, list[Any]]:
    """Train the policy on sessions of four characters, and return the manifest and the lines of the log.

    Args:
        policy: Folder of the model.
        out: Folder for the model that comes out.
        judge: Gives the reward; the catchphrase by default.
        second: A judge that is no reward.
        single_turn: GRPO.
        folder: A `TuneFolder` in place of a new one.
        trainer: A class in place of `OnlineTrainer`.
        more: Settings.
    """
    from benchmarks.toy_roleplay import TRAIN, CatchphraseJudge, ToyUser

    from dialogauge.agents import beginning
    from dialogauge.training import OnlineSettings, OnlineTrainer, RolloutPrompt, TuneFolder, TuneJob, tune
    from dialogauge.training.rollouts import SessionPlayer, SessionScorer

    shape = {"steps": 2, "group": 4, "turns": 2, "reply_tokens": 12, "max_length": 400, "save_every": 1}
    settings = OnlineSettings(**{"learning_rate": 2e-4, **shape, **more})
    scorer = SessionScorer(judge or CatchphraseJudge(), ("session",))
    seconds = None if second is None else SessionScorer(second, ("session",))
    costs = (settings.truncated_cost, settings.repeated_cost)
    player = SessionPlayer(lambda scenario: ToyUser(), scorer, seconds, *costs)
    prompts = [RolloutPrompt(c.scenario, beginning(c.scenario, c.scenario.id, "policy")) for c in TRAIN[:4]]
    data = write_rows(out.parent / "rl.jsonl", [{}])
    out.mkdir(exist_ok=True)
    folder = folder or TuneFolder(out)
    with asyncio.Runner() as runner:
        train = (trainer or OnlineTrainer)(prompts, player, runner.run, single_turn)
        job = TuneJob(method="gsrpo", settings=settings, model=policy, data=data, device="cpu")
        return tune(job, train, folder), list(folder.lines())


def sessions_of(out: Path) -> list[dict[str, Any]]:
    """Return the sessions that a training played."""
    return [json.loads(line) for line in (out / "sessions.jsonl").read_text().splitlines()]
