"""Signals: what can be read off a dialogue without a model, in English and Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.signals.answering import asks_something, knows_nothing, overlap
    from dialogauge.signals.features import (
        FORM_FEATURES,
        Mode,
        feature_names,
        find_signals,
        read_features,
        reply_form,
    )
    from dialogauge.signals.reactions import Reaction, react, repeats_request
    from dialogauge.signals.reading import Dialogue, TextView, TurnView, read_dialogue
    from dialogauge.signals.repair import Repair, find_concessions, read_repairs
    from dialogauge.signals.signal import FAULT_KINDS, Dimension, FaultKind, Signal, certainty, cut, is_fault
    from dialogauge.signals.tool_use import failed_tools

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
    "answering": ("asks_something", "knows_nothing", "overlap"),
    "features": ("FORM_FEATURES", "Mode", "feature_names", "find_signals", "read_features", "reply_form"),
    "reactions": ("Reaction", "react", "repeats_request"),
    "reading": ("Dialogue", "TextView", "TurnView", "read_dialogue"),
    "repair": ("Repair", "find_concessions", "read_repairs"),
    "signal": ("Dimension", "FAULT_KINDS", "FaultKind", "Signal", "certainty", "cut", "is_fault"),
    "tool_use": ("failed_tools",),
}
__getattr__ = loading(__name__, _HOMES)
