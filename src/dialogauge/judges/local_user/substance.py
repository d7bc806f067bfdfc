"""What a reply says, without the courtesies around it.

Praise of the question before an answer, hopes and good wishes after it: they would fit any request. A reply
is read without them, so it is worth the same with them and without.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final

from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import Reply
from dialogauge.signals import TextView, TurnView, find_refusals, only_closes, read_dialogue, refuses
from dialogauge.text import content_terms, pieces

_ENDS: Final = "。！？!?…~～；;.\n"
_SENTENCE = lazy_pattern(
    rf"(?:[^{_ENDS}]|\.(?!\s|$)|(?<=\d)\.)*(?:[{_ENDS}]|$)"
    rf"[\s{_ENDS}\"'”’）)」』\u2600-\u27bf\ufe0f\u200d\U0001F000-\U0001FAFF]*"
)
_FIRM = lazy_pattern(r"[\d`|]|https?:|[:：]\s*$|^\s*(?:[-*•·+>]\s|#|[一二三四五六七八九十]+[、.])")
"""A figure, code, a table, an address, what leads to a list, or a mark of a list or a heading."""
_LONGEST: Final = 240
"""Bytes of UTF-8 of a courtesy: 240 Latin letters or 80 Chinese characters."""
_NEAR: Final = 60
"""Characters that most courtesies fit into."""
_MOST: Final = 12
"""Sentences that are left out at either end."""
_IN_PASSING: Final = (1, 0)
"""Terms of the conversation that a courtesy may hold by chance; none where nothing else were left."""


@lru_cache(maxsize=1024)
def terms_of(text: str) -> frozenset[str]:
    """Return the content terms of a text but for single characters."""
    return frozenset(term for term in content_terms(pieces(text)) if len(term) > 1)


def substance_of(reply: str, asked: AbstractSet[str]) -> str:
    """Return a reply without the sentences at its beginning and end that would fit any request.

    These are plain and short, and take up nothing of what was asked; a reply of no others has no substance.
    What is left is the same for a reply and for one with more of them around it, so it ends without a mark.

    Args:
        reply: As it was sent.
        asked: The terms of all that the user said before, and of the context.
    """
    for allowed in _IN_PASSING:
        begin = 0
        for _ in range(_MOST):
            first = _SENTENCE.match(reply, begin, begin + _LONGEST + 1)
            if first is None or not _is_courtesy(first.group(), asked, allowed):
                break
            begin = first.end()
        end = _end(reply, begin, asked, allowed)
        if begin < end:
            return reply[begin:end].strip().rstrip(_ENDS + " ")
    return ""


def _end(reply: str, begin: int, asked: AbstractSet[str], allowed: int) -> int:
    end = len(reply)
    for _ in range(_MOST):
        # Where the last sentence begins; of a long one a place within it.
        last = end
        for near in (_NEAR, _LONGEST + 1):
            start = max(begin, end - near)
            for sentence in _SENTENCE.finditer(reply, start, end):
                if sentence.end() > sentence.start():
                    last = sentence.start()
            if last > start or start == begin:
                break
        if last == end or not _is_courtesy(reply[last:end], asked, allowed):
            break
        end = last
    return end


def _is_courtesy(sentence: str, asked: AbstractSet[str], allowed: int) -> bool:
    if len(sentence) > _LONGEST or len(sentence.encode("utf-8", "surrogatepass")) > _LONGEST:
        return False
    return not _FIRM.search(sentence) and len(terms_of(sentence) & asked) <= allowed


_REFUSAL = 1000
"""Characters of the longest reply that is held to decline: a longer one answers, with a reservation."""
_PARTING = 600
"""Characters of the longest reply that is held to be a goodbye."""


def declines(reply: Reply) -> float:
    """Return how strongly a reply declines a harmless request, 0 to 1; 0 where it does not, or is long."""
    if len(reply.text) > _REFUSAL or not refuses(_turn(reply)):
        return 0.0
    dialogue = read_dialogue(reply.conversation, "en")  # the wordings are those of all languages
    return max((min(1.0, s.strength) for s in find_refusals(dialogue) if s.turn == reply.turn), default=0.0)


def takes_leave(reply: Reply) -> bool:
    """Say whether the user only thanked or took leave, and the reply only answers that."""
    return len(reply.text) <= _PARTING and only_closes(_turn(reply))


def _turn(reply: Reply) -> TurnView:
    request, text = TextView(reply.request), TextView(reply.text)
    return TurnView(reply.turn, request, text, (), (), replied=True, language="en")
