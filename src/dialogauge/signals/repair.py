"""What becomes of a correction: taken up, passed over, or gone against."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dialogauge.signals import reply_markers
from dialogauge.signals.lazy import once
from dialogauge.signals.reactions import Reaction, react
from dialogauge.signals.reading import Dialogue, TurnView, quote_around
from dialogauge.signals.refusal import refuses
from dialogauge.signals.signal import ADMISSION, Signal, cut, note
from dialogauge.text import content_terms, pieces

_DROPPED = re.compile(
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
    """One correction, redirection or objection of the user and how the reply deals with it."""

    turn: int
    on_assistant: bool
    """Whether it speaks against the assistant, and not of the user's own slip or change of mind."""
    uptake: float
    """Share of the correction's content terms that the reply takes up, 0..1."""
    acknowledged: bool
    kept: str
    """What the user wanted dropped and the reply still goes on with; empty if nothing."""

    @property
    def handled(self) -> float:
        """How well it was handled, 0 (ignored) to 1."""
        score = 0.55 * min(1.0, self.uptake / 0.3) + 0.45 * self.acknowledged
        return min(score, 0.2) if self.kept else score


@once
def read_repairs(dialogue: Dialogue) -> tuple[Repair, ...]:
    """Return every repair situation that has a reply; none in the first turn, where nothing stands yet."""
    found = []
    for before, turn in zip(dialogue.turns, dialogue.turns[1:], strict=False):
        reaction = react(turn.user)
        if turn.replied and before.replied and is_repair(turn, before, reaction):
            found.append(_repair(turn, before, reaction))
    return tuple(found)


def is_repair(turn: TurnView, before: TurnView, reaction: Reaction) -> bool:
    """Whether a user message corrects, redirects or objects; mere thanks with a wish do not.

    A request to change something is one only where it is about what the assistant just said.
    """
    strong = [c for c in reaction.complaints if c not in ("frustrated", "doubted")]
    if reaction.thanks and not reaction.self_correction and len(strong) < 2:
        return False
    redirects = reaction.change and bool(turn.user.terms & before.reply.terms)
    return bool(strong) or reaction.self_correction or redirects


def _repair(turn: TurnView, before: TurnView, reaction: Reaction) -> Repair:
    asked = (
        turn.user.terms - before.user.terms
        if len(turn.user.terms - before.user.terms) >= 2
        else turn.user.terms
    )
    dropped = _dropped(turn)
    asked = frozenset(t for t in asked if t not in dropped)
    taken = len(asked & turn.reply.terms) / len(asked) if asked else 1.0
    acknowledged = bool(reply_markers.ACKNOWLEDGES.search(turn.reply.head))
    kept = _kept(turn, before, dropped)
    return Repair(turn.number, not reaction.self_correction, taken, acknowledged, kept)


def _dropped(turn: TurnView) -> frozenset[str]:
    """Content terms of what the user wants gone."""
    found: set[str] = set()
    for match in _DROPPED.finditer(turn.user.edges):
        found.update(content_terms(pieces(next((g for g in match.groups() if g), ""))))
    return frozenset(found)


def _kept(turn: TurnView, before: TurnView, dropped: frozenset[str]) -> str:
    """A term to be dropped that the reply still goes on with, no sentence negating it.

    It takes two: two sentences that hold it, or two such terms.
    """
    kept: list[str] = []
    for term in sorted(dropped & turn.reply.terms & (before.reply.terms | before.user.terms)):
        uses = [s for s in turn.reply.sentences if term in s.terms]
        if uses and not any(_AVOIDS.search(s.plain) for s in uses):
            kept.append(term)
            if len(uses) > 1 or len(kept) > 1:
                return term
    return ""


_AVOIDS = re.compile(
    r"\b(?:no|not|out|without|instead|remove\w*|drop\w*|cancel\w*|sorry|replac\w*|rather|gone"
    r"|skip\w*|delet\w*|never|wrong|n't|right|false|mistake)\b|n't\b"
    r"|不|没|取消|去掉|删|替|换|抱歉|改|错|而非|无"
)


def had_to_act(turn: TurnView) -> bool:
    """Whether words alone were called for: tool calls, questions back and refusals are an answer too."""
    return not (turn.called or turn.reply.questions or reply_markers.ADMITS_FAILURE.search(turn.reply.edges))


_MERE_SORRY = re.compile(
    r"sorry|i apologi|back to|straight to|fair|point|good catch|well spotted|my apologies|you|(?:they|it)\b"
    r"|(?:非常|实在|很)?(?:抱歉|对不起|不好意思)|回到|直接|说正题|言归|幸好|(?:您|你)"
)
"""Words that also stand where nobody was at fault."""


def find_concessions(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that the assistant itself owns up to in the next turn, after an objection.

    This reads the reply after the next user message: it serves the conversation's judgement, and no turn's.
    """
    for turn, after in zip(dialogue.turns, dialogue.turns[1:], strict=False):
        reaction = react(after.user)
        if not turn.replied or not after.replied or reaction.self_correction or reaction.thanks:
            continue
        owns_up = reply_markers.OWNS_UP.search(after.reply.head)
        hit = owns_up or reply_markers.CONCEDES.search(after.reply.head)
        if hit and not refuses(after):
            strength = 0.75 if owns_up else 0.45 if _MERE_SORRY.match(hit.group()) else 0.65
            text = note("conceded", turn.language)
            quote = quote_around(after.reply, hit.group())
            yield Signal(
                ADMISSION,
                turn.number,
                strength,
                quote,
                text,
                "helpfulness",
                None,
                after.number,
                hindsight=True,
            )


def find_ignored_corrections(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that pass over a correction or go on with what was to be dropped."""
    repairs = {r.turn: r for r in read_repairs(dialogue)}
    for turn in dialogue.replied:
        repair = repairs.get(turn.number)
        if repair is None:
            continue
        if repair.kept and had_to_act(turn):
            text = note("keeps_old", turn.language, what=repair.kept)
            quote = next(s.text for s in turn.reply.sentences if repair.kept in s.terms)
            yield Signal(
                "keeps_old", turn.number, 0.75, cut(quote), text, "context_use", "ignored_correction"
            )
        elif repair.uptake < 0.08 and not repair.acknowledged and turn.user.units > 6 and had_to_act(turn):
            text = note("not_taken_up", turn.language)
            quote = cut(turn.user.text)
            yield Signal(
                "not_taken_up",
                turn.number,
                0.65,
                quote,
                text,
                "context_use",
                "ignored_correction",
                turn.number,
            )
