"""What a comparison is made of: the rows of runs of answers, read into boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from dialogauge.core import ONE_TO_FIVE, Scale, UsageError
from dialogauge.core.protocols import block_id
from dialogauge.runs import Row
from dialogauge.stats import Floats, RawScore, reply_length
from dialogauge.stats.reading import table_of
from dialogauge.stats.rows import Table
from dialogauge.studies.replay.answers import AnswerRun, StoredAnswer, open_answers
from dialogauge.studies.replay.board import Board, EvaluatorKind, Ground, OriginalReplies, ShownItem
from dialogauge.studies.replay.items import ORIGINAL, ItemSet, ReplayItem
from dialogauge.studies.replay.planted import PLANTED
from dialogauge.studies.replay.scoring import Part, part_digest
from dialogauge.studies.satisfaction.answers import SATISFACTION

_PENDING: Final = "score: pending"
_CUT: Final = ("length", "filter")
_USED: Final = ("calls", "cached", "prompt_tokens", "completion_tokens")
SHOWN: Final = 20
"""Items whose replies the page shows side by side."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the runs of a comparison hold: all that it is made of, without the data."""

    items: ItemSet
    about: dict[str, Any]
    """What the evaluator is, and its digest."""
    boards: dict[str, Board]
    """By dimension, of the items that were in the data of every run when it was scored."""
    usage: Mapping[str, int]
    votes: Sequence[Row]
    """What was said of each candidate's reply beside the original one, by a rubric of pairs."""


def gather(paths: Sequence[str], judge: str | None = None) -> Gathered:
    """Read the runs of a comparison.

    Args:
        paths: Run directories of one item set.
        judge: Of several evaluators of the first run, whose scores are taken, by name, rubric or digest; the
            latest's when None.

    Raises:
        UsageError: A run has no scores by the evaluator, a run is named twice, or the runs are of different
            items or evaluators.
    """
    often = Counter(Path(path).resolve() for path in paths)
    if twice := [path for path in paths if often[Path(path).resolve()] > 1]:
        msg = f"the run {twice[0]} is named twice"
        raise UsageError(msg, hint="name each run once")
    with ExitStack() as stack:
        runs = {path: stack.enter_context(open_answers(path)) for path in paths}
        first, *others = paths
        evaluator, about = _evaluator(first, runs[first], judge)
        items, histories = runs[first].item_set(), runs[first].histories(evaluator)
        for path in others:
            _expect_same(path, runs[path], items, evaluator, about)
        reader = _AnswerRows({item.id: item for item in items.items}, evaluator, about.get("by") == "pair")
        names = _names(runs)
        table = table_of(
            row for path in paths for row in reader.rows(runs[path], names[path], first=path == first)
        )
        present = set.intersection(*(run.present for run in runs.values()))
        there = tuple(item for item in items.items if item.id in present)
        boards = reader.boards(table, there, _dimensions(about), items.clusters)
        if not any(board.reference.scores for board in boards.values()):
            msg = f"the run {first} has no scores of the original replies by {about['name']}"
            raise UsageError(msg, hint=_again(first, about))
        shown = reader.shown(list(boards.values()))
        boards = {n: replace(board, shown=shown, histories=histories) for n, board in boards.items()}
    used = {
        key: getattr(table.used, key) for key in ("calls", "cached", "prompt_tokens", "completion_tokens")
    }
    return Gathered(
        items, {**about, "digest": evaluator}, boards, used if any(used.values()) else {}, reader.votes
    )


def _names(runs: Mapping[str, AnswerRun]) -> dict[str, dict[str, str]]:
    """Return by run what its candidates are called: with the name of the run where several have the name."""
    known = {path: run.candidates for path, run in runs.items()}
    often = Counter(n for of in known.values() for n, about in of.items() if about["kind"] != PLANTED)
    folders = {path: Path(path).resolve().name for path in runs}
    last = Counter(folders.values())
    return {
        path: {
            name: name if often[name] < 2 else f"{name} ({folder if last[folder] == 1 else runs[path].path})"
            for name in known[path]
        }
        for path, folder in folders.items()
    }


def _dimensions(about: Mapping[str, Any]) -> tuple[tuple[str, Scale, EvaluatorKind], ...]:
    """Return what an evaluator scores: the name of each dimension, its scale, and who scores."""
    kept = about.get("dimensions")
    if kept is None:
        return ((SATISFACTION, ONE_TO_FIVE, "user"),)
    by: EvaluatorKind = about.get("by", "rubric")
    keys = ("low", "high", "integer", "higher_is_better")
    return tuple((one["name"], Scale(**{key: one[key] for key in keys}), by) for one in kept)


def _again(path: str, about: Mapping[str, Any]) -> str:
    how = f"--judge {about['asked_for']}" if about.get("rubric") is None else f"--rubric {about['rubric']}"
    return f"dialogauge replay score {path} {how}"


def _expect_same(path: str, run: AnswerRun, items: ItemSet, evaluator: str, about: Mapping[str, Any]) -> None:
    """Raise UsageError where a further run is of other items, or was scored by somebody else."""
    if run.items_digest != items.digest:
        msg = f"the run {path} is of another item set"
        raise UsageError(msg, hint="candidates are compared on the same items only")
    known = run.evaluators
    if evaluator not in known:
        names = ", ".join(sorted({str(e["name"]) for e in known.values()})) or "nobody"
        msg = (
            f"the run {path} was not scored by the evaluator of the first run, {about['name']} with its "
            f"settings, but by {names}"
        )
        raise UsageError(msg, hint=_again(path, about))


def _evaluator(path: str, run: AnswerRun, judge: str | None) -> tuple[str, dict[str, Any]]:
    known = run.evaluators
    fitting = [
        d
        for d, about in known.items()
        if judge in (None, d, about["name"], about["asked_for"], about.get("rubric"))
    ]
    if not fitting:
        by = f" by {judge}" if judge else ""
        msg = f"the run {path} has not been scored{by}"
        hint = f"dialogauge replay score {path} --rubric RUBRIC, or --judge {judge or 'NAME'}"
        raise UsageError(msg, hint=hint)
    return fitting[-1], known[fitting[-1]]


@dataclass(slots=True)
class _AnswerRows:
    """Reads answers with their scores as rows, and takes what a table of rows has no place for."""

    items: Mapping[str, ReplayItem]
    evaluator: str
    pairs: bool
    """Whether each answer was held against the original one."""
    candidates: dict[str, dict[str, Any]] = field(default_factory=dict)
    planted: dict[str, dict[str, Any]] = field(default_factory=dict)
    cut_short: dict[str, frozenset[str]] = field(default_factory=dict)
    lengths: list[float] = field(default_factory=list)
    """Of every row; NaN where the evaluator was not asked."""
    originals: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    """By turn the row of the original reply, its position, and its block."""
    targets: dict[tuple[str, str], tuple[AnswerRun, bytes]] = field(default_factory=dict)
    """By item and candidate where the answer is kept."""
    votes: list[Row] = field(default_factory=list)

    def rows(self, run: AnswerRun, called: Mapping[str, str], *, first: bool) -> Iterator[Row]:
        """Yield what a run holds of its candidates; of the first also the log's replies and planted ones."""
        about = run.candidates
        parts: tuple[Part, ...] = ("answers", "planted") if first else ("answers",)
        for part in parts:
            of_part = {n: of for n, of in about.items() if (of["kind"] == PLANTED) == (part == "planted")}
            names = {name: called[name] for name in of_part}
            names |= {ORIGINAL: ORIGINAL} if first and part == "answers" else {}
            answers = {a.target: a for a in run.answers(planted=part == "planted") if a.candidate in names}
            for name, of in of_part.items():
                into = self.planted if part == "planted" else self.candidates
                into[names[name]] = {**of, "called": of.get("candidate", name)}
                cut = (a.item for a in answers.values() if a.candidate == name and a.finish in _CUT)
                if of["kind"] not in ("file", PLANTED):
                    self.cut_short[names[name]] = frozenset(cut)
            left = dict(answers)
            for unit in run.database.units(part_digest(self.evaluator, part)):
                answer = answers.get(unit.target)
                if answer is not None and answer.failure is None:
                    left.pop(unit.target, None)
                    yield self._scored(names[answer.candidate], answer.item, answer.length, unit.rows[0])
            for answer in answers.values():
                if answer.failure is None:
                    self.targets[answer.item, names[answer.candidate]] = run, answer.target
            yield from (self._left(names[answer.candidate], answer) for answer in left.values())
        for unit in run.database.units(part_digest(self.evaluator, "reference")) if first else ():
            length = reply_length(run.text(unit.target))
            yield self._scored(ORIGINAL, unit.rows[0]["conversation_id"], length, unit.rows[0])

    def _scored(self, name: str, turn: str, length: float, row: Row) -> Row:
        """Return the row of an answer that the evaluator was asked about."""
        item, failure = self.items.get(turn), row["failure"]
        if name == ORIGINAL:
            position = int(turn.rpartition("_")[2]) if item is None else item.position
            block = block_id(row["user_id"], row["scenario"]) if item is None else item.block
            self.originals[turn] = len(self.lengths), position, block
        elif self.pairs and item is not None and name in self.candidates:
            orders = row["details"]["orders"]
            self.votes.append({"conversation_id": item.conversation, "orders": orders})
        self.lengths.append(length)
        why = failure and {"kind": f"score: {failure['kind']}", "message": ""}
        return {**row, "conversation_id": turn, "candidate": name, "failure": why, "details": None}

    def _left(self, name: str, answer: StoredAnswer) -> Row:
        """Return the row of an answer that failed, or that nobody has scored."""
        beside = self.pairs and name == ORIGINAL
        if beside:
            item = self.items[answer.item]
            self.originals[answer.item] = len(self.lengths), item.position, item.block
        self.lengths.append(answer.length if beside else np.nan)
        kind = f"reply: {answer.failure}" if answer.failure else _PENDING
        about = {
            "conversation_id": answer.item,
            "candidate": name,
            "level": "turn",
            "turn": None,
            "repeat": 1,
        }
        nothing = dict.fromkeys(("scores", "whole", "verdict", "weakest_turn"))
        return {**about, **nothing, "failure": {"kind": kind, "message": ""}}

    def boards(
        self,
        table: Table,
        items: tuple[ReplayItem, ...],
        dimensions: Sequence[tuple[str, Scale, EvaluatorKind]],
        unit: str,
    ) -> dict[str, Board]:
        """Return the board of each dimension: the table's columns, candidates by items."""
        names = (ORIGINAL, *self.candidates, *self.planted)
        numbers = {name: n for n, name in enumerate(names)}
        places = {item.id: place for place, item in enumerate(items)}
        row_of = np.full((len(names), len(items)), -1)
        whose = table.column("candidate").list(), table.column("conversation_id").list()
        for row, (name, turn) in enumerate(zip(*whose, strict=True)):
            if turn in places:
                row_of[numbers[str(name)], places[turn]] = row

        def grid(column: Floats) -> Floats:
            return np.where(row_of < 0, np.nan, column[row_of]) if table.n else np.full(row_of.shape, np.nan)

        lengths, failures = np.array(self.lengths), [*table.column("failure").list(), None]
        boards = {}
        for dimension, scale, by in dimensions:
            whole = table.whole(dimension)
            # What differs in the last digits of a sum is the same score, and must have the same rank.
            value = np.array([round(score, 9) for score in table.value(dimension).tolist()])
            skipped = grid(table.not_applicable(dimension).astype(np.float64)) == 1
            board = Board(
                items=items,
                names=names,
                whole=grid(whole),
                value=grid(value),
                skipped=skipped if skipped.any() else None,
                lengths=grid(lengths),
                on=Ground(scale, unit),
                by=by,
                reference=self._reference(whole, value),
                planted=tuple(self.planted),
                about={**self.candidates, **self.planted},
                cut_short=self.cut_short,
            )
            if self.pairs:  # neither better nor worse than themselves
                board.whole[0] = board.value[0] = 0.5
            missing: dict[str, dict[str, str]] = {name: {} for name in names}
            for n, i in np.argwhere(np.isnan(board.whole) & ~skipped).tolist():
                row = row_of[n, i]
                why = failures[row] or ("score: judge_error" if row >= 0 else None)
                missing[names[n]][items[i].id] = why or ("reply: pending" if n else _PENDING)
            boards[dimension] = replace(board, missing=missing)
        return boards

    def _reference(self, whole: Floats, value: Floats) -> OriginalReplies:
        """Return the original replies with their scores, in the order of their ids."""
        lengths = {turn: self.lengths[row] for turn, (row, _, _) in self.originals.items()}
        if self.pairs:
            even = (RawScore(item.id, 0.5, item.position, item.block) for item in self.items.values())
            return OriginalReplies(tuple(even), lengths)
        scores = (
            RawScore(turn, float(value[row]), position, block)
            for turn, (row, position, block) in sorted(self.originals.items())
            if not np.isnan(whole[row])
        )
        return OriginalReplies(tuple(scores), lengths)

    def shown(self, boards: Sequence[Board]) -> dict[str, ShownItem]:
        """Return what was said to the items on which candidates' scores lie furthest from the original's."""
        first, quality = boards[0], np.zeros((len(boards), *boards[0].value.shape))
        for n, board in enumerate(boards):
            worst, best = board.on.scale.worst, board.on.scale.best
            quality[n] = (board.value - worst) / ((best - worst) or 1.0)
        known = (~np.isnan(quality)).sum(axis=0)
        mean = np.where(known, np.nansum(quality, axis=0) / np.maximum(known, 1), np.nan)
        rows = [first.at(name) for name in first.candidates]
        apart = np.nan_to_num(np.abs(mean[rows] - mean[first.at(ORIGINAL)])).max(axis=0, initial=0.0)
        shown = {}
        for place in np.argsort(-apart, kind="stable")[:SHOWN].tolist():
            item = first.items[place].id
            kept = {name: self.targets[item, name] for name in first.names if (item, name) in self.targets}
            if ORIGINAL in kept:
                run, target = kept[ORIGINAL]
                before = run.conversation(target).messages[:-1]
                request = next((m.text for m in reversed(before) if m.role == "user"), "")
                replies = {name: run.text(target) for name, (run, target) in kept.items()}
                shown[item] = ShownItem(item, request, replies)
        return shown
