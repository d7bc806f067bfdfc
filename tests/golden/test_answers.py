"""Metrics of tasks on the published tasks: figures of the specification, and packages that print the same.

The vectors come from MemoryBench's own functions (github.com/LittleDinoC/MemoryBench @ 9a33aae). On all ten
LoCoMo conversations the 446 of 1,986 questions of category 5 give 0.2246 to whoever says `not mentioned` to
every question. The shared data has seven of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dialogauge.judges.answers import (
    articles_in,
    fines_in,
    judge_scores,
    judge_set_scores,
    locomo_f1,
    meteor_of_words,
    months_in,
    offences_in,
    parts_of_judgment,
    porter_stem,
    rouge_l,
    rouge_l_distinct,
    score,
)

SHARED = os.environ.get("DIALOGAUGE_SHARED", "")
on_shared_data = pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set")


def rows(name: str) -> Iterator[dict[str, Any]]:
    """Records of a file of the shared data."""
    path = Path(SHARED) / "data" / "membench" / f"{name}.jsonl"
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize(
    ("reply", "gold", "whole", "parts"),
    [
        ("She went on May 7, 2023.", "7 May 2023", 0.6667, 0.5),
        ("The camping and hiking trips", "camping, hiking trip", 1.0, 0.65),
        ("counselling", "Psychology, counseling certification", 0.5, 0.3333),
    ],
)
def test_locomo_vectors(reply: str, gold: str, whole: float, parts: float) -> None:
    assert round(locomo_f1(reply, gold, 4), 4) == whole
    assert round(locomo_f1(reply, gold, 1), 4) == parts


def test_rouge_l_vectors() -> None:
    assert round(rouge_l_distinct("a b a b", "a b"), 3) == 1.0
    assert round(rouge_l("a b a b", "a b"), 3) == 0.667


@on_shared_data
@pytest.mark.long
def test_not_mentioned_alone() -> None:
    earned: dict[int, list[float]] = {}
    for row in rows("locomo_qa"):
        fields = row["v"] | {"gold": row["v"]["answer"], "options": {"a": "yes", "b": "no"}}
        values = score("locomo", fields, "not mentioned")
        points = values["option"] if fields["category"] == 5 else values["f1"]
        earned.setdefault(fields["category"], []).append(points or 0.0)
    assert {category: len(points) for category, points in earned.items()} == {
        1: 192,
        2: 214,
        3: 66,
        4: 563,
        5: 312,
    }
    means = {category: round(sum(points) / len(points), 4) for category, points in earned.items()}
    assert means == {1: 0.001, 2: 0.0007, 3: 0.0154, 4: 0.0022, 5: 1.0}
    # 312 of 1,347 are .2316; a few right answers have `not` in them.
    assert round(sum(map(sum, earned.values())) / 1347, 4) == 0.2335
    assert round(446 / 1986, 4) == 0.2246


@on_shared_data
@pytest.mark.long
def test_stems_of_locomo_are_those_of_nltk() -> None:
    stemmer = pytest.importorskip("nltk.stem.porter", reason="nltk is not installed").PorterStemmer()
    files = (rows(f"locomo_{name}") for name in ("qa", "corpus"))
    text = " ".join(json.dumps(row, ensure_ascii=False) for file in files for row in file)
    words = set(text.split()) | set("".join(c if c.isalpha() else " " for c in text).split())
    assert len(words) > 10_000
    assert [word for word in words if porter_stem(word) != stemmer.stem(word)] == []


@on_shared_data
@pytest.mark.long
def test_rouge_of_legal_answers_is_that_of_rouge() -> None:
    jieba = pytest.importorskip("jieba", reason="jieba is not installed")
    rouge = pytest.importorskip("rouge", reason="rouge is not installed").Rouge(metrics=["rouge-l"])
    golds = [row["v"]["golden_answer"][:500] for row in rows("lexeval_qa_sample")][:60]
    for reply, gold in pairwise(golds):
        # Words and numbers alone: what marks are is a list of ours and theirs.
        plain = ["".join(filter(str.isalnum, text)).lower() for text in (reply, gold)]
        expected = rouge.get_scores(*(" ".join(jieba.cut(text)) for text in plain))[0]["rouge-l"]["f"]
        assert rouge_l_distinct(*plain, "zh") == pytest.approx(expected)


@on_shared_data
@pytest.mark.long
def test_meteor_of_judgments_is_that_of_nltk_without_synonyms() -> None:
    meteor = pytest.importorskip("nltk.translate.meteor_score", reason="nltk is not installed")
    no_synonyms = SimpleNamespace(synsets=lambda word: [])
    for reply, gold in pairwise([list(row["v"]["golden_answer"]) for row in rows("judge_sample")][:40]):
        expected = meteor.single_meteor_score(gold, reply, wordnet=no_synonyms)
        assert meteor_of_words(reply, gold) == pytest.approx(expected)


@on_shared_data
@pytest.mark.long
def test_court_judgments_are_read() -> None:
    """Each of the 200 has what a judgment has; the articles are those that JuDGE's authors noted in 191.

    JuDGE's own functions find those in 190. Offences, terms and fines they find the same in all.
    """
    equal = 0
    for row in rows("judge_sample"):
        text = row["v"]["golden_answer"]
        assert all(parts_of_judgment(text)[part] for part in ("reason", "judgment")), row["id"]
        assert offences_in(text), row["id"]
        assert months_in(text) >= 0
        assert fines_in(text) >= -1
        equal += articles_in(text) == set(row["v"]["law_articles"])
    assert equal == 191


@on_shared_data
@pytest.mark.long
def test_the_court_itself_has_every_point() -> None:
    pytest.importorskip("jieba", reason="jieba is not installed")
    texts = [row["v"]["golden_answer"] for row in rows("judge_sample")][:40]
    means = judge_set_scores([judge_scores(text, text) for text in texts])
    meteor = {name: value for name, value in means.items() if name.endswith("_meteor")}
    assert all(value == pytest.approx(1, abs=1e-3) for value in meteor.values())
    rest = {name: value for name, value in means.items() if name not in meteor}
    assert {name for name, value in rest.items() if value is None} == {
        "reasoning_bert_score",
        "judge_bert_score",
    }
    assert {value for value in rest.values() if value is not None} == {1.0}
