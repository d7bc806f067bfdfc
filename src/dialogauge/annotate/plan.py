"""Who rates what: which items are chosen, with what chance, and who gets which of them in which order.

Chance is in the choice: every item of the same kind is as likely as any other, so one divided by that chance
is how many items of the input it stands for (its weight). Drawn systematically from the items in the order of
candidate and scenario, a sample holds these in the proportions of the whole, and every chance is as before.
The shared items are such a part of the chosen ones: they are no other kind of items than the rest.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, TypeVar

from dialogauge.annotate.questions import Language, RatingQuestion
from dialogauge.core import UsageError
from dialogauge.core.shape import read_as
from dialogauge.core.unit import digest

Way = Literal["all", "random", "active", "mixed"]
Side = Literal["a", "b"]

SCHEMA: Final = 1
USUAL: Final = 20
"""Items for each rater of a choice that does not say how many, and items that every rater gets, at most."""
_PART_OF_MIXED: Final = 2
"""One in so many of a mixed choice is among the lowest and the most uncertain."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Eligible:
    """What could be rated: a conversation, or two of different candidates on one state."""

    position: int
    """Its place in the input."""
    conversation_id: str
    candidate: str | None = None
    scenario: str | None = None
    turns: tuple[int, ...] = ()
    """The turns with a reply."""
    other_id: str | None = None
    """Of a pair: the conversation b; `conversation_id` is a."""
    other_candidate: str | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    """As of the planned item."""

    @property
    def group(self) -> tuple[str, str]:
        """The candidate, or both of a pair, and the scenario: every rater gets as many of each."""
        both = (self.candidate, self.other_candidate) if self.other_id is not None else (self.candidate,)
        return "\0".join(name or "" for name in both), self.scenario or ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be rated, and why."""

    item: Eligible
    why: str
    """`all`, `random`, `lowest`, `uncertain` or `failed`."""
    weight: float | None
    """One divided by the chance of being chosen; None where it was chosen for what the judge says of it."""


def choose(
    eligible: Sequence[Eligible],
    number: int,
    way: Way,
    seed: int,
    ranked: Sequence[tuple[int, str]] = (),
) -> list[Chosen]:
    """Choose what is to be rated.

    Args:
        eligible: All there is, in the order of the input.
        number: So many at most; where there are no more, all are chosen in every way, each with the weight 1.
        way: `mixed` takes half of them from the ranking, and the others at random from the rest.
        seed: Of chance.
        ranked: Positions with a reason, those to be rated first at the head; for `active` and `mixed`.
    """
    if way == "all" or number >= len(eligible):
        return [Chosen(item, "all", 1.0) for item in eligible]
    by_position = {item.position: item for item in eligible}
    first = {"active": number, "mixed": number // _PART_OF_MIXED}.get(way, 0)
    weight = None if way == "active" else 1.0
    sure = [Chosen(by_position[at], why, weight) for at, why in ranked[:first] if at in by_position]
    taken = {one.item.position for one in sure}
    rest = [item for item in eligible if item.position not in taken]
    drawn = [] if way == "active" else _drawn(rest, number - len(sure), random.Random(f"choice {seed}"))
    return [*sure, *(Chosen(item, "random", len(rest) / len(drawn)) for item in drawn)]


def _drawn(items: Sequence[Eligible], number: int, rng: random.Random) -> list[Eligible]:
    """Draw some of the items, each with the chance `number / len(items)`, in the proportions of the whole."""
    order = list(items)
    rng.shuffle(order)
    order.sort(key=lambda item: item.group)
    return _every(order, number, rng)


def _every(order: Sequence[T], number: int, rng: random.Random) -> list[T]:
    """Return a systematic sample: so many, evenly spaced from a start at random."""
    step, start = len(order) / max(number, 1), rng.random()
    return [order[min(int((start + n) * step), len(order) - 1)] for n in range(number)]


@dataclass(frozen=True, slots=True)
class Shares:
    """The chosen items, divided: indices of `chosen`."""

    shared: tuple[int, ...]
    """Every rater gets these."""
    own: tuple[tuple[int, ...], ...]
    """What only one rater gets, rater by rater."""


def divide(chosen: Sequence[Chosen], raters: int, shared: int, seed: int) -> Shares:
    """Divide items among raters: the shared ones, and the rest dealt out evenly.

    No two raters differ by more than one item, neither in all nor of one candidate, nor of a candidate's
    scenario.
    """
    rng = random.Random(f"division {seed}")
    order = list(range(len(chosen)))
    rng.shuffle(order)
    order.sort(key=lambda i: (chosen[i].item.group, chosen[i].why))
    common = _every(order, min(shared, len(order)), rng)
    rest = [i for i in order if i not in set(common)]
    own = [tuple(rest[first::raters]) for first in range(raters)]
    rng.shuffle(own)
    return Shares(tuple(common), tuple(own))


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One item of a plan."""

    id: str
    """Its name on pages; says nothing of what it is."""
    conversation_id: str
    candidate: str | None
    scenario: str | None
    turns: tuple[int, ...]
    """The turns with a reply; of a pair of replies the turn that they are in."""
    why: str
    """Why it was chosen."""
    weight: float | None
    """One divided by the chance of being chosen."""
    position: int
    """Its place in the input."""
    other_id: str | None = None
    """Of a pair: the conversation b; `conversation_id` is a."""
    other_candidate: str | None = None
    left: Mapping[str, Side] = field(default_factory=dict)
    """Of a pair: rater -> which of the two stands on the left."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """`words_digest` of what is rated: by turn, and of the whole under an empty name; of a pair of the
    conversations `a` and `b`. Empty where the input was masked: no log has these words."""


@dataclass(frozen=True, slots=True)
class RaterShare:
    """What one rater is to do."""

    name: str
    items: tuple[str, ...]
    """In the order of the page."""


@dataclass(frozen=True, slots=True)
class AssignmentPlan:
    """Who rates what; `plan.json`. It names what pages of a blind plan do not."""

    id: str
    """Made of all that follows: another choice, seed or question is another plan."""
    questions: tuple[RatingQuestion, ...]
    language: Language
    raters: tuple[RaterShare, ...]
    shared: tuple[str, ...]
    """Items that every rater gets."""
    items: tuple[PlannedItem, ...]
    eligible: int
    """Conversations or pairs of the input that could have been chosen."""
    candidates: tuple[str, ...]
    """All that the input names."""
    blind: bool
    rubric: Mapping[str, str]
    """Name, version and digest."""
    inputs: Mapping[str, Any]
    """Names, and a digest of what was read."""
    settings: Mapping[str, Any]
    schema: int = SCHEMA

    @property
    def digest(self) -> str:
        """What it is called by its content; begins with a letter, so that no spreadsheet reads a number."""
        return f"p{digest({**self.to_json(), 'id': ''})[:12]}"

    @property
    def by_id(self) -> dict[str, PlannedItem]:
        """The items by their ids."""
        return {item.id: item for item in self.items}

    @property
    def pairs(self) -> bool:
        """Whether two candidates are compared."""
        return any(question.level == "pair" for question in self.questions)

    def asked(self, item: PlannedItem) -> list[tuple[int | None, RatingQuestion]]:
        """Return what is asked of an item: turn and question; no turn where the whole is asked about."""
        of_turns: list[tuple[int | None, RatingQuestion]] = [
            (turn, q) for turn in item.turns for q in self.questions if q.level == "turn"
        ]
        return [*of_turns, *((None, q) for q in self.questions if q.level != "turn")]

    def to_json(self) -> dict[str, Any]:
        """Write it as it stands in `plan.json`; without the digests that older plans do not have."""
        plan = asdict(self)
        for item in plan["items"]:
            if not item["digests"]:
                del item["digests"]
        return plan

    @classmethod
    def from_json(cls, value: object) -> AssignmentPlan:
        """Read what `to_json` wrote; ValueError for anything else, and where it was changed since."""
        plan = read_as(value, cls)
        if plan.digest != plan.id:
            msg = "it was changed since it was made"
            raise ValueError(msg)
        return plan


def usual_shared(eligible: int, raters: int, each: int | None) -> int:
    """Return how many items every rater gets where nobody says it.

    As many as each gets alone, at most `USUAL` and half of all there are; one rater shares none.
    """
    return 0 if raters == 1 else min(USUAL, eligible // 2, USUAL if each is None else each)


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What is asked for."""

    raters: int
    shared: int = 0
    each: int | None = None
    """Items for each rater beside the shared ones; None divides all there are."""
    way: Way | None = None
    """None: all, or at random where some are left out."""
    seed: int = 0
    blind: bool = False
    language: Language = "en"

    def chosen_of(self, eligible: int) -> tuple[int, Way]:
        """Return how many items are to be chosen, and how.

        Raises:
            UsageError: All are to be rated and there is no room for them, or some, and nobody says how many.
        """
        room = eligible if self.each is None else self.shared + self.raters * self.each
        way = self.way or ("all" if room >= eligible else "random")
        if way == "all" and room < eligible:
            msg = f"--choose all, and there is room for {room:,} of {eligible:,}"
            raise UsageError(msg, hint="say --choose random, active or mixed, or leave --each out")
        if way != "all" and self.each is None:
            msg = f"--choose {way} does not say how many"
            raise UsageError(msg, hint="give --each M: so many for each rater beside the shared ones")
        if not room:
            msg = "the plan has no items"
            raise UsageError(msg, hint="give --each or --shared 1 or more")
        return min(room, eligible), way


def assignment_plan(
    eligible: Sequence[Eligible],
    request: PlanRequest,
    questions: Sequence[RatingQuestion],
    about: Mapping[str, Any],
    ranked: Sequence[tuple[int, str]] = (),
    reasons: Mapping[int, str] | None = None,
) -> AssignmentPlan:
    """Choose items and divide them among raters.

    Args:
        eligible: All that could be rated, in the order of the input.
        request: How many, for whom, and how.
        questions: What is asked of each.
        about: `rubric`, `inputs` and `settings`, as the plan keeps them.
        ranked: Positions with a reason, those to be rated first at the head; for `active` and `mixed`.
        reasons: Of items that were chosen before the plan was made: position -> why. They have no weight.

    Raises:
        UsageError: What is asked for excludes itself, or there is nothing to rate.
    """
    number, way = request.chosen_of(len(eligible))
    seed, before = request.seed, reasons or {}
    chosen = [
        Chosen(one.item, before[one.item.position], None) if one.item.position in before else one
        for one in choose(eligible, number, way, seed, ranked)
    ]
    shares = divide(chosen, request.raters, request.shared, seed)
    ids = _ids(len(chosen), "p" if any(q.level == "pair" for q in questions) else "i", seed)
    # The shared items come first, so that agreement is known early, both in any order.
    out = []
    for place, own in enumerate(shares.own, 1):
        rng = random.Random(f"order {seed} {place}")
        parts = [rng.sample(part, len(part)) for part in (shares.shared, own)]
        out.append(RaterShare(f"R{place}", tuple(ids[i] for part in parts for i in part)))
    raters = tuple(out)
    names = [rater.name for rater in raters]
    items = [_planned(one, id, names, seed) for one, id in zip(chosen, ids, strict=True)]
    plan = AssignmentPlan(
        "",
        tuple(questions),
        request.language,
        raters,
        tuple(sorted(ids[i] for i in shares.shared)),
        tuple(sorted(items, key=lambda item: item.id)),
        len(eligible),
        tuple(sorted({n for e in eligible for n in (e.candidate, e.other_candidate) if n})),
        request.blind,
        about["rubric"],
        about["inputs"],
        about["settings"],
    )
    return replace(plan, id=plan.digest)


def _planned(one: Chosen, id: str, raters: Sequence[str], seed: int) -> PlannedItem:
    item = one.item
    sides: dict[str, Side] = {}
    if item.other_id is not None:
        sides = {rater: random.Random(f"side {seed} {id} {rater}").choice(("a", "b")) for rater in raters}
    return PlannedItem(
        id,
        item.conversation_id,
        item.candidate,
        item.scenario,
        item.turns,
        one.why,
        one.weight,
        item.position,
        item.other_id,
        item.other_candidate,
        sides,
        item.digests,
    )


def _ids(number: int, letter: str, seed: int) -> list[str]:
    """Return ids such as `i001`, in no order that says anything."""
    width = max(3, len(str(number)))
    ids = [f"{letter}{n:0{width}}" for n in range(1, number + 1)]
    random.Random(f"ids {seed}").shuffle(ids)
    return ids
