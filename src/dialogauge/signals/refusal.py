"""Refusals of requests that seem harmless."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals import reply_markers as mark
from dialogauge.signals.caching import cached_on_view
from dialogauge.signals.dialogue import Dialogue, TextView, TurnView, quote_around
from dialogauge.signals.signal import Signal, finding
from dialogauge.signals.tool_use import outcome_of
from dialogauge.text import content_terms, normalise, pieces

_BARE = 25
"""Longest reply, in words, that only declines."""
_WASTED = 0.9
"""Strength where a tool returned what was asked, and the reply only declines."""
_EMPTY_WORDS = lazy_pattern(
    r"\b(?:i|we|you|your|my|me|it|that|this|these|those|the|an?|any|anything|is|am|are|be|been|was|do|does"
    r"|but|and|so|for|of|to|in|on|at|with|as|there|here|just|very|really|simply|truly|currently|right|now"
    r"|today|yet|can|could|will|would|may|must|have|not|unable|able|possible|else|other|more"
    r"|sorry|afraid|unfortunately|regret|apolog\w+|inconvenience|please|thank\w*|understand\w*|patience"
    r"|help\w*|assist\w*|do|answer|handle|complete|fulfil\w*|process|comply|support|respond|decline|refuse"
    r"|request\w*|question\w*|task|matter|issue|moment|time)\b|cannot|(?:\w+n)?'(?:t|m|re|ve|d|ll|s)\b|\bwon\b"
    r"|非常|抱歉|对不起|不好意思|遗憾|[很我们您你的这那个此该项次件事忙请求问题要需]|无法|不能|没办法|没法|不便"
    r"|暂时|目前|恐怕|实在|帮不[了上到]|[帮助给为替到了吗呢吧]|协助|处理|完成|满足|回答|提供|服务|还有|其他|什么|可以|谅解|理解"
)
"""Words that name neither what is declined nor why."""


def refuses(turn: TurnView) -> str:
    """Return the words in the first 300 characters that decline the request, or an empty string."""
    return _refuses(turn.reply)


@cached_on_view
def _refuses(reply: TextView) -> str:
    head = reply.head
    for declines in (mark.OUT_OF_ROLE, mark.REFUSES, mark.BEYOND):
        if hit := declines.search(head):
            return hit.group()
    return ""


def find_refusals(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield refusals of harmless requests; weaker with a policy, with tools, or with an alternative.

    Tools make limits likely, but not where one returned what was asked and the reply says neither what it
    declines nor why.
    """
    harmful = _harmful(dialogue)
    agent = False
    for index, turn in enumerate(dialogue.turns):
        agent = agent or bool(turn.called or turn.tools)
        hit = refuses(turn) if turn.replied else ""
        if not hit or harmful(index):
            continue
        limits = agent or _has_policy(dialogue.context) or _is_own_role(hit, dialogue.context)
        strength = _WASTED if _wastes(turn) else _strength(turn, limits=limits)
        yield finding(turn, "refuses", strength, quote_around(turn.reply, hit), "helpfulness", "refusal")


def _wastes(turn: TurnView) -> bool:
    """Whether the last tool of the turn returned something, and the reply only says that it cannot help."""
    if not turn.tools or not turn.tools[-1].text.strip() or outcome_of(turn.tools[-1]) != "fine":
        return False
    return not re.search(r"[^\W_]", _EMPTY_WORDS.sub("", normalise(turn.reply.text)))


def _harmful(dialogue: Dialogue) -> Callable[[int], bool]:
    """Return a function that says whether the topic of a turn is risky; it searches each message once.

    A risky topic stays risky while the user's messages are short.
    """
    risks: list[bool] = []

    def harmful(index: int) -> bool:
        for turn in dialogue.turns[len(risks) : index + 1]:
            risky = mark.HARM.search(turn.user.edges) is not None
            risks.append(risky or (bool(risks) and risks[-1] and turn.user.units < 25))
        return risks[index]

    return harmful


@cached_on_view
def _has_policy(context: TextView) -> bool:
    return bool(mark.POLICY.search(normalise(context.text)))


def _is_own_role(hit: str, context: TextView) -> bool:
    """Whether the words that decline name a role that the instructions give the assistant."""
    return bool(content_terms(pieces(hit)) & context.terms)


def _strength(turn: TurnView, *, limits: bool) -> float:
    """Return the strength: declining words are one cue, scruples, a role or a bare refusal another.

    A reply that admits a limit and then helps is no refusal.
    """
    reply = turn.reply
    strength = 0.5
    by_role = bool(mark.OUT_OF_ROLE.search(reply.head))
    if by_role or mark.SCRUPLE.search(reply.edges) or reply.units <= _BARE:
        strength += 0.4
    if limits or (mark.CITES_RULE.search(reply.edges) and not by_role):
        strength -= 0.55  # what the rules ask for is no fault
    if not by_role and mark.ALTERNATIVE.search(reply.edges):
        strength -= 0.35
    if reply.units > 150:  # a long reply: an answer with a reservation
        strength -= 0.4
    if turn.tools and mark.ADMITS_FAILURE.search(reply.edges):
        strength -= 0.4
    return max(0.2, strength)
