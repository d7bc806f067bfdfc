"""Tokens: normalised text, sentences, words, numbers and Chinese bigrams."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import add

from dialogauge.core.patterns import lazy_pattern

_QUOTES = {"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"'}
# Frequent in Chinese text; with these translated, slow NFKC is rarely needed.
_WIDE = {chr(0xFF01 + i): chr(0x21 + i) for i in range(94)} | {"\u3000": " ", "\u2026": "..."}
_TABLE = str.maketrans(_QUOTES | _WIDE)


def normalise(text: str) -> str:
    """Return the text in NFKC, lower case, with straight quotes and single spaces.

    Full-width letters and digits become half-width, so `１２３` equals `123`; Chinese full stops stay.
    """
    if not text.isascii():
        text = text.translate(_TABLE)
        if not unicodedata.is_normalized("NFKC", text):
            text = unicodedata.normalize("NFKC", text).translate(_TABLE)
    return " ".join(text.lower().split())


# An English full stop ends a sentence only before white space: not in "3.5", "e.g" and "a.com".
# One set first: `re` skips to such a set quickly.
_END = lazy_pattern(r"([。！？；!?.;\n])(?:(?<=[。！？；!?])[\"'”’）)]*\s*|(?<=[.;])\s+|(?<=\n)\n*)")
_SPACE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_BEFORE, _AFTER = _SPACE + ">#*-•·|", _SPACE + "*|"


def sentences(text: str) -> list[str]:
    """Return the sentences in order, without list marks and white space at their ends.

    An abbreviation before a space ("Dr. Li") also ends a sentence.
    """
    parts = _END.split(text)
    ends = (*parts[1::2], "")
    stripped = [
        (part + end).lstrip(_BEFORE).rstrip(_AFTER) for part, end in zip(parts[::2], ends, strict=True)
    ]
    return [part for part in stripped if part]


# ruff: noqa: SIM905 - a thousand quotes would hide the words


ENGLISH_STOP = frozenset(
    """
    a about above actually after again all already also always am an and another any anything are as
    at be because been before being below best better between both but by can cannot can't come
    could couldn't did didn't do does doesn't doing don't done down each either else even ever every
    everything few fine first for from further get gets getting give given go goes going good got
    great had has hasn't have haven't having he hello help her here hers hey hi him his how however
    i i'd i'll i'm i've if in into is isn't it it's its itself just kind know let let's like little
    look looking lot made make makes making many may maybe me might mine more most much must my
    myself need needs never new nice no nor not nothing now of off oh ok okay on once one only onto
    or other others our ours out over own perhaps please possible quite rather really right said
    same say see she should since so some someone something still such sure take tell than thank
    thanks that that's the their theirs them then there there's these they they're thing things
    think this those though through time to too try trying under until up upon us use used using
    very want wanted was wasn't way we we'd we'll we're we've well were what what's when where
    whether which while who whom why will with within without won't would wouldn't yes yet you you'd
    you'll you're you've your yours yourself able ask asked around back bit else etc able welcome
    sorry yeah yep hmm per via
    """.split()
)

HAN_STOP = frozenset(
    "的了是我你您他她它们这那个些么吗呢吧啊呀哦嗯嘛和与或及在有没不也都还就又很太更最被把给让为以从到对向于"
    "之其而但并且所因如果若则即请要想会能可该应将已曾着过地得来去做说问答谢好什怎哪谁几何样里中上下只再等"
)
"""Function and courtesy characters, which split runs of Chinese before bigrams."""

FOREIGN = {
    "es": (
        "el los las una por para con que está estoy quiero puedes puede gracias hola cómo qué muy "
        "pero mi su  del al es lo se tengo tiene son como más también necesito "
    ),
    "de": (
        "der die das und ist nicht ich sie wir ein eine einen dem den mit für auf von zu im bitte "
        "danke wie kann  können habe haben auch aber sehr mein meine ihr ihre wird sind oder bei "
    ),
    "fr": (
        "le les des une est et je vous nous pas pour dans avec sur qui que bonjour merci comment "
        "mais très mon  votre du au ce cette sont être avoir suis il elle "
    ),
    "it": (
        "il gli che di per con una sono non grazie ciao come questo questa mio della nel anche ma "
        "ho può vorrei  è più "
    ),
    "pt": (
        "os um uma para com não você obrigado obrigada olá como mais muito meu minha está são por "
        "ao da do eu  posso "
    ),
    "nl": (
        "het een van ik niet dat en voor met zijn ook maar wel hoe kan kunt graag dank uw mijn naar ben heb "
    ),
    "pl": ("się jest nie na do to że jak czy proszę dziękuję mam mój oraz przez dla "),
    "sv": ("och att det som en på är av för inte jag med har ett till kan hur tack min "),
    "tr": ("bir ve bu için ile ben ne nasıl değil çok teşekkürler merhaba var mı "),
    "id": ("yang dan di untuk dengan saya ini itu tidak apa bagaimana terima kasih bisa ada ke dari "),
    "vi": ("là của và có không tôi bạn cho một được xin cảm ơn này "),
}
"""By language some frequent words, which others may share."""
FOREIGN_STOP = frozenset(word for words in FOREIGN.values() for word in words.split()) - frozenset(
    """
    is a an as at do to me no so on in was am i it en die son con come mi di al la du pas per ma on
    den hat
    """.split()
)
"""Frequent words of other languages in Latin script that are not English words."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN = lazy_pattern(rf"[^\W\d_{_HAN}]+(?:'[a-z]+)?|\d+(?:[.,:/]\d+)*|[{_HAN}]+")
_STOP = "".join(sorted(HAN_STOP))


def _telling() -> str:
    """Return the ranges of Chinese characters without function characters."""
    out = []
    for first, last in ((0x3400, 0x4DBF), (0x4E00, 0x9FFF)):
        start = first
        for code in [c for c in map(ord, _STOP) if first <= c <= last] + [last + 1]:
            if start < code:
                out.append(f"{chr(start)}-{chr(code - 1)}")
            start = code + 1
    return "".join(out)


# A word or a number; one set first: `re` skips to such a set quickly.
_WORD = lazy_pattern(rf"[^\W_{_HAN}](?:(?<=\d)\d*(?:[.,:/]\d+)*|(?<!\d)[^\W\d_{_HAN}]*(?:'[a-z]+)?)")
_CHINESE = lazy_pattern(f"[{_HAN}]+")
_TELLING = lazy_pattern(f"[{_telling()}]+")
_SUFFIXES = ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ers", "er", "ed", "es", "ly", "s")


def words(text: str) -> list[str]:
    """Return words, numbers and runs of Chinese characters in order, in lower case."""
    return _TOKEN.findall(text.lower().replace("\u2019", "'"))


@dataclass(frozen=True, slots=True)
class Pieces:
    """The words and the Chinese part of a text."""

    words: list[str]
    """Words and numbers in order, in lower case."""
    chinese: str
    """The text in lower case if it may contain Chinese, else empty."""
    characters: int
    """Chinese characters."""

    @property
    def units(self) -> float:
        """The length in words, a Chinese character counting as 0.6 of a word."""
        return len(self.words) + 0.6 * self.characters


def pieces(text: str) -> Pieces:
    """Split a text into words, numbers and Chinese."""
    lowered = text.lower().replace("\u2019", "'")
    if not text.isascii():
        # Count the characters of `_HAN` by their first bytes in UTF-8, which is quicker than a pattern.
        # From U+4000 on these are E4 to E9; E4 B7 begins the hexagrams in between, E3 90 to E3 BF
        # extension A.
        encoded = lowered.encode("utf-8", "surrogatepass")
        led = len(encoded) - len(encoded.translate(None, _LEADS)) - encoded.count(b"\xe4\xb7")
        return Pieces(_WORD.findall(lowered), lowered, led + len(_EXTENSION_A.findall(encoded)))
    parts = lowered.split()
    if max(map(len, parts), default=0) > _LONG:
        return Pieces(_WORD.findall(lowered), "", 0)
    return Pieces(list(chain.from_iterable(map(_words_in, parts))), "", 0)


_LONG = 40
"""Characters of the longest part whose words are kept."""
_LEADS = bytes(range(0xE4, 0xEA))
_EXTENSION_A = re.compile(b"\xe3[\x90-\xbf]")


@lru_cache(maxsize=1 << 16)
def _words_in(part: str) -> list[str]:
    """Return the words of a part without white space: most texts are made of the same few parts."""
    return _WORD.findall(part)


def content_terms(text: Pieces) -> frozenset[str]:
    """Return the content terms: stems of words, numbers, Chinese bigrams or single characters.

    Function words are left out.
    """
    return frozenset(listed_terms(text))


def listed_terms(text: Pieces) -> list[str]:
    """Return the content terms with repeats, those of words ahead of the Chinese ones."""
    out = list(filter(None, map(_term, text.words)))
    for run in _TELLING.findall(text.chinese):
        if len(run) > 2:
            out.extend(map(add, run, run[1:]))
        else:
            out.append(run)
    return out


@lru_cache(maxsize=65536)
def _term(token: str) -> str:
    """Return a number, or the stem of a word; empty for function words and single letters."""
    if token[0].isdigit():
        return token
    return stem(token) if len(token) > 1 and token not in ENGLISH_STOP else ""


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Cut common English endings, so that `booked`, `booking` and `books` are equal; crude on purpose."""
    word = word.removesuffix("'s")
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "eyi" else word
