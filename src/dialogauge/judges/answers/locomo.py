"""LoCoMo's scores of short answers, with the rules of its categories; and DialSim's exact match.

Maharana et al. 2024 (github.com/snap-research/locomo, `evaluation.py`), as MemoryBench runs it: `a`, `an`,
`the` and `and` do not count, and words are Porter stems. Category 1 is multi-hop, 2 temporal, 3 open-domain,
4 single-hop, 5 adversarial.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping

from dialogauge.core.errors import UsageError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.judges.answers.porter import porter_stem

_NO_MARKS = str.maketrans("", "", string.punctuation)
_ARTICLES = lazy_pattern(r"\b(?:a|an|the|and)\b")
_HAN = lazy_pattern("([\u3400-\u4dbf\u4e00-\u9fff])")
_CHINESE_MARKS = str.maketrans(dict.fromkeys("，。！？；：、“”‘’（）《》【】…—·", " "))
_ABSTAINS = lazy_pattern(
    r"\b(?:not (?:been )?(?:mentioned|stated|specified|discussed|provided|available|known|enough information)"
    r"|(?:is|are|was|were|do|does|did)(?: not|n't) (?:mention|say|state|specify|provide|know|have enough)\w*"
    r"|no (?:information|mention|record|evidence)|unknown|unanswerable|insufficient information"
    r"|can(?:not|'t| not) (?:be )?(?:answer|determin|tell|find|say|know)\w*)\b"
    r"|(?:没有?|未|并未|从未)(?:被|有|明确|曾)*(?:提及|提到|说明|提供|记录|谈到|讲到)"
    r"|不知道|不清楚|无法(?:确定|回答|得知|判断)|无从得知|没有(?:相关|足够)?(?:的)?(?:信息|记录)|信息不足"
)


def token_f1(reply: str, gold: str, lang: str = "en") -> float:
    """Return F1 over the stems of two texts, each stem as often as it occurs; 0 to 1.

    0 where no stem is shared, so also where one text is empty or has nothing but articles and marks. `zh`
    counts each Chinese character as a word (ours: LoCoMo is English).
    """
    predicted, expected = _stems(reply, lang), _stems(gold, lang)
    shared = (Counter(predicted) & Counter(expected)).total()
    # Harmonic mean of shared / predicted and shared / expected.
    return 2 * shared / (len(predicted) + len(expected)) if shared else 0.0


def _stems(text: str, lang: str) -> list[str]:
    plain = text.replace(",", "").lower().translate(_NO_MARKS)
    if lang == "zh":
        plain = _HAN.sub(r" \1 ", plain.translate(_CHINESE_MARKS))
    return [porter_stem(word) for word in _ARTICLES.sub(" ", plain).split()]


def locomo_f1(reply: str, gold: str, category: int, lang: str = "en") -> float:
    """Return LoCoMo's F1 of a reply to a question of category 1 to 4; 0 to 1, of an empty text 0.

    In category 1 both texts are cut at commas: each part of the right answer takes the best F1 that a part of
    the reply has with it, and their mean counts. In category 3 the right answer ends before its first
    semicolon. In Chinese the Chinese marks cut as well.

    Raises:
        UsageError: The category is another one; the fifth has `locomo_option` and `abstains`.
    """
    if category == 1:
        replies, golds = (re.split("[,，、]" if lang == "zh" else ",", text) for text in (reply, gold))
        return sum(max(token_f1(one, part, lang) for one in set(replies)) for part in golds) / len(golds)
    if category == 3:
        gold = re.split("[;；]" if lang == "zh" else ";", gold)[0]
    elif category not in (2, 4):
        message = f"LoCoMo's F1 is defined for the categories 1 to 4, not for {category!r}"
        raise UsageError(message)
    return token_f1(reply, gold, lang)


def locomo_option(reply: str, options: Mapping[str, str] | None = None) -> float:
    """Return whether a reply to a question of category 5 chose `Not mentioned`: 1 or 0; 0 if it is empty.

    As published. A reply of one character is the option `a` or else `b`, one of three characters `(a)` or
    else `(b)`; any other stands for itself. It is to say `not mentioned` or `no information available`.
    `options` says what `a` and `b` stand for; without it a letter earns 0.
    """
    answer = reply.strip().lower()
    if options and len(answer) in (1, 3):
        letter = "a" if answer in ("a", "(a)") else "b"
        answer = str(options.get(letter)).lower()
    return float("not mentioned" in answer or "no information available" in answer)


def abstains(reply: str) -> float:
    """Return whether a reply says by itself, in English or Chinese, that nothing tells: 1 or 0; ours."""
    return float(_ABSTAINS.search(reply.lower().replace("\u2019", "'")) is not None)


def exact_match(reply: str, gold: str) -> float:
    """Return whether the texts are equal but for case, blanks at their ends and a full stop after the reply.

    1 or 0; two empty texts are equal. DialSim's first step (Kim et al. 2024): a model judges those with 0.
    """
    answer, right = reply.lower().strip(), gold.lower().strip()
    return float(answer in (right, f"{right}.", f"{right}。"))
