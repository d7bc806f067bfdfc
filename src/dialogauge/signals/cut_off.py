"""Replies that stop in the middle: in a sentence, a point of a list, a table or a block of code.

No list of words that a reply may end with: what counts is whether it closes, and whether this assistant does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.dialogue import Dialogue, TextView
from dialogauge.signals.signal import Signal, finding

_CLOSED: Final = lazy_pattern(
    r"(?:[.!?…。！？!?~～;；:：]|[)\]）】」』》”»|])[\s*_\"'”’»)\]）】」』》>`]*$|https?://\S+$|\S+@\S+$"
)
_STOPS: Final = tuple(".!?。！？…")
_TAIL: Final = 100
"""Characters of a line in which it is seen how it ends."""
_WORD_LAST: Final = lazy_pattern(r"(?<!\S)(?!#)\S*[A-Za-zÀ-ÿ\u4e00-\u9fff]['’]?[*_]*$")
_GOES_ON: Final = lazy_pattern(
    r"\b(?:the|an?|and|or|of|with|from|my|your|our|their|its|is|are|was|were|be|if|which|as|but|than|would|could"
    r"|should|will|into|between|because|while|i|we|i'm|i'll|i've|you'll|you're)[*_]*$"
    r"|[-,，、（\[【「『《“$£€¥&+=/][*_]*$|(?<![:;])(?<![:;]-)\($",
    re.IGNORECASE,
)
"""The closed class of words and the signs after which a sentence goes on."""
_ITEM: Final = lazy_pattern(
    r"(\s*)(?:[-*•·▪◦–]|\(?\d{1,2}[.)、）]|[①-⑳]|[一二三四五六七八九十]{1,2}、|\*\*[^*]+\*\*\s*[:：])\s*(?=\S)"
)
_HEADING: Final = lazy_pattern(r"\s*#{1,6}\s")
_STAGED: Final = lazy_pattern(r"\[[^\[\]\d]{2,40}\] |(?<!\*)\*[^*]{2,60}\*(?!\*)")
"""`[action] waves` and `*waves*`, as in plays: no sentence."""
_POINT_CLOSED: Final = lazy_pattern(r"[.!?。！？；;]\W*$")
_INNER_STOP: Final = lazy_pattern(r"[。！？!?…]|[.](?=\s)")
_OPENING: Final = ("()", "（）", "[]", "【】", "「」", "『』", "《》", "“”")
_LONG_LIST, _SENTENCE, _FEW = 60, 6, 4
"""Words of a reply with a list, of a lone sentence, and of anything that can be said to be cut."""
_HABIT: Final = 2
"""Earlier replies without a stop, none of them cut for certain, from which that is this assistant's way."""


def find_cut_off(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that end in the middle of something."""
    loose = certain = 0
    for turn in dialogue.replied:
        end = _end_of(turn.reply)
        if end == "cut" or (end == "point" and turn.reply.units >= _LONG_LIST):
            yield finding(turn, "cut_off", 0.85, turn.reply.text[-100:], "helpfulness", "non_answer")
        elif end == "loose" and (certain or loose < _HABIT) and (strength := _unclosed(turn.reply)):
            yield finding(turn, "cut_off", strength, turn.reply.text[-100:], "helpfulness", "non_answer")
        certain += end == "cut"
        loose += end == "loose"


def _end_of(reply: TextView) -> Literal["closed", "cut", "point", "loose"]:
    """Say how a reply ends: as it should, cut for certain, with an open point, or without a stop."""
    text = reply.text.rstrip()
    if text.count("```") % 2:
        return "cut"
    if text[-1:] in _STOPS:
        return "closed"
    lines = text.split("\n")
    last = lines[-1].strip()
    marked = last in ("-", "*", "•") and len(lines) > 1
    if not marked and (reply.units < _FEW or text.endswith("```") or not any(map(str.isalpha, last))):
        return "closed"
    if last.startswith("|"):
        return "closed" if last.endswith("|") else "cut"
    if marked or _GOES_ON.search(last[-_TAIL:]):
        return "cut"
    if _CLOSED.search(last[-_TAIL:]) or not _WORD_LAST.search(last) or _STAGED.search(last):
        return "closed"
    if _HEADING.match(lines[-1]) or _is_open(last):
        return "cut"
    return _end_of_point(lines) if _ITEM.match(lines[-1]) else "loose"


def _is_open(line: str) -> bool:
    """Whether a bracket, a quote or a mark of emphasis is open at the end of a line."""
    return any(line.count(a) > line.count(b) for a, b in _OPENING) or any(
        line.count(m) % 2 for m in ("**", "`")
    )


def _end_of_point(lines: list[str]) -> Literal["cut", "point"]:
    """Compare the last point of a list with those before it: all of them closed, or all with a colon."""
    indent = lines[-1][: len(lines[-1]) - len(lines[-1].lstrip())]
    others = [line for line in lines[:-1] if (m := _ITEM.match(line)) and m[1] == indent]
    closed = bool(others) and all(map(_POINT_CLOSED.search, others))
    labels = len(others) > 1 and all(":" in line or "：" in line for line in others)
    return "cut" if closed or (labels and not re.search("[:：]", lines[-1])) else "point"


def _unclosed(reply: TextView) -> float:
    """Return how sure it is that a reply without a stop at its end is cut: it has stops within, or is long.

    People who type leave out the last stop of a lone sentence: that is a hint, and no fault by itself.
    """
    text = reply.text.strip()
    if next((c for c in text if c.isalpha()), "").islower():
        return 0.0
    return 0.8 if _INNER_STOP.search(text[:-1]) else 0.65 if reply.units >= _SENTENCE else 0.0
