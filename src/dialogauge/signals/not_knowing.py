"""Replies that only say that they do not know: they may be right, and they answer nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialogauge.signals.answering import asks_something
from dialogauge.signals.lazy import once
from dialogauge.signals.reading import Dialogue, TextView, TurnView
from dialogauge.signals.signal import Signal, cut
from dialogauge.signals.wording import note
from dialogauge.text import content_terms, pieces

__all__ = ["find_not_knowing", "knows_nothing"]

_LONGEST, _CHARACTERS = 25, 1000
"""Words and characters of a reply that does nothing but own to it."""

_STRENGTH = 0.6
"""No fault by itself: to own that one does not know may be the right answer."""

_KNOWS_NOT = re.compile(
    r"\b(?:(?:do not|don't|would not|wouldn't|did not|didn't) (?:(?:really|honestly|actually) )?know"
    r"|(?:could not|couldn't|cannot|can't|can not) (?:(?:really|honestly) )?(?:tell|say|be (?:sure|certain))"
    r"|(?:have|'ve) (?:(?:absolutely|really|honestly) )?no (?:idea|clue|answer|information|knowledge)"
    r"|(?:do not|don't) have (?:an? |any |the )?(?:idea|clue|answer|information|knowledge)"
    r"|no (?:idea|clue)|not (?:(?:really|entirely|quite|too) )?(?:sure|certain)|unsure|unaware|dunno)\b"
    r"|不(?:太|大|是很|怎么|是太|甚)?(?:知道|清楚|了解|确定|晓得)"
    r"|(?:没有?|无)(?:任何)?(?:相关的?|这方面的?)?(?:信息|资料|头绪|概念|答案)|说不(?:准|好|清|上来)|不好说"
)
_MAY_NOT_KNOW = (
    *("know", "tell", "say", "sure", "certain", "idea", "clue", "answer", "information", "aware", "dunno"),
    *("不", "没", "无"),
)
"""One of these stands in every match: cheaper to look for."""
_COURTESY = re.compile(
    r"\b(?:sorry|apolog\w+|afraid|unfortunately|honest(?:ly)?|(?:at|for) the moment|right now|question|answer"
    r"|about (?:that|this|it))\b"
    r"|抱歉|对不起|不好意思|遗憾|恐怕|暂时|目前|实在|确实|真的|这个问题|这方面|这点|答案"
)


def find_not_knowing(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies to a request that say nothing but that they do not know."""
    for turn in dialogue.replied:
        if knows_nothing(turn):
            text = note("knows_nothing", turn.language)
            quote = cut(turn.reply.text)
            yield Signal("knows_nothing", turn.number, _STRENGTH, quote, text, "helpfulness", "non_answer")


def knows_nothing(turn: TurnView) -> bool:
    """Say whether a reply to a request owns to not knowing and holds nothing else but the request's words."""
    reply = turn.reply
    if len(reply.text) > _CHARACTERS or reply.units > _LONGEST or not asks_something(turn.user.edges):
        return False
    rest = _beside_not_knowing(reply)
    return rest is not None and rest <= turn.user.terms


@once
def _beside_not_knowing(reply: TextView) -> frozenset[str] | None:
    """Return the content terms beside the owning up; None where there is none, or a question or a figure."""
    said = reply.plain
    if not any(needle in said for needle in _MAY_NOT_KNOW):
        return None
    rest, often = _KNOWS_NOT.subn(" ", said)
    if not often or "?" in said or any(c.isdigit() for c in said):
        return None
    return content_terms(pieces(_COURTESY.sub(" ", rest)))
