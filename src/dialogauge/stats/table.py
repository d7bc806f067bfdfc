"""The table of scores: targets by sources. Raters, judges and controls are all sources.

A target is what gets a score: a reply, a turn, a conversation. A source is a column: what one rater, judge
or control gives the targets. Two definitions stand here because every study needs the same ones:

- `whole_scores`: halves go upward, then the score is cut to the scale. Unlike rounding to the even
  neighbour, it treats all levels alike: 3.5 and 4.5 stay a point apart, and adding 1 to all scores adds 1 to
  all whole ones. The maps of `calibration` round to even, and only they, because the published algorithm
  does; what they return is a whole score already.
- `reply_length`: characters. It needs no list of languages and no word splitter, and published length
  controls use it. Between languages no unit of length compares (a Chinese character carries as much as
  several Latin ones), so on mixed data the control also reads the language.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import DECIMALS, ONE_TO_FIVE, Scale, UsageError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value

_WIDEST: Final = 2**31
"""A number of a row above which the next column could make one that does not fit."""

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
Whole = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def whole_scores(values: Sequence[float] | Floats, scale: Scale = ONE_TO_FIVE) -> Floats:
    """Round to whole scores, halves upward, and cut to the scale; NaN stays NaN. Shape (n,) -> (n,)."""
    rounded: Floats = np.floor(np.round(np.asarray(values, dtype=np.float64), DECIMALS) + 0.5)
    return np.clip(rounded, scale.low, scale.high)


def reply_length(text: str) -> int:
    """Return the length of a reply: its characters (Unicode code points), white space included."""
    return len(text)


_FORM: Final = lazy_pattern(r"(<=|>=|<|>)?\s*(-?[0-9]*\.?[0-9]+)")
_COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class DissatisfiedRule(Value):
    """What counts as dissatisfied: a threshold on a scale, or the name of a category.

    Made by `parse_rule`; `str()` of it is `<=3`, `<3` or `=DSAT`.
    """

    sign: str
    threshold: float
    category: str | None = None
    """For ratings that are names: the one that stands for dissatisfied."""

    @property
    def lower(self) -> bool:
        """Whether low scores are the dissatisfied ones."""
        return self.sign in ("<", "<=")

    def holds(self, score: float | str) -> bool:
        """Say whether a rating or a score is a dissatisfied one."""
        if isinstance(score, str):
            return score == self.category
        return self.category is None and bool(_COMPARE[self.sign](score, self.threshold))

    def classes(self, values: Floats) -> Floats:
        """Return 1 where a score is a dissatisfied one, else 0. Shape (n,) -> (n,)."""
        if self.category is not None:
            return np.zeros(values.shape)
        dissatisfied: Floats = np.asarray(_COMPARE[self.sign](values, self.threshold), dtype=np.float64)
        return dissatisfied

    def __str__(self) -> str:
        """Write the rule."""
        return f"={self.category}" if self.category is not None else f"{self.sign}{self.threshold:g}"


def parse_rule(text: str) -> DissatisfiedRule:
    """Read `3` (3 or less), `<3`, `>=4` (where low is good), or the name of a category.

    Raises:
        UsageError: Nothing is named, or no number follows a sign.
    """
    stripped = text.strip()
    if match := _FORM.fullmatch(stripped):
        return DissatisfiedRule(match[1] or "<=", float(match[2]))
    name = stripped.removeprefix("=").strip()
    if not name or name[0] in "<>":
        msg = f"--dissatisfied {text!r} says nothing"
        raise UsageError(msg, hint="give 3 (3 or less), '<3', or the name of a category such as DSAT")
    return DissatisfiedRule("<=", 0.0, name)


def middle_rule(values: Sequence[float] | Floats, scale: Scale) -> DissatisfiedRule:
    """Return what counts as dissatisfied where nobody says: the middle of a scale or less.

    Where over half of the ratings are the middle itself, that is how these people say that nothing is wrong,
    and only what lies beyond it counts.

    Args:
        values: Shape (n,), people's ratings.
        scale: That they are on.
    """
    middle, array = (scale.low + scale.high) / 2, np.asarray(values, dtype=np.float64)
    near = np.abs(array - middle) < (scale.high - scale.low) / 8
    sign = "<" if near.size and near.mean() > 0.5 else "<="
    return DissatisfiedRule(sign if scale.higher_is_better else sign.replace("<", ">"), middle)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What one source gives n targets; made by `scores_of`."""

    values: Floats
    """Shape (n,), on the scale, with fractions where the source gives them; NaN of a source of names."""
    whole: Floats
    """Shape (n,), the source's own whole scores; NaN likewise."""
    order: Floats
    """Shape (n,), what it ranks the targets by, in the direction of the scale; mostly the values."""
    scale: Scale = ONE_TO_FIVE
    dissatisfied: Floats | None = None
    """Shape (n,), 1 where the source itself names the class of the dissatisfied, else 0; None where it names
    no classes, and a rule on its scores decides."""

    @property
    def numbers(self) -> bool:
        """Whether it gives every target a number."""
        return bool(np.isfinite(self.values).all())

    def rounded(self) -> Scores:
        """Return the same source read by its whole scores alone."""
        return replace(self, values=self.whole, order=self.whole)

    def take(self, index: Codes | Mask) -> Scores:
        """Return some of the targets, or all of them in another order."""
        named = None if self.dissatisfied is None else self.dissatisfied[index]
        columns = self.values[index], self.whole[index], self.order[index]
        return Scores(*columns, self.scale, named)


class Directions(tuple[Scores, ...]):
    """The columns of one order in both directions: each figure is of the one in which it is better."""

    __slots__ = ()


def scores_of(
    values: Sequence[float] | Floats,
    *,
    whole: Sequence[float] | Floats | None = None,
    order: Sequence[float] | Floats | None = None,
    scale: Scale = ONE_TO_FIVE,
    dissatisfied: Sequence[float] | Floats | None = None,
) -> Scores:
    """Make the column of a source.

    Args:
        values: Shape (n,), on the scale. A failure or n/a is no score: leave its target out of the table.
        whole: Shape (n,), its own whole scores; None rounds the values by `whole_scores`.
        order: Shape (n,), what it ranks by where that is more than its values.
        scale: Of values and whole scores.
        dissatisfied: Shape (n,), 1 or 0, where the source names classes. A source of names alone has NaN for
            values.

    Raises:
        ValueError: Lengths differ, or a source that names no classes has a target without a score.
    """
    value = np.asarray(values, dtype=np.float64)
    own = whole_scores(value, scale) if whole is None else np.asarray(whole, dtype=np.float64)
    ranked = value if order is None else np.asarray(order, dtype=np.float64)
    named = None if dissatisfied is None else np.asarray(dissatisfied, dtype=np.float64)
    for column in (own, ranked, value if named is None else named):
        if column.shape != value.shape:
            msg = f"columns of different length: {value.size} and {column.size}"
            raise ValueError(msg)
    if named is None and not np.isfinite(value).all():
        msg = "a target without a score: leave out what failed or does not apply"
        raise ValueError(msg)
    return Scores(value, own, ranked, scale, named)


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """n targets by any number of sources, with what groups and controls need to know of the targets."""

    sources: Mapping[str, Scores]
    clusters: tuple[Hashable, ...]
    """Shape (n,): whole clusters are left out for every interval; see `cluster_labels`."""
    unit: str = "conversations"
    """What a cluster is, as messages say it."""
    users: tuple[Hashable, ...] | None = None
    """Shape (n,); None where the user of some target is unknown."""
    blocks: tuple[Hashable, ...] | None = None
    """Shape (n,): targets whose scores are calibrated together, and shuffled among each other. None: all."""
    positions: Floats | None = None
    """Shape (n,), the place of the reply in its conversation."""
    lengths: Floats | None = None
    """Shape (n,), `reply_length` of what was judged."""
    weights: Floats | None = None
    """Shape (n,), how many targets each stands for: 1 / the chance of being chosen. None: as many each."""

    @property
    def n(self) -> int:
        """Targets."""
        return len(self.clusters)

    @cached_property
    def cluster_codes(self) -> tuple[Codes, int]:
        """The clusters as numbers, shape (n,), and how many there are."""
        return label_codes(self.clusters)

    @cached_property
    def user_codes(self) -> tuple[Codes, int] | None:
        """The users likewise."""
        return None if self.users is None else label_codes(self.users)

    @cached_property
    def block_codes(self) -> tuple[Codes, int] | None:
        """The blocks likewise."""
        return None if self.blocks is None else label_codes(self.blocks)

    def adding(self, sources: Mapping[str, Scores]) -> ScoreTable:
        """Return the table with more sources."""
        return replace(self, sources={**self.sources, **sources})

    def only(self, kept: Mask) -> ScoreTable:
        """Return some of the targets."""

        def labels(of: tuple[Hashable, ...] | None) -> tuple[Hashable, ...] | None:
            return None if of is None else tuple(label for label, k in zip(of, kept, strict=True) if k)

        return replace(
            self,
            sources={name: scores.take(kept) for name, scores in self.sources.items()},
            clusters=labels(self.clusters) or (),
            users=labels(self.users),
            blocks=labels(self.blocks),
            positions=None if self.positions is None else self.positions[kept],
            lengths=None if self.lengths is None else self.lengths[kept],
            weights=None if self.weights is None else self.weights[kept],
        )


def cluster_labels(
    users: Sequence[Hashable | None], conversations: Sequence[Hashable]
) -> tuple[tuple[Hashable, ...], str]:
    """Return the cluster of each target, and what a cluster is.

    The user where known, else the conversation. Targets of one user alone are clustered by conversation:
    an interval then says how the figure moves with other conversations of that user.

    Args:
        users: Shape (n,); None where unknown.
        conversations: Shape (n,).
    """
    known = sum(user is not None for user in users)
    if len(set(users)) < 2 or not known:
        return tuple(conversations), "conversations"
    labels = tuple(
        ("conversation", conversation) if user is None else ("user", user)
        for user, conversation in zip(users, conversations, strict=True)
    )
    return labels, "users" if known == len(users) else "users and conversations"


def label_codes(labels: Sequence[Hashable]) -> tuple[Codes, int]:
    """Number the labels in the order in which they first come; return the numbers and how many there are."""
    known: dict[Hashable, int] = {}
    codes = np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.intp)
    return codes, len(known)


def row_codes(columns: Sequence[Floats]) -> tuple[Codes, Codes]:
    """Number the different rows of columns, shape (n,) each, in the order of their values.

    Returns:
        The number of each row, shape (n,), and where each number first comes, shape (different rows,).
    """
    key = np.zeros(columns[0].size, dtype=np.intp)
    for column in columns:
        levels, codes = np.unique(column, return_inverse=True)
        key = key * levels.size + codes
        if key.max(initial=0) > _WIDEST:
            key = np.unique(key, return_inverse=True)[1]
    _, first, codes = np.unique(key, return_index=True, return_inverse=True)
    return codes, first
