"""The rated conversations of a satisfaction study: what was read, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dialogauge.app.option_groups import RatedDataOptions
from dialogauge.app.settings import SatisfactionOptions
from dialogauge.app.sources import InputData, input_data, is_run, shown_notes
from dialogauge.core.conversation import Conversation, Rating
from dialogauge.core.errors import InputError, RecordFault, UsageError
from dialogauge.data import Mask, RatingTable, UserSplit, read_split
from dialogauge.data.ratings import other_words
from dialogauge.runs import RunDirectory, StoredRun, open_run, read_manifest
from dialogauge.studies.satisfaction.answers import SATISFACTION, JudgedReply, reference_answers
from dialogauge.studies.satisfaction.blocks import StudyData, rated_as_session
from dialogauge.studies.satisfaction.signals import StoredScores, collect_scores, refuse_strangers


def masked_words(
    faults: Sequence[InputError], notes: Sequence[object], mask: Mask | None
) -> tuple[tuple[InputError, ...], tuple[str, ...]]:
    """Return faults and notes without excerpts of the data."""
    return tuple(f if mask is None else mask.fault(f) for f in faults), shown_notes(notes, mask)


def read_reference(options: SatisfactionOptions, study: StudyData) -> tuple[JudgedReply, ...] | None:
    """Return what the reference run says of the original replies; None where no run was named.

    Raises UsageError when it is a run of another kind, holds nothing of the blocks that are judged, or could
    not be joined because ids are to be hidden.
    """
    if options.reference is None:
        return None
    if options.hash_ids:
        msg = "--reference and --hash-ids cannot be combined: every run hides its ids in a way of its own"
        raise UsageError(msg, hint="judge openly, and hide the ids with `dialogauge report RUN --hash-ids`")
    with open_run(options.reference) as run:
        if run.manifest.study != SATISFACTION:
            msg = f"the reference {options.reference} is no satisfaction run"
            raise UsageError(msg, hint="judge the original replies with `dialogauge satisfaction` first")
        blocks = {b.view.id for b in study.blocks if b.view.history}
        return reference_answers(run.judged(), options.dimension, blocks, options.reference)


SIGNAL_JUDGES: Final = ("local", "zero-shot", "task-rubric", "prometheus", "no-memory")
"""The judges that read no rating: of others, a score of a turn in a history would tell what its user gave the
target, or what a training user gave that very turn."""


def read_signals(
    options: SatisfactionOptions, study: StudyData, directory: RunDirectory
) -> tuple[StoredScores, ...]:
    """Read what the runs say that were named as signals for a run in a directory; nothing where none was.

    Raises:
        UsageError: A run is of another kind or of other data, its judge read ratings or more of a
            conversation than may be read here, or ids are to be hidden.
        StoreError: There is no finished run.
    """
    paths = [Path(run).resolve() for run in options.signals]
    if paths and options.hash_ids:
        msg = "--signal and --hash-ids cannot be combined: every run hides its ids in a way of its own"
        raise UsageError(msg, hint="judge openly, and hide the ids with `dialogauge report RUN --hash-ids`")
    if len(set(paths)) < len(paths):
        msg = "a run is given twice as --signal"
        raise UsageError(msg, hint="a signal counts once")
    if directory.path.resolve() in paths:
        msg = f"the run would be written over its own signal, {directory.path}"
        raise UsageError(msg, hint="choose another directory with -o")
    scores = tuple(_read(run, options) for run in options.signals)
    for stored in scores:
        refuse_strangers(stored, study)
    return scores


def _read(path: str, options: SatisfactionOptions) -> StoredScores:
    with open_run(path) as run:
        _refuse(path, run, options)
        return collect_scores(path, run.manifest.judge["name"], run.judged())


def _refuse(path: str, run: StoredRun, options: SatisfactionOptions) -> None:
    settings, judge = run.manifest.settings, run.manifest.judge
    who, may = f"{path} (judge {judge['name']})", f"signals are runs of {', '.join(SIGNAL_JUDGES)}"
    if run.manifest.study != SATISFACTION:
        msg = f"{who} is no satisfaction run"
        raise UsageError(msg, hint=may)
    if "reads" not in judge:
        msg = f"{who} does not say what its judge read"
        hint = "an older version wrote it: give its command again, which asks no model twice"
        raise UsageError(msg, hint=hint)
    if ratings := sorted({"history", "others"} & set(judge["reads"])):
        whose = {"history": "the user's own in other scenarios", "others": "those of other users"}
        read = " and ".join(whose[name] for name in ratings)
        msg = f"{who} was made by reading ratings, {read}: its scores would tell what is to be predicted"
        raise UsageError(msg, hint=may)
    if settings["level"] != "turn":
        msg = f"{who} judged sessions, not replies"
        raise UsageError(msg, hint="judge its data with --level turn")
    if settings["mode"] == "hindsight" and options.mode != "hindsight":
        msg = f"{who} read what followed each reply, which may not be read in foresight"
        raise UsageError(msg, hint="judge with --mode hindsight too, or make the signal without it")


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


def read_rated(options: RatedDataOptions, data: InputData | None = None) -> RatedData:
    """Read rated conversations, and join the ratings of the ratings file.

    Args:
        options: They name both.
        data: Taken in their place.
    """
    if data is None:
        data = input_data(options)
    source, ratings = data.source, data.ratings or RatingTable()
    conversations: dict[str, Conversation] = {}
    unreadable: list[InputError] = []
    unused: list[RecordFault] = []
    changed: list[Rating] = []
    for item in source:
        if isinstance(item, Conversation):
            joined = ratings.joined(item)
            changed += ratings.of_other_words(item)
            if options.level == "session":
                joined, mute = rated_as_session(joined, options.dimension)
                unused += mute
            conversations[item.id] = joined
        else:
            unreadable.append(item)
    strangers = [
        RecordFault("the rated conversation is not in the data", place=first.place, hint="it is left out")
        for first in (
            ratings.for_conversation(name)[0] for name in sorted(ratings.ids - conversations.keys())
        )
    ]
    faults = (*ratings.faults, *strangers, *unused, *other_words(changed, str(options.ratings_file)))
    return RatedData(conversations, tuple(unreadable), faults, (*source.notes, *ratings.notes))


def chosen_split(options: RatedDataOptions) -> UserSplit | None:
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
        manifest = read_manifest(RunDirectory(Path(run)))
        if manifest is None or manifest.study != SATISFACTION:
            continue
        if manifest.settings["part"] != "all" or manifest.settings["split_file"]:
            msg = f"{run} is a satisfaction run of one part of the users, and cannot be split again"
            hint = "give the data that it was made from; or --split-file; or --split all"
            raise UsageError(msg, hint=hint)
    return None
