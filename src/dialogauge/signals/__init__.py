"""Signals: what can be read off a dialogue without a model, in English and Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.signals.answering import asks_something, overlap
    from dialogauge.signals.features import FORM_FEATURES, feature_names, read_features, reply_form
    from dialogauge.signals.not_knowing import knows_nothing
    from dialogauge.signals.reactions import Reaction, react, repeats_request
    from dialogauge.signals.reading import Dialogue, TextView, TurnView, read_dialogue
    from dialogauge.signals.repair import Repair, find_concessions, read_repairs
    from dialogauge.signals.signal import FAULT_KINDS, Dimension, FaultKind, Signal, cut
    from dialogauge.signals.survey import Mode, find_signals
    from dialogauge.signals.tool_use import failed_tools
    from dialogauge.signals.weighing import certainty, is_fault

__all__ = [
    "FAULT_KINDS",
    "FORM_FEATURES",
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
    "knows_nothing",
    "overlap",
    "react",
    "read_dialogue",
    "read_features",
    "read_repairs",
    "repeats_request",
    "reply_form",
]

_HOMES = {
    "answering": ("asks_something", "overlap"),
    "features": ("FORM_FEATURES", "feature_names", "read_features", "reply_form"),
    "not_knowing": ("knows_nothing",),
    "reactions": ("Reaction", "react", "repeats_request"),
    "reading": ("Dialogue", "TextView", "TurnView", "read_dialogue"),
    "repair": ("Repair", "find_concessions", "read_repairs"),
    "signal": ("Dimension", "FAULT_KINDS", "FaultKind", "Signal", "cut"),
    "survey": ("Mode", "find_signals"),
    "tool_use": ("failed_tools",),
    "weighing": ("certainty", "is_fault"),
}
__getattr__ = loading(__name__, _HOMES)
