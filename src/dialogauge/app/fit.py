"""`dialogauge fit DATA -o RUN`: a model of people's ratings, and what it is worth on left-out examples."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dialogauge.app.command import NO_INPUT, ReadyStudy, StudyEntry
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.outputs import output_file, spare
from dialogauge.app.printed.fit import FitFileJson, FitRunJson
from dialogauge.app.settings import FitOptions
from dialogauge.app.shown import agreement_overview
from dialogauge.app.sources import InputData, PythonInput, input_data
from dialogauge.core import Conversation, InputError, UsageError
from dialogauge.core.json_keys import as_json
from dialogauge.data import RatedDimensions, RatingTable, read_split, thumb_of
from dialogauge.data.admission import DOWN, UP
from dialogauge.data.ratings import LEVELS, usable_ratings
from dialogauge.judges.fitted.features import RatedPlace, rated_places
from dialogauge.judges.local.fit import fit_local
from dialogauge.report import Block
from dialogauge.rubrics import FittedWeights
from dialogauge.runs import Observer, StopSignal
from dialogauge.runs.directory import write_whole
from dialogauge.studies.fit.page import file_brief, run_brief, weights_brief
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


def fit_file(options: FitOptions) -> CommandOutcome[Any]:
    """Fit, write the coefficients, and return them with their out-of-fold figures and the faults met.

    Raises UsageError when there is too little to fit, ConfigError for a faulty split file.
    """
    target = output_file(options.out)
    spare([target], options)
    faults: list[InputError] = []
    text = fit_local(_usable(options, faults), dimension=options.dimension, folds=options.folds).to_json()
    write_whole(target, [text.encode()])
    fitted = {**json.loads(text), "faults": [str(f) for f in faults]}
    return CommandOutcome(
        options=options, result=fitted, faults=faults, files={"coefficients": Path(options.out)}
    )


def _usable(options: FitOptions, faults: list[InputError]) -> Iterator[Conversation]:
    """Yield the conversations without ratings of the dimension that are none, which go to `faults`.

    At the end raises UsageError where those ratings are not from 1 to 5.
    """
    rated, dimension = RatedDimensions(), options.dimension
    for conversation in _rated(options, input_data(options), faults, [], rated):
        usable, wrong = usable_ratings(conversation, dimension)
        faults += wrong
        others = (r for r in conversation.ratings if r.dimension != dimension)
        yield replace(conversation, ratings=(*others, *(rating for rating, _ in usable)))
    rated.expect_one_to_five(dimension)


Fitting = ReadyStudy[FitOptions, FitStudy]
"""Rated places that are ready to be fitted to."""


async def _prepare(options: FitOptions, python: PythonInput, *, dry: bool) -> Fitting:
    """Read the rated places.

    Raises UsageError for too few of them, fewer conversations than parts, or ratings that are all alike.
    """
    del dry
    if not options.is_run:
        msg = f"{options.out} is no name for a run directory"
        raise UsageError(msg, hint="a name in .json or .toml is for a file that the command writes")
    started = time.process_time()
    faults: list[InputError] = []
    unreadable: list[InputError] = []
    examples: list[RatedPlace] = []
    data = input_data(options, python)
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
    return ReadyStudy(options=options, study=study, data=data)


class FitEntry(StudyEntry[FitOptions, Fitting, FitResult]):
    """`fit`: a run with a model of ratings, the local judge's coefficients, or weights of criteria."""

    async def run(
        self,
        options: FitOptions,
        observer: Observer,
        python: PythonInput = NO_INPUT,
        stop: StopSignal | None = None,
    ) -> CommandOutcome[Any]:
        """Fit; coefficients and weights are fitted at once, and are no run."""
        if options.is_run or python.source is not None:
            return await super().run(options, observer, python, stop)
        if options.out.endswith(".toml"):
            from dialogauge.app.fit_weights import fit_criteria

            return fit_criteria(options)
        return fit_file(options)


def _printed(result: Any) -> dict[str, Any]:  # noqa: ANN401 - of a run or of a file
    if isinstance(result, FittedWeights):
        result = as_json(result)
    fitted: dict[str, Any] = result if isinstance(result, dict) else result.to_json()
    return fitted


def _view(outcome: CommandOutcome[Any]) -> Iterable[Block]:
    """Return the out-of-fold figures beside controls."""
    if isinstance(outcome.result, FittedWeights):
        return weights_brief(outcome.result)
    fitted = _printed(outcome.result)
    return run_brief(fitted) if outcome.options.is_run else file_brief(fitted)


ENTRY: Final = FitEntry(
    name="fit",
    prints=FitRunJson | FitFileJson | FittedWeights,
    plans=None,
    unit="cross-validation",
    prepare=_prepare,
    faults=lambda prepared, run: prepared.study.faults,
    printed=_printed,
    view=_view,
    overview=lambda judge, summary: agreement_overview(("uar", "kappa", "auc_below3"), judge, summary),
)


def _as_grades(conversation: Conversation, dimension: str) -> Conversation:
    """Return the conversation with the bad one of two sides as the rating 1, and the good one as 5."""
    grades = {DOWN: 1, UP: LEVELS}
    ratings = (
        replace(r, score=grades[side]) if r.dimension == dimension and (side := thumb_of(r.score)) else r
        for r in conversation.ratings
    )
    return replace(conversation, ratings=tuple(ratings))
