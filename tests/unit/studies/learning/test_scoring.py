"""What a reply to a task earns, by hand."""

from __future__ import annotations

import pytest

from dialogauge.core import Message, UsageError
from dialogauge.data.tasks import TaskRecord
from dialogauge.studies.learning.scoring import case_score, metric_of, options_of


def task(dataset="mine", id="t", corpus=None, **gold):
    return TaskRecord(id, dataset, (Message("user", "?"),), gold, corpus)


@pytest.mark.parametrize(
    ("dataset", "gold", "metric"),
    [
        ("LoCoMo", {"category": 2, "answer": "x"}, "locomo"),
        ("mine", {"category": 2, "answer": "x"}, "locomo"),
        ("mine", {"answer": "x"}, "token_f1"),
        ("mine", {"answer": "x", "metric": "rouge_l"}, "rouge_l"),
        ("mine", {}, None),
        ("HelloBench-C.D.", {"checklist": []}, None),  # a model has to score
        ("JRE-L", {"answer": "x"}, "report"),
    ],
)
def test_a_task_has_the_metric_that_it_names_or_its_data_set_has(dataset, gold, metric) -> None:
    assert metric_of(task(dataset, **gold)) == metric


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(UsageError, match="the metric 'bleu'"):
        metric_of(task(metric="bleu"))


def test_of_several_values_the_mean_is_unmerged_and_grades_are_not_in_it() -> None:
    one = case_score(task("JRE-L", answer="The boat came home."), "The boat came home.")
    assert one is not None
    assert (one.score, one.unmerged) == (1.0, True)
    both = case_score(task("JRE-L", answer="The boat."), "The boat.", bert_score=lambda a, b: 0.5)
    assert both is not None
    assert both.score == 0.75


def test_options_alternate_within_a_corpus() -> None:
    asked = [task(id=f"{c}{n}", corpus=c, category=5, adversarial_answer="Oslo") for c in "xy" for n in "12"]
    options = options_of([*asked, task(category=1, answer="a")])
    nothing = "Not mentioned in the conversation"
    assert {id: [k for k, v in of.items() if v == nothing] for id, of in options.items()} == {
        "x1": ["a"], "x2": ["b"], "y1": ["a"], "y2": ["b"],
    }  # fmt: skip
    chosen = case_score(asked[0], "(a)", options["x1"])
    assert chosen is not None
    assert chosen.score == 1.0


@pytest.mark.parametrize(
    ("reply", "earned"),
    [("yard office, Priya", 1.0), ("Priya in the yard", 1.0), ("Priya", 0.5), ("Tomas", 0.0)],
)
def test_a_phrase_may_be_right_in_several_ways_and_the_nearest_counts(reply, earned) -> None:
    phrase = task(answer="Priya, yard office", variants=["Priya in yard"], metric="token_f1")
    one = case_score(phrase, reply)
    assert one is not None
    assert (one.score, dict(one.values)) == (earned, {"token_f1": earned})


def test_variants_of_an_answer_leave_other_metrics_alone() -> None:
    one = case_score(task(answer="The boat.", variants=["The ship."], metric="rouge_l"), "The ship.")
    assert one is not None
    assert one.score == 0.5
