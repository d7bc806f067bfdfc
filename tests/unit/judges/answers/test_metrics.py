"""One call for all metrics, by name and by the fields of a task's record."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import UsageError
from dialogauge.judges.answers import METRICS, score, shuffled_letters

RECORD = {"gold": "7 May 2023", "lang": "en", "category": 2, "letters": shuffled_letters(3, 1)}


def test_locomo_keeps_its_categories_apart() -> None:
    reply = "She went on May 7, 2023."
    assert score("locomo", RECORD, reply)["f1"] == pytest.approx(2 / 3)
    adversarial = {"category": 5, "options": {"a": "Not mentioned in the conversation", "b": "a cat"}}
    assert score("locomo", adversarial, "(a)") == {"f1": None, "option": 1, "abstained": 0}
    assert score("locomo", {"category": 5}, "It is not mentioned.") == {
        "f1": None, "option": None, "abstained": 1,
    }  # fmt: skip


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("reply", ["", "May", "五月", "\ud800\x00"])
def test_each_metric_takes_any_reply(name: str, reply: str) -> None:
    values = score(name, RECORD, reply)
    assert values
    assert all(value is None or isinstance(value, float) for value in values.values())


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.needs])
def test_a_missing_field_is_named(name: str) -> None:
    field = METRICS[name].needs[0]
    with pytest.raises(UsageError, match=f"the metric {name} needs {field}"):
        score(name, {**RECORD, field: None}, "May")


def test_a_report_has_no_bert_score_without_a_model_and_its_grades_stand_apart() -> None:
    values = score("report", {"gold": "The boat came home late."}, "The boat came home late.")
    assert (values["rouge_l"], values["bert_score"]) == (1.0, None)
    assert values["coleman_liau_index"] is not None
    assert score("report", {"gold": "x", "bert_score": lambda a, b: 0.5}, "y")["bert_score"] == 0.5


def test_locomo_without_a_right_answer() -> None:
    with pytest.raises(UsageError, match="the metric locomo needs gold"):
        score("locomo", {"category": 1, "gold": None}, "May")


def test_an_unknown_metric() -> None:
    with pytest.raises(UsageError, match=r"no metric 'bleu' \(one of locomo, "):
        score("bleu", RECORD, "May")


@given(st.text(max_size=40), st.text(max_size=40))
def test_metrics_of_texts_lie_between_0_and_1(reply: str, gold: str) -> None:
    for name in ("token_f1", "exact_match", "rouge_l", "rouge_l_distinct", "meteor_exact_stem"):
        assert 0 <= (score(name, {"gold": gold}, reply)[name] or 0) <= 1 + 1e-9
