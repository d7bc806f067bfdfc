"""What raters did: rows of pages, spreadsheets and Label Studio, checked by the plan.

Of two answers to the same question the one that arrived later counts: the clocks of raters may be wrong, and
many rows have no time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal

from dialogauge.annotate.label_studio import is_label_studio, rows_of_label_studio
from dialogauge.annotate.plan import AssignmentPlan, PlannedItem
from dialogauge.annotate.questions import NA, RatingQuestion
from dialogauge.core import Place, RecordFault
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.shape import read_as
from dialogauge.data import as_score, as_turn, excerpt, record_fault
from dialogauge.text import counted

Kind = Literal["score", "choice", "correction", "skipped", "flagged"]
Cells = Mapping[str, Any]
Row = tuple[Cells, Place]

_DECIMAL_COMMA: Final = lazy_pattern(r"(-?[0-9]+),([0-9]+)")
_COLUMNS: Final = "plan, item, rater, dimension, turn, score, winner, correction, skipped, flagged"
_ASIDE: Final[tuple[Kind, ...]] = ("skipped", "flagged")
_NO: Final = frozenset(
    {"0", "false", "f", "no", "n", "none", "null", "nan", "na", "n/a", "-", "否", "不", "无", "没有"}
)
_YES: Final = frozenset({"1", "true", "t", "yes", "y", "x", "是", "有"})
_LONGEST: Final = 4_000
"""Characters of a note that are kept."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One thing that a rater did on a page."""

    item: str
    rater: str
    kind: Kind
    dimension: str | None = None
    turn: int | None = None
    """None where the whole, or a pair, is asked about."""
    score: float | Literal["n/a"] | None = None
    winner: Literal["a", "b", "tie"] | None = None
    reason: str | None = None
    """The name of the reason that was chosen."""
    note: str | None = None
    """What the rater wrote: the better reply, or why an item was skipped or flagged."""
    seconds: float | None = None
    """That the item took the rater."""
    at: str | None = None
    """When, as the page wrote it."""

    @property
    def place(self) -> tuple[str, str, str, str | None, int | None]:
        """What it answers: of two answers to the same the one that arrived later counts."""
        kind = "answer" if self.kind in ("score", "choice") else self.kind
        return self.item, self.rater, kind, self.dimension, self.turn

    @property
    def says(self) -> tuple[object, ...]:
        """What it says, whenever it was."""
        return self.score, self.winner, self.reason, self.note

    @property
    def time(self) -> float:
        """Seconds since 1970 by the rater's clock; before all others where nothing readable says when."""
        try:
            return datetime.fromisoformat(self.at or "").timestamp()
        except (ValueError, OverflowError, OSError):
            return float("-inf")

    def to_json(self) -> dict[str, Any]:
        """Write it as a row of `answers.jsonl`; what is not there is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, value: object) -> Answer:
        """Read what `to_json` wrote; ValueError for anything else."""
        return read_as(value, cls)


@dataclass(slots=True)
class ReadAnswers:
    """What was read of some files."""

    answers: list[Answer] = field(default_factory=list)
    faults: list[RecordFault] = field(default_factory=list)


def read_answers(rows: Iterable[Row | RecordFault], plan: AssignmentPlan) -> ReadAnswers:
    """Check rows by the plan: what does not belong to it, or is off a scale, becomes a fault.

    Rows of another plan are one fault for each file and plan. Rows without anything are passed over.
    """
    read = ReadAnswers()
    foreign: dict[tuple[str, str], list[Place]] = {}
    check = _Check(plan)
    for row in rows:
        if isinstance(row, RecordFault):
            read.faults.append(row)
            continue
        for cells, place in _expanded(row):
            other = cells.get("plan")
            if other is not None and other != plan.id:
                foreign.setdefault((place.file, str(other)), []).append(place)
                continue
            try:
                read.answers.append(check.answer(cells, place))
            except RecordFault as fault:
                read.faults.append(fault)
    for (_, other), places in foreign.items():
        message = f"{counted(len(places), 'row')} of another plan, {excerpt(other)}; this one is {plan.id}"
        read.faults.append(record_fault(places[0], message, "import them into the folder of that plan"))
    return read


def _expanded(row: Row) -> Iterator[Row]:
    """Yield the rows that a row of a file stands for; none of one that is empty."""
    cells, place = row
    if is_label_studio(cells):
        yield from ((one, place) for one in rows_of_label_studio(cells))
        return
    clean = {str(k).strip().lower(): v.strip() if isinstance(v, str) else v for k, v in cells.items()}
    clean = {k: v for k, v in clean.items() if v not in (None, "")}
    better = clean.pop("correction", None)
    if better is None or not clean.keys().isdisjoint(("score", "winner", *_ASIDE)):
        yield from [(clean, place)] if clean else []
    if better is not None:  # beside a score it is a row of its own
        beside = ("dimension", "score", "winner", "reason", "note", *_ASIDE)
        yield {k: v for k, v in clean.items() if k not in beside} | {"correction": better}, place


class _Check:
    """What a plan allows."""

    def __init__(self, plan: AssignmentPlan) -> None:
        self._plan, self._items = plan, plan.by_id
        self._assigned = {rater.name: frozenset(rater.items) for rater in plan.raters}
        self._questions = {question.name: question for question in plan.questions}

    def answer(self, cells: Cells, place: Place) -> Answer:
        """Return what a row says; RecordFault where it does not belong to the plan."""
        if cells.get("plan") is None:
            hint = f"its columns are {', '.join(map(str, cells))}; pages write {_COLUMNS}"
            raise record_fault(place, "the row does not say of which plan it is", hint)
        item = self._items.get(str(cells.get("item")))
        if item is None:
            raise record_fault(place, f"there is no item {_shown(cells, 'item')} in the plan")
        rater = str(cells.get("rater"))
        if rater not in self._assigned:
            names = ", ".join(list(self._assigned)[:5])
            raise record_fault(place, f"there is no rater {_shown(cells, 'rater')} in the plan: {names}")
        if item.id not in self._assigned[rater]:
            raise record_fault(place, f"the item {item.id} is not for the rater {rater}")
        answer = Answer(item.id, rater, "score", seconds=_seconds(cells), at=_text(cells, "at"))
        asides = [kind for kind in _ASIDE if _is_aside(cells, place, kind)]
        if len([*asides, *(cells.keys() & {"score", "winner", "correction"})]) > 1 and asides:
            message = f"the row is {asides[0]} ({_shown(cells, asides[0])}) and says more: which counts?"
            raise record_fault(
                place, message, "write one row for each, and nothing in the cells of the others"
            )
        for kind in asides:
            note = None if str(cells[kind]).lower() in _YES else _text(cells, kind)
            return replace(answer, kind=kind, note=note)
        if "correction" in cells:
            turn = self._turn(cells, place, None, item)
            return replace(answer, kind="correction", turn=turn, note=str(cells["correction"]))
        question = self._question(cells, place)
        answer = replace(answer, dimension=question.name, note=_text(cells, "note"))
        if question.level == "pair":
            return replace(answer, kind="choice", winner=self._winner(cells, place, item, rater))
        turn = self._turn(cells, place, question, item)
        score, reason = _score(cells, place, question), _reason(cells, place, question)
        return replace(answer, turn=turn, score=score, reason=reason)

    def _question(self, cells: Cells, place: Place) -> RatingQuestion:
        question = self._questions.get(str(cells.get("dimension")))
        if question is None:
            names = ", ".join(self._questions)
            message = f"the dimension {_shown(cells, 'dimension')} is not asked about: {names}"
            raise record_fault(place, message)
        return question

    def _turn(
        self, cells: Cells, place: Place, question: RatingQuestion | None, item: PlannedItem
    ) -> int | None:
        """Return the turn that a row names; one that corrects a reply has no question."""
        try:
            turn = as_turn(cells.get("turn"))
        except ValueError as error:
            raise record_fault(place, str(error)) from error
        if question is not None and question.level == "conversation":
            if turn is not None:
                message = f"{question.name} is asked of the whole, and the row names turn {turn}"
                raise record_fault(place, message)
        elif turn not in item.turns:
            what = "no turn" if turn is None else f"turn {turn}, which is not asked about"
            raise record_fault(place, f"the row names {what} of the item {item.id}")
        rated, digest = cells.get("digest"), item.digests.get(str(turn or ""))
        if rated is not None and digest is not None and rated != digest:
            message = f"the row rates another text than the item {item.id}: its digest is {excerpt(rated)}"
            raise record_fault(place, message, f"the plan has {digest}")
        return turn

    def _winner(self, cells: Cells, place: Place, item: PlannedItem, rater: str) -> Literal["a", "b", "tie"]:
        winner = str(cells.get("winner")).lower()
        if winner not in ("left", "right", "tie"):
            raise record_fault(place, f"the winner is {_shown(cells, 'winner')}: not left, right or tie")
        left = item.left[rater]
        return "tie" if winner == "tie" else left if winner == "left" else "b" if left == "a" else "a"


def _shown(cells: Cells, name: str) -> str:
    return excerpt(cells.get(name)) if name in cells else "(missing)"


def _is_aside(cells: Cells, place: Place, kind: Kind) -> bool:
    """Say whether a row is skipped or flagged: by a yes, or by the words why.

    Raises `RecordFault` where a cell says neither yes nor no.
    """
    try:
        says = str(as_score(cells.get(kind, "no"))).lower()
    except ValueError:
        says = ""
    if says not in _YES | _NO and not any(map(str.isalpha, says)):
        message = f"{kind} is {_shown(cells, kind)}: neither yes, nor no, nor a reason"
        raise record_fault(place, message, "write true or false, or in words why")
    return says not in _NO


def _text(cells: Cells, name: str) -> str | None:
    value = cells.get(name)
    return None if value is None or isinstance(value, bool | dict | list) else str(value)[:_LONGEST] or None


def _point(value: object) -> object:
    """Return a number that a spreadsheet wrote with a comma as others write it."""
    comma = _DECIMAL_COMMA.fullmatch(value) if isinstance(value, str) else None
    return value if comma is None else f"{comma[1]}.{comma[2]}"


def _seconds(cells: Cells) -> float | None:
    try:
        seconds = as_score(_point(cells.get("seconds")))
    except ValueError:
        return None
    return None if isinstance(seconds, str) or seconds < 0 else float(seconds)


def _score(cells: Cells, place: Place, question: RatingQuestion) -> float | Literal["n/a"]:
    if question.na and cells.get("score") == NA:
        return "n/a"
    try:
        score = as_score(_point(cells.get("score")))
    except ValueError as error:
        raise record_fault(place, f"{question.name}: {error}") from error
    if isinstance(score, str) or not question.scale.admits(score):
        message = f"the score of {question.name} is {_shown(cells, 'score')}: off the scale {question.scale}"
        raise record_fault(place, message)
    return score


def _reason(cells: Cells, place: Place, question: RatingQuestion) -> str | None:
    """Return the name of a reason: pages write its words."""
    reason = _text(cells, "reason")
    if reason is None or not question.reasons or reason in question.reasons:
        return reason
    name = next((name for name, words in question.reasons.items() if words == reason), None)
    if name is None:
        message = f"the reason {excerpt(reason)} of {question.name} is none of those to choose from"
        raise record_fault(place, message)
    return name


@dataclass(frozen=True, slots=True)
class Merged:
    """The answers that count, and what was replaced."""

    answers: tuple[Answer, ...]
    """In the order in which they arrived."""
    twice: frozenset[tuple[str, str]] = frozenset()
    """Item and rater of what was answered again, otherwise."""
    backwards: int = 0
    """Answers that replaced one with a later time."""


def merge_answers(stored: Sequence[Answer], new: Sequence[Answer]) -> Merged:
    """Put answers together: of two to the same question the one that arrived later counts."""
    latest: dict[tuple[object, ...], Answer] = {}
    twice: set[tuple[str, str]] = set()
    backwards = 0
    for answer in (*stored, *new):
        before = latest.pop(answer.place, None)
        if before is not None and before.says != answer.says and answer.kind not in _ASIDE:
            twice.add((answer.item, answer.rater))
            backwards += float("-inf") < answer.time < before.time
        latest[answer.place] = answer
    return Merged(tuple(latest.values()), frozenset(twice), backwards)


@dataclass(slots=True)
class ItemAnswers:
    """What one rater says of one item."""

    answers: dict[tuple[int | None, str], Answer] = field(default_factory=dict)
    """By turn and dimension."""
    corrections: dict[int, Answer] = field(default_factory=dict)
    """The better reply to a turn."""
    skipped: Answer | None = None
    flagged: Answer | None = None

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        each = [one.seconds for one in (*self.answers.values(), self.skipped) if one is not None]
        return max((s for s in each if s is not None), default=None)


def standing_answers(answers: Iterable[Answer]) -> dict[tuple[str, str], ItemAnswers]:
    """Return what stands, by item and rater, of answers in the order in which they arrived.

    Whoever skips an item takes back what was answered before, and an answer takes back the skip before it.
    """
    out: dict[tuple[str, str], ItemAnswers] = {}
    for answer in answers:
        one = out.setdefault((answer.item, answer.rater), ItemAnswers())
        if answer.kind == "flagged":
            one.flagged = answer
            continue
        one.skipped = answer if answer.kind == "skipped" else None
        if answer.kind == "correction":
            one.corrections[answer.turn or 0] = answer
        elif answer.kind != "skipped":
            one.answers[answer.turn, answer.dimension or ""] = answer
    for one in out.values():
        if one.skipped is not None:
            one.answers, one.corrections = {}, {}
    return out


def rating_rows(
    plan: AssignmentPlan, standing: Mapping[tuple[str, str], ItemAnswers]
) -> Iterator[dict[str, Any]]:
    """Yield ratings in the long format with true ids, or choices with `a`, `b` and `winner`.

    What does not apply is no rating.
    """
    for item in plan.items:
        for rater in plan.raters:
            one = standing.get((item.id, rater.name), ItemAnswers())
            for turn, question in plan.asked(item):
                answer, better = one.answers.get((turn, question.name)), one.corrections.get(turn or 0)
                if answer is not None and answer.score != NA:
                    corrected = {"correction": better.note} if better is not None else {}
                    row: dict[str, Any] = {"conversation_id": item.conversation_id}
                    if answer.kind == "choice":
                        row["a"] = item.candidate or item.conversation_id
                        row["b"] = item.other_candidate or item.other_id
                        row |= {"other_conversation_id": item.other_id, "winner": answer.winner}
                        row |= {"turn": item.turns[0]} if item.turns else {}
                        row["shown_first"] = item.left[answer.rater]
                        digests = {"digest": item.digests.get("a"), "other_digest": item.digests.get("b")}
                    else:
                        row |= {"turn": answer.turn, "candidate": item.candidate, "score": answer.score}
                        digests = {"digest": item.digests.get(str(answer.turn or ""))}
                    row |= {"dimension": answer.dimension, "rater": answer.rater}
                    words = question.reasons.get(answer.reason or "", answer.reason)
                    more = {
                        "weight": item.weight,
                        "note": ": ".join(filter(None, (words, answer.note))) or None,
                        "reason": answer.reason,
                        "item": item.id,
                        **digests,
                        "seconds": one.seconds,
                        "at": answer.at,
                    }
                    yield (
                        row | {name: value for name, value in more.items() if value is not None}
                    ) | corrected
