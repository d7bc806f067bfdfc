"""What a run was made from, and how it ended: `manifest.json`, the same for every study."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, fields
from functools import cache
from importlib import metadata
from typing import Any, Final

from dialogauge.core import DimensionSpec
from dialogauge.core.protocols import PlainDimension
from dialogauge.core.shape import read_as
from dialogauge.core.values import Value
from dialogauge.core.version import __version__
from dialogauge.runs.records import ROW_SCHEMA

FAULTS_KEPT: Final = 1000
"""Messages about unreadable records that a manifest holds; the others are counted."""

_PACKAGES = ("aiohttp", "numpy", "orjson", "pydantic")


class Manifest(Value, kw_only=True):
    """The record of one run; `to_json` writes it, `from_json` reads it back."""

    study: str
    """The kind of run: `judge`, `satisfaction`, `replay`, `fit`."""
    settings: Mapping[str, Any]
    """By flat name, as they were asked for; no secrets."""
    command: str = ""
    """The command line without what may be secret; empty when it was run from Python."""
    seed: int = 0
    judge: Mapping[str, Any] = field(default_factory=dict)
    """`name`, `digest`, and what the judge says of itself."""
    dimensions: tuple[DimensionSpec, ...] = ()
    digests: Mapping[str, Any] = field(default_factory=dict)
    """`prompts` and `data`: the same data and judge give the same digests."""
    privacy: Mapping[str, bool] = field(default_factory=dict)
    """What is hidden: `redact`, `hash_ids`."""
    conversations: int = 0
    pending_units: int = 0
    """Units that were asked for and are not done."""
    ended: str = "finished"
    """`finished`, `interrupted`, `budget` or `error`."""
    error: str | None = None
    unreadable: int = 0
    unreadable_records: Sequence[str] = ()
    """The first `FAULTS_KEPT` messages."""
    written: str = ""
    """When, in ISO 8601."""
    versions: Mapping[str, str | None] = field(default_factory=dict)
    schema: int = ROW_SCHEMA
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the study adds; in the file its keys stand beside the others."""

    @property
    def judge_digest(self) -> str:
        """The judge whose rows the run shows."""
        return str(self.judge["digest"])

    def to_json(self) -> dict[str, Any]:
        """Write the manifest as plain JSON values."""
        out = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "facts"}
        out["dimensions"] = [
            {"name": d.name, "level": d.level, "scale": asdict(d.scale)} for d in self.dimensions
        ]
        out["unreadable_records"] = list(self.unreadable_records)
        return {**out, **self.facts}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Manifest:
        """Read what `to_json` wrote; ValueError for anything else."""
        own = {f.name for f in fields(cls)} - {"facts"}
        known = {key: one for key, one in value.items() if key in own}
        facts = {key: one for key, one in value.items() if key not in own}
        dimensions = read_as(value.get("dimensions"), tuple[PlainDimension, ...])
        return read_as({**known, "dimensions": dimensions, "facts": facts}, cls)


def versions(*more: str) -> dict[str, str | None]:
    """Return the versions of dialogauge, Python, the libraries that matter and more; None for absent ones."""
    return {
        "dialogauge": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in (*_PACKAGES, *more)},
    }


@cache
def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
