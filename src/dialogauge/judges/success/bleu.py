"""BLEU of replies beside those of a corpus, as sums that can be added over dialogues.

Source: Papineni et al. (2002); tokens and smoothing as sacrebleu has them by default (13a, exponential).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

_ORDERS: Final = 4
_APART: Final = (
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


def tokens_13a(text: str) -> list[str]:
    """Cut a text as the evaluation script `mteval-v13a` does."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for mark, sign in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        text = text.replace(mark, sign)
    text = f" {text} "
    for pattern, apart in _APART:
        text = pattern.sub(apart, text)
    return text.split()


def reply_counts(replies: Sequence[str], references: Sequence[str]) -> list[int]:
    """Return matches and totals of 1- to 4-grams, then the lengths of replies and references: 10 numbers.

    Replies and references are paired turn by turn; what has no partner is left out.
    """
    counts = [0] * (2 * _ORDERS + 2)
    for reply, reference in zip(replies, references, strict=False):
        ours, theirs = tokens_13a(reply), tokens_13a(reference)
        for n in range(1, _ORDERS + 1):
            grams, known = _grams(ours, n), _grams(theirs, n)
            counts[n - 1] += (grams & known).total()
            counts[_ORDERS + n - 1] += grams.total()
        counts[-2] += len(ours)
        counts[-1] += len(theirs)
    return counts


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def corpus_bleu(counts: Iterable[Sequence[int]]) -> float | None:
    """Return BLEU, 0 to 100, from the counts of many dialogues; None without a word."""
    sums = [sum(column) for column in zip(*counts, strict=True)]
    if not sums or not sums[-2]:
        return None
    logs, smooth = 0.0, 1.0
    for n in range(_ORDERS):
        matches, total = sums[n], sums[_ORDERS + n]
        if not total:
            return 0.0
        if not matches:
            smooth *= 2
            matches = 1 / smooth
        logs += math.log(matches / total)
    brevity = min(0.0, 1 - sums[-1] / sums[-2])
    return 100 * math.exp(brevity + logs / _ORDERS)
