"""IdeaBench's rank of the published idea among generated ones, with the letters shuffled.

Guo et al. 2024 (github.com/amir-hassan25/IdeaBench). There the published idea always comes first, as A, and
a reply without a list earned -0.33. Here the order is drawn, and such a reply has no score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from string import ascii_uppercase

from dialogauge.core.errors import UsageError
from dialogauge.core.patterns import lazy_pattern

_NAME = r"(?:(?:Hypothesis|Idea)[ \t]{1,9}|假设[ \t]{0,9}|想法[ \t]{0,9})?([A-Z])"
_BOLD = lazy_pattern(rf"\*\*[ \t]{{0,9}}{_NAME}[ \t]{{0,9}}[:：.]?[ \t]{{0,9}}\*\*")
_LISTED = lazy_pattern(rf"^[ \t]{{0,9}}(\d{{1,2}})[.)、．][ \t*_(（]{{0,9}}{_NAME}\b", re.MULTILINE)
_CHAIN = lazy_pattern(r"\b[A-Z](?:[ \t]{0,9}[>＞][ \t]{0,9}[A-Z])+\b")


def ideas_of(reply: str) -> Sequence[str]:
    """Cut a reply at `---IDEA-SEPARATOR---` into ideas; `NULL` fills up to three, as published."""
    ideas = [part.strip() for part in reply.split("---IDEA-SEPARATOR---") if part.strip()]
    return [*ideas, *["NULL"] * (3 - len(ideas))]


def shuffled_letters(ideas: int, seed: int) -> Mapping[str, int]:
    """Return which idea each letter of the list stands for: 0 is the published one, then `ideas` others.

    The same seed draws the same order: give each case and criterion its own.

    Raises:
        UsageError: There are none, or more than letters.
    """
    if not 1 <= ideas < len(ascii_uppercase):
        message = f"1 to {len(ascii_uppercase) - 1} ideas can be ranked, not {ideas}"
        raise UsageError(message)
    order = list(range(ideas + 1))
    Random(seed).shuffle(order)
    return dict(zip(ascii_uppercase, order, strict=False))


def read_ranking(reply: str, letters: Sequence[str]) -> Sequence[str] | None:
    """Return the letters in the order of a reply's list, best first; None unless each of them is in it.

    Read are lines like `1. **Hypothesis C**`, as asked for, of several lists the last; else `**C**` anywhere;
    else `C > A > B`. A letter counts where it is named first; others do not count.
    """
    listed: list[str] = []
    for number, letter in _LISTED.findall(reply):
        listed = [letter] if number == "1" else [*listed, letter]
    chains = (re.findall("[A-Z]", chain) for chain in _CHAIN.findall(reply))
    for named in (listed, _BOLD.findall(reply), *chains):
        ranking = [letter for letter in dict.fromkeys(named) if letter in letters]
        if len(ranking) == len(letters) > 0:
            return ranking
    return None


def gold_rank_score(reply: str, letters: Mapping[str, int]) -> float | None:
    """Return (rank of the published idea - 1) / the number of generated ones: 0 if it is best, 1 if last.

    `letters` come from `shuffled_letters`. Chance earns 0.5. None where the reply does not rank all of them.
    """
    ranking = read_ranking(reply, list(letters)) or ()
    order = [letters[letter] for letter in ranking]
    return order.index(0) / (len(order) - 1) if 0 in order and len(order) > 1 else None
