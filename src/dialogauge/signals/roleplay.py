"""Signs of how a character is played, read off a reply, the dialogue before it, and the character's text.

Speech and stage directions ("(smiles)", "*nods*") are told apart. A sign means the same in English and
Chinese, and its words are ours. None is of the character's text or of the history alone: each says something
of the reply.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Set
from typing import Final

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.caching import cached_on_view
from dialogauge.signals.dialogue import Dialogue, TextView, TurnView
from dialogauge.signals.signal import Signal
from dialogauge.text import word_grams

_LOOK_BACK: Final = 6
"""Earlier replies with which the beginning and the shape of a reply are compared."""
_RECALLED: Final = 100
"""Messages before a reply that are searched for what it says again, or answers from."""
_PASSAGES: Final = 3
"""Passages of character and history, nearest to the request, that an answer may stand on."""
_SILENT, _TERSE = 2, 14
"""Words up to which nothing is said (a name at most), and no more than a person of few words says."""
_PARTED: Final = 6
"""Replies from which on a session has thirds that can differ."""
_DIRECTION: Final = lazy_pattern(
    r"\([^()]*\)|（[^（）]*）|\*[^*\n]+\*|\[(?:action|non-verbal communication)\].*|\[[^\[\]]*\]"
)
_MARKS: Final = "(.!?,;:~。！？，；：～…"
_LABEL: Final = lazy_pattern(r"\s*(?:[A-Z][\w ]{1,24}:|[\u4e00-\u9fff]{1,8}：)")
_NAME: Final = lazy_pattern(r"(?<=[\w,'’\"] )[A-Z][a-z]{2,}\b")
_NAMED: Final = lazy_pattern(r"[A-Z][a-z]{2,}\b")
_ASKS: Final = lazy_pattern(r"[?？]")
_STRANGE: Final = lazy_pattern("[{}_<>|\\\\^\u00c0-\u024f\ufffd]")
_FIRST: Final = lazy_pattern(r"(?:i|my|i'm|we)\b|我", re.IGNORECASE)
_QUOTED: Final = lazy_pattern(r"[\"“‘'「]([^\"”’'」]{2,30}?)[\"”’'」]")


def _pattern(english: str, chinese: str) -> re.Pattern[str]:
    return lazy_pattern(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)


_WORDS: Final[Mapping[str, re.Pattern[str]]] = {
    "assistant_talk": _pattern(
        r"as an ai|language model|how (?:can|may) i (?:help|assist)|feel free to|happy to (?:help|assist)"
        r"|let me know if|is there anything else|i(?:'m| am) here (?:to|for)|if you have any|assist you"
        r"|hope (?:this|that) helps|it(?:'s| is) (?:important|essential) to|i understand|i apologi[sz]e",
        r"作为(?:一个|一名)?(?:ai|人工智能|语言模型|助手)|有什么(?:可以|能)帮|随时(?:告诉|联系|问)|很高兴(?:为|能)"
        r"|希望(?:这|对你|对您)|我理解你|非常抱歉|需要注意的是|总的来说",
    ),
    "uplift": _pattern(
        r"together|journey|future|hope|dreams?|believe|strength|courage|support(?:ing)?|grat(?:eful|itude)"
        r"|forever|always|cherish|moments?|brighter|hearts?|soul|faith|challenges?|embrace|determination"
        r"|warmth|precious|growth|progress",
        r"一起|旅程|未来|希望|梦想|相信|力量|勇气|支持|感恩|永远|珍惜|美好|心灵|信念|挑战|拥抱|温暖|成长|努力|陪伴",
    ),
    "evades": _pattern(
        r"why (?:do|would|are) you (?:ask|want|asking)|(?:don't|do not|didn't) (?:know|remember|recall)"
        r"|forg[eo]t|not sure|none of your|what do you mean|secret|guess|who knows|hard to say|nothing",
        r"为什么(?:这么)?问|问这个|不知道|不清楚|不记得|忘了|秘密|你猜|谁知道|说不好|没什么|不告诉",
    ),
    "interjections": lazy_pattern(
        r"\b(?:ha(?:ha)+h?|he(?:he)+|hmm*|oh|ah|aw+|wow|hey|ugh|huh|tsk|oops|yay|well|hu?mph|hmph|heh|sigh|u[mh]"
        r"|eh|yeah|alas|damn|geez|gosh)\b|~|～|\.\.\.|…|哈哈|嘿嘿|呵呵|嘻嘻|哼|唉|哎|哦|噢|啊|呀|嘛|啦|呢|哇|嗯|喂",
        re.IGNORECASE,
    ),
    "negates": _pattern(r"no|not|never|nothing|none|but|\w+n't", r"不|没|别|但|可是|才怪"),
    "hedges": _pattern(
        r"maybe|perhaps|might|i think|probably|seems?|sort of|kind of", r"也许|可能|大概|似乎|好像|应该是"
    ),
    "proposes": _pattern(
        r"let's|let us|shall we|come on|come with|follow me|how about|what about|why don't",
        r"我们去|咱们|走吧|跟我来|来吧|要不|不如|怎么样",
    ),
    "closes": _pattern(
        r"goodbye|good night|see you|take care|farewell|bye|good luck",
        r"再见|晚安|拜拜|保重|告辞|回头见|一路顺风",
    ),
    "thanks": _pattern(r"thank you|thanks|appreciate|grateful", r"谢谢|多谢|感谢|感激"),
}
"""What a speech may hold. The words are ours."""


class _Trait:
    """A manner of speaking: how a character's text says it, and what shows it in a reply."""

    def __init__(self, described: str, chinese: str, shown: str) -> None:
        self.described = lazy_pattern(rf"\b(?:{described})|{chinese}", re.IGNORECASE)
        self.shown = lazy_pattern(shown, re.IGNORECASE)


_RESERVED: Final = _Trait(
    r"cold|indifferent|aloof|taciturn|concise|few words|quiet|reserved|distant|calm|silent|terse|icy",
    r"冷漠|冷淡|高冷|寡言|沉默|内敛|简洁|话少|冷静|清冷",
    r"",
)
_TRAITS: Final = (
    _RESERVED,
    _Trait(
        r"livel|enthusias|passionate|energetic|cheerful|optimis|outgoing|excit|vivac|infectious|bubbly|naive"
        r"|cute|innocent",
        r"活泼|热情|开朗|乐观|外向|天真|可爱|元气|激动",
        r"[!！~～]",
    ),
    _Trait(
        r"humou?r|jok|witt|funny|teas|playful|quirky|mischie|prank",
        r"幽默|玩笑|风趣|调皮|顽皮|搞笑|逗|俏皮",
        r"ha(?:ha)+|hehe|[~～]|wink|grin|smirk|laugh|jok|teas|chuckl|哈哈|嘿嘿|坏笑|眨眼|打趣",
    ),
    _Trait(
        r"paus|stutter|halting|stammer|hesita|shy|timid|nervous",
        r"结巴|停顿|犹豫|害羞|胆小|腼腆|紧张|吞吞吐吐",
        r"\.\.\.|…|\bum\b|\buh\b|\w-\w+-|stammer|shy|hesit|nervous|blush|脸红|低头|小声|那个",
    ),
    _Trait(
        r"arrogan|sharp|sarcas|mock|rude|trash talk|rough|forthright|scold|insult|impatien|domineer|proud"
        r"|haughty|stubborn|tsunder|venom|temper|irritab|blunt|ruthless",
        r"傲慢|高傲|毒舌|讽刺|粗鲁|霸道|急躁|暴躁|嘴硬|傲娇|强势|直率",
        r"hu?mph|hmph|tsk|\bhuh\b|scoff|snort|sneer|glare|cold|mock|dare|fool|idiot|stupid|ridiculous"
        r"|of course|nonsense|what do you|impatien|roll|!\?|\?!|哼|切|冷笑|翻白眼|笨|蠢|废话|敢|！？|？！",
    ),
    _Trait(
        r"gentle|polite|warm|kind|caring|respectful|tender|soft|considerate|elegant|graceful",
        r"温柔|礼貌|温和|善良|体贴|关心|优雅|恭敬",
        r"gentl|soft|smil|thank|please|don't worry|tender|warm|care|sir|madam|lady|微笑|轻|温柔|请|别担心|您",
    ),
    _Trait(
        r"poet|metaphor|lyrical|philosoph|literary|romantic|eloquen",
        r"诗|文艺|浪漫|哲学|文雅|比喻",
        r"\blike (?:a|an|the)\b|\bas \w+ as\b|moon|star|wind|flower|\bsea\b|river|sky|dream|soul"
        r"|如|似|月|风|花|星",
    ),
    _Trait(
        r"confiden|decisive|resolute|determin|brave|bold|ambitio|authoritative|serious",
        r"自信|果断|坚定|勇敢|大胆|严肃|威严|野心",
        r"of course|certainly|naturally|must|will\b|never|no doubt|i'll|firm|resol|determin|confid"
        r"|当然|必|绝不|一定|放心",
    ),
)


class _Reply:
    """A reply: what is spoken and what is done."""

    def __init__(self, view: TextView) -> None:
        self.view = view
        self.directions = _DIRECTION.findall(view.text)
        self.speech = TextView(" ".join(_DIRECTION.sub(" ", view.text).split()))
        self.words = max(1.0, self.speech.units)
        self.sentences = max(1, len(self.speech.sentences))
        self.grams: Set[str] = _grams(view)
        self.beginning: list[str] = word_grams(view.text, 1)[:2]
        self.asks: bool = bool(_ASKS.search(view.text))
        self.shape: str = "".join(c for c in _DIRECTION.sub("(", view.text) if c in _MARKS)
        """Stage directions and marks in order: the build of its sentences."""

    def share(self, name: str) -> float:
        """Return how many of its words are such ones."""
        return len(_WORDS[name].findall(self.speech.plain)) / self.words

    def has(self, name: str) -> bool:
        return _WORDS[name].search(self.speech.plain) is not None

    def shows(self, trait: _Trait) -> bool:
        if trait is _RESERVED:
            return self.speech.units < _TERSE and "!" not in self.view.text and "！" not in self.view.text
        return trait.shown.search(self.view.text) is not None


@cached_on_view
def _grams(view: TextView) -> Set[str]:
    """Return its runs of three words."""
    words = word_grams(view.text, 1)
    return {" ".join(words[i : i + 3]) for i in range(len(words) - 2)}


def _share(part: Set[str], whole: Set[str]) -> float:
    return len(part) / len(whole) if whole else 0.0


class _History:
    """The character, and what was said before a reply."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.character = dialogue.context
        self.traits = tuple(t for t in _TRAITS if t.described.search(self.character.text))
        quoted = (text.strip(" .!?,…。！？，").lower() for text in _QUOTED.findall(self.character.text))
        self.phrases = tuple(text for text in quoted if len(text) > 1)
        """What the character's text quotes: catchphrases, where it has any."""
        self.replies: list[_Reply] = []
        self.texts: list[TextView] = []
        self.terms: set[str] = set()
        self.names = set(_NAMED.findall(self.character.text))
        self.of_user: set[str] = set()
        """Runs of three words that the user said."""
        if dialogue.opening.text:
            self.add(dialogue.opening, _Reply(dialogue.opening))

    def add(self, view: TextView, reply: _Reply | None = None) -> None:
        """Add a message: the user's, or a reply."""
        self.texts.append(view)
        self.terms |= view.terms
        self.names.update(_NAMED.findall(view.text))
        if reply is not None:
            self.replies.append(reply)


class _Played:
    """A reply with the character and what was said before it."""

    def __init__(self, turn: TurnView, reply: _Reply, before: _History) -> None:
        self.reply, self.before = reply, before
        self.terms, self.request = reply.speech.terms, turn.user.terms
        self.of_request = set(_NAMED.findall(turn.user.text))
        self.asked = bool(_ASKS.search(turn.user.text))
        self.known = before.character.terms | before.terms | self.request
        last = before.replies[-1].view.terms if before.replies else set()
        self.older = before.terms - self.request - last - before.character.terms
        self.recent = before.replies[-_LOOK_BACK:]

    def of_recent(self, alike: Callable[[_Reply], bool]) -> float:
        """Return the share of the last replies that are like this one in something."""
        return sum(map(alike, self.recent)) / len(self.recent) if self.recent else 0.0

    def longer(self) -> float:
        """Return the log of its length over the usual one so far, within 2."""
        lengths = [math.log1p(reply.speech.units) for reply in self.before.replies]
        usual = sum(lengths) / len(lengths) if lengths else math.log1p(self.reply.speech.units)
        return max(-2.0, min(2.0, math.log1p(self.reply.speech.units) - usual))

    def names(self, *, known: bool) -> float:
        """Return how many names within sentences were there before, or were not, for each sentence."""
        names = set(_NAME.findall(self.reply.speech.text))
        there = self.before.names | self.of_request
        return sum((name in there) is known for name in names) / self.reply.sentences

    def grounded(self) -> float:
        """Return how much it takes up of the passages that are nearest to the request, rare terms most."""
        passages = [
            s.terms
            for view in (self.before.character, *self.before.texts[-_RECALLED:])
            for s in view.sentences
        ]
        often = Counter(term for terms in passages for term in terms)
        weight = {term: math.log(1 + len(passages) / n) for term, n in often.items()}

        def nearness(terms: Set[str]) -> float:
            return math.fsum(weight[t] for t in terms & self.request) / math.sqrt(1 + len(terms))

        nearest = [t for t in sorted(passages, key=nearness, reverse=True)[:_PASSAGES] if t & self.request]
        source = set().union(*nearest) - self.request
        whole = math.fsum(weight[t] for t in source)
        return math.fsum(weight[t] for t in source & self.terms) / whole if whole else 0.0

    def in_style(self) -> float:
        """Return the share of the manners that the character's text names and the reply shows, less that of
        the other manners that it shows."""
        described = self.before.traits
        others = [trait for trait in _TRAITS if trait not in described]
        shown = sum(map(self.reply.shows, described)) / len(described) if described else 0.0
        return shown - (sum(map(self.reply.shows, others)) / len(others) if others else 0.0)


_SIGNS: Final[Mapping[str, Callable[[_Played], float]]] = {
    # what it does to go on
    "question": lambda p: p.reply.asks,
    "question_unasked": lambda p: p.reply.asks and not p.asked,
    "question_for_question": lambda p: p.reply.asks and p.asked,
    "only_questions": lambda p: (
        p.asked and 0 < len(p.reply.speech.sentences) == len(p.reply.speech.questions)
    ),
    "proposes": lambda p: p.reply.has("proposes"),
    "closes": lambda p: p.reply.has("closes"),
    "thanks": lambda p: p.reply.has("thanks"),
    "new_content": lambda p: _share(p.terms - p.before.terms - p.request, p.terms),
    # how it sounds
    "length": lambda p: math.log1p(p.reply.speech.units),
    "longer": _Played.longer,
    "silent": lambda p: p.reply.speech.units <= _SILENT,
    "exclamations": lambda p: (p.reply.shape.count("!") + p.reply.shape.count("！")) / p.reply.sentences,
    "interjections": lambda p: min(2, len(_WORDS["interjections"].findall(p.reply.speech.plain))),
    "negations": lambda p: p.reply.share("negates"),
    "hedges": lambda p: p.reply.has("hedges"),
    "uplift": lambda p: p.reply.share("uplift"),
    "assistant_talk": lambda p: p.reply.has("assistant_talk"),
    "strange_signs": lambda p: len(_STRANGE.findall(p.reply.view.text)) / p.reply.words,
    # who speaks
    "first_person_first": lambda p: _FIRST.match(p.reply.speech.plain) is not None,
    "speaker_label": lambda p: _LABEL.match(p.reply.view.text) is not None,
    "share_of_directions": lambda p: sum(map(len, p.reply.directions)) / (len(p.reply.view.text) or 1),
    "in_style": _Played.in_style,
    "catchphrase": lambda p: any(phrase in p.reply.view.plain for phrase in p.before.phrases),
    # what it stands on
    "request_taken_up": lambda p: _share(p.request & p.reply.view.terms, p.request),
    "recites_character": lambda p: _share(p.reply.grams & _grams(p.before.character), p.reply.grams),
    "grounded": _Played.grounded,
    "supported": lambda p: _share((p.terms - p.request) & p.known, p.terms - p.request),
    "of_history": lambda p: _share(p.terms & p.before.terms, p.terms),
    "callback": lambda p: _share(p.terms & p.older, p.terms),
    "known_names": lambda p: p.names(known=True),
    "new_names": lambda p: p.names(known=False),
    "evades": lambda p: p.reply.has("evades"),
    # what it repeats
    "echoes_user": lambda p: _share(p.reply.grams & p.before.of_user, p.reply.grams),
    "repeats": lambda p: max(
        (_share(p.reply.grams & r.grams, p.reply.grams) for r in p.before.replies[-_RECALLED:]), default=0
    ),
    "same_beginning": lambda p: p.of_recent(lambda r: r.beginning == p.reply.beginning),
    "same_shape": lambda p: p.of_recent(lambda r: r.shape == p.reply.shape),
}
"""By name: the sign of one reply. Shares are 0 to 1; lengths are logs of words, a Chinese character 0.6."""

_DRIFTING: Final = ("length", "exclamations", "interjections", "share_of_directions", "in_style")
"""Signs that differ between the first and the last third of a session whose style drifts."""
_FINDINGS: Final[Mapping[str, Collection[str]]] = {
    "contradicts": ("reversed",),
    "undelivered": ("broken", "other_language", "empty", "repeats_reply"),
}
"""Signs that are the share of replies with one of these findings."""


def roleplay_signs() -> tuple[str, ...]:
    """Return the names of the signs, in their order."""
    return (*_SIGNS, "drift", *_FINDINGS)


def read_roleplay(
    dialogue: Dialogue, signals: Collection[Signal], turns: Collection[int]
) -> dict[str, float] | None:
    """Return the signs of a session by name: each the mean over these turns; None for no reply.

    Args:
        dialogue: Its context is the character's text; what stands before a reply is its history.
        signals: The findings of the same dialogue.
        turns: Numbers of the turns that are judged.
    """
    before, rows = _History(dialogue), []
    for turn in dialogue.turns:
        before.of_user |= _grams(turn.user)
        reply = _Reply(turn.reply)
        if turn.replied and turn.number in turns:
            place = _Played(turn, reply, before)
            rows.append([float(sign(place)) for sign in _SIGNS.values()])
        before.add(turn.user)
        if turn.replied:
            before.add(turn.reply, reply)
    if not rows:
        return None
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    third, drift = len(rows) // 3, 0.0
    for at in [list(_SIGNS).index(name) for name in _DRIFTING] if len(rows) >= _PARTED else ():
        first, last = (sum(row[at] for row in part) / third for part in (rows[:third], rows[-third:]))
        drift += abs(last - first)
    faulty = [
        {s.turn for s in signals if s.name in kinds and s.turn in turns} for kinds in _FINDINGS.values()
    ]
    values = (*means, drift, *(len(numbers) / len(rows) for numbers in faulty))
    return dict(zip(roleplay_signs(), values, strict=True))
