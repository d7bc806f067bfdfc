"""Which conversations a page shows: weakest first, chosen the same way every time, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple, get_args

from dialogauge.core import DimensionSpec, Verdict, digest_text
from dialogauge.core.values import Value
from dialogauge.data.admission import DOWN, UP
from dialogauge.report import words
from dialogauge.runs.records import own_scores
from dialogauge.studies.passing import ByConversation, Smallest

Row = Mapping[str, Any]

_RANK: Final = {verdict: rank for rank, verdict in enumerate(reversed(get_args(Verdict)))}
_UNRANKED = 8
"""No verdict, but scores."""
_FAILED = 9
"""Nothing was judged: last, for there is nothing to learn about the assistant."""

LISTED: Final = 2_000
"""Conversations in the list of a page."""
SHOWN: Final = 200
"""Conversations that a page shows turn by turn."""
_WEAK_TURNS: Final = 12


@dataclass(frozen=True, slots=True)
class Case:
    """One conversation as the list shows it."""

    conversation_id: str
    candidate: str | None
    verdict: str | None
    partial: bool
    weakest_turn: int | None
    weakest_quality: float | None
    """Quality of the weakest turn: 0 worst, 1 best; None when no turn is named."""
    scores: tuple[float | str | None, ...]
    failure: str | None
    order: tuple[int, float, str]
    """Ascending from the weakest."""
    rating: float | None = None
    """What people said of the whole; where they rated turns only, the lowest of these. A thumb is 0 or 1."""
    rated: str = ""
    """The same in words."""
    kinds: tuple[str, ...] = ()
    """What the judge saw in its turns, by name, the commonest first; of a task the checks that failed."""

    @property
    def key(self) -> tuple[str, str | None]:
        """The conversation and the candidate that it is of."""
        return self.conversation_id, self.candidate


class Survey(Value):
    """What was chosen of all rows."""

    total: int
    listed: tuple[Case, ...]
    """What is to be read first, then weakest first."""
    weak: tuple[Case, ...]
    """With the weakest of the weakest turns."""
    spread: tuple[Case, ...]
    """Chosen by their id."""
    shown: tuple[Case, ...] = ()
    """To be shown turn by turn, in the order of the list."""

    def choose(self, first: Iterable[str], examples: Collection[str], named: Iterable[Case] = ()) -> Survey:
        """Choose what is shown: to be read first, the worst up to half, examples, and a spread of the rest.

        Args:
            first: Ids of conversations to read first, which lead the list too.
            examples: Ids of those that findings are quoted from.
            named: Cases of such ids that are not in the list.
        """
        places = {id: place for place, id in enumerate(dict.fromkeys(first))}
        cases = (*self.listed, *named)
        leading = (case for case in cases if case.conversation_id in places)
        quoted = (case for case in cases if case.conversation_id in examples)
        order = chain(leading, self.weak, self.listed[: SHOWN // 2], quoted, self.spread)
        shown = list({case.key: case for case in order}.values())[:SHOWN]
        place = partial(_place, places)
        return replace(
            self, listed=tuple(sorted(self.listed, key=place)), shown=tuple(sorted(shown, key=place))
        )


def _place(first: Mapping[str, int], case: Case) -> tuple[int, tuple[int, float, str]]:
    return first.get(case.conversation_id, len(first)), case.order


@dataclass(slots=True)
class _Sums:
    total: float = 0.0
    n: int = 0
    na: int = 0

    @property
    def mean(self) -> float | None:
        return self.total / self.n if self.n else None

    @property
    def shown(self) -> float | str | None:
        return self.mean if self.n else "n/a" if self.na else None


class _Dimension(NamedTuple):
    name: str
    worst: float
    best: float

    def quality(self, value: float) -> float:
        """Return where a value lies: 0 the worst, 1 the best."""
        return (value - self.worst) / (self.best - self.worst) if self.best != self.worst else 1.0


class Sampler(ByConversation):
    """Chooses from all rows what a page lists, shows in full and names as weakest turns, while they pass.

    Rows of one unit stand together, as `judgements.jsonl` has them; of several repeats the first counts.
    """

    def __init__(self, dimensions: Sequence[DimensionSpec]) -> None:
        """Take note of what is scored."""
        super().__init__()
        self._dimensions = tuple(_Dimension(d.name, d.scale.worst, d.scale.best) for d in dimensions)
        self._listed = Smallest[Case](LISTED)
        self._weak = Smallest[Case](_WEAK_TURNS)
        self._spread = Smallest[Case](SHOWN)
        self._total = 0

    def take(self, unit: Sequence[Row]) -> None:
        """Choose or pass over one conversation."""
        case, number = _case(unit, self._dimensions), self._total
        self._total += 1
        self._listed.offer(case.order, number, case)
        self._spread.offer(digest_text(case.conversation_id), number, case)
        if case.weakest_quality is not None:
            self._weak.offer((case.weakest_quality, *case.order), number, case)

    def result(self) -> Survey:
        """Return what was chosen, once all rows have passed."""
        self.close()
        kept = (tuple(cases.ascending()) for cases in (self._listed, self._weak, self._spread))
        return Survey(self._total, *kept)


def _case(unit: Sequence[Row], dimensions: Sequence[_Dimension]) -> Case:
    sums = {d.name: _Sums() for d in dimensions}
    qualities: dict[int, float] = {}
    head: Row = unit[-1]
    failure = None
    for row in unit:
        if row["level"] == "conversation":
            head = row
        if row["failure"]:
            failure = row["failure"]["kind"] if row["level"] == "conversation" else failure
            continue
        quality = _add(own_scores(row), sums, dimensions)
        if row["turn"] is not None and quality is not None:
            qualities[row["turn"]] = quality
    named = head["weakest_turn"]
    if named is None and head["level"] != "conversation" and qualities:
        named = min(qualities, key=lambda t: (qualities[t], t))
    rating, rated = _rated(unit)
    means = ((d, sums[d.name].mean) for d in dimensions)
    scaled = [d.quality(mean) for d, mean in means if mean is not None]
    overall = sum(scaled) / len(scaled) if scaled else None
    rank = _FAILED if overall is None else _RANK.get(head["verdict"], _UNRANKED)
    faulty = [row for row in unit if row["turn"] is not None and row["issues"]]
    counts = Counter(k for row in faulty for k in {e["signal"] for e in row["evidence"] if e.get("signal")})
    checks = [
        w for row in unit if "success" in (row["scores"] or ()) for w in row["details"].get("failed", ())
    ]
    return Case(
        conversation_id=head["conversation_id"],
        candidate=head["candidate"],
        verdict=head["verdict"],
        partial=head["verdict_basis"] == "partial",
        weakest_turn=named,
        weakest_quality=qualities.get(named) if named is not None else None,
        scores=tuple(sums[d.name].shown for d in dimensions),
        failure=failure,
        order=(rank, 1.0 if overall is None else overall, head["conversation_id"]),
        rating=rating,
        rated=rated,
        kinds=(*sorted(counts, key=lambda kind: (-counts[kind], kind)), *checks),
    )


RatedAs = tuple[str, str]
"""Level and dimension of ratings."""


def ratings_of(unit: Sequence[Row]) -> tuple[RatedAs | None, list[float]]:
    """Return what people said of a conversation, and as what; where they rated turns only, of each of these.

    Dimensions are never taken together: the one of the most turns counts. None where there are no numbers.
    """
    for level in ("conversation", "turn"):
        by_dimension: dict[str, list[float]] = {}
        for row in unit:
            rating = row.get("rating") if row["level"] == level else None
            if rating and not isinstance(rating["score"], str):
                by_dimension.setdefault(rating["dimension"], []).append(float(rating["score"]))
        if by_dimension:
            dimension = max(by_dimension, key=lambda name: len(by_dimension[name]))
            return (level, dimension), by_dimension[dimension]
    return None, []


def _rated(unit: Sequence[Row]) -> tuple[float | None, str]:
    if numbers := ratings_of(unit)[1]:
        return min(numbers), f"rated {words.score(min(numbers))}"
    names = {row["rating"]["score"] for row in unit if row.get("rating")}
    lowest = next((thumb for thumb in (DOWN, UP) if thumb in names), None)
    return (None, "") if lowest is None else (float(lowest == UP), f"thumbs {lowest}")


def _add(scores: Mapping[str, Any], sums: dict[str, _Sums], dimensions: Sequence[_Dimension]) -> float | None:
    """Add a row's scores to the sums; return its mean quality from 0 to 1."""
    total, n = 0.0, 0
    for dimension in dimensions:
        value = scores.get(dimension.name)
        if value is None:
            continue
        of_dimension = sums[dimension.name]
        if isinstance(value, str):
            of_dimension.na += 1
        else:
            of_dimension.total += value
            of_dimension.n += 1
            total += dimension.quality(value)
            n += 1
    return total / n if n else None
