"""Asking for what the user has already given."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialogauge.signals.attributes import ANY_ASKED, ATTRIBUTES, Attribute
from dialogauge.signals.reading import Dialogue, Sentence, TurnView
from dialogauge.signals.signal import Signal, cut
from dialogauge.signals.tool_use import failed_tools
from dialogauge.signals.wording import note

__all__ = ["find_needless_questions"]


_ASKING = re.compile(
    r"[?？]|\b(?:please|could you|can you|tell me|i need|we need"
    r"|need (?:to know|your|the)|let me know|provide|send me|share|may i have|what is"
    r"|what's)\b"
    r"|请(?:您|你)?(?:提供|告诉|告知|问|发|说|把|填|再)|麻烦|方便(?:提供|告诉|问|说)|需要(?:您|你|知道|先)|能(?:否)?(?:提供|告诉|说)|告诉我|发我"
)
_OTHER = re.compile(
    r"\b(?:another|other|different|new|else|additional|correct|confirm|right"
    r"|verify|again|return|still|instead|any other|more)\b"
    r"|另|其他|其它|别的|新的|确认|核对|是否|还是|更改|准确|没错|对吗|对吧|再次|换"
)

_NOT_FOUND = re.compile(
    r"\b(?:couldn't|could not|can't|cannot|unable to|didn't|wasn't able to)"
    r" (?:find|locate|identify|match|see|access|look)"
    r"|\bnot found\b|\bno (?:account|record|match|order|booking|reservation)"
    r"|没(?:有)?(?:找到|查到)|查不到|找不到|未找到"
)
_ANOTHER = re.compile(
    r"\b(?:another|other|different|second|new|an|one more) "
    r"(?:order|booking|reservation|trip|account|address|item|parcel|flight|room)"
    r"|\b(?:don't|do not|can't|cannot|not) (?:have|remember|recall|know|sure|find)\b"
    r"|另(?:一|外)|别的|其他|不记得|不知道|忘了|没有订单"
)


_IDENTIFIERS = frozenset(
    {"the order number", "the e-mail address", "the phone number", "the postcode", "the address"}
)


def find_needless_questions(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield questions for something that an earlier user message, or the current one, holds."""
    given = _Given()
    for turn in dialogue.turns:
        given.add(turn)
        if turn.replied:
            yield from (s for s in _asked(turn, given) if not _has_reason(turn))


class _Given:
    """In which turn the user first gave something; looked up when an assistant asks for it."""

    def __init__(self) -> None:
        self._turns: list[TurnView] = []
        self._looked_at: dict[str, int] = {}
        self._first: dict[str, int] = {}

    def add(self, turn: TurnView) -> None:
        self._turns.append(turn)

    def first(self, attribute: Attribute) -> int | None:
        """Look at the turns that came since it was last asked for."""
        name = attribute.english
        if name not in self._first:
            for turn in self._turns[self._looked_at.get(name, 0) :]:
                if attribute.given.search(turn.user.plain):
                    self._first[name] = turn.number
                    break
            self._looked_at[name] = len(self._turns)
        return self._first.get(name)


def _has_reason(turn: TurnView) -> bool:
    """Whether to ask anew is right: what was given was not found, or the user speaks of something else."""
    return bool(failed_tools(turn) or _NOT_FOUND.search(turn.reply.edges) or _ANOTHER.search(turn.user.plain))


def _asked(turn: TurnView, given: _Given) -> Iterator[Signal]:
    asked = [(s.text, s.plain) for s in _likely(turn) if _is_question(s) and ANY_ASKED.search(s.plain)]
    found = [(a, raw) for a in ATTRIBUTES for raw, p in asked if a.asked.search(p) and given.first(a)]
    if not found:
        return
    # Several things asked again at once are no chance agreement of words.
    kinds = {a.english for a, _ in found}
    attribute, raw = found[0]
    number = given.first(attribute)
    # A number or an address is given once; a date or a length of time may be another's.
    strength = 0.75 if kinds & _IDENTIFIERS else 0.6
    strength = min(0.95, strength + 0.15 * (len(kinds) - 1) - (0.1 if number == turn.number else 0.0))
    what = attribute.chinese if turn.language == "zh" else attribute.english
    text = note("asks_for_given", turn.language, what=what, turn=number)
    yield Signal("asks_for_given", turn.number, strength, cut(raw), text, "context_use", "forgotten_fact")


def _likely(turn: TurnView) -> tuple[Sentence, ...]:
    """All sentences of a short reply; of a long one the last five and those that end in a question mark."""
    reply = turn.reply
    if len(reply.sentences) <= 20:
        return reply.sentences
    late = reply.sentences[-5:]
    early = len(reply.questions) - sum(s.text[-1] in "?？" for s in late)
    return reply.questions[:early] + late


def _is_question(sentence: Sentence) -> bool:
    """A question or a plea for something, in a short line, that is not about another or for confirming."""
    plain = sentence.plain
    return len(plain) <= 200 and bool(_ASKING.search(plain)) and not _OTHER.search(plain)
