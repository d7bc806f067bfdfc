"""Judges without a language model: what follows from how this user, or others, rated before."""

from dialogauge.judge.history.catalog import HISTORY_JUDGES, build_history_judge
from dialogauge.judge.history.episodic import STRATEGIES, Strategy
from dialogauge.judge.history.guess import Guess, HistoryJudge, TurnDimension

__all__ = [
    "HISTORY_JUDGES",
    "STRATEGIES",
    "Guess",
    "HistoryJudge",
    "Strategy",
    "TurnDimension",
    "build_history_judge",
]
