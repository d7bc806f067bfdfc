"""Files of a target, written shard by shard: in memory at once is a shard of the rows, not the file."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import islice
from pathlib import Path
from string import Template
from typing import Any, Final

from dialogauge.core import MissingExtra, UsageError
from dialogauge.runs.directory import write_whole, writing_whole
from dialogauge.runs.records import json_document, json_line

Row = Mapping[str, Any]
"""A training row in TRL's conversational form."""
SHARD: Final = 2_000
"""Rows in memory at once; those of a row group of Parquet."""
FITS: Final = 8_192
"""Tokens of a row."""
TOKEN_SHARD: Final = 100
"""Rows of token ids in memory at once, which take a hundred times as much."""


Reshape = Callable[[Row], dict[str, Any] | str]
"""Returns a row in the target's form, or why it has no place in it."""


@dataclass(frozen=True, slots=True)
class SessionReward:
    """What sessions of RL prompts are scored by, and how long they are."""

    rubric: str = "roleplay"
    """A shipped one, or a file."""
    weights: str | None = None
    """The file of its criteria's weights."""
    turns: int = 10
    """New turns of a session."""


@dataclass(slots=True)
class TargetFiles:
    """Rows that are written for a trainer, and what was written."""

    kind: str
    rows: Iterable[Row]
    """In TRL's conversational form; read once, in order."""
    out: Path
    """The data file; what stands beside it begins with its name."""
    model: Path | None = None
    """The folder of the model that is to be trained."""
    reward: SessionReward | None = None
    """What sessions are scored by, of the kind `rl`; the usual one where it is None."""
    configured: bool = True
    """Whether configurations stand beside the data."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """What was written, by what it is: `data`, `config` ..."""
    left_out: dict[int, str] = field(default_factory=dict)
    """By the number of a row that has no place in the target's form, from 0, why."""
    turns: int = 0
    """Oldest turns that did not fit into the tokens of their rows."""

    def kept(self, reshape: Reshape) -> Iterator[dict[str, Any]]:
        """Yield rows in the target's form, and note others.

        Raises UsageError for a row that cannot be written; the message has its number, from 1.
        """
        for number, row in enumerate(self.rows):
            try:
                made = reshape(row)
            except UsageError as error:
                msg = f"row {number + 1:,}: {error.message}"
                raise UsageError(msg, hint=error.hint) from error
            if isinstance(made, str):
                self.left_out[number] = made
            else:
                yield made

    @property
    def lines(self) -> Iterator[tuple[str, int]]:
        """Yield what was left out, and how much of it."""
        yield from Counter(self.left_out.values()).items()
        if self.turns:
            yield f"oldest turns of rows that have more than {FITS:,} tokens", self.turns

    def beside(self, ending: str) -> Path:
        """Return a file beside the data."""
        return self.out.with_name(f"{self.out.stem}.{ending}")

    @property
    def names(self) -> dict[str, str]:
        """What configurations name: the model where it stands, and the folder of the tuned one."""
        model = "DIR" if self.model is None else str(self.model.resolve())
        return {"model": model, "tuned": f"{self.out.stem}.tuned"}


def write_lines(target: Path, rows: Iterable[Row]) -> None:
    """Write a JSON object a line, the file whole or not at all."""
    write_whole(target, map(json_line, rows))


def write_parquet(target: Path, rows: Iterable[Row], columns: Mapping[str, str]) -> None:
    """Write Parquet, a shard in each row group.

    Args:
        target: The file; whole or not at all.
        rows: Their other keys are left out.
        columns: By name what they hold: `text`, `whole`, `messages`, or a dictionary of these.

    Raises MissingExtra without pyarrow.
    """
    arrow = _arrow()
    from pyarrow.parquet import ParquetWriter

    schema = _schema(arrow, columns)
    with writing_whole(target) as out, ParquetWriter(out, schema, compression="zstd") as writer:
        for shard in _shards(rows, SHARD):
            writer.write_table(arrow.Table.from_pylist(shard, schema=schema))


def write_dataset(folder: Path, rows: Iterable[Row], columns: Mapping[str, str]) -> None:
    """Write a folder that `datasets.load_from_disk` opens: an Arrow file of batches, and `state.json` last.

    Raises MissingExtra without pyarrow.
    """
    arrow = _arrow()
    schema, content, data = _schema(arrow, columns), hashlib.sha256(), folder / "data-00000.arrow"
    (folder / "state.json").unlink(missing_ok=True)  # half a folder is none
    with writing_whole(data) as out, arrow.ipc.new_stream(out, schema) as writer:
        for shard in _shards(rows, TOKEN_SHARD):
            batch = arrow.RecordBatch.from_pylist(shard, schema=schema)
            content.update(batch.serialize())
            writer.write_batch(batch)
    state: dict[str, Any] = {
        "_data_files": [{"filename": data.name}],
        "_fingerprint": content.hexdigest()[:16],  # under it `datasets` caches what it makes of the rows
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": "train",
    }
    write_whole(folder / "dataset_info.json", [json_document({})])
    write_whole(folder / "state.json", [json_document(state)])


def place(
    template: str,
    target: Path,
    names: Mapping[str, str] | None = None,
    *,
    lines: Mapping[str, str] | None = None,
) -> Path:
    """Write a template of the package beside the data; return where.

    Args:
        template: A file of `files`; its `$names` are filled in.
        target: Where it goes.
        names: Files and folders, which are quoted where they must be.
        lines: Whole lines of it, as they are.
    """
    quote = {".sh": shlex.quote, ".txt": repr}.get(Path(template).suffix, _for_yaml)
    values = {name: quote(value) for name, value in (names or {}).items()}
    raw = files(__package__).joinpath("files", template).read_text("utf-8")
    write_whole(target, [Template(raw).substitute(values | dict(lines or {})).encode()])
    return target


def _for_yaml(text: str) -> str:
    return text if re.fullmatch(r"[\w/][\w./-]*", text) else json.dumps(text)


def _shards(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    left = iter(rows)
    while shard := list(islice(left, size)):
        yield shard


def _arrow() -> Any:  # noqa: ANN401 - the module
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        msg = "this target is written with pyarrow"
        raise MissingExtra(msg, hint="pip install 'dialogauge[parquet]', or choose --to trl") from error
    return pyarrow


def _schema(arrow: Any, columns: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of pyarrow
    """Return the schema that names of kinds stand for."""
    text, whole = arrow.string(), arrow.int64()
    kinds = {
        "text": text,
        "whole": whole,
        "ids": arrow.list_(arrow.int32()),
        "bits": arrow.list_(arrow.int8()),
        "messages": arrow.list_(arrow.struct([("role", text), ("content", text)])),
    }

    def kind(value: Any) -> Any:  # noqa: ANN401 - a name, or names in names
        if isinstance(value, str):
            return kinds[value]
        return arrow.struct([(name, kind(inner)) for name, inner in value.items()])

    return arrow.schema([(name, kind(value)) for name, value in columns.items()])
