"""The functions of `import dialogauge`: read, judge, run any study, open a run.

They take the settings that the command line takes, under the same names with underscores (`max_calls` for
`--max-calls`), and run the same code: the same run directory, rows, privacy and resume. What goes wrong as a
whole is raised as one of our errors; what goes wrong with a single record is in `faults`.
"""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dialogauge.app.entries import listed_study
from dialogauge.app.option_groups import DataOptions, RunInput
from dialogauge.app.progress import ProgressObserver, shows_live
from dialogauge.app.settings import PlayOptions
from dialogauge.app.sources import InputData, PythonInput, Source, open_source
from dialogauge.core import (
    Conversation,
    InputError,
    Place,
    Rating,
    StoreError,
    UsageError,
)
from dialogauge.data import (
    DataFrame,
    FieldMap,
    RatingTable,
    is_table,
    memory_conversations,
    read_field_map,
    read_ratings,
)
from dialogauge.data.json_values import is_message_list
from dialogauge.door.run import Run
from dialogauge.door.working import carried_out, carry_out
from dialogauge.rubrics import Rubric
from dialogauge.runs import FILES, Outcome, StopSignal

if TYPE_CHECKING:
    from dialogauge.app.outcome import CommandOutcome

_LOG = logging.getLogger("dialogauge")

AnyPath = str | PathLike[str]
Sources = (
    AnyPath
    | Run
    | Conversation
    | DataFrame
    | Mapping[str, Any]
    | Iterable[AnyPath]
    | Iterable[Conversation]
    | Iterable[Mapping[str, Any]]
    | Iterable[Sequence[Mapping[str, Any]]]
)
"""Where conversations come from.

A path of a file, a folder or a run, or several; a list of records as a JSONL file holds them, of lists of
messages, or of `Conversation`s; one of these by itself; a DataFrame of pandas or polars with one message a
row (conversation_id, role, content) or one conversation a row (messages); a `Run`, to judge it again.
"""
Ratings = AnyPath | RatingTable | Iterable[Rating]
"""People's ratings: a file in one of the known forms, or records."""


class Conversations(list[Conversation]):
    """A list of conversations that also says what was found while they were read."""

    def __init__(
        self, items: Iterable[Conversation] = (), faults: Sequence[InputError] = (), notes: Sequence[str] = ()
    ) -> None:
        super().__init__(items)
        self.faults = tuple(faults)
        """Records that are no conversations; in a judging run they count as failures."""
        self.notes = tuple(notes)
        """What was recognised and assumed."""


def read(
    source: Sources,
    *,
    ratings: Ratings | None = None,
    format: str | None = None,  # the name of the setting
    map_file: AnyPath | None = None,
    strict: bool = False,
) -> Conversations:
    """Read conversations.

    Args:
        source: See `Sources`.
        ratings: People's ratings, joined by id.
        format: Forces one of the formats of docs/file-formats.md; otherwise the content decides.
        map_file: A field map (TOML) with your own names of fields.
        strict: Whether the first fault, and the first thing that had to be assumed, is raised.

    Returns:
        A list, with `faults` (records that cannot be read) and `notes` (what was recognised and assumed).

    Raises:
        InputError: Nothing can be read, or with `strict` the first fault.
        UsageError: The format or the source is of no known kind.
    """
    data = _input(source, ratings, format=format, map_file=map_file, strict=strict)
    conversations, faults = [], []
    for item in data.source:
        if isinstance(item, Conversation):
            joined = () if data.ratings is None else data.ratings.for_conversation(item.id)
            conversations.append(replace(item, ratings=(*item.ratings, *joined)) if joined else item)
        else:
            faults.append(item)
    if data.ratings is not None:
        faults += data.ratings.faults
    return Conversations(conversations, faults, [str(note) for note in data.source.notes])


def judge(  # noqa: PLR0913 - the everyday settings by name
    source: Sources,
    *,
    rubric: AnyPath | Rubric | None = None,
    model: str | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    out: AnyPath | None = None,
    ratings: Ratings | None = None,
    gates: str | Sequence[str] = (),
    progress: bool | None = None,
    **settings: Any,  # noqa: ANN401 - of any setting
) -> Run:
    """Judge conversations, turn by turn and whole; without a model by the local judge.

    Works in a script, and where an event loop is running (a notebook). The same call with the same `out`
    goes on where it stopped.

    Args:
        source: See `Sources`.
        rubric: A shipped rubric by name (`card`, the default, `satisfaction`, `session`, `task` ...), a
            rubric file of yours, or a loaded `Rubric`.
        model: A model at an OpenAI-compatible endpoint, or `py:MODULE:NAME`.
        base_url: The endpoint.
        api_key_env: The name of the variable that holds the key.
        out: The run directory; a temporary one where None, which lives as long as the Run.
        ratings: People's ratings, joined by id; the run says how far the judge agrees with them.
        gates: Conditions such as `verdict>=good:0.9`; they are in `summary.gates`.
        progress: Whether progress is shown; None for yes in a terminal or a notebook.
        settings: Every other setting of `dialogauge judge`, by its name in docs/library.md.

    Raises:
        UsageError: A setting is unknown or of no use; no file is written.
        InputError: The source cannot be read at all.
        StoreError: The run directory is of no use.
        EndpointError: The endpoint as a whole is of no use. What was judged is stored.
        KeyboardInterrupt: After a Ctrl-C, once what was judged is stored.
    """
    chosen = _chosen(rubric, model, base_url, api_key_env, gates)
    return run("judge", source, out=out, ratings=ratings, progress=progress, **chosen, **settings)


async def ajudge(  # noqa: PLR0913 - the everyday settings by name
    source: Sources,
    *,
    rubric: AnyPath | Rubric | None = None,
    model: str | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    out: AnyPath | None = None,
    ratings: Ratings | None = None,
    gates: str | Sequence[str] = (),
    progress: bool | None = None,
    **settings: Any,  # noqa: ANN401 - of any setting
) -> Run:
    """Judge conversations without holding up the running loop; see `judge`.

    Cancelled, it stores what was judged before it ends.
    """
    chosen = _chosen(rubric, model, base_url, api_key_env, gates)
    with run_directory(out) as path:
        work = _work("judge", source, path, ratings, progress, {**chosen, **settings})
        return finished_run(path, await carried_out(work), temporary=out is None)


def run(
    study: str,
    source: Sources,
    *,
    out: AnyPath | None = None,
    ratings: Ratings | None = None,
    progress: bool | None = None,
    **settings: Any,  # noqa: ANN401 - of any setting
) -> Run:
    """Run a study by name, with the settings of its command; see `judge` for the rest.

    Args:
        study: `judge`, `satisfaction`, `fit` (a model of the ratings, as a run), `trust` (the checks of a
            run, written into that run), `replay` (candidates on frozen states of conversations),
            `success` (whether the tasks of dialogues came about), `simulate` (sessions with simulated users)
            or `lookahead` (a search for good sessions).
        source: See `Sources`; for `trust` a run, for `simulate` and `lookahead` files of scenarios.
        out: The run directory; a temporary one where None. Not for `trust`.
        ratings: People's ratings, joined by id.
        progress: Whether progress is shown; None for yes in a terminal or a notebook.
        settings: The settings of the command `dialogauge STUDY`, by their names in docs/library.md.
    """
    kind = listed_study(study).options
    if issubclass(kind, RunInput):
        return _worked_on(study, source, out, ratings, progress, settings)
    if not issubclass(kind, DataOptions | PlayOptions):
        msg = f"{study} reads no conversations that could be a source"
        raise UsageError(msg, hint="dialogauge.arena, .agreement, .compare and Run.pairs are for the others")
    with run_directory(out) as path:
        if issubclass(kind, PlayOptions):
            values = {**settings, "inputs": _scenario_files(source), "out": fspath(path)}
            work = _running(study, values, lambda _: PythonInput(), progress)
        else:
            work = _work(study, source, path, ratings, progress, settings)
        return finished_run(path, carry_out(work), temporary=out is None)


def _scenario_files(source: Any) -> tuple[str, ...]:  # noqa: ANN401 - of any kind
    """Return the paths of scenarios; UsageError for what is no path."""
    paths = [source] if isinstance(source, str | PathLike) else source
    if not isinstance(paths, list | tuple) or not all(isinstance(one, str | PathLike) for one in paths):
        msg = "scenarios come from files"
        raise UsageError(msg, hint="give the path of one, or a list of paths")
    return tuple(map(fspath, paths))


def arena(  # noqa: PLR0913 - the everyday settings by name
    source: AnyPath | Run | Sequence[AnyPath | Run] | Mapping[str, Sources],
    *,
    judge: str | None = None,
    ratings: AnyPath | None = None,
    model: str | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    out: AnyPath | None = None,
    progress: bool | None = None,
    **settings: Any,  # noqa: ANN401 - of any setting
) -> Run:
    """Rank agents by who did better on the same dialogue, or by votes.

    Args:
        source: Judged runs or files of conversations, one of each agent; files of votes; or arenas to put
            together. By name: `{"alpha": ..., "beta": ...}`, each a run, a path, or conversations in memory.
        judge: `people`, `scores`, `local` or `llm`; None for `llm` where a model is given, `people` where
            there are votes, else `scores`.
        ratings: A file of people's votes between the agents.
        model: A model that compares, as for `judge`.
        base_url: The endpoint.
        api_key_env: The name of the variable that holds the key.
        out: The run directory; a temporary one where None. With the same one only what is new is asked.
        progress: Whether progress is shown; None for yes in a terminal or a notebook.
        settings: Every other setting of `dialogauge arena`, by its name in docs/library.md.

    Returns:
        The run. `summary.answers` says in sentences who leads; `summary.agents` has ratings, intervals and
        ranks; a DataFrame of it has a vote a row.

    Raises:
        UsageError: One agent alone, no dialogue in common, or a setting that is unknown or of no use.
        InputError: A file cannot be read, or not one vote in it.
        StoreError: The run directory is of no use.
        EndpointError: The endpoint as a whole is of no use. What was judged is stored.
    """
    inputs: list[str] = []
    talks: dict[str, list[Conversation | InputError]] = {}
    if isinstance(source, Mapping):
        for name, one in source.items():
            if isinstance(one, str | PathLike | Run):
                inputs.append(f"{name}={path_of(one)}")
            else:
                conversations = read(one)
                talks[name] = [*conversations, *conversations.faults]
    else:
        inputs += map(path_of, [source] if isinstance(source, str | PathLike | Run) else source)
    everyday = {"judge": judge, "model": model, "base_url": base_url, "api_key_env": api_key_env}
    everyday["ratings_file"] = None if ratings is None else fspath(ratings)
    chosen = {**settings, **{name: value for name, value in everyday.items() if value is not None}}
    with run_directory(out) as path:
        values = {**chosen, "inputs": tuple(inputs), "out": fspath(path)}
        work = _running("arena", values, lambda _: PythonInput(agents=talks), progress)
        return finished_run(path, carry_out(work), temporary=out is None)


def learn(
    tasks: AnyPath | Sequence[AnyPath] = (),
    systems: str | Sequence[str] | None = None,
    *,
    model: str | None = None,
    base_url: str | None = None,
    out: AnyPath | None = None,
    progress: bool | None = None,
    **settings: Any,  # noqa: ANN401 - of any setting
) -> Run:
    """Ask tasks of assistants with a memory: what it recalls, what that is worth, and what it costs.

    Args:
        tasks: Files of tasks and corpora, or names of data sets and partitions in them; the tasks that ship
            where there are none.
        systems: Names of `dialogauge learn systems`, `py:MODULE:NAME` or the URL of a server; None for BM25
            and the fitted ranking of messages.
        model: A model that answers from what was recalled; None for the words of it.
        base_url: The endpoint.
        out: The run directory; a temporary one where None. With the same one only what is new is asked.
        progress: Whether progress is shown; None for yes in a terminal or a notebook.
        settings: Every other setting of `dialogauge learn run`, by its name in docs/library.md.

    Returns:
        The run. `summary.sets` has the figures of each system by data set; a DataFrame of it has an answer a
        row.

    Raises:
        UsageError: A system or a setting is unknown or of no use; no file is written.
        InputError: A file of tasks cannot be read.
        StoreError: The run directory is of no use.
        EndpointError: The endpoint as a whole is of no use. What was answered is stored.
    """
    paths: Sequence[AnyPath] = [tasks] if isinstance(tasks, str | PathLike) else tasks
    everyday = {"model": model, "base_url": base_url, "systems": systems}
    chosen = {**settings, **{name: value for name, value in everyday.items() if value is not None}}
    if isinstance(systems, str):
        chosen["systems"] = (systems,)
    with run_directory(out) as path:
        values = {**chosen, "inputs": tuple(fspath(path) for path in paths), "out": fspath(path)}
        work = _running("learn", values, lambda _: PythonInput(), progress)
        return finished_run(path, carry_out(work), temporary=out is None)


def path_of(run: AnyPath | Run) -> str:
    """Return the path of a run, or of a file."""
    return fspath(run.path if isinstance(run, Run) else run)


def open_run(path: AnyPath) -> Run:
    """Open a finished run, whoever made it.

    Raises:
        StoreError: There is no finished run in it, or it is of an older dialogauge.
    """
    return Run(Path(path))


_Work = Callable[[StopSignal], Coroutine[Any, Any, "CommandOutcome[Any]"]]


@contextmanager
def run_directory(out: AnyPath | None) -> Iterator[Path]:
    """Yield where a run is written; after an error, say what is there, and leave no empty directory."""
    path = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="dialogauge-"))
    if out is None:
        _LOG.info("no out was given: the run is in %s for as long as the Run is used", path)
    try:
        yield path
    except BaseException as error:
        rows = path / FILES["judgements"]
        kept = (rows.is_file() and rows.stat().st_size > 0) or (path / FILES["items"]).is_file()
        if kept and not isinstance(error, UsageError | InputError | StoreError):
            note = f"what was judged is stored; the same call with out={str(path)!r} continues from there"
            error.add_note(note)
        elif out is None:
            shutil.rmtree(path, ignore_errors=True)
        raise


def _running(
    study: str,
    values: Mapping[str, Any],
    read_in: Callable[[Any], PythonInput],
    progress: bool | None,  # noqa: FBT001 - handed on
) -> _Work:
    """Return what runs a study; UsageError or InputError where it cannot.

    Args:
        study: Its name.
        values: Of the settings.
        read_in: Takes the settings, and returns what stands in memory.
        progress: Whether it is shown; None for in a terminal and in a notebook.
    """
    from dialogauge.app.command import load
    from dialogauge.app.merging import settings_from

    listed = listed_study(study)
    options = settings_from(listed.options, **values)
    interactive = shows_live() or "ipykernel" in sys.modules  # a terminal, or a notebook
    shown = interactive if progress is None else progress
    python, entry, observer = read_in(options), load(listed), _Observer(quiet=not shown, live=interactive)

    async def work(stop: StopSignal) -> CommandOutcome[Any]:
        outcome = await entry.run(options, observer, python, stop)
        entry.expect_result(outcome)
        return outcome

    return work


def _work(
    study: str,
    source: Sources,
    path: Path,
    ratings: Ratings | None,
    progress: bool | None,  # noqa: FBT001 - handed on
    settings: Mapping[str, Any],
) -> _Work:
    """Return what runs a study of conversations."""
    in_memory = "a DataFrame" if is_table(source) else "conversations in memory"
    values = {**settings, "out": path, "inputs": _paths(source) or (in_memory,)}
    if ratings is not None:
        in_file = isinstance(ratings, str | PathLike)
        values["ratings_file"] = str(ratings) if in_file else "ratings in memory"

    def read_in(options: Any) -> PythonInput:  # noqa: ANN401 - of any study of conversations
        strict = getattr(options, "strict", False)
        data = _input(source, ratings, format=options.format, map_file=options.map_file, strict=strict)
        return PythonInput(source=data.source, ratings=data.ratings)

    return _running(study, values, read_in, progress)


def _worked_on(
    study: str,
    source: Sources,
    out: AnyPath | None,
    ratings: Ratings | None,
    progress: bool | None,  # noqa: FBT001 - handed on
    settings: Mapping[str, Any],
) -> Run:
    """Run a study of a finished run where that is, and open it anew."""
    if out is not None or not isinstance(source, Run | str | PathLike):
        msg = f"{study} checks a finished run, and writes into it"
        raise UsageError(msg, hint="give the run, or its path, as the source; and no out")

    def read_in(options: Any) -> PythonInput:  # noqa: ANN401 - of any study of a run
        mapping = None if options.map_file is None else read_field_map(options.map_file)
        return PythonInput(ratings=rating_table(ratings, mapping))

    path = path_of(source)
    ended = carry_out(_running(study, {**settings, "run": path}, read_in, progress))
    _raise_what_ended(ended.ending)
    return Run(Path(path), owner=source if isinstance(source, Run) else None)


def finished_run(path: Path, ended: CommandOutcome[Any], *, temporary: bool) -> Run:
    """Return the run; raise what ended it, if that was an error or a Ctrl-C."""
    _raise_what_ended(ended.ending)
    return Run(path, faults=ended.faults, notes=ended.notes, temporary=temporary)


def _raise_what_ended(outcome: Outcome) -> None:
    if outcome.ended == "interrupted":
        raise KeyboardInterrupt
    if outcome.ended == "error" and outcome.error is not None:
        raise outcome.error


def _chosen(
    rubric: AnyPath | Rubric | None,
    model: str | None,
    base_url: str | None,
    api_key_env: str | None,
    gates: str | Sequence[str],
) -> dict[str, Any]:
    """Return the everyday settings that were chosen."""
    values = {
        "rubric": rubric.origin if isinstance(rubric, Rubric) else rubric,
        "model": model,
        "base_url": base_url,
        "api_key_env": api_key_env,
        "gates": gates or None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _input(
    source: Sources, ratings: Ratings | None, *, format: str | None, map_file: AnyPath | None, strict: bool
) -> InputData:
    """Open a source, and read the ratings."""
    field_map = None if map_file is None else fspath(map_file)
    mapping = None if field_map is None else read_field_map(field_map)
    paths = _paths(source)
    opened: Source
    if paths is not None:
        opened = open_source(paths, format=format, mapping=mapping, strict=strict)
    else:
        items = source if is_table(source) else _items(source)
        opened = memory_conversations(items, format=format, mapping=mapping, strict=strict)
    return InputData(opened, rating_table(ratings, mapping))


def _paths(source: Sources) -> tuple[str, ...] | None:
    """Return the paths that a source names; None where it is in memory."""
    if isinstance(source, Run):
        source = source.path
    if isinstance(source, str | PathLike):
        return (fspath(source),)
    if isinstance(source, list | tuple) and source and all(isinstance(s, str | PathLike) for s in source):
        return tuple(fspath(s) for s in source)
    return None


def _items(source: Any) -> list[object]:  # noqa: ANN401 - whatever was handed over
    """Return the single conversations of a source in memory, and the faults that came with them."""
    if isinstance(source, Conversation | Mapping) or hasattr(source, "model_dump"):
        return [source]
    if isinstance(source, Conversations):
        return [*source, *source.faults]
    try:
        items = list(source)
    except TypeError:
        msg = f"the source is {type(source).__name__}: no conversations"
        raise UsageError(
            msg, hint="give paths, records, lists of messages, Conversations or a DataFrame"
        ) from None
    return [items] if is_message_list(items) else items


def rating_table(ratings: Ratings | None, mapping: FieldMap | None) -> RatingTable | None:
    """Return people's ratings as a table; raises UsageError for what is no rating."""
    if ratings is None or isinstance(ratings, RatingTable):
        return ratings
    if isinstance(ratings, str | PathLike):
        return read_ratings(fspath(ratings), mapping=mapping)
    placed, items = [], cast("Iterable[object]", ratings)
    for index, rating in enumerate(items):
        if not isinstance(rating, Rating):
            msg = f"ratings[{index}] is {type(rating).__name__}: not a Rating"
            raise UsageError(msg, hint="give a file of ratings, or Rating records")
        placed.append(replace(rating, place=rating.place or Place(f"ratings[{index}]")))
    return RatingTable(tuple(placed))


class _Observer(ProgressObserver):
    """Shows progress where it is wanted, and logs what it does not show."""

    def say(self, text: str) -> None:
        """Log a line, and show it where progress is shown."""
        _LOG.info(text)
        super().say(text)
