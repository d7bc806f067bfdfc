"""Replies that do not answer: empty, vague, off the topic, or without any knowledge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals import reply_markers as mark
from dialogauge.signals import user_markers
from dialogauge.signals.caching import cached_on_view
from dialogauge.signals.dialogue import Dialogue, Sentence, TextView, TurnView
from dialogauge.signals.markers import Marker
from dialogauge.signals.refusal import refuses
from dialogauge.signals.signal import Signal, finding
from dialogauge.text import content_terms, pieces

_REQUEST = Marker(
    r"\b(?:please|can you|could you|would you|will you|help me|tell me|give me|show me|explain"
    r"|how (?:do|can|to|much|many)|what|which|why|i want|i need|i'd like|i would like"
    r"|i'm looking|we need|we want)\b"
    r"|(?:^|[.!;] )(?:and |then |now |also )?(?:make|write|plan|find|book|suggest|recommend|list|calculate"
    r"|create|draft|compare|add|cancel|change|translate|summari[sz]e|build|check|move|send|design|describe)\b"
    r"|请|帮|怎么|什么|多少|几|哪|谁|为何|如何|吗|呢|推荐|给我|能不能|是不是|告诉|说说|写(?:一|个|份|出)"
    r"|列|算(?:一|出|下)|介绍|安排|想要|我要|我想"
)
_FIRM = lazy_pattern(
    r"\d|```|`|\"[^\"]{4,}\"|“[^”]{4,}”|https?:"
    r"|^\W*(?:yes|no|是|不是|有|没有|可以|不可以|能|不能|对|不对)\b"
)
_INVITES = lazy_pattern(
    r"\b(?:go ahead|let me know (?:what|which|when|how|your|the)|tell me (?:more|what|which)"
    r"|please (?:provide|share|send|tell))\b|请(?:告诉|提供|发|说|把|补充)|说说(?:看|你)"
)
_CLOSING_WORDS = 60
"""Longest reply that answers nothing but thanks or a goodbye."""


def asks_something(text: str) -> bool:
    """Say whether a user message holds a question or a request."""
    return "?" in text or "？" in text or _REQUEST.search(text) is not None


def praises(text: str) -> bool:
    """Say whether a reply praises the user, or plainly sides with them: it may be deserved."""
    return mark.PRAISES.search(TextView(text).plain) is not None


def overlap(turn: TurnView) -> float:
    """Return the share of the request's content terms that the reply repeats, 0..1."""
    request = turn.user.terms
    return len(request & turn.reply.terms) / len(request) if request else 1.0


def vague_sentences(reply: TextView, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return those of a reply's sentences that would fit any question: a general phrase, nothing specific."""
    whole = reply.whole
    if whole and not mark.VAGUE.may_match(whole):
        return []
    return [s for s in sentences if mark.VAGUE.search(s.plain, whole) and not _is_firm(s)]


@cached_on_view
def _is_firm(sentence: Sentence) -> bool:
    return bool(_FIRM.search(sentence.plain))


def only_closes(turn: TurnView) -> bool:
    """Say whether the user only thanks or says goodbye, and the reply only answers that."""
    user = turn.user.edges
    if turn.reply.units > _CLOSING_WORDS or asks_something(user):
        return False
    return bool(user_markers.THANKS.search(user) or user_markers.CLOSING.search(user))


def find_non_answers(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield empty replies, and replies to a request that are made of general phrases."""
    for turn in dialogue.replied:
        if not turn.reply.text.strip():
            yield finding(turn, "empty", 1.0, turn.user.text, "helpfulness", "non_answer")
        elif _may_be_vague(turn.reply) and _wants_answer(turn):
            yield from _vague(turn)


def _may_be_vague(reply: TextView) -> bool:
    """Whether a reply is neither very short, nor a page, nor code."""
    return 8 <= reply.units <= 220 and "```" not in reply.text


def _wants_answer(turn: TurnView) -> bool:
    text = turn.user.edges
    if not asks_something(text):
        return False
    if turn.user.units >= 20:
        return True
    return not user_markers.THANKS.search(text) and not user_markers.CLOSING.search(text)


def _vague(turn: TurnView) -> Iterator[Signal]:
    reply = turn.reply
    if reply.whole and not mark.VAGUE.may_match(reply.whole):
        return
    sentences = [s for s in reply.sentences if s.units >= 2]
    firm = sum(map(_is_firm, sentences))
    if len(sentences) < 2 or firm > len(sentences) * 0.2:
        return
    if refuses(turn) or _INVITES.search(reply.edges):
        return
    if any(s.text.rstrip()[-1] in "?？" for s in sentences) and overlap(turn) > 0.1:
        return  # a question about the topic is no evasion
    vague = vague_sentences(reply, sentences)
    share = sum(s.units for s in vague) / sum(s.units for s in sentences)
    if share < 0.3:
        return
    clear = share >= 0.6 and len(vague) >= 2
    strength = min(0.95 if clear else 0.5, 0.35 + 0.55 * share - (0.25 if overlap(turn) > 0.4 else 0.0))
    yield finding(turn, "vague", strength, vague[0].text, "helpfulness", "non_answer")


_LONGEST, _CHARACTERS = 25, 1000
"""Words and characters of a reply that only admits that it does not know."""
_KNOWS_NOT = lazy_pattern(
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
"""Every match contains one of these strings, and a search for them is cheaper."""
_COURTESY = lazy_pattern(
    r"\b(?:sorry|apolog\w+|afraid|unfortunately|honest(?:ly)?|(?:at|for) the moment|right now|question|answer"
    r"|about (?:that|this|it))\b"
    r"|抱歉|对不起|不好意思|遗憾|恐怕|暂时|目前|实在|确实|真的|这个问题|这方面|这点|答案"
)


def knows_nothing(turn: TurnView) -> bool:
    """Say whether a reply to a request only admits not knowing, in the request's own words."""
    reply = turn.reply
    if len(reply.text) > _CHARACTERS or reply.units > _LONGEST or not asks_something(turn.user.edges):
        return False
    rest = _beside_not_knowing(reply)
    return rest is not None and rest <= turn.user.terms


@cached_on_view
def _beside_not_knowing(reply: TextView) -> frozenset[str] | None:
    """Return the content terms beside the admission; None without one, or with a question or a figure."""
    plain = reply.plain
    if not any(needle in plain for needle in _MAY_NOT_KNOW):
        return None
    rest, admissions = _KNOWS_NOT.subn(" ", plain)
    if not admissions or "?" in plain or any(c.isdigit() for c in plain):
        return None
    return content_terms(pieces(_COURTESY.sub(" ", rest)))
