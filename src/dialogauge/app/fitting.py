"""Fitting to a file of rated conversations: the local judge's coefficients, or a run with its own model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError
from dialogauge.data import RatingTable, read_conversations, read_field_map, read_ratings, read_split
from dialogauge.judge.local_fit import fit_local
from dialogauge.judge.ratings.usable import usable_ratings
from dialogauge.store.directory import write_whole

__all__ = ["FitOptions", "fit_file", "read_rated"]


@dataclass(frozen=True, slots=True)
class FitOptions:
    """The settings of `dialogauge fit`; see the command reference for each."""

    inputs: Sequence[str]
    out: str
    ratings_file: str | None = None
    dimension: str = "satisfaction"
    split_file: str | None = None
    folds: int = 5
    format: str | None = None
    map_file: str | None = None
    draws: int = 1000
    seed: int = 0
    command: str = ""

    @property
    def is_run(self) -> bool:
        """Whether a run directory was asked for, and not the coefficients' file."""
        return not self.out.endswith(".json")


def read_rated(options: FitOptions, faults: list[InputError]) -> Iterator[Conversation]:
    """Read the conversations with all their ratings; what cannot be read goes to `faults`.

    Raises ConfigError for a faulty split file.
    """
    mapping = read_field_map(options.map_file) if options.map_file is not None else None
    ratings = RatingTable()
    if options.ratings_file is not None:
        ratings = read_ratings(options.ratings_file, mapping=mapping)
    faults += ratings.faults
    users = None if options.split_file is None else read_split(options.split_file).train
    for item in read_conversations(options.inputs, format=options.format, mapping=mapping):
        if not isinstance(item, Conversation):
            faults.append(item)
        elif users is None or item.user_id in users:
            yield replace(item, ratings=(*item.ratings, *ratings.for_conversation(item.id)))


def fit_file(options: FitOptions) -> dict[str, Any]:
    """Fit, write the coefficients, and return them with their out-of-fold figures and the faults met.

    Raises UsageError when there is too little to fit, ConfigError for a faulty split file.
    """
    faults: list[InputError] = []
    usable = (_usable(c, options.dimension, faults) for c in read_rated(options, faults))
    fitted = fit_local(usable, dimension=options.dimension, folds=options.folds)
    text = fitted.to_json()
    write_whole(Path(options.out), [text.encode()])
    return {**json.loads(text), "faults": [str(f) for f in faults]}


def _usable(conversation: Conversation, dimension: str, faults: list[InputError]) -> Conversation:
    """Return the conversation without the ratings of the dimension that are none, which go to `faults`."""
    usable, wrong = usable_ratings(conversation, dimension)
    faults += wrong
    others = (r for r in conversation.ratings if r.dimension != dimension)
    return replace(conversation, ratings=(*others, *(rating for rating, _ in usable)))
