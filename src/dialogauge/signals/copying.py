"""What a reply takes from others: an echo of the request and nothing more, codes that were copied wrongly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.answering import knows_nothing, only_closes, overlap
from dialogauge.signals.caching import cached_on_view
from dialogauge.signals.dialogue import Dialogue, TextView, TurnView
from dialogauge.signals.signal import Signal, finding

_TOKEN: Final = lazy_pattern(r"[^\W\d_\u4e00-\u9fff]+(?:['’][a-z]+)?|\d+|[\u4e00-\u9fff]")
_AS_YOU: Final[Mapping[str, str]] = {
    **dict.fromkeys(("i", "me", "we", "us"), "you"),
    **dict.fromkeys(("my", "our"), "your"),
    "mine": "yours",
    "am": "are",
    **{f"i'{end}": f"you'{end}" for end in ("d", "ve", "ll")},
    "i'm": "you're",
    **dict.fromkeys("我您", "你"),
    "们": "",
}
"""How an echo says the user's own words."""
_RUN, _HAN_RUN = 3, 4
"""Words or characters in a row that count as taken over."""
_SHORTEST, _TAKEN, _LEFT = 4, 0.85, 30
"""Words of a request that can be echoed, the share of them that is, and words that may stand around it.

Beside tools it has one word more: what was done is said back.
"""
_SHARED = 0.8
"""Share of the request's content terms in any echo: what has fewer is not looked at word by word."""
_OFFER: Final = lazy_pattern(
    r"(?:anything|something) (?:else|more|further)|how (?:else )?(?:can|may) I (?:help|assist)"
    r"|(?:can|may|could) I (?:help|assist)"
    r"|(?:还有|有)(?:什么|哪些|其他)|可以帮|能帮|帮到|需要.{0,6}(?:帮|协助)",
    re.IGNORECASE,
)
"""In a question that asks for nothing but the next request."""
_QUESTION: Final = lazy_pattern(r"[^.!?。！？]*[?？]\s*$")
_TAIL = 200
"""Characters at the end of a reply in which its last question stands."""
_CLOSING = 10
"""Words of thanks or a goodbye that are politely said back."""


def echoes(turn: TurnView) -> bool:
    """Say whether a reply says the request again, from its first to its last words, and adds nothing.

    A question or a figure of its own is something, but for an offer of more help. Pronouns may be turned
    round, and polite words may stand around the echo. Linear in both texts.
    """
    user, reply = turn.user, turn.reply
    if user.units < _SHORTEST + bool(turn.tools) or reply.units > 1.3 * user.units + _LEFT:
        return False
    if overlap(turn) < _SHARED or (user.units <= _CLOSING and only_closes(turn)):
        return False
    request, words = _tokens(user), _tokens(reply)
    run, weight = (
        (_HAN_RUN, 0.6)
        if sum(len(t) == 1 and not t.isascii() for t in request) * 2 > len(request)
        else (_RUN, 1.0)
    )
    places: dict[tuple[str, ...], list[int]] = {}
    for i in range(len(request) - run + 1):
        places.setdefault(request[i : i + run], []).append(i)
    taken, copied = bytearray(len(request)), bytearray(len(words))
    for j in range(len(words) - run + 1):
        for i in places.pop(words[j : j + run], ()):
            taken[i : i + run] = copied[j : j + run] = b"\1" * run
    if sum(taken) < _TAKEN * len(request) or not (taken and taken[0] and taken[-1]):
        return False
    rest = [word for word, mark in zip(words, copied, strict=True) if not mark]
    question = _QUESTION.search(reply.text[-_TAIL:])
    asks = question is not None and not _OFFER.search(question[0]) and user.text.rstrip()[-1:] not in "?？"
    if weight * len(rest) > _LEFT or asks or any(word.isdigit() for word in rest):
        return False
    return not knows_nothing(turn)


@cached_on_view
def _tokens(text: TextView) -> tuple[str, ...]:
    words = (m.lower().replace("’", "'") for m in _TOKEN.findall(text.text))
    return tuple(filter(None, (_AS_YOU.get(word, word) for word in words)))


def find_echoes(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that only say the request again."""
    for turn in dialogue.replied:
        if echoes(turn):
            yield finding(turn, "echoes", 0.9, turn.reply.text, "helpfulness", "non_answer")


_CODE: Final = lazy_pattern(
    r"(?<![\w.,:/$€£¥-])#?(?=[\w-]*\d{3})((?:[A-Za-z]+[A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*|\d{5,}|\d+[A-Za-z][A-Za-z0-9]*))"
    r"(?![\w:]|[.,/]\d|[年月日号元])"
)
"""Letters with at least three digits in a row, or five digits: a number of an order, a flight, a person."""
_THREE_DIGITS: Final = lazy_pattern(r"\d{3}")
_PART: Final = lazy_pattern(r"[a-z]*\d[a-z0-9]*")


def find_miscopied(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies all of whose codes stand nowhere before them, where tools returned codes of that form.

    Other figures may follow from what was said or returned: whether they are wrong cannot be told. Earlier
    texts are searched for the first code that stands there, the latest first.
    """
    texts = [dialogue.context.text, dialogue.opening.text]
    tools = False
    for turn in dialogue.turns:
        texts.append(turn.user.text)
        for tool in turn.tools:
            texts += tool.arguments, tool.text
        tools = tools or bool(turn.tools)
        may = tools and _THREE_DIGITS.search(turn.reply.text)
        codes = dict.fromkeys(_CODE.findall(turn.reply.text)) if may else {}
        if codes and not any(_stands_in(code, texts) for code in codes):
            forms = {_form(code) for text in texts for code in _CODE.findall(text)}
            if wrong := next((code for code in codes if _form(code) in forms), ""):
                yield finding(
                    turn, "miscopied", 0.8, turn.reply.text, "context_use", "contradiction", what=wrong
                )
        texts.append(turn.reply.text)


def _stands_in(code: str, texts: list[str]) -> bool:
    """Whether a code, or each of its parts with a digit, stands in a text, however it is written."""
    if any(code in text for text in reversed(texts)):
        return True
    parts = _PART.findall(code.lower())
    closed = (re.sub(r"(?<=\d)[ .()-]{1,2}(?=\d)", "", text.lower()) for text in reversed(texts))
    return any(all(part in text for part in parts) for text in closed)


def _form(code: str) -> str:
    """Return a code with `A` for letters in a row, and `0` for each digit."""
    return re.sub(r"\d", "0", re.sub(r"[A-Za-z]+", "A", code))
