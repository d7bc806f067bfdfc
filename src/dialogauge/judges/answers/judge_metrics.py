"""JuDGE's twelve scores of a written judgment: ten of a case, and two F1 that only a set of cases has.

Su et al. 2025. METEOR is the one without synonyms. BERTScore needs a model, which is an argument: without it
the score is None, and nothing stands in for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from dialogauge.judges.answers.judgments import (
    articles_in,
    fines_in,
    months_in,
    offences_in,
    parts_of_judgment,
)
from dialogauge.judges.answers.overlap import chinese_words, meteor_of_words

_DEATH = 10_000
"""Months beyond this are a sentence of death."""


def judge_scores(
    reply: str, gold: str, bert_score: Callable[[str, str], float] | None = None
) -> Mapping[str, float | None]:
    """Return ten scores of one judgment against the right one, each 0 to 1 or None.

    `reasoning_meteor`, `judge_meteor`, `reasoning_bert_score`, `judge_bert_score`: of reason and judgment;
    None if one of these four parts is empty, or there is no `bert_score`. `crime_recall`, `crime_precision`,
    `penalcode_index_recall`, `penalcode_index_precision`: of offences and articles; 0 for an empty set.
    `time_score` and `amount_score`: None where neither text has a term, or a fine.

    `bert_score` gives F1 of BERTScore of a text and the right one, both cut into words with a blank between;
    JuDGE has bert-base-chinese. Without jieba `MissingExtra` is raised.
    """
    scores: dict[str, float | None] = {}
    written, right = parts_of_judgment(reply), parts_of_judgment(gold)
    whole = all(parts[part] for parts in (written, right) for part in ("reason", "judgment"))
    for part, name in (("reason", "reasoning"), ("judgment", "judge")):
        pair = (chinese_words(written[part]), chinese_words(right[part])) if whole else None
        scores[f"{name}_meteor"] = meteor_of_words(*pair) if pair else None
        scores[f"{name}_bert_score"] = bert_score(*map(" ".join, pair)) if pair and bert_score else None
    for name, items_in in {"crime": offences_in, "penalcode_index": articles_in}.items():
        predicted: frozenset[object] = items_in(reply)
        expected: frozenset[object] = items_in(gold)
        shared = len(predicted & expected)
        scores[f"{name}_recall"] = shared / len(expected) if expected else 0.0
        scores[f"{name}_precision"] = shared / len(predicted) if predicted else 0.0
    scores["time_score"] = _nearness(months_in(reply), months_in(gold))
    scores["amount_score"] = _nearness(fines_in(reply), fines_in(gold))
    return scores


def _nearness(value: int, right: int) -> float | None:
    """Return 1 - difference / the larger; 0 where one has none, or one alone is beyond the mark of death.

    The mark meets fines as well, as published: 9,000 and 11,000 yuan earn 0.
    """
    if value < 0 and right < 0:
        return None
    if value < 0 or right < 0 or (value - _DEATH) * (right - _DEATH) < 0:
        return 0.0
    return 1 - abs(value - right) / max(value, right, 1)


def judge_set_scores(cases: Iterable[Mapping[str, float | None]]) -> Mapping[str, float | None]:
    """Return the twelve scores of a set of cases: ten means, and `crime_f1` and `penalcode_index_f1`.

    A mean leaves out the cases that have None, and is None over nothing. An F1 is the harmonic mean of the
    mean recall and the mean precision, not a mean of F1: no single case has it.
    """
    values: dict[str, list[float]] = {}
    for name, value in chain.from_iterable(case.items() for case in cases):
        values.setdefault(name, []).extend(() if value is None else (value,))
    means = {name: sum(some) / len(some) if some else None for name, some in values.items()}
    for name in ("crime", "penalcode_index"):
        recall, precision = means.get(f"{name}_recall"), means.get(f"{name}_precision")
        if recall is None or precision is None:
            means[f"{name}_f1"] = None
        else:
            means[f"{name}_f1"] = 2 * recall * precision / ((recall + precision) or 1)
    return means
