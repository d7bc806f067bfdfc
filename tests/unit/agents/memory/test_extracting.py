"""Answers without a model: times by arithmetic, words of what was recalled."""

from __future__ import annotations

from datetime import date

import pytest

from dialogauge.agents.memory import FullMemory, MemoryAgent, MemoryItem, NoMemory, extract
from dialogauge.agents.memory.extracting import date_in, when_of
from dialogauge.core import Conversation, Message

HEARD = date(2023, 5, 8)  # a Monday


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1:56 pm on 8 May, 2023", date(2023, 5, 8)),
        ("2023-05-08 13:56", date(2023, 5, 8)),
        ("May 8th, 2023", date(2023, 5, 8)),
        ("8th of may 2023", date(2023, 5, 8)),
        ("31 Feb 2023", None),
        ("0001-01-01", None),
        ("Monday", None),
        (None, None),
    ],
)
def test_the_date_of_a_session(text, day):
    assert date_in(text) == day


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("I went there yesterday.", "7 May 2023"),
        ("We meet tomorrow!", "9 May 2023"),
        ("It was today", "8 May 2023"),
        ("two weeks ago we moved", "24 April 2023"),
        ("a month ago", "April 2023"),
        ("3 years ago", "2020"),
        ("last week", "the week before 8 May 2023"),
        ("next weekend", "the weekend after 8 May 2023"),
        ("last Friday", "the friday before 8 May 2023"),
        ("last year", "2022"),
        ("next month", "June 2023"),
        ("last August", "August 2022"),
        ("in March", "March 2023"),
        ("in June 2021", "June 2021"),
        ("in 2016", "2016"),
        ("this week", "the week of 8 May 2023"),
        ("I may go.", None),
        ("999999999999 days ago", None),
        ("It is the last page.", None),
    ],
)
def test_a_time_is_reckoned_from_the_day_on_which_it_was_heard(text, time):
    assert when_of(text, HEARD) == time


def item(text, day="8 May 2023"):
    return MemoryItem("D", 0, text, "Ann", day)


def test_a_question_for_a_time_gets_one():
    assert extract("When did Ann go?", [item("I went yesterday.")]) == "7 May 2023"
    assert extract("When did Ann go?", [item("I went to the sea.")]) == "8 May 2023"
    assert extract("When did Ann go?", [item("x", day=None), item("I went last year.")]) == "2022"


def test_another_question_gets_words_that_it_does_not_hold():
    items = [item("Hi! I adopted a grey cat called Miso from the shelter."), item("The cat sleeps.")]
    assert extract("What did Ann adopt?", items) == "grey cat called Miso shelter"
    assert extract("What is it?", []) == ""
    assert extract("?", [item("Sunny.")]) == "Sunny"


def test_a_sentence_that_repeats_the_question_is_no_answer_and_one_that_it_holds_is() -> None:
    assert extract("Cats or dogs?", [item("cats, or dogs"), item("I like parrots.")]) == "parrots"
    assert extract("I fish. What bait?", [item("I fish. What bait?"), item("Worms.")]) == "Worms"
    assert extract("猫还是狗？", [item("猫还是狗"), item("鸟。")]) == "鸟"
    assert extract("Cats or dogs?", [item("Dogs."), item("Rain.")]) == "Dogs"
    assert extract("Cats or dogs?", [item("dogs"), item("Rain.")]) == "dogs"


async def test_an_agent_that_needs_no_model():
    memory = FullMemory()
    session = Conversation(
        "D", (Message("user", "I sold my boat.", name="Ann"),), metadata={"date": "8 May 2023"}
    )
    await memory.add_corpus([session])
    asked = Conversation("q", (Message("user", "When did Ann sell the boat?"),))
    turn = await MemoryAgent(memory).reply(asked)
    assert turn.outcome.text == "8 May 2023"
    assert (await MemoryAgent(NoMemory()).reply(asked)).outcome.text == "not mentioned"
    assert (await MemoryAgent(NoMemory()).reply(Conversation("q", ()))).failed


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("我昨天买了一只羊。", "2024年5月7日"),
        ("三天前到的。", "2024年5月5日"),
        ("上周六摔了一跤。", "2024年5月4日"),  # heard on a Wednesday
        ("两个星期前搬的家", "2024年4月24日"),
        ("上个月考完了。", "2024年4月"),
        ("五个月前开始的", "2023年12月"),
        ("去年结的婚", "2023年"),
        ("两年前的事", "2022年"),
        ("这件事真好。", None),
    ],
)
def test_the_time_that_a_chinese_text_speaks_of(text, when) -> None:
    assert when_of(text, date_in("2024年5月8日")) == when
