"""The judges without a model, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dialogauge.core import UsageError
from dialogauge.judge.history.episodic import Strategy, episodic
from dialogauge.judge.history.guess import HistoryJudge, Rule
from dialogauge.judge.history.nearest import nearest
from dialogauge.judge.history.others import global_majority, global_mean, task_majority, task_mean
from dialogauge.judge.history.own import (
    history_cdf_hash,
    history_majority,
    history_mean,
    history_median,
)

__all__ = ["HISTORY_JUDGES", "build_history_judge"]

_PLAIN: Final[Mapping[str, Rule]] = {
    "global-mean": global_mean,
    "global-majority": global_majority,
    "task-mean": task_mean,
    "task-majority": task_majority,
    "history-mean": history_mean,
    "history-median": history_median,
    "history-majority": history_majority,
    "history-cdf-hash": history_cdf_hash,
    "nearest-1": nearest(1),
    "nearest-3": nearest(3),
}
_EPISODIC: Final = "episodic-nearest"

HISTORY_JUDGES: Final = (*_PLAIN, _EPISODIC)
"""Their names, the least informed first."""

_K: Final = 6
"""The published row."""


def build_history_judge(name: str, *, strategy: Strategy | None = None, k: int | None = None) -> HistoryJudge:
    """Build a judge by its name.

    Args:
        name: One of `HISTORY_JUDGES`.
        strategy: How `episodic-nearest` chooses turns; `topk` when None.
        k: How many turns it takes; 6 when None.

    Raises:
        UsageError: No judge is called so, or it takes no strategy or k.
    """
    if name == _EPISODIC:
        chosen, many = strategy or "topk", k or _K
        return HistoryJudge(name, episodic(chosen, many), {"strategy": chosen, "k": many})
    if name not in _PLAIN:
        msg = f"no judge without a model is called {name!r}"
        raise UsageError(msg, hint=f"there are {', '.join(HISTORY_JUDGES)}")
    if strategy is not None or k is not None:
        msg = f"the judge {name} takes neither --strategy nor --k"
        raise UsageError(msg, hint=f"they belong to {_EPISODIC}")
    return HistoryJudge(name, _PLAIN[name])
