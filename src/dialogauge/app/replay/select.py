"""Selecting the turns of a benchmark into a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dialogauge.app.outputs import output_file, spare
from dialogauge.app.replay.settings import SelectOptions
from dialogauge.app.replay.stage import (
    data_settings,
    faults_of,
    hidden_items,
    mask_for_items,
    read_study,
    shown_talks,
)
from dialogauge.app.satisfaction import study_settings
from dialogauge.app.satisfaction_data import masked_words, read_rated
from dialogauge.app.sources import InputData
from dialogauge.core.errors import InputError, UsageError
from dialogauge.core.files import shown_path
from dialogauge.data import DATA_SETS, UserSplit, format_names, pipe_of
from dialogauge.runs.directory import write_whole
from dialogauge.runs.records import json_document
from dialogauge.studies.replay.items import ItemSet
from dialogauge.studies.replay.selection import Pick, plain_picks, select_items
from dialogauge.studies.satisfaction.study import masked_data


@dataclass(frozen=True, slots=True)
class Selected:
    """The item set, and what was wrong with the data."""

    items: ItemSet
    path: Path | None
    faults: tuple[InputError, ...]
    notes: tuple[str, ...]


def select(
    options: SelectOptions,
    earlier: ItemSet | None = None,
    path: str = "",
    source: InputData | None = None,
) -> Selected:
    """Choose turns and write the item set.

    Args:
        options: From what, and how.
        earlier: The item set that a run has already: its mask is taken.
        path: That run, for messages.
        source: Read in place of what `inputs` and `ratings_file` of the options name.

    Raises UsageError when there is nothing to choose or the run was masked otherwise, StoreError when the
    file cannot be written.
    """
    file = None if options.out is None else output_file(options.out)
    spare([] if file is None else [file], options)
    for name in () if source is not None else options.inputs:
        if pipe_of(name) or shown_path(name) != name:
            what = "comes through a pipe" if pipe_of(name) else "has a name that is not UTF-8"
            msg = f"{shown_path(name)} {what}: an item set could not say where its data is"
            raise UsageError(msg, hint="give a file that can be read again under its name")
    mask, data = mask_for_items(options.privacy, earlier, path), read_rated(options, source)
    rated = any(c.ratings for c in data.conversations.values())
    kept: dict[str, Any] = {"seed": options.seed, "source": _source(options, data.notes)}
    hidden: Iterable[Pick] = ()
    if rated and not options.unrated:
        try:
            study, faults = read_study(data, options)
            how = data_settings(options, study.split)
            items = select_items(study.blocks, options.rule or "hard", options.size, data=how, **kept)
        except UsageError as error:
            either = "; or --unrated: all replies, scored by a rubric"
            raise UsageError(str(error), hint=f"{error.hint or ''}{either}".lstrip("; ")) from error
        if mask is not None:
            _, study = masked_data(data.conversations, study, study_settings(options), mask)
            hidden = (Pick(r.reply, b.view.id, b.view.user) for b in study.blocks for r in b.ratings)
            items = replace(items, data=data_settings(options, study.split))
    else:
        talks, how = shown_talks(data, None), data_settings(options, UserSplit(frozenset(), frozenset()))
        rule = options.rule or "stratified"
        items = select_items((), rule, options.size, data=how, unrated=talks, **kept)
        faults, hidden = faults_of(data, None), plain_picks(shown_talks(data, mask))
    if mask is not None:
        items = hidden_items(items, hidden, mask)
    shown, words = masked_words(faults, data.notes, mask)
    if rated and options.unrated:
        words = (*words, "ratings are left out: candidates are scored without them")
    if file is not None:
        write_whole(file, [json_document(items.to_json())])
    return Selected(items, file, shown, words)


def _source(options: SelectOptions, notes: Sequence[object]) -> dict[str, Any]:
    """Say what is known of the data set: by its format where the format is of one data set alone."""
    text = " ".join(map(str, notes))
    names = [d for d in DATA_SETS if [e.format for e in DATA_SETS].count(d.format) == 1]
    known = next(
        (d for d in names if d.format in format_names() and (options.format == d.format or d.format in text)),
        None,
    )
    licence = options.licence or (known.licence if known else None)
    return {
        "source": ", ".join(options.inputs),
        "data_set": known.title if known else None,
        "published_at": known.source if known else None,
        "licence": licence or "not stated",
    }
