"""The shape of what each command prints with `--json`, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dialogauge.app.annotate.collect import RatingStatus
from dialogauge.app.command import load
from dialogauge.app.doctor import Examination
from dialogauge.app.entries import listed_study, studies
from dialogauge.app.runs import RunList
from dialogauge.core.json_schema import Schema, schema_of
from dialogauge.data import InputReport

_OTHERS: Final[Mapping[str, Any]] = {
    "check": InputReport,
    "runs": RunList,
    "doctor": Examination,
    "annotate status": RatingStatus,
}
"""Of the commands that are no studies."""


def printing_commands() -> list[str]:
    """Return the commands that print JSON, in the order of the help."""
    first, *others = [study.name for study in studies() if study.json and not study.steps]
    steps = [f"{study.name} {step.name}" for study in studies() for step in study.commands if step.json]
    check, runs, *last = _OTHERS
    return [first, check, runs, *others, *last, *steps]


def json_schema(command: str) -> Schema:
    """Return the schema of what a command prints with `--json`, for example of `annotate status`.

    Of two shapes the last is that of `--dry-run`, or of another kind of output.
    """
    if command in _OTHERS:
        return schema_of(_OTHERS[command], f"dialogauge {command} --json")
    name, _, step = command.partition(" ")
    study = listed_study(name)
    entry = load(next((one for one in study.commands if one.name == step), study))
    shape = entry.prints if entry.plans is None else entry.prints | entry.plans
    return schema_of(shape, f"dialogauge {command} --json")
