"""Tuning a model: the settings, the folder that it is written to, and how a run goes on where it stopped.

A folder holds the model, `tune.json` (what it was made from, and how it ended), `log.jsonl` (a line for each
logged step) and `checkpoints`. The same job in the same folder continues from its last checkpoint.
"""

from __future__ import annotations

import hashlib
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from dialogauge.core import DialogaugeError, StoreError, UsageError, digest
from dialogauge.core.files import shown_path
from dialogauge.core.settings import recorded
from dialogauge.core.shape import read_as
from dialogauge.llm import folder_digest
from dialogauge.runs import RunDirectory, versions
from dialogauge.runs.directory import write_whole
from dialogauge.runs.records import json_document, json_line
from dialogauge.stats import Comparison, Estimate
from dialogauge.training.policy import Policy, load_policy
from dialogauge.training.train_settings import TrainSettings

UNCHECKED_ROWS: Final = "rows of an unchecked judge"
SHARED_PERSONAS: Final = "held-out rows of personas that are trained on"
"""Both among the counts of a tuning."""
SESSIONS_FILE: Final = "sessions.jsonl"
"""In the folder of a tuning on sessions: what was played in each step, and what it was worth."""
_WRITTEN: Final = ("checkpoints", "tune.json", "log.jsonl", "tune.html", SESSIONS_FILE, "held_out.jsonl")
_WEIGHTS: Final = ("*.safetensors", "*.index.json", "adapter")
_NO_MEMORY: Final = ("out of memory", "not enough memory", "allocate memory", "DefaultCPUAllocator")


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneJob:
    """What is to be trained, on what, and where to."""

    method: str
    settings: TrainSettings
    model: Path
    """Folder of the model before."""
    data: Path
    held_out: Path | None = None
    """Rows that are measured on, and never trained on."""
    device: str = "auto"
    more: Mapping[str, Any] = field(default_factory=dict)
    """What else must be the same for a run to go on."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """What was measured at a step."""

    step: int
    held_out: bool
    """Whether it was measured on held-out rows; else it is the mean since the line before."""
    figures: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneManifest:
    """The record of a tuning, `tune.json`."""

    method: str
    asked: Mapping[str, Any]
    """Settings, and digests of the data and the model: what must be the same for a run to go on."""
    model: str
    """Folder of the model before, as it was named."""
    data: str
    versions: Mapping[str, str | None]
    counts: Mapping[str, int] = field(default_factory=dict)
    """Rows, tokens, steps, and what was left out by its reason."""
    before: Mapping[str, Estimate] = field(default_factory=dict)
    """Figures of the held-out rows before the first step, clustered by persona."""
    after: Mapping[str, Estimate] = field(default_factory=dict)
    gains: tuple[PlayedGain, ...] = ()
    """Of sessions with held-out personas."""
    played: Mapping[str, Any] = field(default_factory=dict)
    """By what settings, with whom and for which judge these were played."""
    ended: Literal["running", "finished", "interrupted", "error", "guard"] = "running"
    why: str | None = None
    """What ended it early."""
    seconds: float = 0.0
    """Of the last session of work."""
    written: str | None = None
    """Digest of the weights that were written; None before the end."""
    format: Literal[1] = 1

    @property
    def unchecked(self) -> bool:
        """Whether it rests on a judge that nobody checked."""
        return bool(self.asked.get("unchecked") or self.counts.get(UNCHECKED_ROWS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What a trainer comes to."""

    model: Any
    """The model in the end."""
    counts: Mapping[str, int]
    before: Mapping[str, Estimate] = field(default_factory=dict)
    after: Mapping[str, Estimate] = field(default_factory=dict)
    finished: bool = True
    """False where a Ctrl-C ended it; a checkpoint is there."""
    guard: str | None = None
    """Why a guard ended it; the model is written all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedGain:
    """What sessions with held-out personas came to, before and after: means, paired by persona."""

    judge: Literal["reward", "second", "people"]
    """Whether it is the judge that was trained for, or another one that was no reward."""
    name: str
    """Of the judge."""
    dimension: str | None
    """None for the mean of all."""
    comparison: Comparison
    """After against before, adjusted over the judges."""
    sessions: int
    """With a score before and after."""
    failed: int
    """Without one of the two."""
    scale: tuple[float, float]
    """Of the scores."""


@dataclass(slots=True)
class TuneFolder:
    """The folder of a job while it is written."""

    path: Path
    say: Callable[[str], None] = lambda text: None
    """Is told what a user should read."""
    stop_asked: bool = False
    """Whether a Ctrl-C asked to stop at the next step."""
    updates: int = 1
    """Updates of the optimiser in a step, as the log counts steps; checkpoints count updates."""

    def stops_after(self, update: int) -> bool:
        """Say whether to stop after so many updates: asked to, and at the end of a step."""
        return self.stop_asked and update % self.updates == 0

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints; each is called `checkpoint-STEP`."""
        return self.path / "checkpoints"

    def whole_checkpoints(self) -> dict[int, Path]:
        """Return checkpoints by their steps, the last one last; a state that was not written is none."""
        whole = {}
        for state in self.checkpoints.glob("checkpoint-*/trainer_state.json"):
            with suppress(OSError, ValueError):
                orjson.loads(state.read_bytes())
                whole[int(state.parent.name.rpartition("-")[2])] = state.parent
        return dict(sorted(whole.items()))

    def last_checkpoint(self) -> tuple[int, Path | None]:
        """Return the last whole checkpoint with its step, 0 where there is none.

        Raises UsageError for one whose weights are a pickle.
        """
        whole = self.whole_checkpoints()
        if not whole:
            return 0, None
        step, folder = whole.popitem()
        for path in folder.glob("*.bin"):
            if path.name != "training_args.bin":
                msg = f"{shown_path(path)} is a pickle, and may run code when read"
                raise UsageError(msg, hint="delete this checkpoint; the one before it is taken then")
        return step, folder

    def log(self, step: int, figures: Mapping[str, float | None], *, held_out: bool = False) -> None:
        """Append a line to the log: after so many updates."""
        with (self.path / "log.jsonl").open("ab") as file:
            file.write(json_line(asdict(LogLine(step // self.updates, held_out, figures))))

    def lines(self) -> Iterator[LogLine]:
        """Yield the lines of the log; half a line that a killed process left is none."""
        with suppress(FileNotFoundError):
            for line in (self.path / "log.jsonl").read_bytes().splitlines():
                with suppress(ValueError):
                    yield read_as(orjson.loads(line), LogLine)

    def go_on(self) -> tuple[int, Path | None]:
        """Return the last checkpoint with its step, and drop what was written behind it: it comes anew."""
        step, checkpoint = self.last_checkpoint()
        for file in (*self.path.glob("log.jsonl"), *self.path.glob(SESSIONS_FILE)):
            kept = []
            for line in file.read_bytes().splitlines(keepends=True):
                with suppress(ValueError):  # half a line that a killed process left
                    kept += [line] if orjson.loads(line)["step"] <= step // self.updates else []
            write_whole(file, kept)
        if step:
            self.say(f"continuing from step {step // self.updates:,}")
        return step, checkpoint

    def manifest(self) -> TuneManifest | None:
        """Return the manifest; None where there is none. Raises StoreError for another file of that name."""
        file = self.path / "tune.json"
        try:
            return read_as(orjson.loads(file.read_bytes()), TuneManifest)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            msg = f"{shown_path(file)} is no record of a tuning: {error}"
            raise StoreError(msg, hint="choose another folder with -o") from None

    def write(self, manifest: TuneManifest) -> TuneManifest:
        """Write the manifest, whole or not at all, and return it."""
        write_whole(self.path / "tune.json", [json_document(asdict(manifest))])
        return manifest

    def clear(self, *patterns: str) -> None:
        """Delete what fits the patterns."""
        for path in [path for pattern in patterns for path in self.path.glob(pattern)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


Trainer = Callable[[TuneJob, Policy, TuneFolder], Trained]
"""Trains: it continues by `folder.go_on()`, logs to the folder, and heeds `stop_asked`."""


def tune(job: TuneJob, train: Trainer, folder: TuneFolder, *, fresh: bool = False) -> TuneManifest:
    """Do a job: train, write the model, and say how it ended.

    Raises:
        UsageError: What is asked for cannot be trained; or no memory is left, with what to lower.
        StoreError: The folder holds a job with other settings or data, or is being written.
    """
    asked = {
        "settings": orjson.loads(orjson.dumps(recorded(job.settings))),
        "data": _digest(job.data),
        "held_out": job.held_out and _digest(job.held_out),
        "model": folder_digest(job.model) if job.model.is_dir() else None,
        **job.more,
    }
    first = TuneManifest(
        method=job.method,
        asked=asked,
        model=shown_path(job.model),
        data=shown_path(job.data),
        versions=versions("torch", "transformers", "trl", "peft"),
    )
    _expect_apart(job, folder.path)
    directory = RunDirectory(folder.path)
    directory.lock()
    try:
        earlier = _earlier(first, folder, fresh=fresh)
        if earlier is not None and earlier.ended in ("finished", "guard"):
            folder.say(f"{shown_path(folder.path)} is finished: nothing is left to do")
            return earlier
        return _trained(job, train, folder, first)
    finally:
        directory.release()


def _trained(job: TuneJob, train: Trainer, folder: TuneFolder, first: TuneManifest) -> TuneManifest:
    """Train, and write model and manifest, however it ends."""
    started = time.monotonic()
    with memory_named():
        policy = load_policy(job.model, job.settings, job.device)
    folder.write(first)
    try:
        with _stopping(folder), memory_named():
            trained = train(job, policy, folder)
            written = None
            if trained.finished:
                folder.clear(*_WEIGHTS)  # transformers would prefer an earlier model in one part
                policy.save(trained.model, folder.path)
                written = digest({p.name: _digest(p) for p in sorted(folder.path.glob("*.safetensors"))})
    except (KeyboardInterrupt, DialogaugeError) as error:
        stopped = isinstance(error, KeyboardInterrupt)
        seconds = time.monotonic() - started
        folder.write(
            replace(
                first, ended="interrupted" if stopped else "error", why=str(error) or None, seconds=seconds
            )
        )
        if next(folder.lines(), None) is None:  # nothing was trained: the place is free again
            folder.clear(*_WRITTEN, *_WEIGHTS)
        raise
    return folder.write(
        replace(
            first,
            counts=trained.counts,
            before=trained.before,
            after=trained.after,
            ended="interrupted" if not trained.finished else "guard" if trained.guard else "finished",
            why=trained.guard,
            seconds=time.monotonic() - started,
            written=written,
        )
    )


def _expect_apart(job: TuneJob, out: Path) -> None:
    """Raise UsageError where the output would be written into an input, or over it."""
    real = out.resolve()
    for path in (p.resolve() for p in (job.model, job.data, job.held_out) if p is not None):
        if path.is_relative_to(real) or (path.is_dir() and real.is_relative_to(path)):
            msg = f"{shown_path(out)} is an input, or holds one"
            raise UsageError(msg, hint="choose another folder with -o")


def _earlier(first: TuneManifest, folder: TuneFolder, *, fresh: bool) -> TuneManifest | None:
    """Return what the folder's job came to before; StoreError where it holds another job, or no job."""
    earlier = folder.manifest()
    others = sorted(path.name for path in folder.path.iterdir() if not path.name.startswith("."))
    if earlier is None and others:
        msg = f"{shown_path(folder.path)} holds {others[0]}, and no tuning"
        raise StoreError(msg, hint="choose an empty folder with -o")
    done = earlier is not None and earlier.ended in ("finished", "guard")
    if earlier is None or fresh or not (done or folder.whole_checkpoints()):  # there is nothing to go on from
        folder.clear(*_WRITTEN, *_WEIGHTS)
        return None
    before, now = ({**m.asked.get("settings", {}), **m.asked, "method": m.method} for m in (earlier, first))
    for key in now:
        if key != "settings" and before.get(key) != now[key]:
            msg = f"{shown_path(folder.path)} was started with {key} {before.get(key)}, "
            msg += f"and this asks for {now[key]}"
            raise StoreError(msg, hint="choose another folder with -o, or start again with --fresh")
    return earlier


@contextmanager
def _stopping(folder: TuneFolder) -> Iterator[None]:
    """Let the first Ctrl-C stop at the next step, with a checkpoint, and the second at once."""

    def stop(number: int, frame: object) -> None:
        if folder.stop_asked:
            raise KeyboardInterrupt
        folder.stop_asked = True
        folder.say("stopping after this step, with a checkpoint; Ctrl-C once more stops at once")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def memory_named() -> Iterator[None]:
    """Turn an error for want of memory into one that says what to lower."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        named = isinstance(error, MemoryError) or any(text in str(error) for text in _NO_MEMORY)
        if isinstance(error, DialogaugeError) or not named:
            raise
        msg = f"no memory is left: {str(error).partition('. ')[0] or 'of this process'}"
        hint = "lower --batch-size and raise --accumulation, lower --max-length or --reply-tokens, or train "
        hint += "with --lora"
        raise UsageError(msg, hint=hint) from None


def _digest(path: Path) -> str:
    """Return the digest of a file; UsageError where it cannot be read, or not more than once."""
    if path.exists() and not path.is_file():
        msg = f"{shown_path(path)} is no file, and rows are read more than once"
        raise UsageError(msg, hint="save them to a file")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:32]
    except OSError as error:
        msg = f"{shown_path(path)} cannot be read: {error.strerror}"
        raise UsageError(msg, hint="give rows as `dialogauge pairs` writes them") from None
