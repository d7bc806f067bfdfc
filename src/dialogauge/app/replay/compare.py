"""Comparing candidates: scores of one run or several in, leaderboard, pairs and page out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dialogauge.app.candidates import AgentEntry, family_of, read_agents
from dialogauge.app.outputs import output_file, run_files, spare
from dialogauge.app.replay.settings import CompareOptions
from dialogauge.app.replay.stage import privacy_of
from dialogauge.core.errors import StoreError
from dialogauge.core.json_keys import INSIDE, as_json, keys
from dialogauge.core.protocols import PlainDimension
from dialogauge.core.scores import NOT_APPLICABLE
from dialogauge.core.settings import recorded
from dialogauge.core.version import __version__
from dialogauge.data import Mask
from dialogauge.report import Page
from dialogauge.runs import FILES, Manifest, RunDirectory, StoredRun, versions
from dialogauge.runs.privacy import hidden_turn
from dialogauge.runs.records import json_line
from dialogauge.runs.study import write_result
from dialogauge.studies.arena.controls import PositionBias, position_bias
from dialogauge.studies.replay.answers import ANSWER
from dialogauge.studies.replay.comparison import CompareSettings, ReplayComparison, compare_all
from dialogauge.studies.replay.gathered import Gathered, gather
from dialogauge.studies.replay.items import ORIGINAL, ItemSet, ReplayItem
from dialogauge.studies.replay.page import ComparedCandidates, replay_page
from dialogauge.studies.replay.table import ShownItem, View

_COLUMNS = ("organisation", "version", "licence", "family")
_WRITTEN = ("summary", "scores", "manifest", "report")


@dataclass(frozen=True, slots=True)
class ItemSetFacts:
    """What the candidates were asked."""

    digest: str
    rule: str
    selected_on_gold: bool
    present: int
    card: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OriginalFailures:
    """Why original replies have no score."""

    failures: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """What was compared, and by whom it was scored."""

    items: ItemSetFacts
    evaluator: Mapping[str, Any]
    candidates: Mapping[str, Mapping[str, Any]]
    """What each is, and its failures by kind."""
    original: OriginalFailures
    usage: Mapping[str, float]
    versions: Mapping[str, str | None]


@keys(about=INSIDE, figures=INSIDE)
@dataclass(frozen=True, slots=True)
class ReplaySummary:
    """Candidates on fixed points of rated conversations, scored for their users."""

    about: ComparedRuns
    figures: ReplayComparison


@keys(about=INSIDE, position="position?")
@dataclass(frozen=True, slots=True)
class RubricReplaySummary:
    """Candidates on fixed points of any conversations, scored by a rubric."""

    about: ComparedRuns
    dimensions: Mapping[str, ReplayComparison]
    position: PositionBias | None
    """Of a rubric of pairs: what it said in the other order."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with all that belongs to it."""

    items: ItemSet
    evaluator: Mapping[str, Any]
    comparisons: Mapping[str, ReplayComparison]
    """By dimension."""
    files: tuple[Path, ...]
    usage: Mapping[str, float]
    position: PositionBias | None = None
    """What a rubric of pairs said in the other order; None of any other evaluator."""

    @property
    def comparison(self) -> ReplayComparison:
        """That of the first dimension, which is the only one for judges of satisfaction."""
        return next(iter(self.comparisons.values()))

    def to_json(self) -> dict[str, Any]:
        """Write the summary as `summary.json` holds it."""
        scores, items = self.comparison.scores, self.items
        failures = scores.failures()
        about = ComparedRuns(
            ItemSetFacts(items.digest, items.rule, items.selected_on_gold, len(scores.items), items.card),
            self.evaluator,
            {name: {**of.about, "failures": failures[name]} for name, of in scores.candidates.items()},
            OriginalFailures(failures[ORIGINAL]),
            self.usage,
            versions(),
        )
        if scores.by == "user":
            return dict(as_json(ReplaySummary(about, self.comparison)))
        return dict(as_json(RubricReplaySummary(about, self.comparisons, self.position)))

    @property
    def candidates(self) -> ComparedCandidates:
        """What the page shows."""
        known = self.evaluator.get("dimensions") or ()
        idle = tuple(one["name"] for one in known if one["name"] not in self.comparisons)
        return ComparedCandidates(self.comparisons, self.items, self.evaluator, self.position, idle)


def compare_runs(options: CompareOptions) -> Compared:
    """Compare all candidates of the runs, and write summary, scores and page.

    Files go to `out`, else into the run itself where there is one run only; otherwise none is written.

    Raises:
        UsageError: A run has no scores by the evaluator, a run is named twice, or the runs are of different
            items or evaluators.
    """
    out = Path(options.out) if options.out else Path(options.runs[0]) if len(options.runs) == 1 else None
    read = gather(options.runs, options.judge)
    if out is not None:
        spare(run_files(RunDirectory(out)), options)
        if not any(out.resolve() == Path(run).resolve() for run in options.runs):
            for name in _WRITTEN:
                output_file(str(out / FILES[name]))
    agents = read_agents(options.agents_file)
    for name, of in (one for scores in read.scores.values() for one in scores.candidates.items()):
        called = of.about.pop("called", name)
        _columns(of.about, called, agents.get(called))
    family = options.judge_family or _judge_family(read.about)
    compared = _compared(read, options.comparison, family)
    if out is None:
        return compared
    _write(out, options, compared)
    return replace(compared, files=tuple(out / FILES[n] for n in _WRITTEN))


def _compared(read: Gathered, settings: CompareSettings, family: str | None) -> Compared:
    return Compared(
        read.items,
        {**read.about, "digest": read.evaluator, "family": family},
        compare_all(read.scores, settings, family=family),
        (),
        dict(read.usage),
        position_bias(read.votes) if read.votes else None,
    )


def stored_page(run: StoredRun) -> Page:
    """Return the page of the last comparison of a run, from what the run holds; masked as the run is shown.

    Raises StoreError where it was not compared, or where more was collected or scored since.
    """
    path, facts, settings = run.directory.path, run.manifest.facts, run.manifest.settings
    if facts.get("part") != "comparison":
        msg = f"the replay run {path} has not been compared since the last replies or scores came in"
        raise StoreError(msg, hint=f"dialogauge replay compare {path}")
    runs = facts["runs"] if len(facts["runs"]) > 1 else [str(path)]
    read = gather(runs, facts["evaluator"]["digest"])
    for scores in read.scores.values():
        for name, of in scores.candidates.items():
            of.about |= facts["candidates"].get(name, {})
        if run.mask is not None:
            by_id = {item.id: item for item in read.items.items}
            scores.shown = {name: _hidden(one, by_id[name], run.mask) for name, one in scores.shown.items()}
    items = read.items
    if run.mask is not None:
        read = replace(read, items=replace(items, card=run.mask.value(dict(items.card))))
    options = CompareSettings(
        settings["seed"], settings["ties"], settings["margin"], unchecked=settings.get("unchecked", False)
    )
    compared = _compared(read, options, facts["evaluator"]["family"])
    return replay_page(
        compared.candidates,
        command=run.manifest.command,
        created=run.manifest.written[:10],
        version=__version__,
    )


def _hidden(one: ShownItem, item: ReplayItem, mask: Mask) -> ShownItem:
    names = mask.names(item.conversation, item.user)
    request, original = mask.value([one.request, one.original], names)
    return ShownItem(hidden_turn(mask, item.id), request, original, mask.value(one.replies, names))


def _columns(about: dict[str, Any], name: str, agent: AgentEntry | None) -> None:
    for column in _COLUMNS:
        named = None if agent is None else getattr(agent, column)
        about[column] = named or about.get(column)
    about["family"] = about["family"] or family_of(name)


def _judge_family(about: Mapping[str, Any]) -> str | None:
    """Read the family off the model that the judge names; a judge without a model has none."""
    judge = about.get("judge") or {}
    named = [judge.get("model"), *(v.get("model") for v in judge.values() if isinstance(v, Mapping))]
    return next((family for text in named if isinstance(text, str) and (family := family_of(text))), None)


def _write(out: Path, options: CompareOptions, compared: Compared) -> None:
    evaluator, scores = compared.evaluator, compared.comparison.scores
    today = datetime.now(UTC).date().isoformat()
    shown = replay_page(compared.candidates, command=options.command, created=today, version=__version__)
    manifest = Manifest(
        study=ANSWER,
        settings=recorded(options),
        command=options.command,
        seed=options.seed,
        judge={**evaluator["judge"], "name": evaluator["name"], "digest": evaluator["digest"]},
        dimensions=tuple(
            PlainDimension(name, "turn", one.scores.on.scale) for name, one in compared.comparisons.items()
        ),
        digests={"prompts": None, "data": compared.items.digest},
        privacy=asdict(privacy_of(compared.items)),
        conversations=len({item.conversation for item in compared.items.items}),
        written=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions(),
        facts={
            "part": "comparison",
            "runs": list(options.runs),
            "items": compared.items.digest,
            "evaluator": dict(evaluator),
            "candidates": {name: of.about for name, of in scores.candidates.items()},
        },
    )
    directory = RunDirectory(out)
    database = None
    if directory.exists:
        database = directory.open_for_writing(ANSWER)
    else:
        directory.lock()
    try:
        directory.write_json("manifest", manifest.to_json())
        write_result(directory, compared, lambda: shown, {"scores": _rows(compared)})
    finally:
        if database is not None:
            database.close()
        directory.release()


def _rows(compared: Compared) -> Iterator[bytes]:
    """Yield one line for each item and candidate: its scores, or why there are none."""
    scores = compared.comparison.scores
    line = _views if scores.by == "user" else _dimensions
    every = {ORIGINAL: scores.original, **scores.candidates}
    values = line(compared)
    for item in scores.items:
        head = {"item": item.id, "user": item.user, "scenario": item.scenario, "position": item.position}
        for name, of in every.items():
            more = {"candidate": name, "length": of.lengths.get(item.id), **values(name, item.id)}
            yield json_line({**head, "gold": item.gold, **more, "failure": of.missing.get(item.id)})


def _views(compared: Compared) -> Callable[[str, str], dict[str, Any]]:
    """Return what gives a reply's score in every view."""
    comparison = compared.comparison
    tables = comparison.scores.tables(comparison.settings.ties)
    columns = {item.id: column for column, item in enumerate(comparison.scores.items)}

    def views(name: str, item: str) -> dict[str, Any]:
        out: dict[View, Any] = {}
        for view, table in tables.items():
            row, column = table.names.index(name), columns[item]
            whole, value = table.whole[row, column], table.value[row, column]
            out[view] = None if whole != whole else {"score": int(whole), "value": float(value)}
        return {"views": out}

    return views


def _dimensions(compared: Compared) -> Callable[[str, str], dict[str, Any]]:
    """Return what gives a reply's score on every dimension, n/a where one does not apply."""

    def dimensions(name: str, item: str) -> dict[str, Any]:
        out: dict[str, float | str | None] = {}
        for dimension, comparison in compared.comparisons.items():
            of = {ORIGINAL: comparison.scores.original, **comparison.scores.candidates}[name]
            score = of.scores.get(item)
            out[dimension] = score.value if score else NOT_APPLICABLE if item in of.skipped else None
        return {"scores": out}

    return dimensions
