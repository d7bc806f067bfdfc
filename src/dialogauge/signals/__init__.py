"""Signals: faults that rules find in a dialogue without a model, in English and Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.signals.answering import asks_something, knows_nothing, only_closes, overlap, praises
    from dialogauge.signals.dialogue import Dialogue, TextView, TurnView, cut, read_dialogue, recent_view
    from dialogauge.signals.features import (
        FORM_FEATURES,
        Mode,
        feature_names,
        find_signals,
        read_features,
        reply_form,
    )
    from dialogauge.signals.grounding.duties import Duty, find_neglected, read_duty
    from dialogauge.signals.grounding.replies import find_ungrounded
    from dialogauge.signals.reactions import find_reactions, react
    from dialogauge.signals.refusal import find_refusals, refuses
    from dialogauge.signals.repair import find_concessions, read_repairs
    from dialogauge.signals.repetition import find_repetition
    from dialogauge.signals.roleplay import read_roleplay, roleplay_signs
    from dialogauge.signals.signal import HINT, Dimension, FaultKind, Signal, certainty, is_fault, suffices
    from dialogauge.signals.simulated_user import check_user
    from dialogauge.signals.tool_use import failed_tools
    from dialogauge.signals.user_fault import USER_FAULTS, UserFault, UserFaultKind


__getattr__ = loading(__name__)
