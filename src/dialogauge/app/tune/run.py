"""`dialogauge tune sft|dpo|dspo|grpo|gsrpo`: what is asked for, made into a job, and shown."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dialogauge.app.command import NO_INPUT, Command
from dialogauge.app.outcome import FINISHED, CommandOutcome
from dialogauge.app.sources import PythonInput
from dialogauge.app.tune.page import tune_brief, tune_page
from dialogauge.app.tune.playing import playing_for
from dialogauge.app.tune.settings import OfflineOptions, TuneOptions
from dialogauge.core.settings import narrowed
from dialogauge.report import html_bytes
from dialogauge.runs import Observer, Outcome, StopSignal
from dialogauge.runs.directory import write_whole
from dialogauge.training import (
    OnlineSettings,
    PairSettings,
    SftSettings,
    Trainer,
    TrainSettings,
    TuneFolder,
    TuneJob,
    TuneManifest,
    train_offline,
    tune,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class TuneEntry(Command[TuneOptions, TuneManifest]):
    """A method of training as a command."""

    settings: type[TrainSettings]

    async def run(
        self,
        options: TuneOptions,
        observer: Observer,
        python: PythonInput = NO_INPUT,
        stop: StopSignal | None = None,
    ) -> CommandOutcome[TuneManifest]:
        """Train, and write the model, the log and the page."""
        del python, stop
        return await asyncio.to_thread(self.carry_out, options, observer)  # users have a loop of their own

    def carry_out(self, options: TuneOptions, observer: Observer) -> CommandOutcome[TuneManifest]:
        """Train where no event loop is running: a Ctrl-C leaves a checkpoint.

        Raises UsageError and InputError for what cannot be trained on, StoreError for the folder.
        """
        folder, settings = TuneFolder(Path(options.out), observer.say), narrowed(self.settings, options)
        job = TuneJob(
            method=self.name,
            settings=settings,
            model=Path(options.policy),
            data=Path(options.data),
            held_out=None if options.held_out is None else Path(options.held_out),
            device=options.device,
        )
        train: Trainer = train_offline
        online = isinstance(settings, OnlineSettings)
        personas = options.held_out_personas if isinstance(options, OfflineOptions) else options.held_out
        with playing_for(options) if online or personas is not None else nullcontext() as playing:
            if playing is not None and online:
                train = playing.trainer(single_turn=self.name == "grpo")
                job = replace(job, more=playing.rests_on)
            manifest = tune(job, train, folder, fresh=options.fresh)
            written = manifest.written is not None and not manifest.gains
            if playing is not None and personas is not None and written:
                observer.say("playing with held-out personas, before and after")
                gains = playing.gains(job, personas, folder.path)
                manifest = folder.write(replace(manifest, gains=gains, played=playing.asked(job)))
        page = folder.path / "tune.html"
        write_whole(page, html_bytes(tune_page(manifest, list(folder.lines()))))
        interrupted = manifest.ended == "interrupted"
        return CommandOutcome(
            options=options,
            result=manifest,
            ending=Outcome("interrupted") if interrupted else FINISHED,
            files={"report": page} if interrupted else {"model": folder.path, "report": page},
        )


def _entry(name: str, settings: type[TrainSettings]) -> TuneEntry:
    return TuneEntry(
        name=name, prints=None, settings=settings, view=lambda outcome: tune_brief(outcome.result)
    )


SFT: Final = _entry("sft", SftSettings)
DPO: Final = _entry("dpo", PairSettings)
DSPO: Final = _entry("dspo", PairSettings)
GRPO: Final = _entry("grpo", OnlineSettings)
GSRPO: Final = _entry("gsrpo", OnlineSettings)
