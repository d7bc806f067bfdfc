"""How simulated users write beside real ones: the length of messages, and shares, in standard deviations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from dialogauge.core.conversation import Conversation
from dialogauge.core.patterns import lazy_pattern
from dialogauge.stats import Estimate, Floats, label_codes
from dialogauge.stats.means import gain_of_sums
from dialogauge.text import pieces

_POLITE: Final = lazy_pattern(
    r"\b(?:please|thanks?|thank you|sorry|could you|would you)\b|[请谢您]|麻烦|不好意思"
)
_SLOPPY: Final = lazy_pattern(
    r"(?<![\w'])i(?=[ ,.!?']|$)|\b(?i:(?:do|ca|wo|is|did|does)nt|im|ive|thats|u|ur|pls|thx)\b|([a-zA-Z])\1{2}"
)


def _of_latin(sign: Callable[[str], object]) -> Callable[[str], float]:
    """Return 1 or 0 for a text that begins in Latin script, else no number."""
    return lambda text: float(bool(sign(text))) if text[0].isascii() and text[0].isalpha() else math.nan


_FEATURES: Final[Mapping[str, Callable[[str], float]]] = {
    "length": lambda text: math.log(max(1.0, pieces(text).units)),
    "question": lambda text: float("?" in text or "？" in text),
    "exclamation": lambda text: float("!" in text or "！" in text),
    "polite_words": lambda text: float(_POLITE.search(text.lower()) is not None),
    "begins_in_lower_case": _of_latin(lambda text: text[0].islower()),
    "no_mark_at_the_end": lambda text: float(text[-1].isalnum()),
    "sloppy_spelling": _of_latin(_SLOPPY.search),
}
"""Of each message the log of its words (a Chinese character counts 0.6), and whether it has a feature."""


@dataclass(frozen=True, slots=True)
class StyleFigure:
    """One feature of the messages of simulated and of real users."""

    name: str
    simulated: float | None
    """The mean; of `length` the geometric mean in words."""
    real: float | None
    difference: Estimate
    """Simulated less real, in standard deviations within both."""


@dataclass(frozen=True, slots=True)
class Style:
    """How simulated users write beside real ones."""

    real: str
    """Where the real users are from."""
    messages: int
    """Of simulated users."""
    real_messages: int
    figures: tuple[StyleFigure, ...]
    times_as_long: Estimate
    """The geometric mean length of simulated messages by that of real ones."""


@dataclass(slots=True)
class StyleSample:
    """The features of messages, and who wrote each."""

    name: str
    writers: list[str] = field(default_factory=list)
    rows: list[tuple[float, ...]] = field(default_factory=list)

    def read(self, conversation: Conversation) -> None:
        """Add the user's messages that are new in a conversation."""
        for message in conversation.messages[conversation.prefix :]:
            if message.role == "user" and (text := message.text.strip()):
                self.writers.append(conversation.user_id or conversation.id)
                self.rows.append(tuple(feature(text) for feature in _FEATURES.values()))


def compare_styles(simulated: StyleSample, real: StyleSample) -> Style | None:
    """Compare each feature, with intervals by writer; None where either side has no message."""
    if not simulated.rows or not real.rows:
        return None
    codes, _ = label_codes([*((0, w) for w in real.writers), *((1, w) for w in simulated.writers)])
    columns = np.array([*real.rows, *simulated.rows]).T
    pairs = [_figure(name, c, codes, len(real.rows)) for name, c in zip(_FEATURES, columns, strict=True)]
    figures = [figure for figure, _ in pairs]
    length, spread = pairs[0]
    times, means = length.difference, (length.simulated, length.real)
    low, value, high = (
        None if e is None else math.exp(e * spread) for e in (times.low, times.value, times.high)
    )
    times = replace(times, low=low, value=value, high=high)
    in_words = [None if mean is None else math.exp(mean) for mean in means]
    figures[0] = replace(length, simulated=in_words[0], real=in_words[1])
    return Style(real.name, len(simulated.rows), len(real.rows), tuple(figures), times)


def _figure(name: str, column: Floats, codes: np.ndarray, n_real: int) -> tuple[StyleFigure, float]:
    """Compare one feature; return also the standard deviation within both sides."""
    known, is_real = ~np.isnan(column), np.arange(column.size) < n_real
    sides, means, within, sums = (known & is_real, known & ~is_real), [], 0.0, []
    for side in sides:
        means.append(float(column[side].mean()) if side.any() else None)
        within += float(np.var(column[side]) * side.sum()) if side.any() else 0.0
    spread = math.sqrt(within / max(1, int(known.sum()) - 2)) or 1.0
    scaled = np.where(known, column, 0.0) / spread
    for side in sides:
        weights = (scaled * side, side.astype(np.float64))
        by_writer = (np.bincount(codes, weights=w).astype(np.float64) for w in weights)
        sums.append((next(by_writer), next(by_writer)))
    limits = (float(scaled.min()), float(scaled.max()) + 1e-9)
    gain, basis = gain_of_sums(sums[0], sums[1], limits=limits, unit="users", paired=False)
    return StyleFigure(name, means[1], means[0], basis.difference(gain)[0]), spread
