"""The task set that ships: dialogues of two families and two cousins, and what can be asked about them."""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

import dialogauge.data.tasks
from dialogauge.data.tasks import TaskRecord, read_tasks
from dialogauge.judges.answers import abstains, locomo_f1
from dialogauge.text import content_terms, pieces

FILE = Path(dialogauge.data.tasks.__file__).parent / "family.jsonl"
READ = read_tasks(str(FILE))
SESSIONS = {
    (corpus, message.extra["id"]): (message, str(session.metadata["date"]))
    for corpus, sessions in READ.corpora.items()
    for session in sessions
    for message in session.messages
}
ANSWERED = [t for t in READ.tasks if t.gold["category"] != 5]
TEMPORAL = [t for t in READ.tasks if t.gold["category"] == 2]
MONTHS = calendar.month_name[1:]
DAYS = list(calendar.day_name)
NUMBERS = {"a": 1, "two": 2, "three": 3, "four": 4, "twelve": 12}
HAN = "零一二三四五六七八九十"
STARTS = r"\d+ [A-Z][a-z]+,? \d{4}|[A-Z][a-z]+ \d+, \d{4}|\d{4}-\d\d-\d\d|\d{4}年\d+月\d+日"


def evidence(task: TaskRecord) -> list[tuple[str, str]]:
    """The texts that hold the answer, with the dates on which they were said."""
    messages = [SESSIONS[str(task.corpus), id] for id in task.evidence]
    return [(message.text, said) for message, said in messages]


def day_of(text: str) -> date:
    """The day in one of the forms that sessions are dated in."""
    form = re.search(STARTS, text)
    assert form is not None, text
    numbers = [int(n) for n in re.findall(r"\d+", form[0])]
    if len(numbers) == 3:
        return date(*numbers)
    word = re.search("[A-Z][a-z]+", form[0])[0]
    return date(numbers[1], [m[:3] for m in MONTHS].index(word[:3]) + 1, numbers[0])


def month(day: date, step: int) -> tuple[int, int]:
    """Year and month, some months later."""
    count = day.year * 12 + day.month - 1 + step
    return count // 12, count % 12 + 1


def times_of(text: str, day: date) -> Iterator[str]:
    """Every time that a message speaks of, reckoned from the day on which it was said."""

    def after(days: int) -> str:
        other = day + timedelta(days)
        return f"{other.day} {MONTHS[other.month - 1]} {other.year}"

    for word, days in (("yesterday", -1), ("last night", -1), ("tomorrow", 1)):
        if re.search(rf"(?<!from ){word}", text):
            yield after(days)
    for word, unit in re.findall(r"(\w+) (day|week)s? ago", text):
        yield after(-NUMBERS[word] * (7 if unit == "week" else 1))
    for word, unit, start in re.findall(r"(\w+) (day|week)s? from (today|tomorrow)", text):
        yield after(NUMBERS[word] * (7 if unit == "week" else 1) + (start == "tomorrow"))
    for word in re.findall(r"in (\w+) days", text):
        yield after(NUMBERS[word])
    for word in re.findall(rf"last ({'|'.join(DAYS)})", text):
        yield after(-((day.weekday() - DAYS.index(word) - 1) % 7 + 1))
    if "last week" in text:
        yield f"the week before {after(0)}"
    for word, step in (("last month", -1), ("next month", 1)):
        if word in text:
            year, number = month(day, step)
            yield f"{MONTHS[number - 1]} {year}"


def chinese_times_of(text: str, day: date) -> Iterator[str]:
    """The same of a Chinese message; its weeks begin on Monday."""

    def after(days: int) -> str:
        other = day + timedelta(days)
        return f"{other.year}年{other.month}月{other.day}日"

    for word, days in (("前天", -2), ("昨天", -1), ("明天", 1)):
        if word in text:
            yield after(days)
    for word, side in re.findall(f"([{HAN}])天(前|后)", text):
        yield after(HAN.index(word) * (1 if side == "后" else -1))
    for word in re.findall("上周([一二三四五六])", text):
        yield after(-7 - day.weekday() + HAN.index(word) - 1)
    for word, step in (("上个月", -1), ("下个月", 1)):
        if word in text:
            year, number = month(day, step)
            yield f"{year}年{number}月"


def test_the_shipped_tasks_are_three_conversations_of_a_year_in_two_languages() -> None:
    assert FILE.stat().st_size < 90_000
    assert (READ.without_gold, dict(READ.unknown_evidence)) == (0, {})
    assert {t.dataset for t in READ.tasks} == {"family"}
    assert sorted({(str(t.corpus), t.language) for t in READ.tasks}) == [
        ("family-isla-rory", "en"), ("family-wanda-felix", "en"), ("family-xiaolan-ayu", "zh"),
    ]  # fmt: skip
    for corpus, sessions in READ.corpora.items():
        days = [day_of(str(s.metadata["date"])) for s in sessions]
        assert days == sorted(set(days))
        assert 300 < (days[-1] - days[0]).days < 370
        assert 8 <= len(sessions) <= 10
        assert all(10 <= len(s.messages) <= 16 for s in sessions)
        assert [i for c, i in SESSIONS if c == corpus] == [
            f"D{n}:{turn}" for n, s in enumerate(sessions, 1) for turn in range(1, len(s.messages) + 1)
        ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_category_is_asked_in_every_language(language) -> None:
    asked = Counter(t.gold["category"] for t in READ.tasks if t.language == language)
    assert min(asked[category] for category in range(1, 6)) >= 3, asked
    several = [t for t in READ.tasks if t.gold["category"] == 1]
    assert all(len(t.evidence) > 1 for t in several)


def test_every_question_has_evidence_and_an_answer_or_a_trap() -> None:
    assert [t.id for t in READ.tasks if not t.evidence] == []
    keys = {(t.gold["category"] == 5, "answer" in t.gold, "adversarial_answer" in t.gold) for t in READ.tasks}
    assert keys == {(True, False, True), (False, True, False)}
    assert [t.id for t in ANSWERED if abstains(t.gold["answer"])] == []


@pytest.mark.parametrize("task", TEMPORAL, ids=lambda t: t.id)
def test_a_time_follows_from_its_message_and_the_day_it_was_said(task) -> None:
    of = chinese_times_of if task.language == "zh" else times_of
    assert [t for text, said in evidence(task) for t in of(text, day_of(said))] == [task.gold["answer"]]


def test_each_part_of_an_answer_stands_in_its_evidence() -> None:
    for task in (t for t in ANSWERED if t.gold["category"] in (1, 4)):
        texts = [content_terms(pieces(text)) for text, _ in evidence(task)]
        parts = [content_terms(pieces(p)) for p in re.split("[,，]", task.gold["answer"])]
        assert all(any(part & text for text in texts) for part in parts), task.id
        assert all(any(part & text for part in parts) for text in texts) or task.id in SPREAD, task.id


SPREAD = {"family-isla-rory-3", "family-wanda-felix-3"}
"""Where a message says of another that it belongs to the answer: "not a word to Mum", who mended the pipe."""


def test_no_question_holds_its_answer_or_is_answered_by_yes_or_no() -> None:
    for task in ANSWERED:
        asked, answer = content_terms(pieces(task.question)), content_terms(pieces(task.gold["answer"]))
        assert answer, task.id
        assert answer & asked == set() or task.language == "zh", task.id
        assert not re.match(r"(yes|no)\b|是|否|不", task.gold["answer"], re.IGNORECASE)
        f1 = locomo_f1(task.question, task.gold["answer"], task.gold["category"], task.language)
        assert f1 < 0.3, (task.id, f1)
