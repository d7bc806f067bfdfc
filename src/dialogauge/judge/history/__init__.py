"""Judges without a language model: what follows from how this user, or others, rated before."""

from dialogauge.judge.history.catalog import HISTORY_JUDGES, STRATEGIES, build_history_judge
from dialogauge.judge.history.guess import Guess, HistoryJudge

__all__ = ["HISTORY_JUDGES", "STRATEGIES", "Guess", "HistoryJudge", "build_history_judge"]
