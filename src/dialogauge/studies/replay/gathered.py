"""What a comparison is made of: what runs of answers hold of candidates and their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dialogauge.core import NOT_APPLICABLE, ONE_TO_FIVE, Scale, UsageError
from dialogauge.core.protocols import block_id
from dialogauge.runs import Row
from dialogauge.runs.records import own_scores
from dialogauge.stats import reply_length
from dialogauge.studies.replay.answers import AnswerRun, StoredAnswer, open_answers
from dialogauge.studies.replay.ground import Ground
from dialogauge.studies.replay.items import ORIGINAL, ItemSet, ReplayItem
from dialogauge.studies.replay.planted import PLANTED
from dialogauge.studies.replay.scored import ReplyScore, ScoredReplies
from dialogauge.studies.replay.scoring import Part, part_digest
from dialogauge.studies.replay.table import VIEWS, EvaluatorKind, EvaluatorScores, ShownItem
from dialogauge.studies.satisfaction.answers import SATISFACTION

_PENDING: Final = "score: pending"
SHOWN: Final = 20
"""Items whose replies the page shows side by side."""
Named = Callable[[AnswerRun, str], str]
"""What shows a run's candidate."""


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
    targets: dict[str, dict[tuple[str, str], bytes]] = field(default_factory=dict)
    """By run, the digest of every answer by item and candidate."""


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
    named = _names(paths)
    gathered = _read_first(paths[0], judge, named)
    for path in paths[1:]:
        _add(gathered, path, named)
    _show(gathered)
    return gathered


def _names(paths: Sequence[str]) -> Named:
    """Return what shows a run's candidate: its name, with that of the run where several runs have it."""
    often: Counter[str] = Counter()
    for path in paths:
        with open_answers(path) as run:
            often.update(name for name, about in run.candidates.items() if about["kind"] != PLANTED)
    last = Counter(Path(path).resolve().name for path in paths)

    def shown(run: AnswerRun, name: str) -> str:
        folder = run.path.resolve().name
        return name if often[name] < 2 else f"{name} ({folder if last[folder] == 1 else run.path})"

    return shown


def _read_first(path: str, judge: str | None, named: Named) -> Gathered:
    with open_answers(path) as run:
        evaluator, about = _evaluator(path, run, judge)
        items = run.item_set()
        into = Gathered(items, evaluator, about, {})
        for name, scale, by in dimensions_of(about):
            into.scores[name] = scores = EvaluatorScores(
                _present(items.items, run),
                ScoredReplies(missing={i.id: _PENDING for i in items.items}),
                {},
                run.histories(evaluator),
                on=Ground(scale, items.clusters),
                views=VIEWS if by == "user" else ("raw",),
                by=by,
            )
            if by == "pair":  # neither better nor worse than themselves
                even = {i.id: ReplyScore(i.id, i.block, i.position, 0.5, 0.5) for i in items.items}
                scores.original = ScoredReplies(scores=even)
        _take(into, run, named, first=True)
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


def _again(path: str, about: Mapping[str, Any]) -> str:
    how = f"--judge {about['asked_for']}" if about.get("rubric") is None else f"--rubric {about['rubric']}"
    return f"dialogauge replay score {path} {how}"


def _add(into: Gathered, path: str, named: Named) -> None:
    with open_answers(path) as run:
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
        _take(into, run, named, first=False)


def _present(items: Sequence[ReplayItem], run: AnswerRun) -> tuple[ReplayItem, ...]:
    present = run.present
    return tuple(i for i in items if i.id in present)


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


def _take(into: Gathered, run: AnswerRun, named: Named, *, first: bool) -> None:
    """Take what a run holds of its candidates; of the first also the log's replies and planted ones."""
    wanted, about = {i.id: i for i in into.items.items}, run.candidates
    targets = into.targets.setdefault(str(run.path), {})
    parts: tuple[Part, ...] = ("answers", "planted") if first else ("answers",)
    for part in parts:
        names = {
            n: named(run, n) for n, of in about.items() if (of["kind"] == PLANTED) == (part == "planted")
        }
        names |= {ORIGINAL: ORIGINAL} if first and part == "answers" else {}
        answers = {a.target: a for a in run.answers(planted=part == "planted") if a.candidate in names}
        of_candidate: dict[str, list[StoredAnswer]] = {name: [] for name in names}
        for answer in answers.values():
            of_candidate[answer.candidate].append(answer)
            if answer.failure is None:
                targets[answer.item, names[answer.candidate]] = answer.target
        for scores in into.scores.values():
            if scores.by == "pair":
                scores.original.lengths |= {a.item: a.length for a in of_candidate.get(ORIGINAL, ())}
        for name, called in names.items():
            for scores in into.scores.values() if name != ORIGINAL else ():
                to = scores.planted if part == "planted" else scores.candidates
                to[called] = _replies_of(of_candidate[name], wanted, about[name], name)
        for unit in run.database.units(part_digest(into.evaluator, part)):
            if (stored := answers.get(unit.target)) is not None and stored.failure is None:
                of = wanted.get(stored.item)
                _take_row(into, names[stored.candidate], of, stored.item, stored.length, unit.rows[0])
    for unit in run.database.units(part_digest(into.evaluator, "reference")) if first else ():
        length = reply_length(run.text(unit.target))
        _take_row(into, ORIGINAL, None, unit.rows[0]["conversation_id"], length, unit.rows[0])


def _take_row(into: Gathered, name: str, item: ReplayItem | None, turn: str, length: int, row: Row) -> None:
    """Take what the evaluator gave one reply, on every dimension."""
    usage = row["usage"]
    for key in ("calls", "cached", "prompt_tokens", "completion_tokens") if any(usage.values()) else ():
        into.usage[key] += int(usage[key])
    for dimension, scores in into.scores.items():
        replies = {ORIGINAL: scores.original, **scores.candidates, **scores.planted}[name]
        _take_score(replies, dimension, item, turn, length, row)
        if scores.by == "pair" and item is not None and name in scores.candidates:
            into.votes.append({"conversation_id": item.conversation, "orders": row["details"]["orders"]})


def _replies_of(
    answers: Sequence[StoredAnswer], wanted: Collection[str], about: dict[str, Any], name: str
) -> ScoredReplies:
    missing = dict.fromkeys(wanted, "reply: pending")
    missing |= {a.item: f"reply: {a.failure}" if a.failure else _PENDING for a in answers}
    cut = frozenset(a.item for a in answers if a.finish in ("length", "filter"))
    cut_short = None if about["kind"] in ("file", PLANTED) else cut
    return ScoredReplies(
        missing=missing, cut_short=cut_short, about={**about, "called": about.get("candidate", name)}
    )


def _take_score(
    replies: ScoredReplies, name: str, item: ReplayItem | None, turn: str, length: int, row: Row
) -> None:
    replies.lengths[turn] = length
    if row["failure"] is not None:
        if item is not None:
            replies.missing[turn] = f"score: {row['failure']['kind']}"
        return
    number = own_scores(row).get(name)
    if isinstance(number, int | float):
        block = block_id(row["user_id"], row["scenario"]) if item is None else item.block
        position = int(turn.rpartition("_")[2]) if item is None else item.position
        # What differs in the last digits of a sum is the same score, and must have the same rank.
        value = round(float(row["scores"][name]), 9)
        replies.scores[turn] = ReplyScore(turn, block, position, number, value)
        replies.missing.pop(turn, None)
    elif number == NOT_APPLICABLE:
        replies.skipped.add(turn)
        replies.missing.pop(turn, None)
    else:
        replies.missing[turn] = "score: judge_error"


def _show(into: Gathered) -> None:
    """Add what was said to the items on which candidates' scores lie furthest from the original's."""
    every = list(into.scores.values())
    first = every[0]

    def quality(item: str, name: str) -> float | None:
        known = [(s.on.scale, {ORIGINAL: s.original, **s.candidates}[name].scores.get(item)) for s in every]
        values = [scale.quality(score.value) for scale, score in known if score is not None]
        return sum(values) / len(values) if values else None

    def apart(item: ReplayItem) -> float:
        original = quality(item.id, ORIGINAL)
        values = (quality(item.id, name) for name in first.candidates) if original is not None else ()
        return max((abs(value - (original or 0.0)) for value in values if value is not None), default=0.0)

    chosen = sorted(first.items, key=apart, reverse=True)[:SHOWN]
    names = [ORIGINAL, *first.candidates, *first.planted]
    for path, targets in into.targets.items():
        with open_answers(path) as run:
            for item in chosen:
                if (own := targets.get((item.id, ORIGINAL))) is not None:
                    talk = run.conversation(own)
                    asked = next((m.text for m in reversed(talk.messages[:-1]) if m.role == "user"), "")
                    first.shown[item.id] = ShownItem(item.id, asked, talk.messages[-1].text)
                for name in names[1:]:
                    if item.id in first.shown and (target := targets.get((item.id, name))) is not None:
                        first.shown[item.id].replies[name] = run.text(target)
    for scores in every[1:]:
        scores.shown = first.shown
