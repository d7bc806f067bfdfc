"""The rated conversations of a satisfaction study: what was read, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.app.sources import is_run, open_source
from dialogauge.bench.satisfaction import rated_as_session
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, RecordFault, UsageError
from dialogauge.data import RatingTable, UserSplit, read_field_map, read_ratings, read_split
from dialogauge.store import RunDirectory

__all__ = ["RatedData", "chosen_split", "read_rated"]


@dataclass(frozen=True, slots=True)
class RatedData:
    """Conversations with their ratings."""

    conversations: dict[str, Conversation]
    """By id."""
    unreadable: tuple[InputError, ...]
    """Records of the log that are no conversations."""
    rating_faults: tuple[InputError, ...]
    """Rows of the ratings file that are no ratings or rate a conversation that is not there, and ratings of
    sessions without a reply."""
    notes: tuple[object, ...]
    """What was recognised and assumed, each a line when written with `str`."""


def read_rated(options: SatisfactionOptions) -> RatedData:
    """Read rated conversations, and join the ratings of the ratings file."""
    source = open_source(options.inputs, format=options.format, map_file=options.map_file, strict=False)
    ratings = _ratings(options)
    found: dict[str, Conversation] = {}
    unreadable: list[InputError] = []
    unused: list[RecordFault] = []
    for item in source:
        if isinstance(item, Conversation):
            joined = replace(item, ratings=(*item.ratings, *ratings.for_conversation(item.id)))
            if options.level == "session":
                joined, mute = rated_as_session(joined, options.dimension)
                unused += mute
            found[item.id] = joined
        else:
            unreadable.append(item)
    strangers = [
        RecordFault("the rated conversation is not in the data", place=first.place, hint="it is left out")
        for first in (ratings.for_conversation(name)[0] for name in sorted(ratings.ids - found.keys()))
    ]
    faults = (*ratings.faults, *strangers, *unused)
    return RatedData(found, tuple(unreadable), faults, (*source.notes, *ratings.notes))


def chosen_split(options: SatisfactionOptions) -> UserSplit | None:
    """Return the split of the file that was named; None where users are split by seed.

    Raises:
        ConfigError: The file is faulty.
        UsageError: A satisfaction run is to be split by seed, and holds no more than a part of the users.
    """
    if options.split_file is not None:
        return read_split(options.split_file)
    if options.part == "all":
        return None
    for run in filter(is_run, options.inputs):
        directory = RunDirectory(Path(run))
        manifest = directory.read_json("manifest") if directory.file("manifest").exists() else {}
        settings = manifest.get("settings", {})
        if "split" in manifest and (settings.get("part") != "all" or settings.get("split_file")):
            msg = f"{run} is a satisfaction run of one part of the users, and cannot be split again"
            hint = "give the data that it was made from; or --split-file; or --split all"
            raise UsageError(msg, hint=hint)
    return None


def _ratings(options: SatisfactionOptions) -> RatingTable:
    if options.ratings_file is None:
        return RatingTable()
    mapping = None if options.map_file is None else read_field_map(options.map_file)
    return read_ratings(options.ratings_file, mapping=mapping)
