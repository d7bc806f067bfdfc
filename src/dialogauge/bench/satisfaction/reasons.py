"""The reasons of dissatisfaction that people choose from, under the names that our rubrics use.

PersTurnBench, appendix B: a turn of at most 3 has one of five reasons; a turn of 4 or 5 has none and counts
as satisfied.
"""

from __future__ import annotations

from typing import Final

__all__ = ["NO_REASON", "OTHER_WORDS", "REASONS", "SATISFIED", "reason_of"]

SATISFIED: Final = "satisfied"
NO_REASON: Final = "(none given)"
OTHER_WORDS: Final = "(other words)"

_SPELLINGS: Final = {
    "insufficient_detail": ("insufficient detail", "不够细致"),
    "need_not_met": ("need not met", "failure to satisfy the requirement", "不满足需求"),
    "not_diverse": ("not diverse", "insufficient diversity", "不够多样"),
    "not_usable": ("not usable", "unusable", "unusable in practice", "不可用"),
    "other": ("other", "其它", "其他"),
}
REASONS: Final = tuple(_SPELLINGS)
"""The five reasons."""

_NAMES: Final = {
    spelling: name for name, spellings in _SPELLINGS.items() for spelling in (name, *spellings)
} | dict.fromkeys((SATISFIED, "满意"), SATISFIED)


def reason_of(text: str | None) -> str:
    """Return the name of a reason as data or a judge writes it.

    What is not one of the taxonomy is `OTHER_WORDS`: it is never taken for `other`, which people choose.
    """
    plain = (text or "").strip().casefold()
    return _NAMES.get(plain, OTHER_WORDS) if plain else NO_REASON
