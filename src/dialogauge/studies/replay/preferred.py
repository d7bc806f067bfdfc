"""Which of two answers to a state the judge of a run prefers: its verdicts, else by its scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Final

from dialogauge.core import PairRating, UsageError
from dialogauge.runs import Row, StoredRun
from dialogauge.studies.replay.items import ORIGINAL
from dialogauge.studies.replay.scoring import PREFERRED

_EQUAL: Final = 1e-9
"""Means nearer than this differ by rounding alone."""
Winners = tuple[str, str, str]
"""The names of two answers, and which is preferred: `a`, `b` or `tie`."""


def rows_by_state(run: StoredRun) -> dict[str, dict[str, Row]]:
    """Return by state and candidate what the judge said; UsageError where nobody scored the run."""
    if not run.dimensions:
        path = run.directory.path
        msg = f"nobody has scored the replies of {path}"
        raise UsageError(msg, hint=f"dialogauge replay score {path} --rubric RUBRIC")
    states: dict[str, dict[str, Row]] = {}
    for row in run.rows():
        if row["candidate"] is not None and row["failure"] is None:
            states.setdefault(row["conversation_id"], {})[row["candidate"]] = row
    return states


def quality(run: StoredRun, row: Row) -> float | None:
    """Return the mean of an answer's scores, from 0 the worst to 1 the best; None without one."""
    known = ((d.scale, row["scores"].get(d.name)) for d in run.dimensions)
    values = [scale.quality(score) for scale, score in known if isinstance(score, int | float)]
    return sum(values) / len(values) if values else None


def by_pairs(run: StoredRun) -> bool:
    """Whether answers were held against the original ones, and got no scores of their own."""
    return [d.name for d in run.dimensions] == [PREFERRED.name]


def winners(run: StoredRun, rows: Mapping[str, Row]) -> Iterator[Winners]:
    """Yield any two answers to a state: that with the better mean wins, equal ones tie."""
    qualities = {name: of for name, row in rows.items() if (of := quality(run, row)) is not None}
    beside = by_pairs(run)
    if beside:
        qualities[ORIGINAL] = 0.5
    for a, b in combinations(qualities, 2):
        if not beside or b == ORIGINAL:
            ahead = qualities[a] - qualities[b]
            yield a, b, "tie" if abs(ahead) < _EQUAL else "a" if ahead > 0 else "b"


def preferences(run: StoredRun) -> Iterator[PairRating]:
    """Yield which of two answers the judge prefers, wherever it says."""
    judge = str(run.manifest.judge["name"])
    for state, rows in rows_by_state(run).items():
        turn = next(iter(rows.values()))["turn"]
        for a, b, winner in winners(run, rows):
            yield PairRating(a, b, winner, judge, None, state, turn=turn)
