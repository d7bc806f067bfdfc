"""How far two longer texts share their words: ROUGE-L in two senses, and METEOR without synonyms.

Chinese texts (`lang` is `zh`) are cut by jieba; where it is not installed, `MissingExtra` is raised.
"""

from __future__ import annotations

import logging
import warnings
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from dialogauge.core.errors import MissingExtra
from dialogauge.core.patterns import lazy_pattern
from dialogauge.judges.answers.porter import porter_stem

_ALPHANUMERIC = lazy_pattern("[a-z0-9]+")
# LexEval's list, in ranges: it lacks `《`, which stays a word.
_MARKS = lazy_pattern(r"[!-/:-@\[-`{-~！-－／：-＠［-｀｛-､、-〃》-】〔-〟〰〾〿–—‘’‛-‟…‧﹏\s]")
_ENGLISH = lazy_pattern(
    r"(?i)n't\b|'(?:s|m|d|re|ve|ll)\b|\w+?(?=n't\b)|\w+(?:[-./+]\w+|[,:]\d+)*|\.\.\.|--|[^\w\s]"
)


def english_words(text: str) -> list[str]:
    """Return words and marks in order, in the Treebank's manner: `don't.` gives do, n't and a full stop.

    Case is kept. It stands for NLTK's `word_tokenize`, which needs data for its sentences.
    """
    return _ENGLISH.findall(text.replace("\u2019", "'"))


def chinese_words(text: str) -> list[str]:
    """Return the words and marks of jieba's precise mode, in order, by its own dictionary alone."""
    return _jieba()(text) if text else []


@cache
def _jieba() -> Callable[[str], list[str]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its patterns, and of setuptools
            import jieba
    except ImportError as error:
        message = "metrics of Chinese texts need jieba, which is not installed"
        raise MissingExtra(message, hint="pip install 'dialogauge[zh]'") from error
    jieba.setLogLevel(logging.WARNING)
    cut: Callable[[str], list[str]] = jieba.Tokenizer().lcut
    return cut


def rouge_l_distinct(reply: str, gold: str, lang: str = "en") -> float:
    """Return ROUGE-L over distinct words, the `f` of PyPI's `rouge`; 0 to 1, of an empty text 0.

    The distinct words of the longest common subsequences, by those of the reply and of the right answer:
    `a b a b` against `a b` earns 1 (`rouge_l`: 0.667). Chinese texts are cut as in LexEval: in lower case,
    without marks and blanks, by jieba. Others keep their case; they are cut at blanks, and at full stops into
    sentences, each of which is compared with each of the other text. The package fails on longer texts, which
    LexEval counts as 0; here they have a score.
    """
    replies, golds = (_sentences(text, lang) for text in (reply, gold))
    words, right = ({word for part in parts for word in part} for parts in (replies, golds))
    if not words or not right:
        return 0.0
    common = {word for gold in golds for reply in replies for word in _common_subsequence(gold, reply)}
    precision, recall = len(common) / len(words), len(common) / len(right)
    return 2 * (precision * recall) / (precision + recall + 1e-8)


def _sentences(text: str, lang: str) -> list[list[str]]:
    if lang == "zh":
        return [chinese_words(_MARKS.sub("", text.lower()))]
    # A blank sentence is one empty word there.
    return [part.split() or [""] for part in text.split(".") if part]


def rouge_l(reply: str, gold: str, lang: str = "en") -> float:
    """Return ROUGE-L, F1 of the longest common subsequence, by words as often as they occur; 0 to 1.

    `rougeL` of PyPI's `rouge-score` without stems (Lin 2004): words are runs of a to z and digits, in lower
    case. Chinese texts are cut as above (ours: the package drops all Chinese). 0 where a text has no word.
    """
    if lang == "zh":
        answer, right = (_sentences(text, lang)[0] for text in (reply, gold))
    else:
        answer, right = (_ALPHANUMERIC.findall(text.lower()) for text in (reply, gold))
    length = sum(len(answer) - row.bit_count() for row in deque(_rows(right, answer), maxlen=1))
    return 2 * length / (len(answer) + len(right)) if length else 0.0


def _common_subsequence(first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
    """Yield the words of a longest common subsequence, the last first; of several the one of `rouge`."""
    rows = list(_rows(first, second))
    i, j = len(first) - 1, len(second) - 1
    while i >= 0 and j >= 0:
        if first[i] == second[j]:
            yield first[i]
            i, j = i - 1, j - 1
        elif rows[i] >> j & 1:
            j -= 1
        else:  # to go back in `first` leaves more
            i -= 1


def _rows(first: Sequence[str], second: Sequence[str]) -> Iterator[int]:
    """Yield a row of the table of common subsequences for each word of `first`, as the bits of a number.

    Bit j is 0 where the first j + 1 words of `second` give more than the first j (Hyyrö 2004).
    """
    places: dict[str, int] = defaultdict(int)
    for place, word in enumerate(second):
        places[word] |= 1 << place
    full = (1 << len(second)) - 1
    row = full
    for word in first:
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & full
        yield row


def meteor_exact_stem(reply: str, gold: str, lang: str = "en") -> float:
    """Return METEOR with the stages `exact` and `stem`, without synonyms; 0 to below 1, of an empty text 0.

    Banerjee and Lavie 2005, with alpha 0.9, beta 3, gamma 0.5 as in NLTK. Where synonyms match, METEOR with
    WordNet is higher. Words are those of `english_words`, or `chinese_words` for `zh`.
    """
    cut = chinese_words if lang == "zh" else english_words
    return meteor_of_words(cut(reply), cut(gold))


def meteor_of_words(reply: Sequence[str], gold: Sequence[str]) -> float:
    """Return `meteor_exact_stem` of texts that are cut into words; of none 0. Case does not count."""
    answer, right = ([word.lower() for word in words] for words in (reply, gold))
    pairs = dict(_aligned(dict(enumerate(answer)), dict(enumerate(right))))
    rest = [
        {place: porter_stem(word) for place, word in enumerate(words) if place not in used}
        for words, used in ((answer, pairs.keys()), (right, set(pairs.values())))
    ]
    pairs |= _aligned(*rest)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(answer), len(pairs) / len(right)
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    chunks = sum(place == 0 or pairs.get(place - 1) != other - 1 for place, other in pairs.items())
    return float((1 - 0.5 * (chunks / len(pairs)) ** 3) * mean)


def _aligned(reply: dict[int, str], gold: dict[int, str]) -> Iterator[tuple[int, int]]:
    """Yield the places of equal words: from the last word back, each with the last one that is free."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, word in gold.items():
        places[word].append(place)
    for place in reversed(reply):
        if free := places.get(reply[place]):
            yield place, free.pop()
