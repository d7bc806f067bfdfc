"""Signals: what can be read off a dialogue without a model, in English and Chinese."""

from dialogauge.signals.answering import asks_something, overlap
from dialogauge.signals.features import feature_names, read_features
from dialogauge.signals.reactions import Reaction, react, repeats_request
from dialogauge.signals.reading import Dialogue, TextView, TurnView, read_dialogue
from dialogauge.signals.repair import Repair, find_concessions, read_repairs
from dialogauge.signals.signal import FAULT_KINDS, Dimension, FaultKind, Signal, cut
from dialogauge.signals.survey import Mode, find_signals
from dialogauge.signals.tool_use import failed_tools
from dialogauge.signals.weighing import certainty, is_fault

__all__ = [
    "FAULT_KINDS",
    "Dialogue",
    "Dimension",
    "FaultKind",
    "Mode",
    "Reaction",
    "Repair",
    "Signal",
    "TextView",
    "TurnView",
    "asks_something",
    "certainty",
    "cut",
    "failed_tools",
    "feature_names",
    "find_concessions",
    "find_signals",
    "is_fault",
    "overlap",
    "react",
    "read_dialogue",
    "read_features",
    "read_repairs",
    "repeats_request",
]
