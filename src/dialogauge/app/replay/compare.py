"""Comparing candidates: scores of one run or several in, leaderboard, pairs and page out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dialogauge.app.candidates import AgentEntry, family_of, read_agents
from dialogauge.app.outputs import run_files, spare
from dialogauge.app.replay.settings import CompareOptions
from dialogauge.app.replay.stage import privacy_of
from dialogauge.core.protocols import PlainDimension
from dialogauge.core.settings import recorded
from dialogauge.core.version import __version__
from dialogauge.runs import FILES, Manifest, RunDirectory, versions
from dialogauge.runs.records import json_line
from dialogauge.runs.study import write_result
from dialogauge.studies.replay.comparison import ReplayComparison, compare
from dialogauge.studies.replay.gathered import gather
from dialogauge.studies.replay.items import ORIGINAL, ItemSet
from dialogauge.studies.replay.page import replay_page
from dialogauge.studies.replay.stored import REPLAY
from dialogauge.studies.replay.table import VIEWS, View
from dialogauge.studies.satisfaction.answers import SATISFACTION

_COLUMNS = ("organisation", "version", "licence", "family")


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with all that belongs to it."""

    items: ItemSet
    evaluator: Mapping[str, Any]
    comparison: ReplayComparison
    files: tuple[Path, ...]
    usage: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """Write the summary as `summary.json` holds it."""
        scores = self.comparison.scores
        failures = scores.failures()
        return {
            "items": {
                "digest": self.items.digest,
                "rule": self.items.rule,
                "selected_on_gold": self.items.selected_on_gold,
                "present": len(scores.items),
                "card": dict(self.items.card),
            },
            "evaluator": dict(self.evaluator),
            "candidates": {
                name: {**of.about, "failures": failures[name]} for name, of in scores.candidates.items()
            },
            "original": {"failures": failures[ORIGINAL]},
            **self.comparison.to_json(),
            "usage": dict(self.usage),
            "versions": versions(),
        }


def compare_runs(options: CompareOptions) -> Compared:
    """Compare all candidates of the runs, and write summary, scores and page.

    Files go to `out`, else into the run itself where there is one run only; otherwise none is written.

    Raises:
        UsageError: A run has no scores by the evaluator, a run is named twice, or the runs are of different
            items or evaluators.
    """
    out = Path(options.out) if options.out else Path(options.runs[0]) if len(options.runs) == 1 else None
    read = gather(options.runs, options.judge)
    spare([] if out is None else run_files(RunDirectory(out)), options)
    agents = read_agents(options.agents_file)
    for name, of in read.scores.candidates.items():
        called = of.about.pop("called", name)
        _columns(of.about, called, agents.get(called))
    family = options.judge_family or _judge_family(read.about)
    comparison = compare(read.scores, options.comparison, family=family)
    compared = Compared(
        read.items,
        {**read.about, "digest": read.evaluator, "family": family},
        comparison,
        () if out is None else tuple(out / FILES[n] for n in ("summary", "scores", "manifest", "report")),
        dict(read.usage),
    )
    if out is not None:
        _write(out, options, compared)
    return compared


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
    shown = replay_page(
        compared.comparison,
        compared.items,
        evaluator,
        command=options.command,
        created=datetime.now(UTC).date().isoformat(),
        version=__version__,
    )
    manifest = Manifest(
        study=REPLAY,
        settings=recorded(options),
        command=options.command,
        seed=options.seed,
        judge={**evaluator["judge"], "name": evaluator["name"], "digest": evaluator["digest"]},
        dimensions=(PlainDimension(SATISFACTION, "turn"),),
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
        database = directory.open_for_writing(REPLAY)
    else:
        directory.lock()
    try:
        directory.write_json("manifest", manifest.to_json())
        write_result(directory, compared, lambda: shown, {"scores": _rows(compared.comparison)})
    finally:
        if database is not None:
            database.close()
        directory.release()


def _rows(comparison: ReplayComparison) -> Iterator[bytes]:
    """Yield one line for each item and candidate: all views of its score, or why there is none."""
    scores = comparison.scores
    tables = scores.tables(comparison.settings.ties)
    every = {ORIGINAL: scores.original, **scores.candidates}
    for column, item in enumerate(scores.items):
        head = {"item": item.id, "user": item.user, "scenario": item.scenario, "position": item.position}
        for row, (name, of) in enumerate(every.items()):
            views: dict[View, Any] = {}
            for view in VIEWS:
                whole, value = tables[view].whole[row, column], tables[view].value[row, column]
                views[view] = None if whole != whole else {"score": int(whole), "value": float(value)}
            more = {"candidate": name, "length": of.lengths.get(item.id), "views": views}
            yield json_line({**head, "gold": item.gold, **more, "failure": of.missing.get(item.id)})
