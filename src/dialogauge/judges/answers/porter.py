"""NLTK's variant of the Porter stemmer: by it LoCoMo counts two words as one, and METEOR as a match.

M. F. Porter, "An algorithm for suffix stripping", Program 14.3 (1980), with what NLTK's contributors added
(`PorterStemmer`, mode `NLTK_EXTENSIONS`): irregular words; `ies` and `ied` of four letters; `y` after a
consonant; `alli`, `fulli` and `logi`. It is neither Snowball's `porter` nor its `english`.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

_Rules = tuple[tuple[str, str], ...]


def _rules(text: str) -> _Rules:
    return tuple((suffix, rest) for suffix, _, rest in (rule.partition(">") for rule in text.split()))


_IRREGULAR = dict(
    _rules(
        "sky>sky skies>sky dying>die lying>lie tying>tie news>news innings>inning inning>inning howe>howe "
        "outings>outing outing>outing cannings>canning canning>canning proceed>proceed exceed>exceed "
        "succeed>succeed"
    )
)
_STEP_1A = _rules("sses>ss ies>i ss>ss s>")
_STEP_2 = _rules(
    "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e ousli>ous "
    "ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive "
    "biliti>ble fulli>ful logi>log"
)
_STEP_3 = _rules("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_STEP_4 = _rules(
    "al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ion> ou> ism> ate> iti> ous> ive> ize>"
)


@lru_cache(maxsize=1 << 16)
def porter_stem(word: str) -> str:
    """Return the stem of a word, in lower case; a word of one or two letters is its own."""
    stem = word.lower()
    if stem in _IRREGULAR:
        return _IRREGULAR[stem]
    if len(word) <= 2:
        return stem
    stem = stem[:-1] if stem.endswith("ies") and len(stem) == 4 else _cut(stem, _STEP_1A, 0)
    stem = _without_past(stem)
    if stem.endswith("y") and len(stem) > 2 and _consonants(stem[:-1])[-1]:
        stem = stem[:-1] + "i"
    while stem.endswith("alli") and _measure(stem[:-4]):
        stem = stem[:-2]
    stem = _cut(_cut(_cut(stem, _STEP_2, 1), _STEP_3, 1), _STEP_4, 2)
    if stem.endswith("e"):
        measure = _measure(stem[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(stem[:-1])):
            stem = stem[:-1]
    return stem[:-1] if stem.endswith("ll") and _measure(stem[:-1]) > 1 else stem


def _cut(word: str, rules: _Rules, least: int) -> str:
    """Apply the first rule whose suffix the word has, if what is left has the least measure."""
    for suffix, rest in rules:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            # The l of `logi` counts as of the stem, so that `geologi` is cut like `philologi`.
            enough = _measure(stem + "l" if suffix == "logi" else stem) >= least
            return stem + rest if enough and (suffix != "ion" or stem[-1] in "st") else word
    return word


def _without_past(word: str) -> str:
    """Step 1b: `ied`, `eed`, `ed` and `ing`, with the e or the single letter that they replaced."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    stem = word.removesuffix("ed") if word.endswith("ed") else word.removesuffix("ing")
    if stem == word or all(_consonants(stem)):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-1:] == stem[-2:-1] and _consonants(stem)[-1]:
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _consonants(word: str) -> list[bool]:
    """Say of each letter whether it is a consonant; y is one at the start and after a vowel."""
    out: list[bool] = []
    for letter in word:
        out.append(not out or not out[-1] if letter == "y" else letter not in "aeiou")
    return out


def _measure(stem: str) -> int:
    """Return Porter's m: how many times a consonant follows a vowel."""
    return sum(not before and after for before, after in pairwise(_consonants(stem)))


def _ends_short(stem: str) -> bool:
    """Say whether a stem ends in consonant, vowel, consonant (no w, x, y), or is a vowel and a consonant."""
    kinds = _consonants(stem)
    return (kinds[-3:] == [True, False, True] and stem[-1] not in "wxy") or kinds == [False, True]
