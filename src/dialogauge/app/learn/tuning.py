"""The training of the memory system `trained`: `tune sft` on a local model, kept in the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialogauge.agents.memory import FirstTurn
from dialogauge.core import digest
from dialogauge.core.protocols import Agent
from dialogauge.core.settings import recorded
from dialogauge.llm import alone, folder_digest
from dialogauge.runs.directory import write_whole
from dialogauge.runs.records import json_line
from dialogauge.training import SftSettings, TuneFolder, TuneJob, train_offline, tune


@dataclass(frozen=True)
class FolderTuner:
    """Trains the model of a folder; implements `agents.memory.Tuner`."""

    base: Path
    """The model before."""
    folder: Path
    """Where trained models are kept, each under the digest of all that it came of."""
    settings: SftSettings
    agent_of: Callable[[Path], Agent]
    """Builds who answers by the model of a folder."""
    device: str = "auto"
    _agents: dict[Path, Agent] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def describe(self) -> Mapping[str, Any]:
        """Return a digest of the model before, and the settings of training."""
        return {"base": folder_digest(self.base), "training": recorded(self.settings)}

    async def tuned(self, turns: Sequence[FirstTurn]) -> tuple[Agent, Path]:
        """Train, or take what an earlier training came to; one that broke off goes on from its checkpoint.

        Raises UsageError for a model that cannot be trained, MissingExtra without the packages for it.
        """
        out = self.folder / digest([dict(self.describe()), list(turns)])[:16]
        async with self._turn:
            if out not in self._agents:
                await self._train(turns, out)
                self._agents[out] = self.agent_of(out)
        return self._agents[out], out / "adapter"

    async def _train(self, turns: Sequence[FirstTurn], out: Path) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        rows = out.with_suffix(".jsonl")
        write_whole(rows, (json_line({"messages": turn}) for turn in turns))
        job = TuneJob(method="sft", settings=self.settings, model=self.base, data=rows, device=self.device)
        place = TuneFolder(out)

        def work() -> None:
            with alone():  # else what others sample would change the draws of this training
                tune(job, train_offline, place)

        try:
            await asyncio.to_thread(work)
        except asyncio.CancelledError:
            place.stop_asked = True  # the thread stops after its step, with a checkpoint
            raise
