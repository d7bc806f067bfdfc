"""Where a run's conversations come from: data files, or a run that is to be judged again."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Protocol

from dialogauge.app.entries import JUDGED as JUDGED
from dialogauge.app.option_groups import DataOptions, RatingOptions, StrictOptions
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, UsageError
from dialogauge.core.files import shown_path
from dialogauge.core.settings import recorded
from dialogauge.core.unit import words_digest
from dialogauge.core.values import Value
from dialogauge.data import (
    FieldMap,
    Mask,
    Note,
    RatingTable,
    pipe_of,
    read_conversations,
    read_field_map,
    read_ratings,
)
from dialogauge.runs import RunDirectory, expect_study, read_manifest
from dialogauge.runs.privacy import mask_of
from dialogauge.text import counted


class Source(Protocol):
    """Conversations and faults, lazily; afterwards what was recognised and assumed."""

    def __iter__(self) -> Iterator[Conversation | InputError]: ...

    @property
    def notes(self) -> Sequence[object]:
        """What was recognised and assumed, each a line when written with `str`."""

    def count(self) -> int:
        """Count what iterating would hand out, at most, with as little reading as that takes."""


class InputData(Value):
    """Conversations to judge, and people's ratings that are not inside them."""

    source: Source
    ratings: RatingTable | None = None

    @property
    def notes(self) -> tuple[object, ...]:
        """What was recognised and assumed of both, each a line when written with `str`."""
        return (*self.source.notes, *(() if self.ratings is None else self.ratings.notes))


class PythonInput(Value, kw_only=True):
    """What Python hands over in place of files."""

    source: Source | None = None
    ratings: RatingTable | None = None
    agents: Mapping[str, Iterable[Conversation | InputError]] = field(default_factory=dict)
    """Dialogues by the agent that led them."""


class _RunSource(Value):
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


def field_map(options: RatingOptions) -> FieldMap | None:
    """Read the field map that the settings name; None where they name none."""
    return None if options.map_file is None else read_field_map(options.map_file)


def ratings_of_file(options: RatingOptions, mapping: FieldMap | None) -> RatingTable | None:
    """Read people's ratings; None where the settings name no file of them.

    Raises UsageError where they are choices between two.
    """
    if options.ratings_file is None:
        return None
    table = read_ratings(options.ratings_file, mapping=mapping)
    if table.pairs and not table.ratings:
        raise choices_alone(shown_path(options.ratings_file))
    return table


def choices_alone(file: str) -> UsageError:
    """Return the error of choices between two where ratings are needed."""
    msg = f"{file} has choices between two (a, b, winner), and no rating of either"
    hint = "choices are held against choices: dialogauge agreement JUDGE.csv --ratings CHOICES.csv"
    return UsageError(msg, hint=hint)


def refuse_one_pipe_twice(options: DataOptions) -> None:
    """Raise UsageError where one pipe is given for two things: what came for one is gone for the other."""
    pipes = {pipe_of(name) for name in options.inputs} - {None}
    for option, name in (("--ratings", options.ratings_file), ("--map", options.map_file)):
        pipe = None if name is None else pipe_of(name)
        if pipe in pipes:
            msg = f"{option} {shown_path(name or '')} is a pipe that is read for something else too"
            raise UsageError(msg, hint="it can be read but once: save it to a file")
        pipes |= {pipe} - {None}


def is_run(path: str) -> bool:
    """Whether a path is a run directory."""
    return path != "-" and RunDirectory(Path(path)).exists


def may_wait(inputs: Sequence[str]) -> bool:
    """Whether an input is a pipe: whoever writes it may be slow, and it can be read but once."""
    return any(pipe_of(name) is not None for name in inputs)


def expect_own_input(options: DataOptions, directory: RunDirectory, study: str) -> None:
    """Raise UsageError where a finished run of other conversations stands in the place of a run.

    The same files, and an input that holds all that the run holds, go on with it.

    Args:
        options: The input.
        directory: The run.
        study: What is to be done; a run of another study is refused when it is opened.
    """
    manifest = read_manifest(directory) if directory.exists else None
    if manifest is None or (manifest.study, manifest.ended) != (study, "finished"):
        return
    names = tuple(manifest.settings.get("inputs") or ())
    if names == recorded(options)["inputs"]:
        return
    with contextlib.closing(directory.open_for_reading()) as database:
        mask = mask_of(database)
        lacking = Counter(map(words_digest, database.conversations()))
    stored = lacking.total()
    if options.inputs and not may_wait(options.inputs):
        source = open_source(options.inputs, format=options.format, mapping=field_map(options), strict=False)
        read = (c if mask is None else mask.conversation(c) for c in source if isinstance(c, Conversation))
        lacking -= Counter(map(words_digest, read))
    if missing := lacking.total():
        which = f"of {', '.join(names)}" if names else "of conversations in memory"
        msg = (
            f"{directory.path} holds a finished run {which}: {missing:,} of its "
            f"{counted(stored, 'conversation')} are not in this input"
        )
        raise UsageError(msg, hint="choose another directory with -o, or say --replace")


def open_source(
    inputs: Sequence[str],
    *,
    format: str | None,
    mapping: FieldMap | None,
    strict: bool,
) -> Source:
    """Open the inputs of a command: files and folders, or one run directory.

    Raises UsageError for a name that is empty: it would be the current folder.
    """
    if "" in inputs:
        msg = "a path is empty"
        raise UsageError(msg, hint="give . for the current folder")
    runs = [i for i in inputs if is_run(i)]
    if runs:
        if len(inputs) > 1:
            msg = f"{runs[0]} is a run; a run is judged again by itself, not with other inputs"
            raise UsageError(msg)
        directory = RunDirectory(Path(runs[0]))
        expect_study(directory, JUDGED)
        return _RunSource(directory)
    return read_conversations(inputs, format=format, mapping=mapping, strict=strict)


def input_data(options: DataOptions, python: PythonInput | None = None) -> InputData:
    """Open the conversations that the settings name, and read the ratings where they name a file of them.

    Args:
        options: They name both.
        python: What stands in memory is taken in their place.

    Raises UsageError where one pipe would be both.
    """
    if python is not None and python.source is not None:
        return InputData(python.source, python.ratings)
    strict = isinstance(options, StrictOptions) and options.strict
    refuse_one_pipe_twice(options)
    mapping = field_map(options)
    source = open_source(options.inputs, format=options.format, mapping=mapping, strict=strict)
    return InputData(source, ratings_of_file(options, mapping))


def shown_notes(notes: Sequence[object], mask: Mask | None) -> tuple[str, ...]:
    """Return notes on the input as lines, masked if they are to be."""
    return tuple(str(mask.note(n) if mask is not None and isinstance(n, Note) else n) for n in notes)
