"""The figures of PersTurnBench's appendix C for a judge, from the table of its targets.

Source: PersTurnBench, appendix C, as its code computes it. The boundary lies between 3 and 4; a figure by
user takes users with three targets or more, weighted by them; within users each user's own mean is taken
away first. Ours beside them: within blocks, over- and under-rating, the share that is far off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

import numpy as np
import numpy.typing as npt

from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.stats import (
    MEASURES,
    Estimate,
    Scores,
    ScoreTable,
    cluster_labels,
    figures_of_tables,
    mean_estimate,
    parse_rule,
    scores_of,
    whole_scores,
)
from dialogauge.studies.satisfaction.answers import JudgedReply

BOUNDARY: Final = 4
"""The lowest score of a satisfied user; 3.9 is dissatisfied."""
RULE: Final = parse_rule(f"<{BOUNDARY}")
PEOPLE: Final = "people"
"""The source of a table that holds what the users gave."""
_OTHERS: Final = (
    *("kappa", "kappa_linear", "kendall", "ac1", "ac2", "randolph", "brennan_prediger", "alpha_nominal"),
    *("alpha_ordinal", "alpha_interval", "alpha_ratio", "uar", "exact", "within_one", "f1_dsat_published"),
    *("within_user_auc", "within_block_auc"),
)
FIGURES: Final = tuple(name for name in MEASURES if name not in _OTHERS)
"""The measures of the study, in the order in which files show them."""
ORDINAL: Final = tuple(name for name in FIGURES if not MEASURES[name].needs & {"classes", "ranking"})
"""Those that read a score as one of five, and not only its side of the boundary."""


NamedFigures = TypedDict(  # type: ignore[misc] # the names stand there
    "NamedFigures", dict.fromkeys(FIGURES, float | None)
)


@keys(users="n_users", values=None, figures=INSIDE)
@dataclass(frozen=True, slots=True)
class Metrics:
    """The figures of one judge or control, with the counts that they stand on."""

    n: int
    n_failed: int
    users: int
    values: Mapping[str, float | None]
    """By name; None where a figure is undefined."""
    intervals: Mapping[str, tuple[float, float] | None]
    """95 %, clustered by user; empty where none were asked for."""
    users_used: Mapping[str, int]
    """Users that the per-user figures stand on."""

    @property
    def figures(self) -> NamedFigures:
        """The values, each under its name."""
        return self.values  # type: ignore[return-value]


def rated_table(answers: Sequence[JudgedReply]) -> ScoreTable:
    """Return the table of the answers' targets, with what the users gave as its only source."""
    users = [a.user for a in answers]
    clusters, unit = cluster_labels(users, [a.session for a in answers])
    return ScoreTable(
        {PEOPLE: scores_of([a.gold for a in answers])},
        clusters,
        unit,
        tuple(users),
        tuple(a.block for a in answers),
        np.array([a.position for a in answers], dtype=np.float64),
        np.array([a.length for a in answers], dtype=np.float64),
    )


def judge_scores(answers: Sequence[JudgedReply]) -> Scores:
    """Return what the judge gave: its values with fractions, and its own whole scores.

    Each answer has a value: a failure stays out of every figure, and would make all of them NaN here.
    """
    values = [np.nan if a.value is None else a.value for a in answers]
    rounded = whole_scores(values).tolist()
    own = [w if a.score is None else float(a.score) for a, w in zip(answers, rounded, strict=True)]
    return scores_of(values, whole=own)


def metrics_of(
    table: ScoreTable,
    columns: Mapping[str, Scores | Sequence[Scores]],
    *,
    failed: int = 0,
    intervals: bool = True,
) -> dict[str, Metrics]:
    """Compute all figures of several columns on the same targets.

    Args:
        table: Of the targets, as `rated_table` makes it.
        columns: By name; of what was dealt by chance several versions, whose mean counts.
        failed: How many targets the judge failed on; counted, never scored.
        intervals: Whether they are wanted; figures alone are quicker.
    """
    tables = dict.fromkeys(columns, table)
    return metrics_of_tables(tables, columns, failed=failed, intervals=intervals)


def metrics_of_tables(
    tables: Mapping[str, ScoreTable],
    columns: Mapping[str, Scores | Sequence[Scores]],
    *,
    failed: int = 0,
    intervals: bool = True,
) -> dict[str, Metrics]:
    """Compute all figures of several columns, each on targets of its own; see `metrics_of`."""
    figures = figures_of_tables(tables, columns, PEOPLE, FIGURES, rule=RULE, intervals=intervals)
    out = {}
    for name, of in figures.items():
        table = tables[name]
        ends = {m: e.interval for m, e in of.estimates.items()} if intervals and table.n else {}
        used = {"correlation": of.support["per_user_pearson"], "boundary": of.support["per_user_f1_sat"]}
        users = len(set(table.users or ()))
        out[name] = Metrics(table.n, failed, users, of.values, ends, {k: n or 0 for k, n in used.items()})
    return out


def metrics_of_one(table: ScoreTable, column: Scores, *, failed: int = 0, intervals: bool = True) -> Metrics:
    """Compute all figures of one column."""
    return metrics_of(table, {"judge": column}, failed=failed, intervals=intervals)["judge"]


def mean_by_user(
    values: Sequence[float] | npt.NDArray[np.float64],
    users: Sequence[str],
    sessions: Sequence[str],
    limits: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """Return the mean over cases with an interval clustered by user; of one user alone by conversation.

    Args:
        values: Shape (n,); a share takes 0 and 1.
        users: Shape (n,).
        sessions: Shape (n,), the conversation of each case.
        limits: The range of the values.
    """
    clusters, unit = cluster_labels(users, sessions)
    return mean_estimate(values, clusters, limits=limits, unit=unit)
