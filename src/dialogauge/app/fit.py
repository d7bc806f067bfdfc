"""`dialogauge fit DATA -o RUN`: a model of people's ratings, and what it is worth on left-out examples."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dialogauge.app.outcome import StudyOutcome
from dialogauge.app.outputs import output_file, run_files, spare
from dialogauge.app.settings import FitOptions
from dialogauge.app.sources import InputData, input_data
from dialogauge.core import Conversation, InputError, UsageError
from dialogauge.core.settings import narrowed, recorded
from dialogauge.data import RatedDimensions, RatingTable, read_split, thumb_of
from dialogauge.data.admission import DOWN, UP
from dialogauge.data.ratings import LEVELS, usable_ratings
from dialogauge.judges.fitted.features import RatedPlace, rated_places
from dialogauge.judges.local.fit import fit_local
from dialogauge.runs import Observer, RunDirectory, RunSettings, StopSignal, run_study
from dialogauge.runs.directory import write_whole
from dialogauge.studies.fit.study import LEAST, FitResult, FitStudy
from dialogauge.text import counted


def _rated(
    options: FitOptions,
    data: InputData,
    faults: list[InputError],
    unreadable: list[InputError],
    rated: RatedDimensions,
) -> Iterator[Conversation]:
    """Yield the conversations with all their ratings, which are counted in `rated`.

    What cannot be read goes to `faults`, records that are no conversations to `unreadable` too.

    Raises ConfigError for a faulty split file.
    """
    ratings = data.ratings or RatingTable()
    faults += ratings.faults
    users = None if options.split_file is None else read_split(options.split_file).train
    for item in data.source:
        if not isinstance(item, Conversation):
            faults.append(item)
            unreadable.append(item)
        elif users is None or item.user_id in users:
            yield rated.add(ratings.joined(item))


def fit_file(options: FitOptions) -> dict[str, Any]:
    """Fit, write the coefficients, and return them with their out-of-fold figures and the faults met.

    Raises UsageError when there is too little to fit, ConfigError for a faulty split file.
    """
    target = output_file(options.out)
    spare([target], options)
    faults: list[InputError] = []
    fitted = fit_local(_usable_ones(options, faults), dimension=options.dimension, folds=options.folds)
    text = fitted.to_json()
    write_whole(target, [text.encode()])
    return {**json.loads(text), "faults": [str(f) for f in faults]}


def _usable_ones(options: FitOptions, faults: list[InputError]) -> Iterator[Conversation]:
    """Yield the conversations with usable ratings; at the end UsageError where these are not from 1 to 5."""
    rated = RatedDimensions()
    for conversation in _rated(options, input_data(options), faults, [], rated):
        yield _usable(conversation, options.dimension, faults)
    rated.expect_one_to_five(options.dimension)


def _usable(conversation: Conversation, dimension: str, faults: list[InputError]) -> Conversation:
    """Return the conversation without the ratings of the dimension that are none, which go to `faults`."""
    usable, wrong = usable_ratings(conversation, dimension)
    faults += wrong
    others = (r for r in conversation.ratings if r.dimension != dimension)
    return replace(conversation, ratings=(*others, *(rating for rating, _ in usable)))


async def fit_data(
    options: FitOptions,
    observer: Observer,
    data: InputData | None = None,
    stop: StopSignal | None = None,
) -> StudyOutcome[FitResult]:
    """Validate, fit, and write the run; a cross-validation that it holds is not done again.

    Args:
        options: What is asked for.
        observer: Who is told.
        data: Read in place of what `inputs` and `ratings_file` of the options name.
        stop: Ends the run early when it is requested.

    Raises:
        UsageError: Too few examples, fewer conversations than parts, or ratings that are all alike.
        StoreError: The directory cannot be written, or holds a run of another study.
    """
    if not options.is_run:
        msg = f"{options.out} is no name for a run directory"
        raise UsageError(msg, hint="a name in .json is for the coefficients that the command writes")
    directory = RunDirectory(Path(options.out))
    spare(run_files(directory), options)
    started = time.process_time()
    faults: list[InputError] = []
    unreadable: list[InputError] = []
    examples: list[RatedPlace] = []
    data = data or input_data(options)
    rated, dimension = RatedDimensions(), options.dimension
    conversations = [
        conversation
        for conversation in _rated(options, data, faults, unreadable, rated)
        if any(rating.dimension == dimension for rating in conversation.ratings)
    ]
    if not (two_sided := rated.two_sided(dimension)):
        rated.expect_one_to_five(dimension)
    for conversation in conversations:
        graded = _as_grades(conversation, dimension) if two_sided else conversation
        places, wrong = rated_places(graded, dimension)
        examples += places
        faults += wrong
    _check(examples, options)
    study = FitStudy(
        examples,
        dimension,
        parts=options.folds,
        two_sided=two_sided,
        seed=options.seed,
        faults=faults,
        unreadable=unreadable,
        started=started,
    )
    settings = narrowed(RunSettings, options, directory=directory, settings=recorded(options))
    run = await run_study(study, settings, observer, stop=stop)
    return StudyOutcome(run, tuple(faults), tuple(map(str, data.notes)))


def _as_grades(conversation: Conversation, dimension: str) -> Conversation:
    """Return the conversation with the bad one of two sides as the rating 1, and the good one as 5."""
    grades = {DOWN: 1, UP: LEVELS}
    ratings = (
        replace(r, score=grades[side]) if r.dimension == dimension and (side := thumb_of(r.score)) else r
        for r in conversation.ratings
    )
    return replace(conversation, ratings=tuple(ratings))


def _check(examples: Sequence[RatedPlace], options: FitOptions) -> None:
    groups = len({e.group for e in examples})
    if len(examples) < LEAST or groups < max(3, options.folds):
        talks = counted(len({e.conversation.id for e in examples}), "conversation")
        msg = (
            f"too little to fit: {counted(len(examples), 'place')} rated for {options.dimension!r} "
            f"in {talks} of {counted(groups, 'user')}"
        )
        least = f"at least {LEAST} of {max(3, options.folds)} users are needed"
        hint = f"{least}; a conversation without a user counts as one"
        raise UsageError(msg, hint=hint)
    if options.folds < 3:
        msg = "a run needs three parts or more: one to judge, one to choose the settings on, one to fit"
        raise UsageError(msg, hint="--cv 3, or more")
