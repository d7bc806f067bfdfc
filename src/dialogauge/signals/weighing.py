"""How sure the findings about a turn are together: one clear cue, or two that do not hang on each other.

Three sources count as independent: the reply itself, what the user says next, and what the assistant owns
to afterwards. Within a source the strongest finding counts alone, since one wording often rings several
bells. With strengths read as chances, the turn is sound when all sources err::

    certainty = 1 - (1 - reply) (1 - user) (1 - admission)

A turn is faulty from 0.7: a finding of 0.7 alone, or for example 0.5 in the reply and 0.45 in what follows.
"""

from __future__ import annotations

from collections.abc import Iterable

from dialogauge.signals.signal import Dimension, Signal

__all__ = ["SURE", "certainty", "is_fault"]

SURE = 0.7
_ACROSS = 0.25
_EPSILON = 1e-9  # 0.7 as a product of floats


def certainty(signals: Iterable[Signal], about: Dimension | None = None) -> float:
    """Return how sure it is that the turn the findings are about has a fault, 0..1.

    With `about`, what is a finding about the other dimension counts 0.25 less.
    """
    strongest: dict[str, float] = {}
    for signal in signals:
        strength = signal.strength if about in (None, signal.about) else signal.strength - _ACROSS
        source = signal.source
        strongest[source] = max(strength, strongest.get(source, 0.0))
    sound = 1.0
    for strength in strongest.values():
        sound *= 1 - strength
    return 1 - sound


def is_fault(signals: Iterable[Signal]) -> bool:
    """Say whether the findings about a turn suffice to call it faulty."""
    return certainty(signals) >= SURE - _EPSILON
