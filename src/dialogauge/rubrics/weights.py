"""Weights of criteria that were fitted to people: the file, and a rubric that counts by them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dialogauge.core.errors import Place, RubricError, UsageError
from dialogauge.core.files import read_text, shown_path
from dialogauge.core.json_keys import as_json
from dialogauge.core.shape import Misfit, read_as
from dialogauge.rubrics.load import line_of, parsed
from dialogauge.rubrics.rubric import FittedWeights, Rubric

_WHAT: Final = "file of weights"
_HINT: Final = "`dialogauge fit RUN --ratings FILE -o FILE.toml` writes such a file"


def with_weights(rubric: Rubric, path: str) -> Rubric:
    """Return the rubric with the weights of a file, which change what criteria come to and not what is asked.

    Dimensions and criteria that the file does not name keep the rubric's weights.

    Raises:
        RubricError: The file is missing or wrong, with file, line, key and reason.
        UsageError: It is of another rubric, or of another version.
    """
    content, ours = parsed(Path(path), _WHAT, _HINT), (rubric.id, rubric.version, rubric.digest)
    try:
        fitted = read_as(content, FittedWeights)
        theirs = (fitted.rubric, fitted.version, fitted.digest)
        if theirs == ours:
            _expect_criteria(rubric, fitted)
    except Misfit as misfit:
        text = read_text(path, _WHAT, RubricError, _HINT)
        place = Place(shown_path(path), line_of(text, misfit.path.split(".")[1:]))
        msg = f"the {_WHAT} cannot be used: {misfit}"
        raise RubricError(msg, place=place, hint=_HINT) from misfit
    if theirs != ours:
        of, by = (f"{name}, version {version} ({digest[:8]})" for name, version, digest in (theirs, ours))
        msg = f"the weights of {shown_path(path)} are of the rubric {of}, and the judge's is {by}"
        raise UsageError(msg, hint="judge by the rubric that they were fitted to, or fit anew")
    return replace(rubric, fitted=fitted)


def _expect_criteria(rubric: Rubric, fitted: FittedWeights) -> None:
    """Raise Misfit for a weight of something that the judge is not asked, or is asked as the opposite."""
    for dimension, of in fitted.dimensions.items():
        options = [o for x in rubric.items if x.adds_up and x.dimension == dimension for o in x.options]
        prior = {o.name: o.weight or 0.0 for o in options}
        for name, criterion in of.criteria.items():
            fault = None if name in prior else "is no criterion of the rubric"
            if fault is None and criterion.weight and criterion.weight * prior[name] <= 0:
                fault = f"weighs {criterion.weight:g}, and the judge is asked as for {prior[name]:g}"
            if fault is not None:
                raise Misfit(fault, f".dimensions.{dimension}.criteria.{name}")


def weights_text(fitted: FittedWeights) -> str:
    """Return what `with_weights` reads: TOML, a table for each dimension."""
    content = as_json(fitted)
    dimensions = content.pop("dimensions")
    lines = ["# Weights of criteria, fitted to people by `dialogauge fit`: dialogauge judge --weights FILE"]
    lines += _lines(content)
    for name, dimension in dimensions.items():
        tables = {key: dimension.pop(key) for key in ("criteria", "figures")}
        lines += ["", f"[dimensions.{name}]", *_lines(dimension)]
        for key, table in tables.items():
            lines += ["", f"[dimensions.{name}.{key}]", *_lines(table)]
    return "\n".join(lines) + "\n"


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_written(value)}" for key, value in table.items() if value is not None]


def _written(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_lines(value))} }}"
    # TOML writes texts, numbers and lists as JSON does, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
