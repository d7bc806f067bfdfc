"""Where commands write: how a run is named, and that nothing is written over what is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import orjson

from dialogauge.app.option_groups import Options
from dialogauge.core.errors import UsageError
from dialogauge.core.files import shown_path
from dialogauge.core.unit import digest
from dialogauge.data import pipe_of
from dialogauge.runs import FILES, RunDirectory

_WRITTEN: Final = ("out", "junit")
"""Settings that say where to write."""
_ENDINGS: Final = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt")


def stem(path: str) -> str:
    """Return the name of a file without its ending, and without that of gzip; of a folder its name."""
    name = Path(os.path.realpath(path)).name
    if not Path(path).is_dir():
        plain = name.removesuffix(".gz")
        name = next((plain.removesuffix(e) for e in _ENDINGS if plain.endswith(e)), plain)
    return name.lstrip(".")


def run_named_after(inputs: Sequence[str], ending: str = "") -> Path:
    """Return the directory in `runs` for inputs: named after the first, with an ending.

    Where it holds a run of other inputs, a digest of the inputs is added, so that each has its own.
    """
    first = inputs[0]
    name = "stdin" if first == "-" else "pipe" if pipe_of(first) else stem(first) or "run"
    path = Path("runs") / f"{name}{ending}"
    asked, before = _identity(inputs), _inputs_of(path)
    same = before is None or _identity(before) == asked
    return path if same else path.with_name(f"{path.name}-{digest(asked)[:8]}")


def _inputs_of(run: Path) -> list[str] | None:
    """Return what a run was made from; None where there is none, or one that did not come to its end."""
    file = run / FILES["manifest"]
    try:
        manifest = orjson.loads(file.read_bytes() if file.is_file() else b"")
        return list(map(str, manifest["settings"]["inputs"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _identity(inputs: Iterable[str]) -> list[str]:
    return ["a pipe" if pipe_of(i) else shown_path(os.path.realpath(i)) for i in inputs]


def run_files(directory: RunDirectory) -> list[Path]:
    """Return the files that a run writes into its directory, or what stands in its place."""
    path = directory.path
    return [path] if path.is_file() else [path / name for name in FILES.values()]


def output_file(path: str, *, but: str = "") -> Path:
    """Return the file that is written under a name: of a link what it points to.

    Raises UsageError for what stands there and is no file, and for a file of a run, apart from one of
    `FILES`: it would be gone.
    """
    status = _status(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        kind = stat.S_IFMT(status.st_mode)
        what = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe"}.get(kind, "a device")
        msg = f"{shown_path(path)} is {what}, and no file that could be written"
        raise UsageError(msg, hint="choose another name with -o")
    real = Path(os.path.realpath(path))
    if RunDirectory(real.parent).exists and real.name in _names(but):
        msg = f"{shown_path(path)} is a file of a run, and would be written over"
        raise UsageError(msg, hint="choose another place with -o")
    return Path(path) if real == Path(path).absolute() else real


def _names(but: str = "") -> set[str]:
    """Return what the files of a run are called, apart from one of `FILES`."""
    beside = {FILES["database"] + ending for ending in ("-wal", "-shm", "-journal")}
    return {name for key, name in FILES.items() if key != but} | beside | {".lock"}


def spare(
    outputs: Iterable[Path], settings: Options | Mapping[str, Any], *, making: Path | None = None
) -> None:
    """Raise UsageError where an output would be written over an input, under whatever name or link.

    Args:
        outputs: The files that will be written.
        settings: Every value that is the path of a file is an input, and so are the files in a folder among
            them. What a run holds is its own; no folder of inputs becomes a run, which is read otherwise.
        making: The directory of a run that the command makes beside them; its files are spared too.
    """
    outputs = list(outputs)
    if making is not None:
        run = Path(os.path.realpath(making))
        taken = {run, *(run / name for name in _names())}
        if file := next((output for output in outputs if Path(os.path.realpath(output)) in taken), None):
            msg = f"{shown_path(file)} is a file of the run that is being made"
            raise UsageError(msg, hint="choose another place, outside the run directory")
    statuses = [(path, _status(path)) for path in dict.fromkeys(_texts(settings))]
    inputs = [(path, status) for path, status in statuses if status is not None]
    # A file may have been named from another folder, where a run was made.
    elsewhere = [
        [part for part in Path(path).parts if part not in ("..", os.sep)]
        for path, status in statuses
        if status is None and Path(path).suffix
    ]
    for output in outputs:
        status, real = _status(output), os.path.realpath(output)
        if output.name == FILES["database"] and not (folder := RunDirectory(output.parent)).exists:
            place = _status(folder.path)
            if place is not None and any(os.path.samestat(place, other) for _, other in inputs):
                msg = f"{shown_path(folder.path)} would become a run, and it is an input"
                raise UsageError(msg, hint="choose another place with -o")
        if status is None:
            continue
        own = RunDirectory(Path(real).parent).exists
        clash = any(list(Path(real).parts[-len(parts) :]) == parts for parts in elsewhere)
        for path, other in inputs:
            inside = stat.S_ISDIR(other.st_mode) and real.startswith(os.path.realpath(path) + os.sep)
            clash = clash or os.path.samestat(status, other) or (inside and not own)
        if clash:
            msg = f"{shown_path(output)} would be written over, and it is an input"
            raise UsageError(msg, hint="choose another place with -o")


def _status(path: str | Path) -> os.stat_result | None:
    try:
        return Path(path).stat()
    except (OSError, ValueError):
        return None


def _texts(settings: Options | Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts among settings, apart from where to write; of `NAME=replies:FILE` also the file."""
    if isinstance(settings, Options):
        settings = {f.name: getattr(settings, f.name) for f in fields(settings)}
    for name, value in settings.items():
        for text in value if isinstance(value, list | tuple) else [value]:
            if isinstance(text, str) and text and name not in _WRITTEN:
                yield text
                yield from filter(None, (text.partition(mark)[2] for mark in ("replies:", "file:", "=")))
