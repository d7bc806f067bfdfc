"""Rating files in, who said what of which target out: people alone, or judges beside people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path

from dialogauge.app.annotate.folder import PlanFiles
from dialogauge.app.candidates import family_of
from dialogauge.app.settings import AgreementOptions
from dialogauge.app.sources import field_map
from dialogauge.core.conversation import PairRating, Rating
from dialogauge.core.errors import Place, RecordFault, UsageError
from dialogauge.data import RatingTable, has_groups, read_ratings, votes_in
from dialogauge.stats import Categories
from dialogauge.studies.agreement.sources import (
    UNNAMED,
    Answers,
    Question,
    Rated,
    TargetKey,
    answers_of,
    judge_name,
    level_of,
    natural,
    number_of,
    said_by,
    scale_of,
    sources_of,
)
from dialogauge.studies.agreement.targets import DimensionPair, JudgedRun, Panel, TargetTable, join_scores
from dialogauge.text import counted

_OF_CONVERSATIONS = ("scenario", "language", "candidate", "user")
_OF_RATINGS = ("dimension", "rater")


def read_people(paths: Sequence[str], options: AgreementOptions, out: Panel) -> RatingTable | None:
    """Read people's ratings of files as one, those that are asked for; None without any file."""
    keep = [n for n in by_names(options) if n not in (*_OF_RATINGS, *_OF_CONVERSATIONS)]
    tables = [_read(path, options, out, keep, [_where(text) for text in options.where]) for path in paths]
    ratings, pairs = (r for t in tables for r in t.ratings), (p for t in tables for p in t.pairs)
    return asked_for(RatingTable(tuple(ratings), tuple(pairs)), options, out) if paths else None


def asked_for(people: RatingTable, options: AgreementOptions, out: Panel) -> RatingTable:
    """Return the ratings of the level and the rows that are asked for, and keep the choices between two.

    Raises UsageError where no row is left.
    """
    where = [_where(text) for text in options.where]

    def wanted(of: Rating | PairRating) -> bool:
        return options.level in (None, level_of(of)) and has_groups(of, where)

    ratings = [rating for rating in people.ratings if wanted(rating)]
    out.people_votes += votes_in(pair for pair in people.pairs if wanted(pair))
    if where and not ratings and not out.people_votes:
        msg = f"no rating has {' and '.join(options.where)}"
        raise UsageError(msg, hint="values are compared as they are written in the file")
    return RatingTable(tuple(ratings))


def read_judges(paths: Sequence[str], options: AgreementOptions, out: Panel) -> RatingTable | None:
    """Read judges' scores of files; None without any. A judge without a name has that of its file."""
    ratings: list[Rating] = []
    for path in paths:
        table, name = _read(path, options, out), Path(path).stem
        ratings += [r if r.rater else replace(r, rater=name) for r in table.ratings]
        out.judge_votes += votes_in(p if p.rater else replace(p, rater=name) for p in table.pairs)
    return RatingTable(tuple(ratings)) if paths else None


def _read(
    path: str,
    options: AgreementOptions,
    out: Panel,
    keep: Sequence[str] = (),
    where: Sequence[tuple[str, str]] = (),
) -> RatingTable:
    table = read_ratings(path, mapping=field_map(options), keep=keep, wide=options.wide, where=where)
    out.faults += table.faults
    out.notes += map(str, table.notes)
    asked = {pair_of(text).rated for text in options.dimensions}
    return RatingTable(
        tuple(r for r in table.ratings if options.level in (None, level_of(r))),
        tuple(
            p
            for p in table.pairs
            if options.level in (None, level_of(p)) and (not asked or p.dimension in asked)
        ),
    )


def _where(text: str) -> tuple[str, str]:
    column, equals, value = (part.strip() for part in text.partition("="))
    if not column or not equals:
        msg = f"--where {text!r} has not the form COLUMN=VALUE"
        raise UsageError(msg, hint="for example --where phase=main")
    return column, value


def by_names(options: AgreementOptions) -> tuple[str, ...]:
    """Return what figures are asked for by."""
    names = tuple(dict.fromkeys(name.strip() for name in options.by.split(",")))
    if not all(names):
        msg = f"--by {options.by!r} names nothing"
        raise UsageError(msg, hint="for example --by dimension,source")
    return names


def given_scale(options: AgreementOptions, ratings: Iterable[Rating]) -> Categories:
    """Return all that raters could give, as `--scale` or the plan of the ratings says.

    Raises UsageError, with what was seen, where neither does.
    """
    if options.scale is not None:
        return Categories.parse(options.scale)
    ratings = list(ratings)
    if (planned := _planned_scale(options, {r.dimension for r in ratings})) is not None:
        return planned
    scores = {r.score for r in ratings}
    numbers = sorted(s for s in scores if not isinstance(s, str))
    names = sorted(s for s in scores if isinstance(s, str))
    seen, example = ", ".join(names[:8]), ",".join(names[:8])
    if numbers and not names:
        seen = f"{numbers[0]:g} to {numbers[-1]:g}"
        example = f"{numbers[0]:g}-{numbers[-1]:g}"
        if any(s != int(s) for s in numbers) or numbers[0] == numbers[-1]:
            example = "1-5"
    msg = "nothing says what raters could give"
    raise UsageError(
        msg,
        hint=f"ratings seen: {seen}; if these are all that raters could give, add --scale {example}",
    )


def _planned_scale(options: AgreementOptions, dimensions: Set[str]) -> Categories | None:
    """Return the scale of what people were asked, where their ratings lie in the folder of a plan."""
    paths = [Path(path) for path in ([options.ratings_file] if options.ratings_file else options.sources)]
    plans = [PlanFiles(path if path.is_dir() else path.parent) for path in paths]
    if not plans or not all(files.plan.is_file() and files.answers.is_file() for files in plans):
        return None
    questions = [question for files in plans for question in files.read_plan().questions]
    scales = {question.scale for question in questions if question.name in dimensions}
    if len(scales) != 1 or not dimensions <= {question.name for question in questions}:
        return None
    (scale,) = scales
    return Categories.of_scale(scale) if scale.integer else None


def _on_scale(ratings: Iterable[Rating], categories: Categories, out: Panel, *, whole: bool) -> list[Rating]:
    """Return the ratings that are on the scale; the others are faults."""
    kept = []
    shown = f"{categories.names[0]} to {categories.names[-1]}" if categories.values else str(categories)
    for rating in ratings:
        number = number_of(rating.score, categories)
        if number is None or (whole and categories.values is not None and number not in categories.values):
            score = rating.score if isinstance(rating.score, str) else f"{rating.score:g}"
            msg = f"{rating.dimension} is {score}: it is off the scale, which is {shown}"
            place = rating.place or Place("ratings", None, rating.conversation_id, rating.turn)
            out.faults.append(RecordFault(msg, place=place, hint="the rating is not used"))
        else:
            kept.append(rating)
    return kept


def add_people(people: RatingTable, options: AgreementOptions, out: Panel) -> None:
    """Add people's ratings alone.

    Raises UsageError where nothing says what they could give, or where they cannot agree.
    """
    rated = _of_dimensions(people.ratings, [pair_of(text).rated for text in options.dimensions])
    categories = given_scale(options, rated)
    answers = answers_of(_on_scale(rated, categories, out, whole=True))
    if not out.arenas:  # which are held against one rater too
        _expect_raters(answers, out)
    out.people |= answers
    out.categories |= dict.fromkeys(answers, categories)


def add_judges(judged: RatingTable, people: RatingTable, options: AgreementOptions, out: Panel) -> None:
    """Add judges' scores of files beside people's ratings.

    Raises UsageError where nothing says what the scale is, or no score is of what people rated.
    """
    wanted = [pair_of(text) for text in options.dimensions]
    rated = _of_dimensions(people.ratings, [p.rated for p in wanted])
    categories = given_scale(options, rated)
    ratings = answers_of(_on_scale(rated, categories, out, whole=False))
    people_names = {r.rater or UNNAMED for r in rated}
    named = [
        replace(r, rater=judge_name(r.rater or UNNAMED, people_names))
        for r in _of_dimensions(judged.ratings, [p.judge for p in wanted])
    ]
    scores = answers_of(_on_scale(named, categories, out, whole=False))
    if any(question not in out.categories for question in ratings):
        out.people |= ratings
        out.categories |= dict.fromkeys(ratings, categories)
    for question, answers in scores.items():
        rated_as = next((p.rated for p in wanted if p.judge == question.dimension), question.dimension)
        asked = Question(rated_as, question.level)
        own, unclear = _one_candidate(answers, ratings.get(asked, {}))
        out.judged_on.setdefault(asked, categories)
        known = out.judges.setdefault(asked, {})
        for key, one in own.items():
            known.setdefault(key, Rated({}, one.user, one.groups)).by.update(one.by)
        pair = DimensionPair(question.dimension, rated_as)
        for judge in sources_of(own):
            about = out.about[judge] = JudgedRun(judge, judge=judge, family=family_of(judge))
            table = TargetTable(pair, scale_of(categories), about, level=question.level)
            join_scores(table, said_by(judge, own), ratings.get(asked, {}), categories)
            out.tables += [table] if table.targets else []
        if unclear is not None and not out.tables:
            raise UsageError(unclear.message, hint=unclear.hint)
        out.faults += [] if unclear is None else [unclear]
    if not out.tables:
        raise _nothing_joins(scores, ratings)


def _of_dimensions(ratings: Iterable[Rating], dimensions: Sequence[str]) -> list[Rating]:
    kept = [r for r in ratings if not dimensions or r.dimension in dimensions]
    if not kept:
        names = sorted({r.dimension for r in ratings})
        msg = f"nobody rated {' or '.join(map(repr, dimensions))}" if dimensions else "there are no ratings"
        raise UsageError(msg, hint=f"rated are {', '.join(names)}" if names else "check --level and --where")
    return kept


def _one_candidate(scores: Answers, people: Answers) -> tuple[Answers, RecordFault | None]:
    """Return scores under the keys of people's ratings, where one of both names no candidate.

    What is named on one side alone is taken as the other where there is one candidate only; else it is a
    fault, for nobody says whose reply was meant.
    """
    by_place: dict[tuple[str, int | None], list[TargetKey]] = {}
    for key in people:
        by_place.setdefault((key.conversation_id, key.turn), []).append(key)
    candidates: dict[tuple[str, int | None], set[str | None]] = {}
    for key in scores:
        candidates.setdefault((key.conversation_id, key.turn), set()).add(key.candidate)
    moved: Answers = {}
    unclear: dict[str, set[str]] = {}
    for key, rated in scores.items():
        place = (key.conversation_id, key.turn)
        theirs = by_place.get(place, [])
        if key in people or not theirs:
            moved[key] = rated
        elif (
            len(theirs) == 1 and len(candidates[place]) == 1 and None in (key.candidate, theirs[0].candidate)
        ):
            moved[theirs[0]] = rated
        else:
            unclear.setdefault(key.conversation_id, set()).update(
                c for c in (*candidates[place], *(t.candidate for t in theirs)) if c is not None
            )
    if not unclear:
        return moved, None
    names = sorted({name for of in unclear.values() for name in of}, key=natural)
    some = f"{', '.join(names[:5])}{' ...' if len(names) > 5 else ''}"
    msg = (
        f"{counted(len(unclear), 'conversation')} such as {next(iter(unclear))!r} has replies of several "
        f"candidates ({some}), and the ratings name none"
    )
    hint = f"add a column candidate to the ratings that says whose replies were rated, such as {names[0]}"
    return moved, RecordFault(msg, place=Place("ratings"), hint=hint)


def _nothing_joins(judged: Mapping[Question, Answers], people: Mapping[Question, Answers]) -> UsageError:
    ours = {key for of in judged.values() for key in of}
    theirs = {key for of in people.values() for key in of}
    both = {k.conversation_id for k in ours} & {k.conversation_id for k in theirs}
    ids = [min((k.conversation_id for k in of), default="", key=natural) for of in (theirs, ours)]
    msg = f"no score is of a rated conversation: people rated {ids[0]!r} ..., judges scored {ids[1]!r} ..."
    hint = "check the column of the conversation, or name it in a field map (--map)"
    if both:
        named = [sorted({str(q) for q in of}) for of in (people, judged)]
        rated, scored = (", ".join(names) for names in named)
        msg = f"no score is of what people rated: they rated {rated}, judges scored {scored}"
        hint = "name a pair of dimensions: --dimension JUDGED=RATED; check turns (from 1) and candidates"
    return UsageError(msg, hint=hint)


def _expect_raters(answers: Mapping[Question, Answers], out: Panel) -> None:
    """Raise UsageError where people cannot agree: one rater, no names, or no target that two rated."""
    times: dict[str, int] = {}
    shared = 0
    for of in answers.values():
        for rated in of.values():
            shared += len(rated.by) > 1
            for name in rated.by:
                times[name] = times.get(name, 0) + 1
    if not times:
        msg = "no rating is on the scale"
        raise UsageError(msg, hint=str(out.faults[0]) if out.faults else None)
    if set(times) == {UNNAMED}:
        again = any("nothing says by whom" in str(fault) for fault in out.faults)
        msg = "the ratings name no rater" + (", and some targets have several" if again else "")
        raise UsageError(
            msg,
            hint="agreement is among raters: name the column that holds them in a field map (--map), or say "
            "--wide raters where the columns of a wide table are raters",
        )
    lost = f"; {counted(len(out.faults), 'row')} not used, the first: {out.faults[0]}" if out.faults else ""
    if len(times) == 1:
        (only,) = times
        msg = f"one rater only: {only}, with {counted(times[only], 'rating')}{lost}"
        raise UsageError(msg, hint="agreement takes two: add another rater's file, or a run of a judge")
    if not shared:
        names = ", ".join(f"{name} ({n:,})" for name, n in sorted(times.items(), key=lambda i: -i[1])[:5])
        msg = f"{len(times)} raters and no target that two of them rated: {names}{lost}"
        raise UsageError(
            msg, hint="agreement takes shared targets; check that ids, turns and dimensions are the same"
        )


def pair_of(text: str) -> DimensionPair:
    """Read `JUDGED` or `JUDGED=RATED`."""
    judge, equals, rated = (part.strip() for part in text.partition("="))
    if not judge or (equals and not rated):
        msg = f"--dimension {text!r} has not the form JUDGED or JUDGED=RATED"
        raise UsageError(msg, hint="for example --dimension helpfulness=satisfaction")
    return DimensionPair(judge, rated or judge)
