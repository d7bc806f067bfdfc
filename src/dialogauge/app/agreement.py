"""Judges against people: runs and ratings in, agreement with controls out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from dialogauge.app.merging import load_config
from dialogauge.app.settings import MetaOptions
from dialogauge.app.sources import JUDGED, ratings_of_file
from dialogauge.core.conversation import Conversation, Rating
from dialogauge.core.errors import RecordFault, UsageError
from dialogauge.core.scores import ONE_TO_FIVE, Scale
from dialogauge.core.unit import words_digest
from dialogauge.core.version import __version__
from dialogauge.data import RatingTable
from dialogauge.data.ratings import admission_for
from dialogauge.report import Section, to_html
from dialogauge.runs import StoredRun, open_run
from dialogauge.runs.directory import write_whole
from dialogauge.runs.privacy import ratings_as_stored
from dialogauge.runs.records import json_document
from dialogauge.stats import ClusterDraws, DissatisfiedRule, parse_rule
from dialogauge.studies.agreement.agreement import (
    AgreementResult,
    AgreementSettings,
    Contender,
    JudgeAgreement,
    JudgedRun,
    agreement,
    compare_judges,
    default_rule,
)
from dialogauge.studies.agreement.page import agreement_page
from dialogauge.studies.agreement.targets import DimensionPair, TargetTable, collect_targets
from dialogauge.studies.satisfaction.answers import SATISFACTION
from dialogauge.studies.satisfaction.comparison import (
    Predictions,
    SeveralJudges,
    collect_predictions,
    compare_runs,
)
from dialogauge.studies.satisfaction.several_page import several_sections
from dialogauge.studies.trust.calibration import judge_gate
from dialogauge.studies.trust.result import CalibrationDimension
from dialogauge.text import counted


@dataclass(frozen=True, slots=True)
class SatisfactionMeta:
    """What was found of the judges of satisfaction runs."""

    judges: SeveralJudges
    runs: tuple[Predictions, ...]
    summaries: tuple[Mapping[str, Any], ...]
    """`summary.json` of each run."""

    def to_json(self) -> dict[str, Any]:
        """Write the judges, and what each run is."""
        told = [
            {
                "name": r.name,
                "judge": r.judge,
                "calibration": r.calibration,
                "scored": len(r.scored),
                "failed": r.failed,
                "without_history": r.without_history,
            }
            for r in self.runs
        ]
        return {"runs": told, **self.judges.to_json()}


def _satisfaction(
    options: MetaOptions, names: Sequence[str], ratings: RatingTable | None
) -> SatisfactionMeta | None:
    """Compare the judges of satisfaction runs; None when one of the runs is of another kind.

    Raises UsageError where ids of predictions and ratings do not match, or the runs share no turn.
    """
    pairs = [_pair(text) for text in options.dimensions]
    rated = next((p.rated for p in pairs if p.judge == SATISFACTION), None)
    runs: list[Predictions] = []
    summaries: list[Mapping[str, Any]] = []
    for path, name in zip(options.runs, names, strict=True):
        with open_run(path, studies=JUDGED) as run:
            settings = run.manifest.settings
            if run.manifest.study != SATISFACTION:
                return None
            about = Predictions(name, run.manifest.judge["name"], settings["calibrate"])
            dimension = rated or settings.get("dimension", SATISFACTION)
            runs.append(collect_predictions(about, _judged(run, ratings), dimension))
            summaries.append(run.directory.read_json("summary"))
    found = compare_runs(runs, ClusterDraws(options.draws, options.seed))
    return SatisfactionMeta(found, tuple(runs), tuple(summaries))


def _judged(
    run: StoredRun, ratings: RatingTable | None
) -> Iterator[tuple[Conversation, list[Mapping[str, Any]]]]:
    """Yield the conversations with the ratings that count."""
    given = None if ratings is None else ratings_as_stored(run.database, ratings)
    for conversation, rows in run.judged():
        if given is None:
            yield conversation, rows
        else:
            yield replace(conversation, ratings=given.for_conversation(conversation.id)), rows


RatingsOf = Callable[[Conversation], Iterable[Rating]]


@dataclass(frozen=True, slots=True)
class MetaOutcome:
    """What was found, and what of the ratings could not be used."""

    result: AgreementResult
    gates: tuple[CalibrationDimension, ...]
    """Of each judge, in the order of the result: is it ready?"""
    faults: tuple[RecordFault, ...]
    notes: tuple[str, ...]
    files: tuple[Path, ...]
    satisfaction: SatisfactionMeta | None = None
    """Where all runs are satisfaction runs: the judges under every calibration, and each against each."""


@dataclass(frozen=True, slots=True)
class _Read:
    """One run, read: a table of targets for each pair of dimensions."""

    about: JudgedRun
    tables: tuple[TargetTable, ...]
    scales: tuple[Scale, ...]


def judge_the_judges(options: MetaOptions) -> MetaOutcome:
    """Hold the judges of the runs against people's ratings.

    Raises UsageError when no dimension fits or nothing is rated, InputError for ratings that cannot be
    read, StoreError for a directory without a run.
    """
    rule = None if options.dissatisfied is None else parse_rule(options.dissatisfied)
    table = ratings_of_file(options.ratings_file, options.map_file)
    names = _names(options.runs)
    satisfaction = _satisfaction(options, names, table)
    read = [_read(run, name, table, options) for run, name in zip(options.runs, names, strict=True)]
    settings = AgreementSettings(draws=options.draws, seed=options.seed)
    judges: list[JudgeAgreement] = []
    contenders: dict[str, list[Contender]] = {}
    rules: dict[str, DissatisfiedRule | None] = {}
    for one in read:
        if not any(t.targets for t in one.tables):
            raise _nothing_scored(one.about, one.tables[0])
        for targets, scale in zip(one.tables, one.scales, strict=True):
            if not targets.targets:
                continue  # a dimension that only another of the runs has
            rated = targets.pair.rated
            held = rules.setdefault(rated, rule or default_rule(targets.targets, scale))
            about = _named(one, targets.pair)
            judges.append(agreement(about, targets, scale, held, settings))
            contenders.setdefault(rated, []).append(Contender(about.name, targets, scale))
    comparisons = [
        c for rated, several in contenders.items() for c in compare_judges(several, rules[rated], settings)
    ]
    result = AgreementResult(tuple(judges), tuple(comparisons), settings)
    notes = () if table is None else tuple(str(n) for n in table.notes)
    refused = {str(f): f for one in read for targets in one.tables for f in targets.refused}
    faults = (*(() if table is None else table.faults), *refused.values())
    limits = load_config(options.config_file).trust
    gates = tuple(judge_gate(j, limits) for j in result.judges)
    files = _write(options, result, gates, satisfaction)
    return MetaOutcome(result, gates, faults, notes, files, satisfaction)


def _names(runs: Sequence[str]) -> list[str]:
    """Name each run by its folder; by its whole path where two folders are called the same."""
    places = [Path(r).resolve() for r in runs]
    twice = next((r for i, r in enumerate(runs) if places[i] in places[:i]), None)
    if twice is not None:
        msg = f"the run {twice} is given twice"
        raise UsageError(msg, hint="a judge is compared with others: give each run once")
    short = [p.name for p in places]
    return [r if short.count(s) > 1 else s for r, s in zip(runs, short, strict=True)]


def _read(path: str, name: str, table: RatingTable | None, options: MetaOptions) -> _Read:
    with open_run(path, studies=JUDGED) as run:
        stored = None if table is None else ratings_as_stored(run.database, table)

        def ratings_of(conversation: Conversation) -> Sequence[Rating]:
            return conversation.ratings if stored is None else stored.for_conversation(conversation.id)

        given = _given(run, ratings_of)
        pairs = _pairs(run, given, options, name)
        known = {d.name: d.scale for d in run.dimensions}
        scales = tuple(known.get(p.judge, ONE_TO_FIVE) for p in pairs)
        admissions = [admission_for(given.get(p.rated, {}), s) for p, s in zip(pairs, scales, strict=True)]
        judge = run.manifest.judge
        seen = (judge.get("fitted_on") or {}).get("seen")
        fitted_to = None if seen is None else _among(run, ratings_of, frozenset(seen))
        about = JudgedRun(name, path, judge["name"], run.manifest.settings["mode"], fitted_to)
        # A satisfaction study states its figures of the whole scores: the same run gives the same ones here.
        fractions = run.manifest.study != SATISFACTION
        tables = collect_targets(run.judged(), ratings_of, pairs, admissions=admissions, fractions=fractions)
        return _Read(about, tables, scales)


def _among(run: StoredRun, ratings_of: RatingsOf, seen: frozenset[str]) -> int:
    """Count the rated conversations of a run that the judge was fitted to."""
    return sum(words_digest(c) in seen for c, _ in run.judged() if any(True for _ in ratings_of(c)))


def _named(read: _Read, pair: DimensionPair) -> JudgedRun:
    """Add the dimension to the name where the run has several against the same ratings."""
    about = read.about
    if sum(t.pair.rated == pair.rated and bool(t.targets) for t in read.tables) < 2:
        return about
    return replace(about, name=f"{about.name}:{pair.judge}")


def _pairs(
    run: StoredRun, rated: Mapping[str, Counter[float | str]], options: MetaOptions, name: str
) -> tuple[DimensionPair, ...]:
    judged = [d.name for d in run.dimensions]
    if options.dimensions:
        pairs = map(_pair, options.dimensions)
        return tuple(replace(p, overall=p.judge == "overall" and p.judge not in judged) for p in pairs)
    both = [d for d in judged if d in rated]
    if both:
        return tuple(DimensionPair(d, d) for d in both)
    msg = f"run {name}: no rated dimension is called like one of the judge's"
    if not rated:
        msg = f"run {name}: there are no ratings of its conversations"
        raise UsageError(msg, hint="give them with --ratings FILE; conversations are joined by id")
    raise UsageError(
        msg,
        hint=f"the judge has {', '.join(judged)}; people rated {', '.join(sorted(rated))}; "
        "name a pair: --dimension JUDGED=RATED",
    )


def _pair(text: str) -> DimensionPair:
    judge, equals, rated = (part.strip() for part in text.partition("="))
    if not judge or (equals and not rated):
        msg = f"--dimension {text!r} has not the form JUDGED or JUDGED=RATED"
        raise UsageError(msg, hint="for example --dimension helpfulness=satisfaction")
    return DimensionPair(judge, rated or judge)


def _given(run: StoredRun, ratings_of: RatingsOf) -> dict[str, Counter[float | str]]:
    """Count by dimension how often people gave each rating."""
    found: dict[str, Counter[float | str]] = {}
    for target, _ in groupby(run.units(), key=lambda unit: unit.target):
        conversation = run.database.conversation(target)
        if conversation is not None:
            for rating in ratings_of(conversation):
                found.setdefault(rating.dimension, Counter())[rating.score] += 1
    return found


def _nothing_scored(about: JudgedRun, table: TargetTable) -> UsageError:
    counts = table.counts
    msg = (
        f"run {about.name}, {table.pair}: none of {counted(counts.rated, 'rated target')} has a score "
        f"({counts.failed} failed, {counts.not_applicable} n/a, {counts.not_judged} not judged)"
    )
    hint = "check the ids, the turns, and whether turns or whole conversations were rated"
    if not counts.rated:
        msg, hint = f"run {about.name}: nobody rated {table.pair.rated!r}", "name a pair: --dimension A=B"
    return UsageError(msg, hint=hint)


def meta_json(
    result: AgreementResult,
    gates: Sequence[CalibrationDimension],
    satisfaction: SatisfactionMeta | None = None,
) -> dict[str, Any]:
    """Write the result, in each judge what the calibration gate says of it, and the satisfaction judges."""
    value = result.to_json()
    for judge, gate in zip(value["judges"], gates, strict=True):
        judge["gate"] = {"status": gate.status, "sentence": gate.sentence}
    return value if satisfaction is None else {**value, "satisfaction": satisfaction.to_json()}


def _write(
    options: MetaOptions,
    result: AgreementResult,
    gates: Sequence[CalibrationDimension],
    satisfaction: SatisfactionMeta | None,
) -> tuple[Path, ...]:
    if options.out is None:
        return ()
    json = json_document(meta_json(result, gates, satisfaction))
    sections: tuple[Section, ...] = ()
    if satisfaction is not None:
        sections = several_sections(satisfaction.runs, satisfaction.summaries, satisfaction.judges)
    page = agreement_page(
        result,
        [gate.sentence for gate in gates],
        ratings="the ratings within the runs" if options.ratings_file is None else options.ratings_file,
        created=datetime.now(UTC).date().isoformat(),
        version=__version__,
        satisfaction=sections,
    )
    html = to_html(page).encode("utf-8", "replace")
    files = {Path(options.out) / "meta.json": json, Path(options.out) / "meta.html": html}
    for path, content in files.items():
        write_whole(path, [content])
    return tuple(files)
