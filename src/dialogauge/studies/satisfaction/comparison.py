"""Several judges of the same users: one table of all, and each against each on the turns they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

from dialogauge.core import Conversation, UsageError
from dialogauge.core.json_keys import keys
from dialogauge.runs import Row
from dialogauge.runs.records import own_scores
from dialogauge.stats import Comparison, compare_pairs, figures_of
from dialogauge.studies.satisfaction.answers import (
    SATISFACTION,
    JudgedReply,
    answer_of,
    listed,
    rows_by_reply,
)
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

COMPARED: Final = ("pearson", "qwk", "f1_dsat", "mae", "within_user_pearson", "within_block_pearson")
"""The measures by which two judges are compared: few, for each test costs power."""


@keys(summary=None, scored=None, n="scored")
@dataclass(slots=True)
class Predictions:
    """One run's scores of its turns, beside the users' ratings."""

    name: str
    judge: str
    calibration: str
    summary: Mapping[str, Any] = field(default_factory=dict)
    """`summary.json` of the run."""
    scored: dict[str, JudgedReply] = field(default_factory=dict)
    """By turn id; users without a history left out."""
    failed: int = 0
    """Turns without a score, those that were not applicable among them."""
    without_history: int = 0

    @property
    def n(self) -> int:
        """How many turns were scored."""
        return len(self.scored)


@keys(users="n_users", figures="metrics")
@dataclass(frozen=True, slots=True)
class SeveralJudges:
    """The judges on the turns that all of them scored."""

    runs: tuple[Predictions, ...]
    n: int
    users: int
    figures: Mapping[str, Metrics]
    """By run."""
    comparisons: tuple[Comparison, ...]
    """Every pair; p adjusted by Holm over all of them."""
    left_out: Mapping[str, int]
    """By run, the turns that it scored and another did not."""


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
    unrated: list[str] = []
    unjudged: list[str] = []
    for conversation, rows in judged:
        gold = {r.reply.id: r for r in collect_rated(conversation, dimension).replies}
        failed = {row["turn"] for row in rows if row["failure"] is not None}
        by_reply = rows_by_reply(rows)
        unrated += [id for id in by_reply if id not in gold]
        for id, rated in gold.items():
            row = by_reply.get(id)
            if row is None:
                if rated.reply.turn in failed:
                    about.failed += 1
                else:
                    unjudged.append(id)
            elif row["details"].get("without_history"):
                about.without_history += 1
            elif isinstance(score := own_scores(row)[SATISFACTION], str):
                about.failed += 1  # not applicable: no score, as in the run's own figures
            else:
                user, scenario = str(row["user_id"]), str(row["scenario"])
                about.scored[id] = answer_of(rated, user, scenario, score=int(score), value=float(score))
    parts = ((unrated, "judged turn", "without a rating"), (unjudged, "rated turn", "not judged"))
    if mismatches := [f"{counted(len(ids), what)} {why}: {listed(ids)}" for ids, what, why in parts if ids]:
        msg = f"run {about.name}: the ids of predictions and ratings do not match; {'; '.join(mismatches)}"
        hint = "ratings join by conversation id and turn; give the ratings the run was made on"
        raise UsageError(msg, hint=hint)
    return about


def compare_runs(runs: Sequence[Predictions]) -> SeveralJudges:
    """Compare every run with every other on the turns that all of them scored.

    Args:
        runs: At least one; their names differ.

    Raises:
        UsageError: No turn was scored by all, or the runs disagree about what a user gave a turn.
    """
    shared = [id for id in runs[0].scored if all(id in r.scored for r in runs[1:])]
    if not shared:
        scored = "; ".join(f"{r.name}: {listed(list(r.scored)) or 'nothing scored'}" for r in runs)
        msg = f"no turn was scored by all of the runs ({scored})"
        raise UsageError(msg, hint="compare runs of the same data and the same part of the users")
    first = runs[0].scored
    other = [id for r in runs[1:] for id in shared if r.scored[id].gold != first[id].gold]
    if other:
        msg = f"the runs hold different ratings of {counted(len(other), 'turn')}: {listed(other)}"
        raise UsageError(msg, hint="compare runs of the same ratings, or give them with --ratings")
    columns = {r.name: judge_scores([r.scored[id] for id in shared]).rounded() for r in runs}
    table, pairs = rated_table([first[id] for id in shared]), list(combinations(columns, 2))
    compared = figures_of(table, columns, PEOPLE, COMPARED, rule=RULE) if pairs else {}
    return SeveralJudges(
        runs=tuple(runs),
        n=len(shared),
        users=len(set(table.users or ())),
        figures=metrics_of(table, columns),
        comparisons=compare_pairs(compared, pairs, COMPARED),
        left_out={r.name: len(r.scored) - len(shared) for r in runs},
    )
