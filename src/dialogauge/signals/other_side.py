"""A user who gives itself out as the other side: by a label, a name, an offer of help, deeds, or secrets.

Marks alone are looked for, so that what is reported is right. What a service or a character would say in plain
words is not seen: lists of its wordings, and a model fitted to logs, found half of it on wordings that nobody
had shown them, and reported people as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.caching import lazy_property
from dialogauge.signals.dialogue import Sentence, TextView
from dialogauge.text import ENGLISH_STOP, content_terms, pieces, sentences

# ruff: noqa: E501, SIM905 - a pattern is read as a whole, and so is a list of words

_HAN: Final = "\u3400-\u9fff"
_CAPITAL: Final = r"[A-Z][\w'’.-]*(?: [A-Z][\w'’-]*){0,3}"
_NAMED: Final = lazy_pattern(
    rf"\b(?i:you are|you're|your name is|you play|playing|role of|play the part of|act as|you are[^.\n]{{0,60}}\b(?:named|called)|name\s*[:：]|character\s*[:：])\s*(?i:the |an? |now )?({_CAPITAL})|^\W*({_CAPITAL})(?=[,:，：]| is\b)"
)
_NAMED_HAN: Final = lazy_pattern(
    rf"(?:你(?:就|现在)?(?:是|叫)|扮演|名叫|(?:名字|姓名|角色|名称)[是为:：])\s*(?:一[个位名])?([{_HAN}·]{{2,20}})|^\W*([{_HAN}·]{{2,6}})(?=[,，:：])"
)
_I_AM: Final = lazy_pattern(
    rf"(?:\b(?i:i am|i['’]m|my name is|call me) (?:an? |the )?|^(?=[A-Z][a-z]+ [A-Z]))([\w' -]*?\w+)(?=[,.;]|$| (?:who|on|in|of|with|at|from|and)\b)|我(?:就)?(?:是|叫|姓|名叫)(?:个|一[个位名])?([{_HAN}]+)"
)
"""How a persona says who the user is."""
_CALLED: Final = lazy_pattern(rf", (\w+)(?=[,.!?]|$)|^(\w+), you\b|(?:^|[,，“])([{_HAN}]{{2,4}})(?=[,，!！])")
_NAMES_ITSELF: Final = lazy_pattern(r"\b(?:i am|i['’]m|my name|me,)|我[是叫姓]", re.IGNORECASE)
_LABEL: Final = lazy_pattern(
    rf"^[\s*_\[【《<(（]*([^\W\d_][\w .'’·{_HAN}-]{{0,30}}?)(?:[*_\]】)）\s]*[:：]|[\]】》])(?=\s*\S)",
    re.MULTILINE,
)
_ROLES: Final = "assistant ai bot chatbot agent character support system model 助手 客服 机器人 角色 助理 系统 模型 人工智能".split()
_TITLES: Final = frozenset("mr mrs ms miss dr sir old professor captain madame".split())
_AI: Final = r"(?:(?:ai|artificial intelligence|virtual|automated|digital|language)(?: language)?(?: (?:model|assistant|agent|system|bot|program))?|assistant|chat ?bot)"
_MACHINE: Final = lazy_pattern(
    rf"(?i:\b(?:as|being|i am|i['’]m)(?: just| only)? (?:an?|your) (?:\w+ ){{0,2}}?{_AI}(?=[\s,.!;]*$|[,.!;]| (?:and|so|but|i|here|designed|trained)\b))|(?<![你您])(?<!以为)(?:作为|身为|我(?:只|就|其实)?是)[^,，。?？]{{0,6}}(?i:ai|人工智能|语言模型|机器人|客服|助[手理])[^?？吗]*$"
)
"""Says of itself that it is a machine, or the assistant."""
_OFFERS: Final = lazy_pattern(
    r"\bhow (?:can|may|could|might) (?:i|we) (?:\w+ )?(?:help|assist|be of (?:help|service|assistance)|serve)\b(?! (?:him|her|them|my)\b)|\bwhat (?:can|may|could) (?:i|we) (?:help|assist) you with|\b(?:any|some)thing else (?:that )?(?:i|we) (?:can|could|may|might) (?:do for you|help|assist)|\b(?:any|some)thing else (?:that )?you(?:'d| would)? (?:like|need)[^.?!]{0,12} (?:help|assistance) with|\b(?:i|we)(?:'m| am|'re| are|'d be| would be|'ll be)(?: \w+)? (?:happy|glad|delighted|pleased|here) to assist\b|\b(?:i|we) (?:can|could|will|'ll|would|am able to) (?:\w+ )?assist you\b|\bassist you (?:with|today|further)|\b(?:thank you|thanks) for (?:contacting|calling|choosing|reaching out to (?:us|our)|shopping (?:at|with)|your (?:order|purchase|business|booking|inquiry|enquiry|interest in our))\b"
    r"|(?:有|还有)?(?:什么|哪些|啥|其他|别的)[^,，。?？]{0,8}(?:可以|能|需要)(?:我)?(?:帮|为|协助|服务)(?:到|助)?(?:您|你)|(?:还有|有)(?:什么|其他|其它|别的)[^,，。?？]{0,6}需要(?:我)?(?:帮|协助|服务)|(?:很高兴|乐意|竭诚)(?:为|能为|能帮)(?:您|你)|为(?:您|你)服务|很高兴[^,，。]{0,3}[为帮][^,，。]{0,3}[您你]|有(?:其他|别的|任何|什么)?(?:问题|疑问|需要)[^。]{0,8}随时(?:问|告诉|联系|找|跟|向)我|需要(?:什么|哪些)(?:样的)?(?:帮助|服务|帮忙)|感谢(?:您|你)的?(?:来电|致电|咨询|惠顾|光临|使用|选择|反馈|提问|信任)|(?:欢迎|随时)(?:再次)?(?:光临|来电|咨询|向我提问|联系我们|告诉我您)"
)
"""The formulas of assistants: an offer of help, thanks for the custom."""
_SEGMENT: Final = lazy_pattern(
    r"\*{1,2}([^*\n]{2,200})\*{1,2}|[(（]([^()（）\n]{2,200})[)）]|^_([^_\n]{2,200})_$", re.MULTILINE
)
_THEY_ACT: Final = lazy_pattern(r"^(?:he|she|they) (?:\w+ly )?[a-z]+\b|^[他她它](?!们)", re.IGNORECASE)
_SAYS_HAN: Final = r"(?![你您我,，:：的和跟与真好很太可不也都就是会想要能在])[^你您,，。!！?？\n]{0,8}?(?:[了着过起下上出开回进向把]|地[^,，。]{1,3}|说道?|[问答笑叹][^,，。]?|[摇点低抬转][^,，。]{1,2}头?)(?![^,，。!！\n]*[吗?？])"
_SUBJECT: Final = lazy_pattern(
    r"(?:^|[,.;!] ?|\b(?:and|but|so|because|that|since) )(?:i|i'm|i've|i'd|i'll|my) |(?:^|[,，。;；!！])我(?!们)"
)
_SECOND: Final = lazy_pattern(r"\b(?:you|your|yours|you'll|you're|you've|you'd)\b|[您你]")
_SECRETS, _OWN_SHARE = 3, 0.4
"""Content terms of the other's instructions by which a sentence is the other's own; their share of it."""
_OF_USER: Final = lazy_pattern(r"\buser\b|用户|对方", re.IGNORECASE)


class OtherSide:
    """The side that the user talks to: its names and trade, and what only it was told."""

    def __init__(self, instructions: str, persona: str, known: str) -> None:
        """Read them off its instructions; what the user is (`persona`), or knows, is none of them."""
        mine = _I_AM.findall(persona)
        latin = _parts(" ".join(m[1] or m[2] for m in _NAMED.finditer(instructions)))
        self.latin = latin - _parts(" ".join(me for me, _ in mine)) - ENGLISH_STOP - _TITLES
        runs = [(m[1] or m[2]).rsplit("的", 1)[-1] for m in _NAMED_HAN.finditer(instructions)]
        tails = {run[at:] for run in runs for at in range(max(0, len(run) - 8), len(run) - 1)}
        self.trades = {run[i : i + 3] for run in runs for i in range(len(run) - 2)}
        self.han = {t for t in tails if not any(t in me for _, me in mine)}
        calls = {me.lower().split()[-1] for me, _ in mine if me}
        calls |= {me[-n:] for _, me in mine for n in (2, 3, 4) if me}
        self.user = {name for name in calls if name not in instructions.lower()}
        theirs = " ".join(s for s in sentences(instructions) if not _OF_USER.search(s)) if persona else ""
        self.secrets = content_terms(pieces(theirs)) - content_terms(pieces(f"{persona}\n{known}"))

    def in_text(self, text: str) -> bool:
        """Whether any of them occurs; where none does, no pattern has to be made."""
        return any(map(text.lower().__contains__, (*self.latin, *self.han, *self.trades)))

    def label(self, label: str) -> bool:
        """Whether a label is the other's name, with or without a title."""
        return label in self.han or bool(
            self.latin & (parts := _parts(label)) and parts <= self.latin | _TITLES
        )

    @lazy_property
    def patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """What gives the name as the speaker's own; what tells what the other does or says."""
        part, title, han, trade = map(_any_of, (self.latin, _TITLES, self.han, self.trades))
        name = rf"(?=[A-Z])(?i:(?:{title}\.? )*{part}(?: {part})*(?:['’]s)?)(?![\w-])"
        claim = (
            rf"(?:(?i:\b(?:i am|i['’]m|my name is|this is|call me|i,|\w+ing as)|(?:^|[(\[*])as) |(?i:\bme, )(?=[A-Z][\w'’-]* [A-Z]))(?:[A-Z][\w'’-]* )?{name}(?!\s*[?？])"
            rf"|我(?:就)?(?:是|叫)[{_HAN}]{{0,6}}{han}(?![{_HAN}]*[的吗?？])|我{han}(?=[{_HAN}])|(?:作为|以|扮演){han}(?:的(?:身份|口吻|语气|角度))?[,，]?(?:我|回|说|发)"
            rf"|(?:作为|身为|我就?是)[{_HAN}]{{0,7}}?{trade}[{_HAN}]{{0,4}}(?=[,，。!！我]|$)"
        )
        deed = (
            rf"^\W*{name} (?P<first>[a-z]+)(?![\w'’])|(?:[\"”'’]\s+|[,;:—]\s+(?:and |then )?|\b(?:and|then|as|while) ){name} (?P<later>[a-z]+[sd])(?![\w'’])"
            rf"|[\"”'’,]\s*(?:says|said|asks|asked|replies|replied|answers|answered) {name}"
            rf"|^\W*{han}{_SAYS_HAN}|{han}[^你您,，。!！?？]{{0,4}}[说问答]道?[:：,，。]"
        )
        return re.compile(claim), re.compile(deed)

    def acts(self, text: str) -> bool:
        """Whether a text tells what the other does or says; a name before a function word is only called."""
        return any(m[m.lastgroup or 0] not in ENGLISH_STOP for m in self.patterns[1].finditer(text))

    def calls(self, sentence: str) -> bool:
        """Whether a sentence calls the user by what the user is, as the other side would."""
        called = (m[m.lastindex or 0].lower() for m in _CALLED.finditer(sentence))
        return any(name in self.user for name in called) and not _NAMES_ITSELF.search(sentence)

    def knows(self, sentence: Sentence) -> bool:
        """Whether a sentence says of its speaker, and not of the one spoken to, what only the other was told."""
        much = len(sentence.terms & self.secrets) >= max(_SECRETS, _OWN_SHARE * len(sentence.terms))
        plain = sentence.plain
        return bool(much and plain[-1] not in "?？" and _SUBJECT.search(plain) and not _SECOND.search(plain))


def _parts(name: str) -> set[str]:
    """Return the words of a name in lower case."""
    return {re.sub("['’]s$", "", part) for part in re.findall(r"[^\W\d_][\w'’-]+", name.lower())}


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern of any of the texts, the longest first; of none, one that matches nothing."""
    return f"(?:{'|'.join(map(re.escape, sorted(texts, key=len, reverse=True))) or '(?!)'})"


def speaks_as_other(message: TextView, other: OtherSide) -> tuple[str, str] | None:
    """Return the words in which a user's message gives itself out as the other side, and how; None if nowhere.

    `label`: a line has the other's name as a label. `deed`: it tells what the other does. `name`: it gives the
    other's name or trade as its own, or is a machine. `calls`: it calls the user by what the user is. `knows`:
    it says of itself what only the other was told. `offer`: it offers help as an assistant does.
    """
    text, named = message.text, other.in_text(message.text)
    for line in _LABEL.finditer(text):
        if (named and other.label(line[1].strip())) or line[1].strip().lower() in _ROLES:
            return text[line.start() :].strip().split("\n")[0], "label"
    for segment in filter(None, (g for m in _SEGMENT.findall(text) for g in m)):
        plain = segment.strip(" \"'“”")
        if _THEY_ACT.search(plain) or (named and other.acts(plain)):
            return segment, "deed"
    for sentence in message.sentences:
        if _MACHINE.search(sentence.text) or (named and other.patterns[0].search(sentence.text)):
            return sentence.text, "name"
        if named and other.acts(sentence.text):
            return sentence.text, "deed"
        if other.user and other.calls(sentence.text):
            return sentence.text, "calls"
        if other.secrets and other.knows(sentence):
            return sentence.text, "knows"
        if offers(sentence):
            return sentence.text, "offer"
    return None


def offers(sentence: Sentence) -> bool:
    """Whether a sentence offers help, or thanks for the custom, as assistants do."""
    return _OFFERS.search(sentence.plain) is not None
