"""Several judges of the same users: one table of all, and each held against each on the turns they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import Conversation, UsageError
from dialogauge.stats import draw_p, holm, interval_of_draws
from dialogauge.studies.satisfaction.blocks import collect_rated
from dialogauge.studies.satisfaction.figures import Figures, Scored, figures_of, measure_draws
from dialogauge.text import counted

Floats = npt.NDArray[np.float64]

COMPARED: Final = ("pearson", "qwk", "f1_dsat", "mae", "within_user_pearson")
"""The figures by which two judges are held against each other: few, for each test costs power."""
LOWER_IS_BETTER: Final = frozenset({"mae"})
_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Two judges, one figure, the same draws of users for both."""

    a: str
    b: str
    measure: str
    n: int
    users: int
    figure_a: float | None
    figure_b: float | None
    difference: float | None
    """How much better a is than b; above 0 is better, also where a lower figure is."""
    interval: tuple[float, float] | None
    p: float | None
    p_holm: float | None
    """Adjusted over all comparisons of this figure that were made together."""
    least_p: float | None = None
    """The lowest `p_holm` that so few draws can give so many comparisons; over .05 they show nothing."""

    @property
    def side(self) -> str:
        """`above`, `below`, `not distinguishable`, or `undefined`: a against b, by the adjusted p."""
        if self.difference is None or self.p_holm is None or (self.least_p or 0) > _ALPHA:
            return "undefined"
        if self.p_holm > _ALPHA:
            return "not distinguishable"
        return "above" if self.difference > 0 else "below"

    @property
    def words(self) -> str:
        """The same as a sentence."""
        if self.side in ("above", "below"):
            return f"{self.a if self.side == 'above' else self.b} agrees better with the users"
        if self.p_holm is not None and self.side == "undefined":
            return f"too few draws to tell {self.a} from {self.b}"
        return f"{self.a} and {self.b} are {'not distinguishable' if self.p_holm else 'not comparable'}"

    def to_json(self) -> dict[str, object]:
        """Write the comparison."""
        return {
            "a": self.a,
            "b": self.b,
            "measure": self.measure,
            "n": self.n,
            "n_users": self.users,
            "figure_a": self.figure_a,
            "figure_b": self.figure_b,
            "a_better_by": self.difference,
            "interval": None if self.interval is None else list(self.interval),
            "p": self.p,
            "p_holm": self.p_holm,
            "least_p": self.least_p,
            "side": self.side,
            "words": self.words,
        }


def compare_pairs(
    judges: Mapping[str, Sequence[Scored]],
    pairs: Iterable[tuple[str, str]],
    *,
    draws: int = 1000,
    seed: int = 0,
    measures: Sequence[str] = COMPARED,
) -> tuple[PairedComparison, ...]:
    """Compare judges pair by pair; p-values are adjusted by Holm over all pairs of one figure.

    Args:
        judges: By name; all have the same targets in the same order.
        pairs: Names of two each.
        draws: Bootstrap draws of users; without any there is no p.
        seed: Of the draws.
        measures: Names of figures.
    """
    found = {name: _drawn(scored, measures, draws, seed) for name, scored in judges.items()}
    out = [_compared(a, b, m, judges[a], found, draws) for a, b in pairs for m in measures]
    for measure in measures:
        of = [i for i, c in enumerate(out) if c.measure == measure]
        for i, p in zip(of, holm([out[i].p for i in of]), strict=True):
            out[i] = replace(out[i], p_holm=p, least_p=min(1.0, 2 * len(of) / (draws + 1)))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class _Drawn:
    values: Mapping[str, float | None]
    draws: Mapping[str, Floats]


def _drawn(scored: Sequence[Scored], measures: Sequence[str], draws: int, seed: int) -> _Drawn:
    values = figures_of(scored, draws=0).values
    drawn = measure_draws(scored, measures, draws=draws, seed=seed) if draws and scored else {}
    return _Drawn({m: values[m] for m in measures}, drawn)


def _compared(
    a: str, b: str, measure: str, scored: Sequence[Scored], found: Mapping[str, _Drawn], draws: int
) -> PairedComparison:
    users = len({s.user for s in scored})
    values = [found[name].values[measure] for name in (a, b)]
    point = _gain(measure, *(np.array([np.nan if v is None else v]) for v in values))
    difference = float(point[0]) if np.isfinite(point[0]) and values != [None, None] else None
    interval = p = None
    if draws and users > 1 and difference is not None:
        gains = _gain(measure, found[a].draws[measure], found[b].draws[measure])
        held = interval_of_draws(gains, clusters=users)
        interval = None if held.low is None or held.high is None else (held.low, held.high)
        p = draw_p(gains)
    return PairedComparison(
        a, b, measure, len(scored), users, values[0], values[1], difference, interval, p, None
    )


def _gain(measure: str, mine: Floats, other: Floats) -> Floats:
    """Subtract; a correlation that does not exist, and a class never named, count as 0."""
    if measure in LOWER_IS_BETTER:
        return other - mine
    return np.nan_to_num(mine, nan=0.0) - np.nan_to_num(other, nan=0.0)


_SHOWN = 10

Row = Mapping[str, Any]


@dataclass(slots=True)
class Predictions:
    """What one run says of its turns, beside what users gave them."""

    name: str
    judge: str
    calibration: str
    scored: dict[str, Scored] = field(default_factory=dict)
    """By turn id; users without a history left out."""
    failed: int = 0
    """Turns without a score, those that were not applicable among them."""
    without_history: int = 0


@dataclass(frozen=True, slots=True)
class SeveralJudges:
    """The judges on the turns that all of them scored."""

    n: int
    users: int
    figures: Mapping[str, Figures]
    """By run."""
    comparisons: tuple[PairedComparison, ...]
    """Every pair; p adjusted by Holm over the pairs of a figure."""
    left_out: Mapping[str, int]
    """By run, the turns that it scored and another did not."""

    def to_json(self) -> dict[str, object]:
        """Write it."""
        return {
            "n": self.n,
            "n_users": self.users,
            "left_out": dict(self.left_out),
            "metrics": {name: f.to_json() for name, f in self.figures.items()},
            "comparisons": [c.to_json() for c in self.comparisons],
        }


def collect_predictions(
    about: Predictions, judged: Iterable[tuple[Conversation, Sequence[Row]]], dimension: str
) -> Predictions:
    """Join the rows of a run with the ratings of its conversations, turn by turn.

    Args:
        about: Whose they are; filled and returned.
        judged: Each conversation with the ratings that count, and its rows.
        dimension: The rated one.

    Raises:
        UsageError: A judged turn has no rating, or a rated turn of these conversations was not judged. The
            message lists them.
    """
    strange: list[str] = []
    missing: list[str] = []
    for conversation, rows in judged:
        gold = {r.reply.id: r for r in collect_rated(conversation, dimension).replies}
        failed = {row["turn"] for row in rows if row["failure"] is not None}
        said = {str(row["details"]["turn_id"]): row for row in rows if row["failure"] is None}
        strange += [id for id in said if id not in gold]
        for id, rated in gold.items():
            if id in said:
                _take(about, id, rated.score, said[id])
            elif rated.reply.turn in failed:
                about.failed += 1
            else:
                missing.append(id)
    if strange or missing:
        raise _mismatch(about.name, strange, missing)
    return about


def _take(about: Predictions, id: str, gold: float, row: Row) -> None:
    if row["details"].get("without_history"):
        about.without_history += 1
        return
    score = row["scores"]["satisfaction"]
    if isinstance(score, str):  # not applicable: no score, as in the run's own figures
        about.failed += 1
        return
    user = str(row["user_id"])
    about.scored[id] = Scored(user, f"{user}__{row['scenario']}", gold, float(score))


def _mismatch(name: str, strange: Sequence[str], missing: Sequence[str]) -> UsageError:
    told = []
    if strange:
        told.append(f"{counted(len(strange), 'judged turn')} without a rating: {listed(strange)}")
    if missing:
        told.append(f"{counted(len(missing), 'rated turn')} not judged: {listed(missing)}")
    msg = f"run {name}: the ids of predictions and ratings do not match; {'; '.join(told)}"
    return UsageError(
        msg, hint="ratings join by conversation id and turn; give the ratings the run was made on"
    )


def listed(ids: Sequence[str]) -> str:
    """Name the first ids, and count the others."""
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more


def compare_runs(runs: Sequence[Predictions], *, draws: int = 1000, seed: int = 0) -> SeveralJudges:
    """Hold every run against every other on the turns that all of them scored.

    Args:
        runs: At least one; their names differ.
        draws: Bootstrap draws of users.
        seed: Of the draws.

    Raises:
        UsageError: No turn was scored by all, or the runs disagree about what a user gave a turn.
    """
    shared = [id for id in runs[0].scored if all(id in r.scored for r in runs[1:])]
    if not shared:
        told = "; ".join(f"{r.name}: {listed(list(r.scored)) or 'nothing scored'}" for r in runs)
        msg = f"no turn was scored by all of the runs ({told})"
        raise UsageError(msg, hint="compare runs of the same data and the same part of the users")
    first = runs[0].scored
    other = [id for r in runs[1:] for id in shared if r.scored[id].gold != first[id].gold]
    if other:
        msg = f"the runs hold different ratings of {counted(len(other), 'turn')}: {listed(other)}"
        raise UsageError(msg, hint="compare runs of the same ratings, or give them with --ratings")
    columns = {r.name: [r.scored[id] for id in shared] for r in runs}
    return SeveralJudges(
        n=len(shared),
        users=len({s.user for s in columns[runs[0].name]}),
        figures={name: figures_of(c, draws=draws, seed=seed) for name, c in columns.items()},
        comparisons=compare_pairs(columns, combinations(columns, 2), draws=draws, seed=seed),
        left_out={r.name: len(r.scored) - len(shared) for r in runs},
    )
