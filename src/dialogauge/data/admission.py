"""How the ratings of a dimension are read: as numbers on a scale, as thumbs, or as names.

What people wrote decides, all of it together: no single rating says which scale it is on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from dialogauge.core import ONE_TO_FIVE, Conversation, Place, Rating, RecordFault, Scale, UsageError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value
from dialogauge.data.notes import excerpt, record_fault
from dialogauge.text import counted

UP: Final = "up"
DOWN: Final = "down"
"""What a thumb says, whatever it was written as: satisfied, and dissatisfied."""
REWARD: Final = Scale(0, 1, integer=False)

_NEARLY_ALL: Final = 0.9
"""Share of numbers on a scale from which people used that scale."""
_STRAY: Final = 0.01
"""Share of numbers off a scale that nobody named up to which they are slips, and no other scale."""
_SEVERAL: Final = 3
"""Different whole numbers on a scale from which people seem to have used it."""
_WORDS: Final = {
    UP: "up, thumb up, thumbs up, thumbsup, 👍, like, liked, positive, satisfied, helpful, "
    "赞, 点赞, 满意, 好评, 有帮助",
    DOWN: "down, thumb down, thumbs down, thumbsdown, 👎, dislike, disliked, negative, dissatisfied, "
    "unsatisfied, not satisfied, unhelpful, not helpful, 踩, 点踩, 不满意, 差评, 没有帮助",
}
_ANSWERS: Final = {"true": UP, "yes": UP, "是": UP, "false": DOWN, "no": DOWN, "否": DOWN}
"""Thumbs where people were asked whether they approve; else nobody knows which answer is the good one."""
_THUMBS: Final = {word: thumb for thumb, words in _WORDS.items() for word in words.split(", ")} | _ANSWERS
_APPROVAL: Final = (
    "satisfaction, satisfied, rating, ratings, overall, score, reward, feedback, thumb, thumbs, thumbs up, "
    "vote, like, liked, helpful, helpfulness, useful, usefulness, correct, resolved, solved, success"
)
"""Dimensions to which a yes is approval."""
_TWO_SIDED: Final = "thumb, thumbs, thumbs up, vote, like, liked, correct, resolved, solved, success"
"""Dimensions of which a 1 alone is a thumb up, and no score of 5."""
_NUMBERS: Final[dict[float, str]] = {1: UP, 0: DOWN, -1: DOWN}
_DRESSING: Final = lazy_pattern("[\U0001f3fb-\U0001f3ff\ufe0f]")
"""The colour of an emoji's skin, and the mark that asks for its picture."""

Kind = Literal["numbers", "thumbs", "names", "nothing"]
Counts = Mapping[float | str, int]
"""Rating -> number of times."""


def thumb_of(score: float | str) -> str | None:
    """Return `up` or `down` for what a thumb is written as; None for anything else.

    `up`, `like`, `yes`, `positive`, `satisfied`, 👍, 赞, 满意 and their opposites; of numbers 1, and -1 or 0.
    """
    return _THUMBS.get(_plain(score)) if isinstance(score, str) else _NUMBERS.get(score)


def _plain(word: str) -> str:
    return _DRESSING.sub("", word).casefold().replace("_", " ").replace("-", " ").strip()


def asks_approval(dimension: str) -> bool:
    """Say whether a yes to what a dimension asks is approval: to `helpful` it is, to `hallucination` not."""
    return _plain(dimension) in _APPROVAL.split(", ")


class Admission(Value):
    """How the ratings of a dimension are read, and which count; `ADMIT_ALL` takes all as they are."""

    kind: Kind | None = None
    """None for numbers and names together."""
    scale: Scale | None = None
    """The scale of numbers; None if people used a scale of their own."""
    why: str = ""
    """Of the kind `nothing`: why none of them counts."""

    def read(self, score: float | str) -> float | str | None:
        """Return what a rating says, a thumb as `up` or `down`; None where it does not count.

        Means of raters need not be whole.
        """
        if self.refusal(score) is not None:
            return None
        return thumb_of(score) if self.kind == "thumbs" else score

    def refusal(self, score: float | str) -> str | None:
        """Return why a rating does not count, such as `off the scale 1-5`; None if it does."""
        if self.kind == "nothing":
            return f"one of ratings {self.why}"
        if self.kind == "thumbs":
            return None if thumb_of(score) else "neither up nor down, and the ratings are thumbs"
        if isinstance(score, str):
            return "a text, and the ratings are numbers" if self.kind == "numbers" else None
        if self.kind == "names":
            return "a number, and the ratings are names"
        off = self.scale is not None and not self.scale.low <= score <= self.scale.high
        return f"off the scale {self.scale}" if off else None

    def fault(self, rating: Rating, place: Place) -> RecordFault | None:
        """Return why a rating, which was read at a place, does not count; None if it does."""
        why = self.refusal(rating.score)
        if why is None:
            return None
        value = excerpt(rating.score) if isinstance(rating.score, str) else f"{rating.score:g}"
        msg = f"{rating.dimension} is {value}: it is {why}"
        return record_fault(place, msg, "the rating is not used")

    def refused(self, counts: Counts) -> tuple[int, str]:
        """Return how many ratings do not count, and why, unless a remark says so: `off the scale 0-1 (7)`."""
        refused = {score: n for score, n in counts.items() if self.refusal(score) is not None}
        if not refused or self.kind == "nothing":
            return 0, ""
        first = ", ".join(s if isinstance(s, str) else f"{s:g}" for s in list(refused)[:3])
        return sum(refused.values()), f"{self.refusal(next(iter(refused)))} ({first})"

    def remark(self, counts: Counts, scale: Scale) -> str:
        """Say how ratings are read; nothing where they are names, or differ on the scale that is expected."""
        if self.kind == "nothing":
            return f"{self.why}, so none is used"
        read = {score: n for score, n in counts.items() if self.read(score) is not None}
        usual = self.kind in (None, "names") or (self.kind == "numbers" and self.scale == scale)
        remarks = [] if usual or not read else [f"read as {self.words(counts)}"]
        if sum(read.values()) > 1 and len(values := {self.read(score) for score in read}) == 1:
            remarks.append(f"all say {values.pop()}, so no order can be measured")
        return "; ".join(remarks)

    def words(self, counts: Counts) -> str:
        """Say how ratings are read: `thumbs: 412 up, 88 down`, `numbers from 1 to 5`, `names: bad 3`."""
        read = Counter[float | str]()
        for score, n in counts.items():
            if (value := self.read(score)) is not None:
                read[value] += n
        if self.kind == "nothing":
            return f"ratings {self.why}"
        if self.kind == "thumbs":
            return f"thumbs: {read[UP]:,} up, {read[DOWN]:,} down"
        numbers = sorted(score for score in read if not isinstance(score, str))
        if not numbers:
            most = read.most_common(5)
            return f"names: {', '.join(f'{s} {n:,}' for s, n in most)}{' ...' if len(read) > 5 else ''}"
        low, high = numbers[0], numbers[-1]
        if low == high:
            return f"numbers, all {low:g}"
        if set(numbers) == {0, 1}:
            return f"a reward or thumbs, 0 or 1: {read[1]:,} times 1, {read[0]:,} times 0"
        return f"numbers from {low:g} to {high:g}"


ADMIT_ALL: Final = Admission()


def scale_by_name(dimension: str) -> Scale | None:
    """Return the scale that the name of a dimension says: of a reward 0 to 1, of stars 1 to 5; else None."""
    if dimension == "reward":
        return REWARD
    return ONE_TO_FIVE if _plain(dimension) in ("stars", "star rating") else None


def likely_scale(dimension: str) -> Scale:
    """Return the scale that ratings of a dimension are likely to be on: of a reward 0 to 1, else 1 to 5."""
    return scale_by_name(dimension) or ONE_TO_FIVE


def admission_of(
    dimension: str, counts: Counts, scale: Scale | None = None, *, named: bool = False
) -> Admission:
    """Return how the ratings of a dimension are read.

    Args:
        dimension: Its name, which says whether a yes is approval; a reward is on the scale that it has.
        counts: Rating -> number of times.
        scale: The judge's, where it has the dimension.
        named: Whether a judge is likely to have it.
    """
    own = scale is not None
    if not own and counts.keys() == {1} and _plain(dimension) in _TWO_SIDED.split(", "):
        return Admission("thumbs")
    named = own or (-1 not in counts if dimension == "reward" else named)
    approval = own or asks_approval(dimension)
    return admission_for(counts, scale or likely_scale(dimension), named=named, approval=approval)


def admission_for(
    counts: Counts, scale: Scale = ONE_TO_FIVE, *, named: bool = True, approval: bool = True
) -> Admission:
    """Return how the ratings of a dimension are read, and which of them count.

    - Thumbs: nine in ten are thumbs and most of them words; or the majority are numbers, all 1 and -1. Yes
      and no, true and false are such words only where the dimension asks for approval.
    - Names or numbers: the majority. Numbers are on the scale where nine in ten lie on it; of a scale that
      nobody named, where what lies off it is a slip. Numbers from 0 to 1 are on a scale of their own.
    - Nothing: numbers that seem to be on two scales, such as 1-5 and 0-100.

    Args:
        counts: Rating -> number of times.
        scale: That numbers are likely to be on.
        named: Whether somebody named it: it is that of the judge's dimension.
        approval: Whether people were asked if they approve; see `asks_approval`.
    """
    numbers = Counter({score: n for score, n in counts.items() if not isinstance(score, str)})
    every = sum(counts.values())
    known = _THUMBS if approval else _THUMBS.keys() - _ANSWERS
    words = sum(n for s, n in counts.items() if isinstance(s, str) and _plain(s) in known)
    thumbs = words + sum(numbers[score] for score in (1, 0, -1))
    if 2 * words > every and thumbs >= _NEARLY_ALL * every:
        return Admission("thumbs")
    total = numbers.total()
    if every > 2 * total:
        return Admission("names")
    if numbers and numbers.keys() <= {1, -1} and numbers[-1]:
        return Admission("thumbs")
    if numbers and min(numbers) >= 0 and min(numbers) < 1 >= max(numbers):
        return Admission("numbers", REWARD)
    # Which numbers count, beside a scale that they are likely to be on.
    on = Counter({score: n for score, n in numbers.items() if scale.low <= score <= scale.high})
    off, total = numbers - on, numbers.total()
    far = sum(n for score, n in off.items() if not min(0, scale.low) <= score <= 2 * scale.high)
    if on.total() >= _NEARLY_ALL * total and (named or off.total() <= _STRAY * total or far == off.total()):
        return Admission("numbers", scale)
    two = min(on.total(), far) > (1 - _NEARLY_ALL) * total
    if two and sum(score == int(score) for score in on) >= _SEVERAL:
        ranges = f"{on.total():,} {_range(on)}, {off.total():,} {_range(off)}"
        return Admission("nothing", why=f"on two scales ({ranges})")
    return Admission("numbers")


def _range(numbers: Collection[float]) -> str:
    low, high = min(numbers), max(numbers)
    return f"at {low:g}" if low == high else f"from {low:g} to {high:g}"


@dataclass(slots=True)
class RatedDimensions:
    """How often people gave each rating, by dimension; it counts as conversations pass through."""

    counts: dict[str, Counter[float | str]] = field(default_factory=dict)

    def watch(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """Count and yield the conversations."""
        return map(self.add, conversations)

    def add(self, conversation: Conversation) -> Conversation:
        """Count the ratings of a conversation, and return it."""
        for rating in conversation.ratings:
            self.counts.setdefault(rating.dimension, Counter())[rating.score] += 1
        return conversation

    def listed(self) -> str:
        """List the dimensions with counts and ranges: `'help' (412, numbers from 1 to 5)`."""
        most = sorted(self.counts.items(), key=lambda item: -item[1].total())
        read = ((name, c, admission_for(c, approval=asks_approval(name))) for name, c in most[:5])
        named = (f"{name!r} ({c.total():,}, {admission.words(c)})" for name, c, admission in read)
        return ", ".join(named) + (" ..." if len(most) > 5 else "")

    def instead_of(self, dimension: str) -> str | None:
        """Return a hint with the rated dimensions; None if `dimension` is one of them."""
        if dimension in self.counts or not self.counts:
            return None
        able = [name for name, counts in self.counts.items() if _from_one_to_five(counts)]
        most = max(able, key=lambda name: self.counts[name].total(), default=None)
        end = "none of them from 1 to 5" if most is None else f"take one with --dimension {most}"
        return f"the data has ratings of {self.listed()}: {end}"

    def expect_one_to_five(self, dimension: str) -> None:
        """Raise UsageError where a dimension is not rated by numbers from 1 to 5."""
        if hint := self.instead_of(dimension):
            msg = f"nobody rated {dimension!r}"
            raise UsageError(msg, hint=hint)
        counts = self.counts.get(dimension, Counter[float | str]())
        if not counts or _from_one_to_five(counts):
            return
        admission = admission_for(counts, approval=asks_approval(dimension))
        has, hint = "is rated in", "`dialogauge judge` and `dialogauge agreement` take ratings of any kind"
        if admission.kind == "nothing":
            has, hint = "has", "the ratings of each scale need a dimension of their own"
        if len(self.counts) > 1:
            hint += f"; the data has ratings of {self.listed()}: another is taken with --dimension"
        msg = f"{dimension!r} {has} {admission.words(counts)}; numbers from 1 to 5 are needed here"
        raise UsageError(msg, hint=hint)

    def two_sided(self, dimension: str) -> bool:
        """Whether a dimension is rated good or bad alone: by thumbs, or by a reward of 0 or 1."""
        counts = self.counts.get(dimension, Counter[float | str]())
        admission = admission_for(counts, approval=asks_approval(dimension))
        return admission.kind == "thumbs" or (bool(counts) and counts.keys() <= {0, 1})

    def expect_order(self, dimension: str) -> None:
        """Raise UsageError where all ratings of a dimension say the same."""
        counts = self.counts.get(dimension, Counter[float | str]())
        admission = admission_for(counts, approval=asks_approval(dimension))
        if len({admission.read(score) for score in counts} - {None}) == 1 and counts.total() > 1:
            remark = admission.remark(counts, ONE_TO_FIVE)
            msg = f"{counted(counts.total(), 'rating')} of {dimension!r}: {remark}"
            raise UsageError(msg, hint="give ratings that differ")


def _from_one_to_five(counts: Counts) -> bool:
    admission = admission_for(counts)
    return admission.kind == "numbers" and admission.scale == ONE_TO_FIVE
