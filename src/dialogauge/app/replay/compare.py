"""Comparing candidates: scores of one run or several in, leaderboard, pairs and page out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from dialogauge.app.candidates import family_of, family_of_judge, read_agents
from dialogauge.app.outputs import output_file, run_files, spare
from dialogauge.app.replay.items import privacy_of
from dialogauge.app.replay.settings import CompareOptions
from dialogauge.core.errors import StoreError
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
from dialogauge.studies.arena.controls import position_bias
from dialogauge.studies.replay.answers import ANSWER
from dialogauge.studies.replay.board import Board, ShownItem
from dialogauge.studies.replay.comparison import (
    Compared,
    CompareSettings,
    ReplaySummary,
    RubricReplaySummary,
    compare_all,
)
from dialogauge.studies.replay.gathered import Gathered, gather
from dialogauge.studies.replay.items import ReplayItem
from dialogauge.studies.replay.page import replay_page

_COLUMNS = ("organisation", "version", "licence", "family")
_WRITTEN = ("summary", "scores", "manifest", "report")


def compare_runs(options: CompareOptions) -> tuple[Compared, Path | None]:
    """Compare all candidates of the runs, and write summary, scores and page; return also where the page is.

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
    first = next(iter(read.boards.values()))
    for name in first.candidates:
        about = first.about[name]
        called = about.pop("called", name)
        for column in _COLUMNS:
            about[column] = getattr(agents.get(called), column, None) or about.get(column)
        about["family"] = about["family"] or family_of(called)
    compared = _compared(
        read, options.comparison, options.judge_family or family_of_judge(read.about.get("judge") or {})
    )
    if out is None:
        return compared, None
    _write(out, options, compared)
    return compared, out / FILES["report"]


def _compared(read: Gathered, settings: CompareSettings, family: str | None) -> Compared:
    by_user = next(iter(read.boards.values())).by == "user"
    return (ReplaySummary if by_user else RubricReplaySummary)(
        compare_all(read.boards, settings, family=family),
        read.items,
        {**read.about, "family": family},
        read.usage,
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
    read, mask = gather(runs, facts["evaluator"]["digest"]), run.mask
    first = next(iter(read.boards.values()))
    for name in first.candidates:
        first.about[name] |= facts["candidates"].get(name, {})
    if mask is not None:
        by_id = {item.id: item for item in read.items.items}
        shown = {name: _hidden(one, by_id[name], mask) for name, one in first.shown.items()}
        boards = {name: replace(board, shown=shown) for name, board in read.boards.items()}
        items = replace(read.items, card=mask.value(dict(read.items.card)))
        read = replace(read, boards=boards, items=items)
    options = CompareSettings(
        settings["seed"], settings["ties"], settings["margin"], unchecked=settings.get("unchecked", False)
    )
    return replay_page(
        _compared(read, options, facts["evaluator"]["family"]),
        command=run.manifest.command,
        created=run.manifest.written[:10],
        version=__version__,
    )


def _hidden(one: ShownItem, item: ReplayItem, mask: Mask) -> ShownItem:
    names = mask.names(item.conversation, item.user)
    return ShownItem(
        hidden_turn(mask, item.id), mask.value(one.request, names), mask.value(one.replies, names)
    )


def _write(out: Path, options: CompareOptions, compared: Compared) -> None:
    evaluator, scores = compared.evaluator, compared.first.scores
    today = datetime.now(UTC).date().isoformat()
    shown = replay_page(compared, command=options.command, created=today, version=__version__)
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
            "candidates": {name: scores.about[name] for name in scores.candidates},
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
    boards = {name: of.scores.leaderboard for name, of in compared.comparisons.items()}
    first = compared.first.scores.leaderboard
    views = {view: first.viewed_as(view) for view in first.views}
    lengths = np.full(first.whole.shape, np.nan) if first.lengths is None else first.lengths
    for i, item in enumerate(first.items):
        head = {"item": item.id, "user": item.user, "scenario": item.scenario, "position": item.position}
        for n, name in enumerate(first.names):
            length = None if np.isnan(lengths[n, i]) else int(lengths[n, i])
            row = {**head, "gold": item.gold, "candidate": name, "length": length}
            if first.by == "user":
                row["views"] = {view: _in_view(of, n, i) for view, of in views.items()}
            else:
                row["scores"] = {dimension: _on_board(of, n, i) for dimension, of in boards.items()}
            yield json_line({**row, "failure": first.missing[name].get(item.id)})


def _in_view(board: Board, n: int, i: int) -> dict[str, float] | None:
    whole = board.whole[n, i]
    return None if np.isnan(whole) else {"score": int(whole), "value": float(board.value[n, i])}


def _on_board(board: Board, n: int, i: int) -> float | str | None:
    """Return a reply's score, n/a where the dimension does not apply."""
    if board.skipped is not None and board.skipped[n, i]:
        return NOT_APPLICABLE
    return None if np.isnan(board.value[n, i]) else float(board.value[n, i])
