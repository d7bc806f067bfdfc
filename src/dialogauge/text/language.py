"""The language of a text: English, Chinese or another one.

Shares of scripts decide; within the Latin script, frequent words of English and of other languages. Code
blocks, links and addresses do not count, nor do codes (`c_7de1`) beside words. What says nothing (names, a
few rare words, one word over and over) is taken for English; many different words with hardly a frequent
English one among them are not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Literal

from dialogauge.core.patterns import lazy_pattern
from dialogauge.text.tokens import ENGLISH_STOP, FOREIGN, FOREIGN_STOP

Language = Literal["en", "zh", "other"]

_NOISE = lazy_pattern(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|\S+@\S+", re.DOTALL)
_DIGIT = lazy_pattern("[0-9]")
_CODE = lazy_pattern("[A-Za-z0-9_](?<![A-Za-z0-9_].)(?:(?<=[0-9])|[A-Za-z_]*[0-9])[A-Za-z0-9_]*")
"""A word with a digit, from its first character; it begins with a set, to which `re` skips quickly."""
_HAN = lazy_pattern("[\u3400-\u4dbf\u4e00-\u9fff]+")
_KANA_HANGUL = lazy_pattern("[\u3040-\u30ff\u1100-\u11ff\uac00-\ud7af]+")
_LATIN = lazy_pattern("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+(?:'[a-z]+)?")
_OTHER_SCRIPT = lazy_pattern("[\u0370-\u058f\u0590-\u08ff\u0900-\u0fff\u1000-\u10ff\u1780-\u17ff]+")
_LENGTH = 800  # characters of each text that count
_MANY = 12
"""Words: of so many different ones that are no names, one at least is frequent in English text."""


def has_chinese(text: str) -> bool:
    """Say whether the counted part of a text has a Chinese character; without one it is never `zh`."""
    return not text.isascii() and _HAN.search(text, 0, _LENGTH) is not None


@dataclass(slots=True)
class LanguageTally:
    """Counts over the texts of a conversation."""

    han: int = 0
    """Chinese characters."""
    kana: int = 0
    """Japanese syllables and Korean letters."""
    latin: int = 0
    """Words in Latin script."""
    accented: int = 0
    """Of these, words with a letter outside ASCII."""
    english: int = 0
    """Frequent English words."""
    foreign: int = 0
    """Frequent words of other languages in Latin script."""
    other: int = 0
    """Words in other scripts."""
    rare: set[str] = field(default_factory=set)
    """A dozen Latin words or more that are no names, of texts with hardly a frequent English word."""
    lettered: bool = False
    """Whether there is a letter in any script."""

    def add(self, text: str) -> None:
        """Count one text, its first 800 characters."""
        text = text[:_LENGTH]
        if "`" in text or "http" in text or "@" in text:
            text = _NOISE.sub(" ", text)
        if _DIGIT.search(text) and _LATIN.search(plain := _CODE.sub(" ", text)):
            text = plain
        latin = _LATIN.findall(text.lower().replace("\u2019", "'"))
        english = sum(map(ENGLISH_STOP.__contains__, latin))
        self.latin += len(latin)
        self.english += english
        self.lettered = self.lettered or any(map(str.isalpha, text))
        if _is_sparse(english, len(latin)) and len(self.rare) < _MANY:
            self.rare.update(word.lower() for word in _LATIN.findall(text) if not word.istitle())
        if not text.isascii():
            self.han += sum(map(len, _HAN.findall(text)))
            self.kana += sum(map(len, _KANA_HANGUL.findall(text)))
            self.other += len(_OTHER_SCRIPT.findall(text))
            self.accented += len(latin) - sum(map(str.isascii, latin))
        self.foreign += sum(map(FOREIGN_STOP.__contains__, latin))

    def language(self) -> Language:
        """Return the language of the texts so far; `other` without letters."""
        written = self.han * 0.6 + self.kana * 0.6 + self.latin + self.other
        kana = self.kana > 0.15 * (self.han + self.kana)
        running = kana and self.kana * 0.6 > 0.2 * written  # no mere smiley or name
        if not written or running or self.other > 0.4 * written:
            return "other"
        if self.han * 0.6 >= 0.3 * written:
            return "zh"
        if self.foreign > self.english * 0.5 or self.accented > 0.2 * self.latin:
            return "other"
        if not _is_sparse(self.english, self.latin):
            return "en"
        if self.han * 0.6 >= 0.1 * written and not kana:
            return "zh"  # beside names, code or data
        return "other" if len(self.rare) >= _MANY else "en"


def _is_sparse(english: int, latin: int) -> bool:
    """Say whether words say little: of running English text 35-50 % are frequent words; of lists few."""
    return english < 0.08 * latin


def detect_language(*texts: str) -> Language:
    """Return the language of texts together: `en` where little says which, `other` without letters."""
    tally = LanguageTally()
    for text in texts:
        tally.add(text)
    return tally.language()


def language_name(*texts: str) -> str:
    """Return the code of the language of texts, else the script that most letters are of, or `other`.

    A code is given for `en`, `zh`, `ja`, `ko`, and languages of which frequent words are known.
    """
    if (language := detect_language(*texts)) != "other":
        return language
    text = _NOISE.sub(" ", " ".join(text[:_LENGTH] for text in texts)).lower()
    scripts = Counter(unicodedata.name(letter, "other").split()[0] for letter in text if letter.isalpha())
    ((script, _),) = scripts.most_common(1) or [("other", 0)]
    if script != "LATIN":
        return _OF_SCRIPT.get(script, script.capitalize() if script != "other" else script)
    words = Counter(_LATIN.findall(text))
    hits = {name: sum(words[word] for word in FOREIGN_STOP & {*of.split()}) for name, of in FOREIGN.items()}
    first, second = sorted(hits, key=lambda name: hits[name])[:-3:-1]
    clear = hits[first] >= max(0.2 * words.total(), 2 * hits[second])
    return first if clear and not (first == "sv" and words.keys() & _NEARLY_SWEDISH) else "other"


_OF_SCRIPT: Final = {"HIRAGANA": "ja", "KATAKANA": "ja", "CJK": "ja", "HANGUL": "ko"}
"""Languages by their script; Chinese characters among kana are Japanese."""
_NEARLY_SWEDISH: Final = {"jeg", "ikke", "og"}
"""Words of Danish and Norwegian, which share most frequent words with Swedish."""
