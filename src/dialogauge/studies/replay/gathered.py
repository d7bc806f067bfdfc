"""What a comparison is made of: what the files of replay runs hold of candidates and their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dialogauge.core import UsageError
from dialogauge.runs import Row
from dialogauge.studies.replay.items import ItemSet, ReplayItem
from dialogauge.studies.replay.planted import PLANTED
from dialogauge.studies.replay.stored import ReplayRun, StoredReplies, open_replay
from dialogauge.studies.replay.table import EvaluatorScores, ReplyScore, ScoredReplies, ShownItem

_PENDING: Final = "score: pending"


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the runs of a comparison hold: all that it is made of, without the data."""

    items: ItemSet
    evaluator: str
    about: dict[str, Any]
    """What the evaluator is."""
    scores: EvaluatorScores
    """Of the items that were in the data of every run when it was scored."""
    usage: Counter[str] = field(default_factory=Counter)


def gather(paths: Sequence[str], judge: str | None = None) -> Gathered:
    """Read the runs of a comparison.

    Args:
        paths: Run directories of one item set.
        judge: Of several evaluators of the first run, whose scores are taken; the latest's when None.

    Raises:
        UsageError: A run has no scores by the evaluator, a run is named twice, or the runs are of different
            items or evaluators.
    """
    often = Counter(Path(path).resolve() for path in paths)
    if twice := [path for path in paths if often[Path(path).resolve()] > 1]:
        msg = f"the run {twice[0]} is named twice"
        raise UsageError(msg, hint="name each run once")
    shown = _shown_names(paths)
    gathered = _read_first(paths[0], judge, shown)
    for path in paths[1:]:
        _add(gathered, path, shown)
    return gathered


def _shown_names(paths: Sequence[str]) -> Callable[[ReplayRun, str], str]:
    """Return what shows a run's candidate: its name, with that of the run where several runs have it."""
    often: Counter[str] = Counter()
    for path in paths:
        with open_replay(path) as run:
            often.update(name for name, about in run.candidates.items() if about["kind"] != PLANTED)
    last = Counter(Path(path).resolve().name for path in paths)

    def shown(run: ReplayRun, name: str) -> str:
        folder = run.path.resolve().name
        return name if often[name] < 2 else f"{name} ({folder if last[folder] == 1 else run.path})"

    return shown


def _read_first(path: str, judge: str | None, shown: Callable[[ReplayRun, str], str]) -> Gathered:
    with open_replay(path) as run:
        evaluator, about = _evaluator(path, run, judge)
        items = run.item_set()
        original = ScoredReplies(missing={i.id: _PENDING for i in items.items})
        scores = EvaluatorScores(_present(items.items, run), original, {}, run.histories(evaluator))
        for one in run.shown:
            scores.shown[one["item"]] = ShownItem(one["request"], one["original"])
        into = Gathered(items, evaluator, about, scores)
        _take(into, run, shown, originals=True)
    original.scores = dict(sorted(original.scores.items()))
    if not original.scores:
        msg = f"the run {path} has no scores of the original replies by {about['name']}"
        raise UsageError(msg, hint=f"dialogauge replay score {path} --judge {about['asked_for']}")
    return into


def _add(into: Gathered, path: str, shown: Callable[[ReplayRun, str], str]) -> None:
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
        into.scores.items = _present(into.scores.items, run)
        _take(into, run, shown, originals=False)


def _present(items: Sequence[ReplayItem], run: ReplayRun) -> tuple[ReplayItem, ...]:
    present = run.present
    return tuple(i for i in items if i.id in present)


def _evaluator(path: str, run: ReplayRun, judge: str | None) -> tuple[str, dict[str, Any]]:
    known = run.evaluators
    fitting = [d for d, about in known.items() if judge in (None, about["name"], about["asked_for"])]
    if not fitting:
        by = f" by {judge}" if judge else ""
        msg = f"the run {path} has not been scored{by}"
        raise UsageError(msg, hint=f"dialogauge replay score {path} --judge {judge or 'NAME'}")
    return fitting[-1], known[fitting[-1]]


def _take(into: Gathered, run: ReplayRun, shown: Callable[[ReplayRun, str], str], *, originals: bool) -> None:
    """Take what a run holds of its candidates, and of the original replies where that is wanted."""
    wanted = {i.id: i for i in into.items.items}
    whose: dict[bytes, ScoredReplies] = {}
    for name, about in run.candidates.items():
        if about["kind"] == PLANTED and not originals:
            continue  # those of the first run stand for all
        stored = run.replies(name)
        replies = _replies_of(stored, wanted, about, name)
        called = shown(run, name)
        if about["kind"] == PLANTED:
            into.scores.planted[called] = replies
        else:
            into.scores.candidates[called] = replies
        _show(into.scores.shown, run, stored, called)
        whose |= {key: replies for item, key in stored.keys.items() if item not in stored.failures}
    for key, row in run.scores(into.evaluator):
        item = wanted.get(row["item"])
        if row.get("candidate") is None:
            if originals:
                _take_score(into, into.scores.original, item, row)
        elif key in whose and item is not None:
            _take_score(into, whose[key], item, row)


def _replies_of(
    stored: StoredReplies, wanted: Collection[str], about: dict[str, Any], name: str
) -> ScoredReplies:
    missing = {i: _PENDING if i in stored.keys else "reply: pending" for i in wanted}
    missing |= {item: f"reply: {kind}" for item, kind in stored.failures.items()}
    cut_short = None if about["kind"] in ("file", PLANTED) else stored.cut_short
    return ScoredReplies(missing=missing, cut_short=cut_short, about={**about, "called": name})


def _show(shown: Mapping[str, ShownItem], run: ReplayRun, stored: StoredReplies, called: str) -> None:
    for item, one in shown.items():
        if (key := stored.reply(item)) is not None:
            one.replies[called] = run.text(key)


def _take_score(into: Gathered, replies: ScoredReplies, item: ReplayItem | None, row: Row) -> None:
    _count_usage(into, row)
    # The ids of the set stand for those of every candidate's scores: one text instead of many equal ones.
    turn, block = (row["item"], row["block"]) if item is None else (item.id, item.block)
    replies.lengths[turn] = row["length"]
    if "failure" not in row:
        # What differs in the last digits of a sum is the same score, and must have the same rank.
        value = round(row["value"], 9)
        replies.scores[turn] = ReplyScore(turn, block, row["position"], row["score"], value)
        replies.missing.pop(turn, None)
    elif item is not None:
        replies.missing[turn] = f"score: {row['failure']['kind']}"


def _count_usage(into: Gathered, row: Row) -> None:
    if usage := row.get("usage"):
        for key in ("calls", "cached", "prompt_tokens", "completion_tokens"):
            into.usage[key] += int(usage[key])
