"""Judges against people: runs and ratings in, agreement with controls out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dialogauge.app.beside import field_map, ratings_of_file
from dialogauge.app.merging import load_config
from dialogauge.app.outputs import spare
from dialogauge.app.settings import AgreementOptions
from dialogauge.app.sources import JUDGED
from dialogauge.core.conversation import Conversation, Rating
from dialogauge.core.errors import RecordFault, UsageError
from dialogauge.core.scores import ONE_TO_FIVE, Scale
from dialogauge.core.unit import words_digest
from dialogauge.core.version import __version__
from dialogauge.data import RatingTable
from dialogauge.data.admission import Admission, Counts, RatedDimensions, admission_for, asks_approval
from dialogauge.report import html_bytes
from dialogauge.runs import StoredRun, open_run
from dialogauge.runs.directory import write_whole
from dialogauge.runs.privacy import ratings_as_stored
from dialogauge.runs.records import json_document
from dialogauge.stats import DissatisfiedRule, middle_rule, parse_rule
from dialogauge.studies.agreement.agreement import (
    AgreementResult,
    AgreementSettings,
    JudgeAgreement,
    agreement,
    compare_judges,
    rule_for,
)
from dialogauge.studies.agreement.page import agreement_page
from dialogauge.studies.agreement.targets import DimensionPair, JudgedRun, TargetTable, collect_targets
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

RatingsOf = Callable[[Conversation], Sequence[Rating]]


def _ratings_of(run: StoredRun, table: RatingTable | None) -> RatingsOf:
    """Return what gives the ratings of a conversation: those of the file, or else those inside the run."""
    if table is None:
        return lambda conversation: conversation.ratings
    stored = ratings_as_stored(run.database, table)
    return lambda conversation: stored.for_conversation(conversation.id)


def _satisfaction(
    options: AgreementOptions, names: Sequence[str], table: RatingTable | None
) -> SeveralJudges | None:
    """Compare the judges of satisfaction runs; None when one of the runs is of another kind.

    Raises UsageError where ids of predictions and ratings do not match, or the runs share no turn.
    """
    pairs = [_pair(text) for text in options.dimensions]
    rated = next((p.rated for p in pairs if p.judge == SATISFACTION), None)
    runs: list[Predictions] = []
    for path, name in zip(options.runs, names, strict=True):
        with open_run(path, studies=JUDGED) as run:
            settings = run.manifest.settings
            if run.manifest.study != SATISFACTION:
                return None
            summary = run.directory.read_json("summary")
            about = Predictions(name, run.manifest.judge["name"], settings["calibrate"], summary)
            dimension = rated or settings.get("dimension", SATISFACTION)
            ratings_of = _ratings_of(run, table)
            judged = ((replace(c, ratings=tuple(ratings_of(c))), rows) for c, rows in run.judged())
            runs.append(collect_predictions(about, judged, dimension))
    return compare_runs(runs)


@dataclass(frozen=True, slots=True)
class AgreementOutcome:
    """The judges against people, and what of the ratings could not be used."""

    result: AgreementResult
    gates: tuple[CalibrationDimension, ...]
    """Of each judge, in the order of the result: is it ready?"""
    faults: tuple[RecordFault, ...]
    notes: tuple[str, ...]
    satisfaction: SeveralJudges | None = None
    """Where all runs are satisfaction runs: the judges under every calibration, and each against each."""
    files: tuple[Path, ...] = ()

    @property
    def verdicts(self) -> list[str]:
        """Say of each judge whether it is ready."""
        return [gate.sentence for gate in self.gates]

    def to_json(self) -> dict[str, Any]:
        """Write the result, in each judge what the gate says of it, and the judges of satisfaction runs."""
        value = self.result.to_json()
        for judge, gate in zip(value["judges"], self.gates, strict=True):
            judge["gate"] = {"status": gate.status, "sentence": gate.sentence}
        return value if self.satisfaction is None else {**value, "satisfaction": self.satisfaction.to_json()}


def measure_agreement(options: AgreementOptions) -> AgreementOutcome:
    """Compare the judges of the runs with people's ratings.

    Raises UsageError when no dimension fits or nothing is rated, InputError for ratings that cannot be
    read, StoreError for a directory without a run.
    """
    if options.out is not None:
        spare([Path(options.out) / name for name in ("agreement.json", "agreement.html")], options)
    rule = None if options.dissatisfied is None else parse_rule(options.dissatisfied)
    table = ratings_of_file(options, field_map(options))
    names = _names(options.runs)
    satisfaction = _satisfaction(options, names, table)
    runs = zip(options.runs, names, strict=True)
    tables = [targets for run, name in runs for targets in _read(run, name, table, options)]
    settings = AgreementSettings(seed=options.seed)
    judges: list[JudgeAgreement] = []
    contenders: dict[str, list[TargetTable]] = {}
    rules: dict[str, DissatisfiedRule | None] = {}
    differ = [t for t in tables if len({target.people for target in t.targets}) > 1]
    if not differ:
        raise _all_alike(tables)
    for targets in differ:  # a run may lack a dimension that another has
        rated = targets.pair.rated
        dissatisfied = rules.setdefault(rated, rule_for(targets, rule))
        judges.append(agreement(targets, dissatisfied, settings))
        contenders.setdefault(rated, []).append(targets)
    comparisons = [c for rated, several in contenders.items() for c in compare_judges(several, rules[rated])]
    limits = load_config(options.config_file).trust
    refused = {str(f): f for targets in tables for f in targets.refused}
    outcome = AgreementOutcome(
        AgreementResult(tuple(judges), tuple(comparisons), settings),
        tuple(judge_gate(j, limits) for j in judges),
        (*(() if table is None else table.faults), *refused.values()),
        (
            *(() if table is None else map(str, table.notes)),
            *dict.fromkeys(t.reading for t in tables if t.reading),
        ),
        satisfaction,
    )
    if options.out is not None:
        outcome = replace(outcome, files=_write(Path(options.out), options, outcome))
    return outcome


def _names(runs: Sequence[str]) -> list[str]:
    """Name each run by its folder; by its whole path where two folders are called the same."""
    places = [Path(r).resolve() for r in runs]
    twice = next((r for i, r in enumerate(runs) if places[i] in places[:i]), None)
    if twice is not None:
        msg = f"the run {twice} is given twice"
        raise UsageError(msg, hint="a judge is compared with others: give each run once")
    short = [p.name for p in places]
    return [r if short.count(s) > 1 else s for r, s in zip(runs, short, strict=True)]


def _read(path: str, name: str, ratings: RatingTable | None, options: AgreementOptions) -> list[TargetTable]:
    """Read one run: a table of targets for each pair of dimensions."""
    with open_run(path, studies=JUDGED) as run:
        ratings_of, judge = _ratings_of(run, ratings), run.manifest.judge
        seen = (judge.get("fitted_on") or {}).get("seen")
        counts, fitted_to = _survey(run, ratings_of, None if seen is None else frozenset(seen))
        scales = {d.name: d.scale for d in run.dimensions}
        about = JudgedRun(name, path, judge["name"], run.manifest.settings["mode"], fitted_to)
        # A satisfaction study states its figures of the whole scores: the same run gives the same ones here.
        fractions = run.manifest.study != SATISFACTION
        tables = []
        for pair in _pairs(run, counts, options, name):
            scale, seen = scales.get(pair.judge, ONE_TO_FIVE), counts.get(pair.rated, Counter())
            approval = pair.rated == pair.judge or asks_approval(pair.rated)
            admission = admission_for(seen, scale, approval=approval)
            if admission.kind == "nothing":
                msg = f"run {name}: {pair.rated!r} has {admission.words(seen)}"
                raise UsageError(msg, hint="name the ratings of each scale as a dimension of their own")
            reading = _reading(pair, admission, seen, scale)
            if admission.kind == "names" and options.dissatisfied is None:
                reading = (
                    f"ratings of {pair.rated}: read as {admission.words(seen)}; not compared, because "
                    "nothing says which of these names is dissatisfied (--dissatisfied NAME)"
                )
            tables.append(TargetTable(pair, scale, about, admission, reading, fractions))
        collect_targets(run.judged(), ratings_of, tables)
    filled = Counter(t.pair.rated for t in tables if t.targets)
    if not filled:
        raise _nothing_scored(tables[0])
    for table in tables:
        if filled[table.pair.rated] > 1:  # several dimensions against the same ratings
            table.about = replace(about, name=f"{name}:{table.pair.judge}")
    return tables


def _survey(
    run: StoredRun, ratings_of: RatingsOf, seen: frozenset[str] | None
) -> tuple[dict[str, Counter[float | str]], int | None]:
    """Count by dimension how often people gave each rating, and the rated conversations the judge has seen.

    Args:
        run: The run.
        ratings_of: People's ratings of a conversation.
        seen: Digests of the conversations that its judge was fitted to; None where it does not say.
    """
    counts: dict[str, Counter[float | str]] = {}
    fitted_to = 0
    for conversation, _ in run.judged():
        ratings = ratings_of(conversation)
        for rating in ratings:
            counts.setdefault(rating.dimension, Counter())[rating.score] += 1
        fitted_to += seen is not None and bool(ratings) and words_digest(conversation) in seen
    return counts, None if seen is None else fitted_to


def _reading(pair: DimensionPair, admission: Admission, counts: Counts, scale: Scale) -> str:
    """Say how ratings are read, where it is not plainly numbers on the judge's scale."""
    remark = admission.remark(counts, scale)
    if not remark:
        return ""
    if admission.kind == "thumbs":
        remark += f"; of the judge's scores {middle_rule((), scale)} is down"
    elif admission.kind == "numbers" and admission.scale != scale:
        remark += f"; the judge's scale is {scale}"
    return f"ratings of {pair.rated}: {remark}"


def _pairs(
    run: StoredRun, rated: Mapping[str, Counter[float | str]], options: AgreementOptions, name: str
) -> tuple[DimensionPair, ...]:
    judged = [d.name for d in run.dimensions]
    if options.dimensions:
        pairs = map(_pair, options.dimensions)
        return tuple(replace(p, overall=p.judge == "overall" and p.judge not in judged) for p in pairs)
    both = [d for d in judged if d in rated]
    if both:
        return tuple(DimensionPair(d, d) for d in both)
    msg = f"run {name}: no rated dimension has the name of one that the judge scores"
    if not rated:
        msg = f"run {name}: there are no ratings of its conversations"
        raise UsageError(msg, hint="give them with --ratings FILE; conversations are joined by id")
    raise UsageError(
        msg,
        hint=f"the judge has {', '.join(judged)}; people rated {RatedDimensions(dict(rated)).listed()}; "
        "name a pair: --dimension JUDGED=RATED",
    )


def _pair(text: str) -> DimensionPair:
    judge, equals, rated = (part.strip() for part in text.partition("="))
    if not judge or (equals and not rated):
        msg = f"--dimension {text!r} has not the form JUDGED or JUDGED=RATED"
        raise UsageError(msg, hint="for example --dimension helpfulness=satisfaction")
    return DimensionPair(judge, rated or judge)


def _nothing_scored(table: TargetTable) -> UsageError:
    name, counts = table.about.name, table.counts
    msg = (
        f"run {name}, {table.pair}: none of {counted(counts.rated, 'rated target')} has a score "
        f"({counts.failed} failed, {counts.not_applicable} n/a, {counts.not_judged} not judged)"
    )
    hint = "check the ids, the turns, and whether turns or whole conversations were rated"
    if not counts.rated:
        msg, hint = f"run {name}: nobody rated {table.pair.rated!r}", "name a pair: --dimension A=B"
    return UsageError(msg, hint=hint)


def _all_alike(tables: Sequence[TargetTable]) -> UsageError:
    n, score = next((len(t.targets), t.targets[0].people) for t in tables if t.targets)
    msg = f"people said the same of {counted(n, 'target')}, {score}: no order can be measured"
    return UsageError(msg, hint="a judge is compared with ratings that differ")


def _write(out: Path, options: AgreementOptions, outcome: AgreementOutcome) -> tuple[Path, ...]:
    page = agreement_page(
        outcome.result,
        outcome.verdicts,
        ratings="the ratings within the runs" if options.ratings_file is None else options.ratings_file,
        created=datetime.now(UTC).date().isoformat(),
        version=__version__,
        satisfaction=() if outcome.satisfaction is None else several_sections(outcome.satisfaction),
    )
    files = {
        out / "agreement.json": [json_document(outcome.to_json())],
        out / "agreement.html": html_bytes(page),
    }
    for path, chunks in files.items():
        write_whole(path, chunks)
    return tuple(files)
