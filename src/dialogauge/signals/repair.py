"""Corrections by the user, and how the reply handles them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals import reply_markers
from dialogauge.signals.caching import cached_on_view
from dialogauge.signals.copying import echoes
from dialogauge.signals.dialogue import Dialogue, TurnView, quote_around
from dialogauge.signals.reactions import Reaction, react
from dialogauge.signals.refusal import refuses
from dialogauge.signals.signal import ADMISSION, Signal, finding
from dialogauge.text import content_terms, pieces

_DROPPED = lazy_pattern(
    r"\b(?:not|no|isn't|wasn't|instead of|rather than|don't want"
    r"|didn't (?:say|ask for|want|mean|order)|take out|leave out"
    r"|drop|remove|without|skip|cancel|scrap|delete|take) (?:the |a |an |any |my |out )*"
    r"([a-z][a-z'-]{2,}(?: [a-z][a-z'-]{2,})?)"
    r"|\b(?:take|leave|cut) the ([a-z-]{3,}) out\b|\bthe ([a-z-]{3,}) (?:has|have|needs?) to go\b"
    r"|\bthere is no ([a-z-]{3,})"
    r"|(?:不是|不要|没要|没有|别再?|取消|去掉|删掉|删除|而不是|拿掉|没说|没让你|不用|不想要?|别用)([\u4e00-\u9fffa-z0-9]{2,6})"
)


@dataclass(frozen=True, slots=True)
class Repair:
    """One correction, redirection or objection of the user, and how the reply handles it."""

    turn: int
    on_assistant: bool
    """Whether it concerns the assistant, and not the user's own mistake or change of mind."""
    uptake: float
    """Share of the correction's content terms in the reply, 0..1."""
    acknowledged: bool
    still_used: str
    """A term that the user wanted dropped and the reply still uses; empty if none."""

    @property
    def handled(self) -> float:
        """How well the reply handles it, 0 (ignored) to 1."""
        score = 0.55 * min(1.0, self.uptake / 0.3) + 0.45 * self.acknowledged
        return min(score, 0.2) if self.still_used else score


@cached_on_view
def read_repairs(dialogue: Dialogue) -> tuple[Repair, ...]:
    """Return the corrections that have a reply; the first turn has none."""
    repairs = []
    for before, turn in zip(dialogue.turns, dialogue.turns[1:], strict=False):
        reaction = react(turn.user)
        if turn.replied and before.replied and is_repair(turn, before, reaction):
            repairs.append(_repair(turn, before, reaction))
    return tuple(repairs)


def is_repair(turn: TurnView, before: TurnView, reaction: Reaction) -> bool:
    """Whether a user message corrects, redirects or objects; thanks with a request do not.

    A request for a change counts only if it is about the reply before.
    """
    strong = [c for c in reaction.complaints if c not in ("frustrated", "doubted")]
    if reaction.thanks and not reaction.self_correction and len(strong) < 2:
        return False
    redirects = reaction.change and bool(turn.user.terms & before.reply.terms)
    return bool(strong) or reaction.self_correction or redirects


def _repair(turn: TurnView, before: TurnView, reaction: Reaction) -> Repair:
    new = turn.user.terms - before.user.terms
    dropped = _dropped(turn)
    terms = (new if len(new) >= 2 else turn.user.terms) - frozenset[str]().union(*dropped)
    if echoes(turn):  # to say a correction again is not to take it up
        return Repair(turn.number, not reaction.self_correction, 0.0, acknowledged=False, still_used="")
    uptake = len(terms & turn.reply.terms) / len(terms) if terms else 1.0
    acknowledged = bool(reply_markers.ACKNOWLEDGES.search(turn.reply.head))
    still_used = _still_used(turn, before, dropped)
    return Repair(turn.number, not reaction.self_correction, uptake, acknowledged, still_used)


def _dropped(turn: TurnView) -> tuple[frozenset[str], ...]:
    """Return the content terms of each thing that the user wants dropped."""
    phrases = (next((g for g in m.groups() if g), "") for m in _DROPPED.finditer(turn.user.edges))
    return tuple(filter(None, (content_terms(pieces(phrase)) for phrase in phrases)))


def _still_used(turn: TurnView, before: TurnView, dropped: tuple[frozenset[str], ...]) -> str:
    """Return a term of a dropped thing that two sentences of the reply still name whole, without negation."""
    known = before.reply.terms | before.user.terms
    for thing in dropped:
        uses = [s for s in turn.reply.sentences if thing <= s.terms] if thing <= known else []
        if len(uses) > 1 and not any(_AVOIDS.search(s.plain) for s in uses):
            return min(thing)
    return ""


_AVOIDS = lazy_pattern(
    r"\b(?:no|not|out|without|instead|remove\w*|drop\w*|cancel\w*|sorry|replac\w*|rather|gone"
    r"|skip\w*|delet\w*|never|wrong|n't|right|false|mistake)\b|n't\b"
    r"|不|没|取消|去掉|删|替|换|抱歉|改|错|而非|无"
)


_MERE_SORRY = lazy_pattern(
    r"sorry|i apologi|back to|straight to|fair|point|good catch|well spotted|my apologies|you|(?:they|it)\b"
    r"|(?:非常|实在|很)?(?:抱歉|对不起|不好意思)|回到|直接|说正题|言归|幸好|(?:您|你)"
)
"""Words that also occur when nobody is at fault."""


def find_concessions(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies whose fault the assistant admits in the next turn, after an objection.

    This reads the reply after the next user message: it serves judgements of conversations, not of turns.
    """
    for turn, after in zip(dialogue.turns, dialogue.turns[1:], strict=False):
        reaction = react(after.user)
        if not turn.replied or not after.replied or reaction.self_correction or reaction.thanks:
            continue
        owns_up = reply_markers.OWNS_UP.search(after.reply.head)
        hit = owns_up or reply_markers.CONCEDES.search(after.reply.head)
        if hit and not refuses(after):
            strength = 0.75 if owns_up else 0.45 if _MERE_SORRY.match(hit.group()) else 0.65
            quote = quote_around(after.reply, hit.group())
            signal = finding(turn, ADMISSION, strength, quote, "helpfulness", None)
            yield replace(signal, quote_turn=after.number, hindsight=True)
