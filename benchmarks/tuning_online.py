"""Training on played sessions, on the toy: rewards by seed, held-out gains, a guard, CPU and memory.

    python -m benchmarks.tuning online [FOLDER] [PART...]

Parts are gsrpo, guard and dspo. A step is a batch of 16 sessions, 8 of each of 2 characters, and 2 updates.
The learning rate was chosen on characters that are trained on: 16, so that 50 steps meet each some 6 times.
The policy is trained for 600 steps: after 250 it does not know all catchphrases, and nobody learns from
sessions that are all alike.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.plain_loop import PlainOnlineTrainer
from benchmarks.toy_roleplay import (
    _BY_SYSTEM,
    ASSISTANT,
    HELD_OUT,
    TRAIN,
    CatchphraseJudge,
    Character,
    LengthJudge,
    ToyUser,
    build_policy,
    segment_pairs,
)
from benchmarks.tuning import settings_of, written
from dialogauge.agents import beginning
from dialogauge.core import Conversation
from dialogauge.training import (
    HeldOutPersonas,
    OnlineSettings,
    OnlineTrainer,
    PlaySettings,
    RolloutPrompt,
    SessionPlayer,
    SessionScorer,
    SftSettings,
    TuneFolder,
    TuneJob,
    gains_of,
    load_policy,
    train_offline,
    tune,
)

SEEDS: Final = (0, 1, 2)
STEPS: Final = 50
CAP: Final = 20
TURNS: Final = 3
RATE: Final = 3e-4
"""Chosen among 2e-4, 3e-4, 4e-4 and 6e-4."""
PLAYED: Final = TRAIN[::5]
LOOPS: Final = {"trl": OnlineTrainer, "plain": PlainOnlineTrainer}
PLAY: Final = PlaySettings(turns=TURNS, reply_tokens=CAP)


@dataclass(frozen=True)
class ShareJudge(CatchphraseJudge):
    """The second judge: 3, by 2 more the more replies are in character, by 2 less the more are not."""

    name: str = "shares"

    def value(self, conversation: Conversation) -> float:
        """Score by shares of replies."""
        replies = [turn.reply_text for turn in conversation.new_turns]
        phrase = _BY_SYSTEM[conversation.messages[0].text].phrase
        inside = statistics.fmean(phrase in text for text in replies)
        outside = statistics.fmean(any(line in text for line in ASSISTANT) for text in replies)
        return 3.0 + 2.0 * inside - 2.0 * outside


def prompts(characters: Sequence[Character]) -> list[RolloutPrompt]:
    return [RolloutPrompt(c.scenario, beginning(c.scenario, c.scenario.id, "policy")) for c in characters]


def player(judge: Any, *costs: float) -> SessionPlayer:  # noqa: ANN401
    return SessionPlayer(lambda scenario: ToyUser(), SessionScorer(judge, ("session",)), SECOND, *costs)


SECOND: Final = SessionScorer(ShareJudge(), ("session",))


def gsrpo(model: Path, out: Path, judge: Any, seed: int, loop: str = "trl", **changes: Any) -> Any:  # noqa: ANN401
    """Train by TRL or by our `plain` loop, and return how it ended; prints rewards, tokens, CPU."""
    of_toy = {
        "learning_rate": RATE,
        "steps": STEPS,
        "batch_size": 16,
        "turns": TURNS,
        "reply_tokens": CAP,
        "max_length": 1024,
        "save_every": 1000,
        "seed": seed,
        "precision": "fp32",
    }
    settings = OnlineSettings(**{**of_toy, **changes})
    begun = time.process_time()
    with asyncio.Runner() as runner:
        players = player(judge, settings.truncated_cost, settings.repeated_cost)
        trainer = LOOPS[loop](prompts(PLAYED), players, runner.run)
        data = written(out.parent / "none.jsonl", [{}])
        job = TuneJob(method="gsrpo", settings=settings, model=model, data=data, device="cpu")
        manifest = tune(job, trainer, TuneFolder(out), fresh=True)
    lines = [line.figures for line in TuneFolder(out).lines()]
    rewards = [figures["reward"] or 0.0 for figures in lines]
    lengths = [TURNS * (figures["length"] or 0.0) for figures in lines]
    first, last = statistics.fmean(rewards[:5]), statistics.fmean(rewards[-10:])
    tokens, most = statistics.fmean(lengths[-10:]), TURNS * settings.reply_tokens
    print(
        f"{judge.name}, {loop}, seed {seed}: {manifest.ended} after {len(lines)} steps; reward "
        f"of the first five {first:.2f}, of the last ten {last:.2f} (4.7); tokens a session {tokens:.1f} of "
        f"{most} (half); {time.process_time() - begun:.0f} s of CPU (60)",
        flush=True,
    )
    if manifest.why:
        print(f"  {manifest.why}", flush=True)
    return manifest


def held_out(model: Path, out: Path) -> None:
    """Print what was gained with held-out characters, by the reward judge and by the second."""
    with asyncio.Runner() as runner:
        personas = HeldOutPersonas(
            prompts=prompts(HELD_OUT),
            player=player(CatchphraseJudge()),
            run=runner.run,
            settings=PLAY,
            each=4,
        )
        loading = SftSettings(precision="fp32", max_length=1024)
        before, after = (
            list(personas.play(load_policy(folder, loading, "cpu"), folder.name)) for folder in (model, out)
        )
    for gain in gains_of(before, after, {"reward": "catchphrase", "second": "shares"}, (1, 5)):
        of, by = gain.comparison, gain.comparison.difference
        print(
            f"  held out, {gain.name}: {of.figure_b:.2f} to {of.figure_a:.2f}, {by.value:+.2f} "
            f"({by.low:+.2f} to {by.high:+.2f}), {of.side}; {by.clusters} characters",
            flush=True,
        )


def online(base: Path, parts: Sequence[str]) -> None:
    """Print the figures of training on played sessions."""
    base.mkdir(parents=True, exist_ok=True)
    begun = time.process_time()
    model = build_policy(base / "policy600", steps=600)
    print(f"policy: {time.process_time() - begun:.0f} s of CPU", flush=True)
    if "gsrpo" in parts:
        for loop in LOOPS:
            for seed in SEEDS:
                out = base / f"gsrpo-{loop}-{seed}"
                gsrpo(model, out, CatchphraseJudge(), seed, loop)
                held_out(model, out)
    if "guard" in parts:
        for seed in SEEDS:
            harder: dict[str, Any] = {"learning_rate": 1e-3, "reply_tokens": 16}
            gsrpo(model, base / f"length-{seed}", LengthJudge(), seed, "plain", **harder)
    if "dspo" in parts:
        data = written(base / "pairs.jsonl", segment_pairs(TRAIN, 512, seed=1))
        job = TuneJob(method="dspo", settings=settings_of(), model=model, data=data, device="cpu")
        tune(job, train_offline, TuneFolder(base / "dspo"), fresh=True)
        print("dspo, 60 steps", flush=True)
        held_out(model, base / "dspo")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"all: {time.process_time() - begun:.0f} s of CPU, {memory:.2f} GB (1)")
