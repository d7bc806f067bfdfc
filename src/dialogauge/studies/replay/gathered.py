"""What a comparison is made of: what the files of replay runs hold of candidates and their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dialogauge.core import UsageError
from dialogauge.runs import Row
from dialogauge.stats import ScoreHistory
from dialogauge.studies.replay.comparison import EvaluatorScores
from dialogauge.studies.replay.items import ORIGINAL, ItemSet, ReplayItem
from dialogauge.studies.replay.stored import ReplayRun, open_replay
from dialogauge.studies.replay.table import ReplyScore

_PENDING: Final = "score: pending"


@dataclass
class Gathered:
    """What the runs of a comparison hold: all that it is made of, without the data."""

    items: ItemSet
    evaluator: str
    about: dict[str, Any]
    """What the evaluator is."""
    present: set[str]
    """Items that were in the data of every run when it was scored."""
    histories: dict[str, ScoreHistory]
    missing: dict[str, dict[str, str]]
    """Why an item has no score, by candidate (the original replies are one) and item."""
    reference: list[ReplyScore] = field(default_factory=list)
    reference_lengths: dict[str, int] = field(default_factory=dict)
    candidates: dict[str, dict[str, ReplyScore]] = field(default_factory=dict)
    lengths: dict[str, dict[str, int]] = field(default_factory=dict)
    described: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What each candidate is."""
    cut_short: dict[str, frozenset[str]] = field(default_factory=dict)
    """Items whose reply ended early, of the candidates of which this is known."""
    usage: Counter[str] = field(default_factory=Counter)

    def scores(self) -> EvaluatorScores:
        """Return what the evaluator gave to the items that are in the data."""
        return EvaluatorScores(
            items=tuple(i for i in self.items.items if i.id in self.present),
            reference=self.reference,
            reference_lengths=self.reference_lengths,
            candidates=self.candidates,
            lengths=self.lengths,
            histories=self.histories,
            cut_short={name: len(cut & self.present) for name, cut in self.cut_short.items()},
        )

    def failures(self) -> dict[str, dict[str, int]]:
        """Count why items that are in the data have no score, by candidate and kind."""
        kinds = {
            n: Counter(k for i, k in why.items() if i in self.present) for n, why in self.missing.items()
        }
        return {name: dict(counts.most_common()) for name, counts in kinds.items()}


def gather(paths: Sequence[str], judge: str | None = None) -> Gathered:
    """Read the runs of a comparison.

    Args:
        paths: Run directories of one item set.
        judge: Of several evaluators of the first run, whose scores are taken; the latest's when None.

    Raises:
        UsageError: A run has no scores by the evaluator, the runs are of different items or evaluators, or
            two of their candidates have one name.
    """
    gathered = _read_first(paths[0], judge)
    for path in paths[1:]:
        _add(gathered, path)
    return gathered


def _read_first(path: str, judge: str | None) -> Gathered:
    with open_replay(path) as run:
        evaluator, about = _evaluator(path, run, judge)
        items = run.item_set()
        missing = {ORIGINAL: {i.id: _PENDING for i in items.items}}
        into = Gathered(items, evaluator, about, run.present, run.histories(evaluator), missing)
        _take(into, run, originals=True)
    into.reference.sort(key=lambda score: score.id)
    if not into.reference:
        msg = f"the run {path} has no scores of the original replies by {about['name']}"
        raise UsageError(msg, hint=f"dialogauge replay score {path} --judge {about['asked_for']}")
    return into


def _add(into: Gathered, path: str) -> None:
    with open_replay(path) as run:
        if run.items_digest != into.items.digest:
            msg = f"the run {path} is of another item set"
            raise UsageError(msg, hint="candidates are compared on the same items only")
        known = run.evaluators
        if into.evaluator not in known:
            names = ", ".join(sorted({str(e["name"]) for e in known.values()})) or "nobody"
            msg = (
                f"the run {path} was not scored by the evaluator of the first run, {into.about['name']} with "
                f"its settings, but by {names}"
            )
            hint = f"dialogauge replay score {path} --judge {into.about['asked_for']}"
            raise UsageError(msg, hint=hint)
        twice = sorted(set(run.candidates) & set(into.described))
        if twice:
            msg = f"two runs have a candidate called {twice[0]!r}"
            raise UsageError(msg, hint="collect one of them under another name: --candidate NAME=...")
        into.present &= run.present
        _take(into, run, originals=False)


def _evaluator(path: str, run: ReplayRun, judge: str | None) -> tuple[str, dict[str, Any]]:
    known = run.evaluators
    fitting = [d for d, about in known.items() if judge in (None, about["name"], about["asked_for"])]
    if not fitting:
        by = f" by {judge}" if judge else ""
        msg = f"the run {path} has not been scored{by}"
        raise UsageError(msg, hint=f"dialogauge replay score {path} --judge {judge or 'NAME'}")
    return fitting[-1], known[fitting[-1]]


def _take(into: Gathered, run: ReplayRun, *, originals: bool) -> None:
    """Take what a run holds of its candidates, and of the original replies where that is wanted."""
    # The ids of the set stand for those of every candidate's scores: one text instead of many equal ones.
    wanted = {i.id: i for i in into.items.items}
    whose: dict[bytes, str] = {}
    for name, about in run.candidates.items():
        stored = run.replies(name)
        into.described[name] = about
        into.candidates[name], into.lengths[name] = {}, {}
        into.missing[name] = {i: _PENDING if i in stored.keys else "reply: pending" for i in wanted}
        into.missing[name] |= {item: f"reply: {kind}" for item, kind in stored.failures.items()}
        if about["kind"] != "file":
            into.cut_short[name] = stored.cut_short
        whose |= {key: name for item, key in stored.keys.items() if item not in stored.failures}
    for key, row in run.scores(into.evaluator):
        if row.get("candidate") is None:
            if originals:
                _take_original(into, row)
        elif key in whose and row["item"] in wanted:
            _take_score(into, whose[key], wanted[row["item"]], row)


def _take_original(into: Gathered, row: Row) -> None:
    _count_usage(into, row)
    item, missing = row["item"], into.missing[ORIGINAL]
    into.reference_lengths[item] = row["length"]
    if "failure" not in row:
        into.reference.append(_score(row))
        missing.pop(item, None)
    elif item in missing:
        missing[item] = f"score: {row['failure']['kind']}"


def _take_score(into: Gathered, name: str, item: ReplayItem, row: Row) -> None:
    _count_usage(into, row)
    into.lengths[name][item.id] = row["length"]
    if "failure" in row:
        into.missing[name][item.id] = f"score: {row['failure']['kind']}"
    else:
        into.candidates[name][item.id] = replace(_score(row), id=item.id, block=item.block)
        del into.missing[name][item.id]


def _score(row: Row) -> ReplyScore:
    # What differs in the last digits of a sum is the same score, and must have the same rank.
    return ReplyScore(row["item"], row["block"], row["position"], row["score"], round(row["value"], 9))


def _count_usage(into: Gathered, row: Row) -> None:
    if usage := row.get("usage"):
        for key in ("calls", "cached", "prompt_tokens", "completion_tokens"):
            into.usage[key] += int(usage[key])
