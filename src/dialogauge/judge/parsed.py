"""What a judge model's reply says, once it has been checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dialogauge.core.scales import NOT_APPLICABLE, Score
from dialogauge.prompts import ItemList

__all__ = ["ParsedPart", "ParsedReply", "ReplyFault", "cut_basis", "share"]

BASIS_WORDS = 40
BASIS_HAN = 80
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")


class ReplyFault(ValueError):
    """The reply does not fit the rubric; the text names every fault and is fit for a re-ask."""


@dataclass(frozen=True)
class ParsedPart:
    """What a reply says of one turn, or of the conversation."""

    scores: Mapping[str, Score]
    notes: Mapping[str, str] = field(default_factory=dict)
    """By dimension; a turn's own note stands under the empty name."""
    issues: tuple[str, ...] = ()
    quotes: tuple[tuple[str, str], ...] = ()
    """Dimension and quote, not yet looked up in the turn."""
    labels: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """By list: text and option of each item."""


@dataclass(frozen=True)
class ParsedReply:
    """A whole reply."""

    turns: Mapping[int, ParsedPart]
    whole: ParsedPart | None = None
    decision_basis: str | None = None
    basis_cut: bool = False
    weakest_turn: int | None = None
    verdict: str | None = None
    """The model's own."""
    extra_keys: int = 0
    """Keys that nobody asked for; ignored."""


def share(items: ItemList, found: tuple[tuple[str, str], ...]) -> Score:
    """Return the mean worth of the items whose option has a worth; `n/a` if there is none."""
    worth = [items.worth[option] for _, option in found if option in items.worth]
    return sum(worth) / len(worth) if worth else NOT_APPLICABLE


def cut_basis(text: str) -> tuple[str, bool]:
    """Cut a text after 40 words or 80 Chinese characters, whichever comes first; say whether it was cut."""
    text = text.strip()
    ends = [match.end() for match in re.finditer(r"\S+", text)][BASIS_WORDS - 1 : BASIS_WORDS + 1]
    han = [match.end() for match in _HAN.finditer(text)][BASIS_HAN - 1 : BASIS_HAN + 1]
    limits = [found[0] for found in (ends, han) if len(found) == 2]
    return (text[: min(limits)] + "…", True) if limits else (text, False)
