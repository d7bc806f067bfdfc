"""The satisfaction study: rated conversations in, a run with judgements, figures and controls out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dialogauge.app.build import build_satisfaction_judge
from dialogauge.app.command import ReadyStudy, StudyEntry, expect_free
from dialogauge.app.config import shown_role
from dialogauge.app.option_groups import RatedDataOptions
from dialogauge.app.outcome import CommandOutcome, PlanJson
from dialogauge.app.outputs import run_named_after
from dialogauge.app.settings import SatisfactionOptions
from dialogauge.app.shown import agreement_overview
from dialogauge.app.sources import InputData, PythonInput, input_data, is_run, shown_notes
from dialogauge.core import Conversation, InputError, Rating, RecordFault, UsageError
from dialogauge.core.settings import narrowed
from dialogauge.data import Mask, RatingTable, UserSplit, other_words, read_split
from dialogauge.report import Block
from dialogauge.runs import RunDirectory, StudyRun, open_run, read_manifest
from dialogauge.studies.satisfaction.answers import SATISFACTION, JudgedReply, reference_answers
from dialogauge.studies.satisfaction.blocks import StudyData, rated_as_session, study_data
from dialogauge.studies.satisfaction.page import brief, stored_page
from dialogauge.studies.satisfaction.signals import StoredScores, read_scores, refuse_strangers
from dialogauge.studies.satisfaction.study import SatisfactionSettings, SatisfactionStudy
from dialogauge.studies.satisfaction.summary import SatisfactionResult, SatisfactionSummary
from dialogauge.text import counted


class SatisfactionPlanJson(PlanJson):
    """What `satisfaction` would do."""

    turns: int


Judging = ReadyStudy[SatisfactionOptions, SatisfactionStudy]
"""Rated replies that are ready to be judged."""


async def _prepare(options: SatisfactionOptions, python: PythonInput, *, dry: bool) -> Judging:
    """Read the data, the runs that are named beside it, and say what is judged by whom."""
    # First, so that a judge that cannot be built costs no reading; its clients open when they are asked.
    built = build_satisfaction_judge(options, mode=options.mode, dry=dry)
    split, data = chosen_split(options), input_data(options, python)
    rated = read_rated(options, data)
    studied = study_data(
        rated.conversations.values(),
        part=options.part,
        split=split,
        dimension=options.dimension,
        sight=options.mode,
        history=options.history,
    )
    study = SatisfactionStudy(
        built.judge,
        rated.conversations,
        studied,
        narrowed(SatisfactionSettings, options, side_by_side=options.max_concurrency),
        unreadable=rated.unreadable,
        rating_faults=rated.rating_faults,
        stored_signals=tuple(_signal(path, options, studied) for path in options.signals),
        reference=_reference(options, studied),
    )
    return ReadyStudy(
        options=options,
        study=study,
        clients=built.clients,
        judge=built.judge.name,
        data=data,
        workers=options.max_concurrency if options.roles else 1,
        recorded={
            "rubric": "satisfaction",
            "repeats": 1,
            "roles": {role: shown_role(of_role) for role, of_role in options.roles.items()},
        },
    )


def _signal(path: str, options: SatisfactionOptions, study: StudyData) -> StoredScores:
    """Read what a run says that was named as a signal.

    Raises UsageError when it is of another kind or of other data, or its judge read too much; StoreError when
    there is no finished run.
    """
    with open_run(path) as run:
        scores = read_scores(path, run, options.mode)
    refuse_strangers(scores, study)
    return scores


def _reference(options: SatisfactionOptions, study: StudyData) -> tuple[JudgedReply, ...] | None:
    """Return what the reference run says of the original replies; None where no run was named.

    Raises UsageError when it is a run of another kind, or holds nothing of the blocks that are judged.
    """
    if options.reference is None:
        return None
    with open_run(options.reference) as run:
        if run.manifest.study != SATISFACTION:
            msg = f"the reference {options.reference} is no satisfaction run"
            raise UsageError(msg, hint="judge the original replies with `dialogauge satisfaction` first")
        blocks = {b.view.id for b in study.blocks if b.view.history}
        return reference_answers(run.judged(), options.dimension, blocks, options.reference)


def _directory(options: SatisfactionOptions) -> RunDirectory:
    """Name a run after its input and the judge."""
    if options.out is not None:
        return RunDirectory(Path(options.out))
    judge = f"{options.judge}-guarded" if options.guard else options.judge
    if is_run(options.inputs[0]):
        first = Path(options.inputs[0])
        return RunDirectory(first.parent / f"{first.resolve().name}-{judge}")
    return RunDirectory(run_named_after(options.inputs, f"-{judge}"))


def _expect_free(study: str, options: SatisfactionOptions, directory: RunDirectory) -> None:
    """Raise UsageError where an input would be written over, or runs beside it cannot be joined with it."""
    expect_free(study, options, directory)
    signals = [Path(run).resolve() for run in options.signals]
    for option, runs in (("--reference", options.reference), ("--signal", signals)):
        if runs and options.hash_ids:
            msg = f"{option} and --hash-ids cannot be combined: every run hides its ids in a way of its own"
            raise UsageError(
                msg, hint="judge openly, and hide the ids with `dialogauge report RUN --hash-ids`"
            )
    if len(set(signals)) < len(signals):
        msg = "a run is given twice as --signal"
        raise UsageError(msg, hint="a signal counts once")
    if directory.path.resolve() in signals:
        msg = f"the run would be written over its own signal, {directory.path}"
        raise UsageError(msg, hint="choose another directory with -o")


def _faults(prepared: Judging, run: StudyRun[SatisfactionResult] | None) -> Iterable[InputError]:
    """Return the unreadable records, and the ratings that cannot be used."""
    study = prepared.study
    ratings = (*study.rating_faults, *study.data.faults) if run is None else run.result.rating_faults
    return (*study.unreadable, *ratings)


def _notes(prepared: Judging, run: StudyRun[SatisfactionResult] | None) -> Iterator[str]:
    """Say how ratings without a rater are read, and warn of users of the split who are not there."""
    del run
    if together := prepared.study.data.together:
        turns = counted(together, "turn")
        yield f"several ratings without a rater, read as several people's mean: {turns}"
    split = prepared.study.data.split
    users = {c.user_id or "" for c in prepared.study.conversations.values()}
    if absent := sorted((split.train | split.test) - users):
        names = ", ".join(absent[:5]) + (" ..." if len(absent) > 5 else "")
        yield f"warning: not in the data: {counted(len(absent), 'user')} of the split: {names}"


def _view(outcome: CommandOutcome[SatisfactionResult]) -> Iterable[Block]:
    result, run = outcome.result, outcome.run
    if run is None:
        return ()
    return brief(result.figures, result.summary, run.manifest, run.ending, result.failures)


ENTRY: Final = StudyEntry(
    name="satisfaction",
    prints=SatisfactionSummary,
    plans=SatisfactionPlanJson,
    unit="turn",
    prepare=_prepare,
    directory=_directory,
    expect_free=_expect_free,
    faults=_faults,
    notes=_notes,
    failed_share=lambda result: result.summary.failed_share,
    counts=lambda prepared, units: {"turns": units},
    view=_view,
    page=stored_page,
    overview=lambda judge, summary: agreement_overview(("pearson", "qwk", "mae", "auc"), judge, summary),
)


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


def read_rated(options: RatedDataOptions, data: InputData) -> RatedData:
    """Read rated conversations, and join the ratings: those of turns, or as the options say of sessions."""
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


def masked_words(
    faults: Sequence[InputError], notes: Sequence[object], mask: Mask | None
) -> tuple[tuple[InputError, ...], tuple[str, ...]]:
    """Return faults and notes without excerpts of the data."""
    return tuple(f if mask is None else mask.fault(f) for f in faults), shown_notes(notes, mask)
