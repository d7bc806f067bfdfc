"""Several judges of the same users: one table of all, and each held against each on the turns they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

from dialogauge.core import Conversation, UsageError
from dialogauge.core.protocols import RatedReply
from dialogauge.runs.records import own_scores
from dialogauge.stats import ClusterDraws, Comparison, compare_pairs, draws_for, figures_of
from dialogauge.studies.satisfaction.answers import SATISFACTION, JudgedReply, answer_of
from dialogauge.studies.satisfaction.blocks import collect_rated
from dialogauge.studies.satisfaction.figures import (
    PEOPLE,
    RULE,
    Metrics,
    judge_scores,
    metrics_of,
    rated_table,
)
from dialogauge.text import counted

COMPARED: Final = ("pearson", "qwk", "f1_dsat", "mae", "within_user_pearson")
"""The measures by which two judges are compared: few, for each test costs power."""

_SHOWN = 10

Row = Mapping[str, Any]


@dataclass(slots=True)
class Predictions:
    """What one run says of its turns, beside what users gave them."""

    name: str
    judge: str
    calibration: str
    scored: dict[str, JudgedReply] = field(default_factory=dict)
    """By turn id; users without a history left out."""
    failed: int = 0
    """Turns without a score, those that were not applicable among them."""
    without_history: int = 0


@dataclass(frozen=True, slots=True)
class SeveralJudges:
    """The judges on the turns that all of them scored."""

    n: int
    users: int
    figures: Mapping[str, Metrics]
    """By run."""
    comparisons: tuple[Comparison, ...]
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
                _take(about, rated, said[id])
            elif rated.reply.turn in failed:
                about.failed += 1
            else:
                missing.append(id)
    if strange or missing:
        raise _mismatch(about.name, strange, missing)
    return about


def _take(about: Predictions, rated: RatedReply, row: Row) -> None:
    if row["details"].get("without_history"):
        about.without_history += 1
        return
    score = own_scores(row)[SATISFACTION]
    if isinstance(score, str):  # not applicable: no score, as in the run's own figures
        about.failed += 1
        return
    user, scenario = str(row["user_id"]), str(row["scenario"])
    about.scored[rated.reply.id] = answer_of(rated, user, scenario, score=int(score), value=float(score))


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
    columns = {r.name: judge_scores([r.scored[id] for id in shared]).rounded() for r in runs}
    table, chance = rated_table([first[id] for id in shared]), ClusterDraws(draws, seed)
    pairs = list(combinations(columns, 2))
    drawn = draws_for(chance, len(pairs), table.n)
    compared = figures_of(table, columns, PEOPLE, COMPARED, rule=RULE, draws=drawn) if pairs else {}
    return SeveralJudges(
        n=len(shared),
        users=len(set(table.users or ())),
        figures=metrics_of(table, columns, draws=chance),
        comparisons=compare_pairs(compared, pairs, COMPARED),
        left_out={r.name: len(r.scored) - len(shared) for r in runs},
    )
