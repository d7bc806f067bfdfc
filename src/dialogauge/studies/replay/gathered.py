"""What a comparison is made of: what the files of replay runs hold of candidates and their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dialogauge.core import NOT_APPLICABLE, ONE_TO_FIVE, Scale, UsageError
from dialogauge.runs import Row
from dialogauge.studies.arena.meetings import SCORE
from dialogauge.studies.replay.ground import Ground
from dialogauge.studies.replay.items import ORIGINAL, ItemSet, ReplayItem
from dialogauge.studies.replay.planted import PLANTED
from dialogauge.studies.replay.stored import ReplayRun, StoredReplies, open_replay
from dialogauge.studies.replay.table import (
    VIEWS,
    EvaluatorKind,
    EvaluatorScores,
    ReplyScore,
    ScoredReplies,
    ShownItem,
)
from dialogauge.studies.satisfaction.answers import SATISFACTION

_PENDING: Final = "score: pending"


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the runs of a comparison hold: all that it is made of, without the data."""

    items: ItemSet
    evaluator: str
    about: dict[str, Any]
    """What the evaluator is."""
    scores: dict[str, EvaluatorScores]
    """By dimension, of the items that were in the data of every run when it was scored."""
    usage: Counter[str] = field(default_factory=Counter)
    votes: list[Row] = field(default_factory=list)
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
        present, histories = _present(items.items, run), run.histories(evaluator)
        into = Gathered(items, evaluator, about, {})
        for name, scale, by in dimensions_of(about):
            original = ScoredReplies(missing={i.id: _PENDING for i in items.items})
            into.scores[name] = scores = EvaluatorScores(
                present,
                original,
                {},
                histories,
                on=Ground(scale, items.clusters),
                views=VIEWS if by == "user" else ("raw",),
                by=by,
            )
            if by == "pair":
                _stand_even(original, items)
            for one in run.shown(evaluator):
                scores.shown[one["item"]] = ShownItem(one["item"], one["request"], one["original"])
        _take(into, run, shown, originals=True)
    for scores in into.scores.values():
        scores.original.scores = dict(sorted(scores.original.scores.items()))
    if not any(scores.original.scores for scores in into.scores.values()):
        msg = f"the run {path} has no scores of the original replies by {about['name']}"
        raise UsageError(msg, hint=_again(path, about))
    return into


def dimensions_of(about: Mapping[str, Any]) -> tuple[tuple[str, Scale, EvaluatorKind], ...]:
    """Return what an evaluator scores: the name of each dimension, its scale, and who scores."""
    kept = about.get("dimensions")
    if kept is None:
        return ((SATISFACTION, ONE_TO_FIVE, "user"),)
    by: EvaluatorKind = about.get("by", "rubric")
    keys = ("low", "high", "integer", "higher_is_better")
    return tuple((one["name"], Scale(**{key: one[key] for key in keys}), by) for one in kept)


def _stand_even(original: ScoredReplies, items: ItemSet) -> None:
    """Give the original replies what a reply gets that is neither better nor worse than they are."""
    original.missing.clear()
    original.scores |= {i.id: ReplyScore(i.id, i.block, i.position, 0.5, 0.5) for i in items.items}


def _again(path: str, about: Mapping[str, Any]) -> str:
    how = f"--judge {about['asked_for']}" if about.get("rubric") is None else f"--rubric {about['rubric']}"
    return f"dialogauge replay score {path} {how}"


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
            raise UsageError(msg, hint=_again(path, into.about))
        for scores in into.scores.values():
            scores.items = _present(scores.items, run)
        _take(into, run, shown, originals=False)


def _present(items: Sequence[ReplayItem], run: ReplayRun) -> tuple[ReplayItem, ...]:
    present = run.present
    return tuple(i for i in items if i.id in present)


def _evaluator(path: str, run: ReplayRun, judge: str | None) -> tuple[str, dict[str, Any]]:
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


def _take(into: Gathered, run: ReplayRun, shown: Callable[[ReplayRun, str], str], *, originals: bool) -> None:
    """Take what a run holds of its candidates, and of the original replies where that is wanted."""
    wanted = {i.id: i for i in into.items.items}
    whose: dict[bytes, str] = {}
    for name, about in run.candidates.items():
        if about["kind"] != PLANTED or originals:  # those of the first run stand for all
            stored, called = run.replies(name), shown(run, name)
            whose |= {key: called for item, key in stored.keys.items() if item not in stored.failures}
            for scores in into.scores.values():
                to = scores.planted if about["kind"] == PLANTED else scores.candidates
                to[called] = _replies_of(stored, wanted, about, name)
                _show(scores.shown, run, stored, called)
    for key, row in run.scores(into.evaluator):
        item = wanted.get(row["item"])
        if row.get("candidate") is None:
            if originals:
                _take_row(into, ORIGINAL, item, row)
        elif key in whose and item is not None:
            _take_row(into, whose[key], item, row)


def _take_row(into: Gathered, name: str, item: ReplayItem | None, row: Row) -> None:
    """Take what the evaluator gave one reply, on every dimension."""
    if usage := row.get("usage"):
        for key in ("calls", "cached", "prompt_tokens", "completion_tokens"):
            into.usage[key] += int(usage[key])
    for dimension, scores in into.scores.items():
        replies = {ORIGINAL: scores.original, **scores.candidates, **scores.planted}[name]
        _take_score(replies, dimension, item, row)
        if scores.by == "pair" and item is not None:
            scores.original.lengths[item.id] = row["original_length"]
            if name in scores.candidates:
                into.votes.append(row)


def _replies_of(
    stored: StoredReplies, wanted: Collection[str], about: dict[str, Any], name: str
) -> ScoredReplies:
    missing = {i: _PENDING if i in stored.keys else "reply: pending" for i in wanted}
    missing |= {item: f"reply: {kind}" for item, kind in stored.failures.items()}
    cut_short = None if about["kind"] in ("file", PLANTED) else stored.cut_short
    about = {**about, "called": about.get("candidate", name)}
    return ScoredReplies(missing=missing, cut_short=cut_short, about=about)


def _show(shown: Mapping[str, ShownItem], run: ReplayRun, stored: StoredReplies, called: str) -> None:
    for item, one in shown.items():
        if (key := stored.reply(item)) is not None:
            one.replies[called] = run.text(key)


def _take_score(replies: ScoredReplies, name: str, item: ReplayItem | None, row: Row) -> None:
    # The ids of the set stand for those of every candidate's scores: one text instead of many equal ones.
    turn = row["item"] if item is None else item.id
    replies.lengths[turn] = row["length"]
    if "failure" in row:
        if item is not None:
            replies.missing[turn] = f"score: {row['failure']['kind']}"
        return
    scored = _score_of(turn, name, item, row)
    if isinstance(scored, ReplyScore):
        replies.scores[turn] = scored
        replies.missing.pop(turn, None)
    elif scored == NOT_APPLICABLE:
        replies.skipped.add(turn)
        replies.missing.pop(turn, None)
    else:
        replies.missing[turn] = "score: judge_error"


def _score_of(turn: str, name: str, item: ReplayItem | None, row: Row) -> ReplyScore | str | None:
    """Return the score of a row on a dimension; n/a, or None where the judge left the dimension out."""
    if "value" in row:
        block = row["block"] if item is None else item.block
        # What differs in the last digits of a sum is the same score, and must have the same rank.
        return ReplyScore(turn, block, row["position"], row["score"], round(row["value"], 9))
    if item is None:
        return None
    number = SCORE[row["winner"]] if "winner" in row else row["scores"].get(name)
    if not isinstance(number, int | float):
        return None if number is None else str(number)
    value = row.get("values", {}).get(name, number)
    return ReplyScore(turn, item.block, item.position, number, round(float(value), 9))
