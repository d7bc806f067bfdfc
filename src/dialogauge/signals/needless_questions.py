"""Questions for something that the user has already stated."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.attributes import ANY_QUESTION, ATTRIBUTES, Attribute
from dialogauge.signals.dialogue import Dialogue, Sentence, TurnView
from dialogauge.signals.signal import Signal, finding
from dialogauge.signals.tool_use import failed_tools

_ASKING = lazy_pattern(
    r"[?？]|\b(?:please|could you|can you|tell me|i need|we need"
    r"|need (?:to know|your|the)|let me know|provide|send me|share|may i have|what is"
    r"|what's)\b"
    r"|请(?:您|你)?(?:提供|告诉|告知|问|发|说|把|填|再)|麻烦|方便(?:提供|告诉|问|说)|需要(?:您|你|知道|先)|能(?:否)?(?:提供|告诉|说)|告诉我|发我"
)
_OTHER = lazy_pattern(
    r"\b(?:another|other|different|new|else|additional|correct|confirm|right"
    r"|verify|again|return|still|instead|any other|more)\b"
    r"|另|其他|其它|别的|新的|确认|核对|是否|还是|更改|准确|没错|对吗|对吧|再次|换"
)
_NOT_FOUND = lazy_pattern(
    r"\b(?:couldn't|could not|can't|cannot|unable to|didn't|wasn't able to)"
    r" (?:find|locate|identify|match|see|access|look)"
    r"|\bnot found\b|\bno (?:account|record|match|order|booking|reservation)"
    r"|没(?:有)?(?:找到|查到)|查不到|找不到|未找到"
)
_ANOTHER = lazy_pattern(
    r"\b(?:another|other|different|second|new|an|one more) "
    r"(?:order|booking|reservation|trip|account|address|item|parcel|flight|room)"
    r"|\b(?:don't|do not|can't|cannot|not) (?:have|remember|recall|know|sure|find)\b"
    r"|另(?:一|外)|别的|其他|不记得|不知道|忘了|没有订单"
)
_AN_ANSWER = 100
"""Words from which a reply is an answer whatever it asks for."""
_IDENTIFIERS = frozenset(
    {"the order number", "the e-mail address", "the phone number", "the postcode", "the address"}
)


def find_needless_questions(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield questions for something that an earlier user message, or the current one, states."""

    @cache
    def first_statement(attribute: Attribute) -> int:
        users = ((t.number, t.user.plain) for t in dialogue.turns)
        return next((number for number, plain in users if attribute.is_stated_in(plain)), sys.maxsize)

    for turn in dialogue.replied:
        yield from (s for s in _needless_question(turn, first_statement) if not _has_reason(turn))


def _has_reason(turn: TurnView) -> bool:
    """Whether asking again is right: a lookup failed, or the user speaks of something else."""
    return bool(failed_tools(turn) or _NOT_FOUND.search(turn.reply.edges) or _ANOTHER.search(turn.user.plain))


def _needless_question(turn: TurnView, first_statement: Callable[[Attribute], int]) -> Iterator[Signal]:
    whole = turn.reply.whole
    if whole and not ANY_QUESTION.may_match(whole):
        return
    questions = [
        (s.text, s.plain)
        for s in _candidates(turn)
        if _is_question(s) and ANY_QUESTION.search(s.plain, whole)
    ]
    hits = [
        (a, text)
        for a in ATTRIBUTES
        for text, plain in questions
        if a.is_asked_in(plain) and first_statement(a) <= turn.number
    ]
    if not hits:
        return
    # Several attributes asked for at once do not match by chance.
    names = {a.english for a, _ in hits}
    if turn.reply.units > _AN_ANSWER and not names & _IDENTIFIERS:
        return  # an answer that asks for more at its end
    attribute, text = hits[0]
    number = first_statement(attribute)
    # A number or an address is stated once; a date or a length of time may belong to something else.
    strength = 0.75 if names & _IDENTIFIERS else 0.6
    strength = min(0.95, strength + 0.15 * (len(names) - 1) - (0.1 if number == turn.number else 0.0))
    what = attribute.chinese if turn.notes_in == "zh" else attribute.english
    yield finding(
        turn, "asks_for_given", strength, text, "context_use", "forgotten_fact", what=what, turn=number
    )


def _candidates(turn: TurnView) -> tuple[Sentence, ...]:
    """All sentences of a short reply; of a long one the last five and those that end in a question mark."""
    reply = turn.reply
    if len(reply.sentences) <= 20:
        return reply.sentences
    late = reply.sentences[-5:]
    early = len(reply.questions) - sum(s.text[-1] in "?？" for s in late)
    return reply.questions[:early] + late


def _is_question(sentence: Sentence) -> bool:
    """Whether a short sentence asks for something, and not for another one or for a confirmation."""
    plain = sentence.plain
    return len(plain) <= 200 and bool(_ASKING.search(plain)) and not _OTHER.search(plain)
