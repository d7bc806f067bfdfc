"""Grades of English readability: Coleman-Liau, Flesch-Kincaid and, as a variant, Dale-Chall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialogauge.core.patterns import lazy_pattern
from dialogauge.text import detect_language

_SENTENCE = lazy_pattern(r"\b[^.!?]+[.!?]*")
_MARK = lazy_pattern(r"'(?![tsd]|ve|ll|re)|[^\w\s']")
_LATIN = lazy_pattern("[A-Za-z]")
_VOWELS = lazy_pattern("[aeiouy]+")
_SILENT = lazy_pattern(
    r"(?:[^laeiouy]|[aeiouy]l|ll)es?$|[^aeiouytdl]ed$|[aeiouyl]led$|ques?$|[^aeiouyl]e(?:ments?|ly|ful|less|ness)$"
)
_SIBILANT = lazy_pattern("(?:[cgsxz]|ch|sh)es$")
_APART = lazy_pattern(
    r"(?<![cgstx])i(?:a|o|um|us|et)|(?<!t)(?<![^s]c)ien|(?<=[bhlr])ea$|creat|(?<![gq])u[ao]|eos?$|[aeouy]ing|sms?$"
)


def readability(text: str) -> Mapping[str, float | None]:
    """Return three grades: about the years of school that a text asks for, mostly 0 to 20, without bound.

    None where a text has no Latin letter or is Chinese: the formulas say nothing of it. Words, letters and
    sentences are counted as in `textstat`: a sentence of at most two words is none.

    - `coleman_liau_index` (1975): .0588 L - .296 S - 15.8, with L letters and S sentences per 100 words.
      `textstat` has .058, and so lies .0008 L, about 0.4, below.
    - `flesch_kincaid_by_rule` (1975): .39 words per sentence + 11.8 syllables per word - 15.59, with the
      syllables of `syllables`; `textstat` looks them up in a dictionary.
    - `dale_chall_by_syllables`: .1579 P + .0496 words per sentence, + 3.6365 if P > 5. P percent of words
      have three syllables or more, where Dale and Chall (1948) have a list of easy words. It orders texts,
      and is not to be compared with a Dale-Chall score.
    """
    words: Sequence[str] = ()
    if _LATIN.search(text) and detect_language(text) != "zh":
        words = _words(text)
    if not words:
        return {"coleman_liau_index": None, "flesch_kincaid_by_rule": None, "dale_chall_by_syllables": None}
    n, sentences = len(words), max(1, sum(len(_words(part)) > 2 for part in _SENTENCE.findall(text)))
    letters = sum(len(word.replace("'", "")) for word in words)
    counts = list(map(syllables, words))
    difficult = 100 * sum(count > 2 for count in counts) / n
    return {
        "coleman_liau_index": (5.88 * letters - 29.6 * sentences) / n - 15.8,
        "flesch_kincaid_by_rule": 0.39 * n / sentences + 11.8 * sum(counts) / n - 15.59,
        "dale_chall_by_syllables": 0.1579 * difficult + 0.0496 * n / sentences + 3.6365 * (difficult > 5),
    }


def _words(text: str) -> Sequence[str]:
    return _MARK.sub("", text).split()


def syllables(word: str) -> int:
    """Return the syllables of an English word by a rule: groups of vowels without silent ones; at least 1."""
    word = word.lower()
    count = len(_VOWELS.findall(word)) + len(_APART.findall(word))
    silent = _SILENT.search(word) and not _SIBILANT.search(word)
    return max(count - 1 if silent else count, 1)
