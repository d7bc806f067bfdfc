"""`dialogauge tune sft|dpo|dspo`: what is asked for, made into a job, and shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dialogauge.app.command import NO_INPUT, Command
from dialogauge.app.outcome import FINISHED, CommandOutcome
from dialogauge.app.sources import PythonInput
from dialogauge.app.tune.page import tune_brief, tune_page
from dialogauge.app.tune.settings import TuneOptions
from dialogauge.core.settings import narrowed
from dialogauge.report import html_bytes
from dialogauge.runs import Observer, Outcome, StopSignal
from dialogauge.runs.directory import write_whole
from dialogauge.training import (
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


def _trains_offline(options: Any) -> Trainer:  # noqa: ANN401 - of any method
    del options
    return train_offline


@dataclass(frozen=True, kw_only=True, eq=False)
class TuneEntry(Command[TuneOptions, TuneManifest]):
    """A method of training as a command."""

    settings: type[TrainSettings]
    trainer: Callable[[Any], Trainer] = field(default=_trains_offline)
    """Makes of the options what trains. What else must be the same to go on stands in `more`."""
    more: Callable[[Any], dict[str, Any]] = field(default=lambda options: {})

    async def run(
        self,
        options: TuneOptions,
        observer: Observer,
        python: PythonInput = NO_INPUT,
        stop: StopSignal | None = None,
    ) -> CommandOutcome[TuneManifest]:
        """Train, and write the model, the log and the page."""
        del python, stop
        return self.carry_out(options, observer)

    def carry_out(self, options: TuneOptions, observer: Observer) -> CommandOutcome[TuneManifest]:
        """Train where no event loop is running: a Ctrl-C leaves a checkpoint.

        Raises UsageError and InputError for what cannot be trained on, StoreError for the folder.
        """
        folder = TuneFolder(Path(options.out), observer.say)
        job = TuneJob(
            method=self.name,
            settings=narrowed(self.settings, options),
            model=Path(options.policy),
            data=Path(options.data),
            held_out=None if options.held_out is None else Path(options.held_out),
            device=options.device,
            more=self.more(options),
        )
        manifest = tune(job, self.trainer(options), folder, fresh=options.fresh)
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
