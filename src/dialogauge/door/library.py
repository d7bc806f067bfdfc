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
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, get_args

from dialogauge.app.progress import ProgressObserver, shows_live
from dialogauge.app.sources import InputData, Source, open_source
from dialogauge.core import (
    BudgetSpent,
    Conversation,
    DialogaugeError,
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
    from dialogauge.app.option_groups import Options
    from dialogauge.app.replay.run_all import Ran
    from dialogauge.app.replay.settings import BenchmarkOptions
    from dialogauge.runs import Observer

_LOG = logging.getLogger("dialogauge")

AnyPath = str | PathLike[str]
StudyName = Literal["judge", "satisfaction", "fit", "trust", "replay", "success"]
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
    study: StudyName,
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
            run, written into that run), `replay` (candidates on frozen states of conversations) or
            `success` (whether the tasks of dialogues came about).
        source: See `Sources`; for `trust` a run.
        out: The run directory; a temporary one where None. Not for `trust`.
        ratings: People's ratings, joined by id.
        progress: Whether progress is shown; None for yes in a terminal or a notebook.
        settings: The settings of the command `dialogauge STUDY`, by their names in docs/library.md.
    """
    if study == "trust":
        return _trust(source, out, ratings, progress, settings)
    with run_directory(out) as path:
        work = _work(study, source, path, ratings, progress, settings)
        return finished_run(path, carry_out(work), temporary=out is None)


def open_run(path: AnyPath) -> Run:
    """Open a finished run, whoever made it.

    Raises:
        StoreError: There is no finished run in it, or it is of an older dialogauge.
    """
    return Run(Path(path))


class _Ended(Protocol):
    """What came of a study, whichever it is."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def faults(self) -> tuple[InputError, ...]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...


_Work = Callable[[StopSignal], Coroutine[Any, Any, _Ended]]


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


def _work(
    study: str,
    source: Sources,
    path: Path,
    ratings: Ratings | None,
    progress: bool | None,  # noqa: FBT001 - handed on
    settings: Mapping[str, Any],
) -> _Work:
    """Return what runs the study; UsageError or InputError where it cannot."""
    from dialogauge.app.merging import settings_from

    kind, carry = _study(study)
    values = {**settings, "out": path, "inputs": _names(source)}
    if ratings is not None:
        in_file = isinstance(ratings, str | PathLike)
        values["ratings_file"] = str(ratings) if in_file else "ratings in memory"
    options: Any = settings_from(kind, **values)
    strict = getattr(options, "strict", False)
    data = _input(source, ratings, format=options.format, map_file=options.map_file, strict=strict)
    observer = observer_for(progress)

    return lambda stop: carry(options, observer, data, stop)


def _trust(
    source: Sources,
    out: AnyPath | None,
    ratings: Ratings | None,
    progress: bool | None,  # noqa: FBT001 - handed on
    settings: Mapping[str, Any],
) -> Run:
    """Check a run where it is, and open it anew."""
    from dialogauge.app.merging import settings_from
    from dialogauge.app.settings import RecheckOptions
    from dialogauge.app.trust import recheck_run

    if out is not None or not isinstance(source, Run | str | PathLike):
        msg = "trust checks a finished run, and writes into it"
        raise UsageError(msg, hint="give the run, or its path, as the source; and no out")
    path = source.path if isinstance(source, Run) else Path(source)
    options = settings_from(RecheckOptions, **settings, run=fspath(path))
    mapping = None if options.map_file is None else read_field_map(options.map_file)
    table = rating_table(ratings, mapping)
    observer = observer_for(progress)
    _raise_what_ended(carry_out(lambda stop: recheck_run(options, observer, table, stop)).outcome)
    return Run(path, owner=source if isinstance(source, Run) else None)


def _study(name: str) -> tuple[type[Options], Callable[..., Coroutine[Any, Any, _Ended]]]:
    """Return the settings of a study, and what carries it out.

    The latter takes them, an observer, the data and a signal to stop.
    """
    from dialogauge.app import settings

    if name == "judge":
        from dialogauge.app.judge import judge_data

        return settings.JudgeOptions, judge_data
    if name == "fit":
        from dialogauge.app.fit import fit_data

        return settings.FitOptions, fit_data
    if name == "satisfaction":
        from dialogauge.app.satisfaction import judge_satisfaction_data

        return settings.SatisfactionOptions, judge_satisfaction_data
    if name == "replay":
        from dialogauge.app.replay.settings import BenchmarkOptions

        return BenchmarkOptions, _compared
    if name == "success":
        from dialogauge.app.success import check_success

        return settings.SuccessOptions, check_success
    msg = f"there is no study {name!r}"
    raise UsageError(msg, hint=f"there are {', '.join(get_args(StudyName))}")


async def _compared(options: BenchmarkOptions, observer: Observer, data: InputData, stop: StopSignal) -> Ran:
    """Run a benchmark to its comparison."""
    from dialogauge.app.replay.run_all import run_benchmark

    ran = await run_benchmark(options, observer, data, stop)
    if ran.outcome.ended == "budget":
        msg = "the budget was spent before all candidates could be compared"
        raise BudgetSpent(msg, hint="the same call with a higher max_calls or max_cost goes on")
    if ran.outcome.ended == "finished" and ran.compared is None:
        msg = "the evaluator failed on every original reply, and without a reference nothing is compared"
        raise DialogaugeError(msg, hint="the same call with retry_failed=True asks it again")
    return ran


def finished_run(path: Path, ended: _Ended, *, temporary: bool) -> Run:
    """Return the run; raise what ended it, if that was an error or a Ctrl-C."""
    _raise_what_ended(ended.outcome)
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


def _names(source: Sources) -> tuple[str, ...]:
    """Return what the manifest calls a source."""
    in_memory = "a DataFrame" if is_table(source) else "conversations in memory"
    return _paths(source) or (in_memory,)


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


def observer_for(progress: bool | None) -> _Observer:  # noqa: FBT001 - as it was handed over
    """Return who is told: progress is shown in a terminal and in a notebook unless it is said otherwise."""
    interactive = shows_live() or "ipykernel" in sys.modules
    shown = interactive if progress is None else progress
    return _Observer(quiet=not shown, live=interactive)
