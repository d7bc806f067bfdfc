"""Where a run's conversations come from: data files, or a run that is to be judged again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from dialogauge.app.settings import DataOptions, StrictOptions
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, UsageError
from dialogauge.data import Mask, Note, RatingTable, read_conversations, read_field_map, read_ratings
from dialogauge.runs import RunDirectory, expect_study

JUDGED: Final = ("judge", "satisfaction")
"""The kinds of run whose rows are judgements."""


class Source(Protocol):
    """Conversations and faults, lazily; afterwards what was recognised and assumed."""

    def __iter__(self) -> Iterator[Conversation | InputError]: ...

    @property
    def notes(self) -> Sequence[object]:
        """What was recognised and assumed, each a line when written with `str`."""

    def count(self) -> int:
        """Count what iterating would hand out, at most, with as little reading as that takes."""


@dataclass(frozen=True, slots=True)
class InputData:
    """Conversations to judge, and people's ratings that are not inside them."""

    source: Source
    ratings: RatingTable | None = None

    @property
    def notes(self) -> tuple[object, ...]:
        """What was recognised and assumed of both, each a line when written with `str`."""
        return (*self.source.notes, *(() if self.ratings is None else self.ratings.notes))


@dataclass(frozen=True, slots=True)
class _RunSource:
    """The conversations of a finished or broken-off run."""

    directory: RunDirectory

    @property
    def notes(self) -> Sequence[object]:
        return (f"conversations of the run {self.directory.path}",)

    def count(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Conversation | InputError]:
        database = self.directory.open_for_reading()
        try:
            yield from database.conversations()
        finally:
            database.close()


def is_run(path: str) -> bool:
    """Whether a path is a run directory."""
    return path != "-" and RunDirectory(Path(path)).exists


def may_wait(inputs: Sequence[str]) -> bool:
    """Whether an input is a pipe: whoever writes it may be slow, and it can be read but once."""
    return any(i == "-" or Path(i).is_fifo() or Path(i).is_char_device() for i in inputs)


def open_source(
    inputs: Sequence[str],
    *,
    format: str | None,
    map_file: str | None,
    strict: bool,
) -> Source:
    """Open the inputs of a command: files and folders, or one run directory."""
    runs = [i for i in inputs if is_run(i)]
    if runs:
        if len(inputs) > 1:
            msg = f"{runs[0]} is a run; a run is judged again by itself, not with other inputs"
            raise UsageError(msg)
        directory = RunDirectory(Path(runs[0]))
        expect_study(directory, JUDGED)
        return _RunSource(directory)
    mapping = read_field_map(map_file) if map_file is not None else None
    return read_conversations(inputs, format=format, mapping=mapping, strict=strict)


def input_data(options: DataOptions) -> InputData:
    """Open the conversations that the settings name, and read the ratings where they name a file of them."""
    strict = isinstance(options, StrictOptions) and options.strict
    source = open_source(options.inputs, format=options.format, map_file=options.map_file, strict=strict)
    return InputData(source, ratings_of_file(options.ratings_file, options.map_file))


def ratings_of_file(ratings_file: str | None, map_file: str | None) -> RatingTable | None:
    """Read people's ratings; None where no file was named."""
    if ratings_file is None:
        return None
    mapping = None if map_file is None else read_field_map(map_file)
    return read_ratings(ratings_file, mapping=mapping)


def default_run_directory(inputs: Sequence[str], *, rubric: str, judge: str) -> Path:
    """Name a run after its first input; a run judged again gets rubric and judge added to its name."""
    first = inputs[0]
    if is_run(first):
        run = Path(first)
        return run.parent / f"{run.name}-{Path(rubric).stem}-{judge}"
    name = "stdin" if first == "-" else Path(first).resolve().name
    return Path("runs") / (name.split(".")[0] or "run")


def shown_notes(notes: Sequence[object], mask: Mask | None) -> tuple[str, ...]:
    """Return notes on the input as lines, masked if they are to be."""
    return tuple(str(mask.note(n) if mask is not None and isinstance(n, Note) else n) for n in notes)
