"""The support desk that ships: house rules that only feedback reveals, asked for in new words."""

from __future__ import annotations

import calendar
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from itertools import combinations
from pathlib import Path
from statistics import mean

import pytest

import dialogauge.data.tasks
from dialogauge.data.tasks import TaskRecord, read_logs, read_tasks
from dialogauge.studies.learning.scoring import case_score, metric_of
from dialogauge.text import content_terms, has_chinese, normalise, pieces

FILE = Path(dialogauge.data.tasks.__file__).parent / "support_desk.jsonl"
READ = read_tasks("support-desk")
LOGS = {log.conversation.metadata["task"]: log for log in read_logs("support-desk")}
TRAINING = [task for task in READ.tasks if task.id in LOGS]
TEST = [task for task in READ.tasks if task.id not in LOGS]
RULED = [task for task in TEST if task.gold["rules"]]
LANGUAGES = ("en", "zh")
FEEDBACK = ("words", "praise", "clicks", "chat")


def texts(task: TaskRecord, role: str) -> list[str]:
    return [m.text for m in LOGS[task.id].conversation.messages if m.role == role]


def golds(task: TaskRecord) -> list[str]:
    return [str(task.gold["answer"]), *task.gold.get("variants", ())]


def plain(text: str) -> str:
    """The words between blanks, without marks."""
    words = re.sub(r"[^0-9a-z:\u4e00-\u9fff]+", " ", normalise(text))
    return f" {words.strip()} "


def alike(one: str, other: str) -> float:
    """The Jaccard coefficient of content words."""
    a, b = (content_terms(pieces(text)) for text in (one, other))
    return len(a & b) / len(a | b)


def earned(task: TaskRecord, reply: str) -> float:
    case = case_score(task, reply)
    assert case is not None
    assert case.score is not None
    return case.score


def best(task: TaskRecord, replies: Iterable[str]) -> float:
    return max(earned(task, reply) for reply in replies)


def answers_by_rule(kind: str) -> dict[str, list[str]]:
    """By rule the answers that were right in the end, or those that a newcomer gave first."""
    answers = defaultdict(list)
    for task in TRAINING:
        replies, feedback = texts(task, "assistant"), task.gold["feedback"]
        for rule in task.gold["rules"]:
            if kind == "right" and feedback in ("words", "praise"):
                answers[f"{task.language} {rule}"].append(replies[-1])
            if kind == "newcomer" and feedback != "praise":
                answers[f"{task.language} {rule}"].append(replies[0])
    return answers


RIGHT, NEWCOMER = answers_by_rule("right"), answers_by_rule("newcomer")


def rules_of(task: TaskRecord) -> set[str]:
    return {f"{task.language} {rule}" for rule in task.gold["rules"]}


def test_the_file_is_read_whole_by_its_name_as_tasks_and_as_logs() -> None:
    assert FILE.stat().st_size < 250_000
    rows = len(FILE.read_text("utf-8").splitlines())
    assert (len(READ.tasks), len(LOGS), READ.without_gold) == (rows, 115, 0)
    assert READ.tasks == read_tasks(str(FILE)).tasks
    assert {metric_of(task) for task in READ.tasks} == {"token_f1"}
    assert {task.corpus for task in READ.tasks} == {None}
    assert [t.id for t in READ.tasks if t.dataset != f"support-desk-{t.language}"] == []
    assert [t.id for t in READ.tasks if has_chinese(t.question) != (t.language == "zh")] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_sixteen_rules_are_taught_and_each_is_asked_twice(language) -> None:
    training, test = ([t for t in tasks if t.language == language] for tasks in (TRAINING, TEST))
    assert Counter(t.gold["category"] for t in test) == {"one rule": 32, "no rule": 8, "two rules": 4}
    once = Counter(t.gold["rules"][0] for t in test if t.gold["category"] == "one rule")
    assert set(once.values()) == {2}
    assert len(once) == 16
    cases = Counter(rule for t in training for rule in t.gold["rules"])
    assert set(cases) == set(once)
    assert set(cases.values()) <= {3, 4}
    in_words = Counter(
        t.gold["rules"][0] for t in training if t.gold["rules"] and t.gold["feedback"] == "words"
    )
    assert set(in_words.values()) == {2}
    assert len(in_words) == 16
    assert min(Counter(t.gold["feedback"] for t in training)[kind] for kind in FEEDBACK) >= 4


@pytest.mark.parametrize("task", TRAINING, ids=lambda t: t.id)
def test_a_dialogue_shows_the_feedback_that_it_is_marked_with(task) -> None:
    spoken, log, kind = texts(task, "user"), LOGS[task.id], task.gold["feedback"]
    scores = [one.score or 0 for one in log.feedback]
    assert spoken[0] == task.question
    assert len(scores) == len(spoken) == len(texts(task, "assistant"))
    assert [one.ended for one in log.feedback] == [False] * (len(spoken) - 1) + [True]
    assert len(spoken) == (2 if kind in ("words", "chat") else 1)
    if kind == "words":
        assert scores[0] <= 4
        assert scores[1] >= 8
    if kind == "praise":
        assert scores[0] >= 8
    if kind == "clicks":
        assert log.feedback[0].actions == ("dislike",)


def test_no_request_and_no_feedback_holds_the_answer_of_a_question_about_a_rule() -> None:
    spoken = {
        language: [plain(text) for t in TRAINING if t.language == language for text in texts(t, "user")]
        for language in LANGUAGES
    }
    for task in (t for t in READ.tasks if t.gold["rules"]):
        for gold in golds(task):
            wanted = plain(gold).strip() if task.language == "zh" else plain(gold)
            assert [text for text in spoken[task.language] if wanted in text] == [], (task.id, gold)


def test_questions_are_in_new_words() -> None:
    for task in RULED:
        for other in (t for t in TRAINING if rules_of(t) & rules_of(task)):
            assert alike(task.question, other.question) < 0.3, (task.id, other.id)
    for one, other in combinations(READ.tasks, 2):
        assert alike(one.question, other.question) < 0.35, (one.id, other.id)
    messages = Counter(
        text for task in TRAINING for role in ("user", "assistant") for text in texts(task, role)
    )
    assert messages.most_common(1)[0][1] == 1


def test_a_right_answer_of_another_rule_a_question_and_a_newcomer_earn_little() -> None:
    others = {t.id: [earned(t, a) for r in RIGHT.keys() - rules_of(t) for a in RIGHT[r]] for t in RULED}
    assert mean(mean(scores) for scores in others.values()) < 0.03
    assert max(max(scores) for scores in others.values()) < 0.5
    assert mean(max(scores) for scores in others.values()) < 0.2
    assert max(earned(task, task.question) for task in RULED) < 0.3
    own, newcomer = (
        mean(max(best(t, of[rule]) for rule in rules_of(t)) for t in RULED) for of in (RIGHT, NEWCOMER)
    )
    assert newcomer < 0.12
    assert own > 0.35


@pytest.mark.parametrize(
    ("language", "reply"),
    [
        ("en", "Apologise first."),
        ("en", "First say that we are very sorry for the trouble."),
        ("zh", "先道歉"),
        ("zh", "非常抱歉，给您添麻烦了"),
    ],
)
def test_who_only_learnt_to_apologise_first_gains_nothing(language, reply) -> None:
    assert {earned(task, reply) for task in RULED if task.language == language} == {0.0}


def english(day: date) -> str:
    return f"{day.day} {calendar.month_name[day.month]}"


def chinese(day: date) -> str:
    return f"{day.month}月{day.day}日"


def after(month: int, day: int, days: int) -> date:
    return date(2025, month, day) + timedelta(days)


RECKONED = {
    "en/island-parcels/test-1": english(after(6, 25, 9)),
    "en/island-parcels/test-2": english(after(4, 28, 9)),
    "en/shade-exchange/test-1": english(after(6, 1, 40)),
    "en/shade-exchange/test-2": english(after(9, 2, 40)),
    "en/two/test-1": f"904 417 256, {english(after(5, 10, 9))}",
    "en/two/test-4": english(after(6, 2, 9 + 40)),
    "en/lyon-closed/test-2": f"{calendar.day_name[after(4, 8, 2).weekday()]} {english(after(4, 8, 2))}",
    "en/two/test-3": f"{calendar.day_name[after(5, 6, 2).weekday()]} 11:15",
    "zh/remote-parcels/test-1": chinese(after(5, 27, 11)),
    "zh/remote-parcels/test-2": chinese(after(10, 25, 11)),
    "zh/glaze-exchange/test-1": chinese(after(5, 20, 45)),
    "zh/glaze-exchange/test-2": chinese(after(10, 3, 45)),
    "zh/chengdu-stocktaking/test-2": chinese(after(7, 7, 2)),
    "zh/opened-tea/test-1": f"{250 * 6 // 10}克",
    "zh/opened-tea/test-2": f"超过{400 - 400 * 6 // 10}克",
    "zh/two/test-1": f"62 95 73，{chinese(after(4, 24, 11))}",
    "zh/two/test-3": f"{chinese(after(9, 1, 2))}，二楼西屋",
    "zh/two/test-4": chinese(after(5, 24, 11 + 45)),
}
"""What follows from the rule and the question, by arithmetic; the days of the week are those of 2025."""


@pytest.mark.parametrize(("id", "answer"), RECKONED.items())
def test_a_day_or_a_weight_follows_from_rule_and_question(id, answer) -> None:
    (task,) = [t for t in TEST if t.id == f"support-desk-{id}"]
    assert task.gold["answer"] == answer
    assert earned(task, answer) == 1.0


def test_a_number_is_cut_as_the_rule_has_it() -> None:
    for task in (t for t in READ.tasks if {"order-number-groups", "tracking-number"} & {*t.gold["rules"]}):
        digits = re.search(r"\d{9,}", task.question)
        assert digits is not None
        read_out, size = (digits[0], 3) if task.language == "en" else (digits[0][-6:], 2)
        groups = " ".join(read_out[at : at + size] for at in range(0, len(read_out), size))
        assert task.gold["answer"].startswith(groups), task.id


def test_a_planned_day_in_the_shut_shop_is_the_day_on_which_it_is_shut() -> None:
    assert (after(3, 19, 0).weekday(), after(4, 8, 1).weekday(), after(5, 6, 1).weekday()) == (2, 2, 2)
    assert (after(7, 7, 1).weekday(), after(9, 1, 1).weekday()) == (1, 1)
