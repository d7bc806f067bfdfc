"""Planted answers: right, wrong and vague ones, always the same of a task."""

from __future__ import annotations

import pytest

from dialogauge.core import Message
from dialogauge.data.tasks import TaskRecord
from dialogauge.studies.learning.judged import planted_answers


def task(name, question, answer, category=4, corpus="c", language="en", dataset="talks"):
    gold = {"category": category} | ({} if answer is None else {"answer": answer})
    return TaskRecord(name, dataset, (Message("user", question),), gold, corpus, language)


WHEN = task("1", "When did Ann move?", "9 May 2024", 2)
LATER = task("2", "When did Ben call?", "12 June 2024", 2)
WHAT = task("3", "What does Ann play?", "the cello")


def test_the_right_answer_stands_in_a_sentence():
    planted = planted_answers([WHEN, LATER, WHAT])
    assert "9 May 2024" in planted["planted-right"]["1"]
    assert planted["planted-right"]["1"] != "9 May 2024"


def test_the_wrong_answer_is_that_of_a_question_of_the_same_category_in_the_same_sentence():
    planted = planted_answers([WHEN, LATER, WHAT])
    right, wrong = planted["planted-right"]["1"], planted["planted-wrong"]["1"]
    assert wrong == right.replace("9 May 2024", "12 June 2024")
    # The only one of its category has that of another question of the data set.
    assert any(day in planted["planted-wrong"]["3"] for day in ("9 May 2024", "12 June 2024"))


def test_the_own_corpus_comes_before_others():
    other = [task(f"b{n}", "When?", f"{n} July 2020", 2, "b") for n in range(1, 9)]
    planted = planted_answers([WHEN, *other, LATER])
    assert "12 June 2024" in planted["planted-wrong"]["1"]


def test_of_several_the_question_most_like_it_lends_its_answer():
    likes = [task("2", "What does Ben play?", "chess"), task("3", "What does Ann cook?", "soup")]
    planted = planted_answers([task("1", "What does Ben play in June?", "the cello"), *likes])
    assert "chess" in planted["planted-wrong"]["1"]


def test_a_day_is_answered_by_a_day_even_of_another_category():
    other = [task("2", "When did Ben sail?", "in 2021", 1), task("3", "What does Ann cook?", "soup", 2)]
    assert "2021" in planted_answers([WHEN, *other])["planted-wrong"]["1"]


@pytest.mark.parametrize("same", ["May 9, 2024", "On 9 May 2024, a Thursday", "9 MAY 2024", "May 2024"])
def test_an_answer_that_may_be_read_as_the_right_one_is_not_the_wrong_one(same):
    planted = planted_answers([WHEN, task("2", "When did Ben call?", same, 2)])
    assert "1" not in planted["planted-wrong"]
    assert "1" in planted["planted-right"]


def test_another_data_set_lends_no_answer():
    planted = planted_answers([WHEN, task("2", "When?", "12 June 2024", 2, dataset="others")])
    assert planted["planted-wrong"] == {}


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When did Ann move?", ("time of the year", "before they talked", "days that they speak")),
        ("Where does Ann live?", ("place", "Somewhere", "Not far")),
        ("Who called Ben?", ("Somebody", "A person", "One of the people")),
        ("Would Ann like tea?", ("depends", "In some ways", "for both")),
        ("How many cats has Ann?", ("More than", "A few", "As many")),
        ("What does Ann play?", ("care about", "like to talk", "busy with")),
        ("Ann 什么时候搬家？", ("Ann",)),
    ],
)
def test_a_vague_answer_fits_the_kind_of_question(question, words):
    language = "zh" if "什么" in question else "en"
    text = planted_answers([task("1", question, "x", language=language)])["planted-vague"]["1"]
    if language == "zh":
        assert any(word in text for word in ("那个时候", "不久", "那几天"))
    else:
        assert any(word in text for word in words)


def test_a_chinese_task_has_chinese_answers():
    tasks = [task("1", "谁来了？", "王芳", 4, language="zh"), task("2", "谁走了？", "李明", 4, language="zh")]
    planted = planted_answers(tasks)
    assert "李明" in planted["planted-wrong"]["1"]
    assert "The" not in "".join(of["1"] for of in planted.values())


def test_a_task_without_a_right_answer_has_none_and_neither_has_an_adversarial_one():
    planted = planted_answers([task("1", "Where?", None), task("2", "Where?", "not mentioned", 5)])
    assert set(planted) == {"planted-right", "planted-wrong", "planted-vague"}
    assert not any(planted.values())


def test_a_task_has_the_same_answers_in_whatever_order_and_company():
    tasks = [WHEN, LATER, WHAT]
    assert planted_answers(tasks)["planted-vague"] == planted_answers(tasks[::-1])["planted-vague"]
    assert planted_answers(tasks)["planted-right"]["1"] == planted_answers([WHEN])["planted-right"]["1"]
