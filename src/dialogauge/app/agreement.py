"""`agreement`: runs and rating files in; people, judges and controls beside each other out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from dialogauge.app.agreement_files import (
    add_judges,
    add_people,
    asked_for,
    by_names,
    pair_of,
    read_judges,
    read_people,
)
from dialogauge.app.agreement_runs import (
    add_arenas,
    add_replays,
    add_runs,
    is_arena,
    is_replay,
    lights_and_evidence,
    ratings_within,
    run_names,
)
from dialogauge.app.candidates import family_of
from dialogauge.app.command import Measurement
from dialogauge.app.merging import load_config
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.settings import AgreementOptions
from dialogauge.app.sources import JUDGED, PythonInput, choices_alone, is_run
from dialogauge.core.errors import RecordFault, UsageError
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.core.version import __version__
from dialogauge.data import RatingTable
from dialogauge.report import Block, Callout, Page, Span
from dialogauge.runs import open_run
from dialogauge.stats import parse_rule
from dialogauge.studies.agreement.agreement import AgreementSettings, JudgeAgreement
from dialogauge.studies.agreement.asked import Asked
from dialogauge.studies.agreement.page import agreement_page, brief
from dialogauge.studies.agreement.sources import ALL
from dialogauge.studies.agreement.study import AgreementResult, measure
from dialogauge.studies.agreement.targets import Panel
from dialogauge.studies.evidence import RunEvidence
from dialogauge.studies.judging.opening import light_callout
from dialogauge.studies.judging.people import Light, People
from dialogauge.studies.satisfaction.answers import SATISFACTION
from dialogauge.studies.satisfaction.comparison import (
    Predictions,
    SeveralJudges,
    collect_predictions,
    compare_runs,
)
from dialogauge.studies.satisfaction.several_page import several_brief, several_sections
from dialogauge.studies.trust.calibration import judge_gate
from dialogauge.studies.trust.result import CalibrationDimension, Readiness


@dataclass(frozen=True, slots=True)
class JudgeGate:
    """Whether a judge agrees with people well enough."""

    status: Readiness
    sentence: str


@keys(judge=INSIDE)
@dataclass(frozen=True, slots=True)
class GatedJudge:
    """One judge and people, in one dimension."""

    judge: JudgeAgreement
    gate: JudgeGate | None


@keys(
    result=INSIDE,
    gates=None,
    faults=None,
    notes=None,
    ratings=None,
    judges="judges",
    satisfaction="satisfaction?",
    people=None,
    lights="lights",
)
@dataclass(frozen=True, slots=True)
class AgreementOutcome:
    """What was measured, and what of the ratings could not be used."""

    result: AgreementResult
    gates: tuple[CalibrationDimension | None, ...]
    """Of each judge of a run, in the order of the result: is it ready? None for several dimensions pooled."""
    faults: tuple[RecordFault, ...]
    notes: tuple[str, ...]
    ratings: str
    """Where people's ratings are from."""
    satisfaction: SeveralJudges | None = None
    """Where all runs are satisfaction runs: the judges under every calibration, and each against each."""
    people: Mapping[str, tuple[People, ...]] = field(default_factory=dict)
    """By run what people said, and whether its judge agrees: the answer of `judge`."""
    evidence: Mapping[str, RunEvidence] = field(default_factory=dict)
    """By judged run which dimensions are checked: what `judge --checked-by` reads."""

    @property
    def lights(self) -> dict[str, tuple[Light, ...]]:
        """By run whether its judge agrees with people."""
        return {name: tuple(one.light for one in of) for name, of in self.people.items()}

    @property
    def first(self) -> tuple[Callout, ...]:
        """The answers, as a page shows them first."""
        boxes = ([light_callout(one) for one in of] for of in self.people.values())
        if len(self.people) < 2:
            return tuple(box for of in boxes for box in of)
        titles = (Callout((Span(name, "strong"),)) for name in self.people)
        return tuple(block for title, of in zip(titles, boxes, strict=True) for block in (title, *of))

    @property
    def judges(self) -> tuple[GatedJudge, ...]:
        """Each judge against people, and whether it agrees with them well enough."""
        gates = [None if gate is None else JudgeGate(gate.status, gate.sentence) for gate in self.gates]
        return tuple(map(GatedJudge, self.result.judges, gates))

    @property
    def page(self) -> Page:
        """The page, as of today."""
        page = agreement_page(
            self.result,
            self.verdicts,
            ratings=self.ratings,
            created=datetime.now(UTC).date().isoformat(),
            version=__version__,
            satisfaction=() if self.satisfaction is None else several_sections(self.satisfaction),
        )
        return replace(page, blocks=(*self.first, *page.blocks))

    @property
    def verdicts(self) -> list[str]:
        """Say of each judge whether it is ready."""
        return ["" if gate is None else gate.sentence for gate in self.gates]


def _view(outcome: CommandOutcome[AgreementOutcome]) -> Iterable[Block]:
    """Return the answers, then the figures."""
    measured = outcome.result
    judges = () if measured.satisfaction is None else several_brief(measured.satisfaction)
    return (*measured.first, *judges, *brief(measured.result, measured.verdicts))


def _measure(options: AgreementOptions, python: PythonInput) -> CommandOutcome[AgreementOutcome]:
    """Measure how far people and judges agree, among each other and with the consensus of people.

    Args:
        options: Where the sources are, and what is asked.
        python: People's ratings that are in memory; none for those of files, or within the runs.

    Raises UsageError where nothing can be compared, InputError for ratings that cannot be read, StoreError
    for a directory without a run.
    """
    rule, people = None if options.dissatisfied is None else parse_rule(options.dissatisfied), python.ratings
    runs, replays, arenas, files = _sorted_out(options.sources)
    sources = Panel()
    judged = files if options.ratings_file or people is not None else []  # else they hold people's ratings
    if people is None:
        rated = [options.ratings_file] if options.ratings_file else files
        people, origin = read_people(rated, options, sources), ", ".join(rated) or "those within the runs"
    else:
        people, origin = asked_for(people, options, sources), "those in memory"
    if runs and sources.people_votes and people is not None and not people.ratings:
        raise choices_alone(origin)
    satisfaction = _satisfaction(runs, options, people) if not judged else None
    if runs:
        add_runs(runs, people, options, sources)
    add_replays(replays, sources)
    add_arenas(arenas, sources)
    scores = read_judges(judged, options, sources)
    if scores is not None and (scores.ratings or not sources.judge_votes):
        add_judges(scores, people or RatingTable(), options, sources)
    elif people is not None and not runs and (people.ratings or not sources.people_votes):
        add_people(people, options, sources)
    candidates = {key.candidate for of in sources.judges.values() for key in of} - {None}
    sources.families = {name: of for name in candidates if name and (of := family_of(name))}
    asked = Asked(options.compare, options.measure if options.power else None)
    result = measure(sources, rule, AgreementSettings(seed=options.seed), by=by_names(options), asked=asked)
    limits = load_config(options.config_file).trust
    lights, evidence = lights_and_evidence(runs, people, options, rule)
    outcome = AgreementOutcome(
        result,
        tuple(
            None if j.pair.rated == ALL or not j.about.run else judge_gate(j, limits) for j in result.judges
        ),
        tuple({str(fault): fault for fault in sources.faults}.values()),
        tuple(dict.fromkeys((*sources.notes, *result.notes))),
        origin,
        satisfaction,
        people=lights,
        evidence=evidence,
    )
    return CommandOutcome(options=options, result=outcome, faults=outcome.faults, notes=outcome.notes)


ENTRY: Final = Measurement(
    name="agreement",
    prints=AgreementOutcome,
    measure=_measure,
    view=_view,
)


def _sorted_out(paths: Sequence[str]) -> tuple[list[str], list[str], list[str], list[str]]:
    """Return runs, replay runs, arenas and rating files; raises UsageError for a path that comes twice."""
    places = [Path(path).resolve() for path in paths]
    twice = next((path for i, path in enumerate(paths) if places[i] in places[:i]), None)
    if twice is not None:
        msg = f"{'the run ' if is_run(twice) else ''}{twice} is given twice"
        raise UsageError(msg, hint="a judge is compared with others: give each once")
    runs = [path for path in paths if is_run(path)]
    replays, arenas = ([path for path in runs if of(path)] for of in (is_replay, is_arena))
    files = [path for path in paths if path not in runs]
    return [path for path in runs if path not in (*replays, *arenas)], replays, arenas, files


def _satisfaction(
    runs: Sequence[str], options: AgreementOptions, table: RatingTable | None
) -> SeveralJudges | None:
    """Compare the judges of satisfaction runs; None when one of the runs is of another kind, or people's
    ratings are names, which no such judge predicts.

    Raises UsageError where ids of predictions and ratings do not match, or the runs share no turn.
    """
    pairs = [pair_of(text) for text in options.dimensions]
    rated = next((p.rated for p in pairs if p.judge == SATISFACTION), None)
    predictions: list[Predictions] = []
    for path, name in zip(runs, run_names(runs), strict=True):
        with open_run(path, studies=JUDGED) as run:
            settings = run.manifest.settings
            if run.manifest.study != SATISFACTION:
                return None
            summary = run.directory.read_json("summary")
            about = Predictions(name, run.manifest.judge["name"], settings["calibrate"], summary)
            dimension = rated or settings.get("dimension", SATISFACTION)
            ratings_of = ratings_within(run, table)
            scores = (r.score for c, _ in run.judged() for r in ratings_of(c) if r.dimension == rated)
            if {isinstance(score, str) for score in scores} == {True}:
                return None
            judged = ((replace(c, ratings=tuple(ratings_of(c))), rows) for c, rows in run.judged())
            predictions.append(collect_predictions(about, judged, dimension))
    return compare_runs(predictions) if any(one.scored for one in predictions) else None
