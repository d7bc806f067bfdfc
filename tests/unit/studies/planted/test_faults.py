"""What is planted: each fault by hand, in English and Chinese, and where it does not apply."""

import random

import pytest

from dialogauge.core import Conversation, Message, ToolCall
from dialogauge.studies.planted.faults import FAULTS, Spot, plant, with_reply

ENGLISH = Spot("Which museum is open on Monday?", "The museum is open from 9 to 17, except on 24 December.")
CHINESE = Spot("周一哪个博物馆开门？", "科学博物馆周一九点到五点开门，门票是30元，可以在网上购买。")


def planted(name, spot, seed=0):
    return plant(FAULTS[name], spot, random.Random(seed))


def test_an_echo_holds_the_request_and_nothing_of_the_reply() -> None:
    for spot, word in ((ENGLISH, "December"), (CHINESE, "门票")):
        texts = {planted("echo", spot, seed) for seed in range(20)}
        assert len(texts) == 3
        assert all(spot.request in text and word not in text for text in texts)


def test_every_digit_becomes_another_one_and_equal_ones_stay_equal() -> None:
    for seed in range(9):
        text = planted("digits", Spot("", "Order 1213 of 2024."), seed)
        assert text.startswith("Order ")
        assert len(text) == len("Order 1213 of 2024.")
        assert all(a != b for a, b in zip(text, "Order 1213 of 2024.", strict=True) if b.isdigit())
        assert text[6] == text[8]


def test_a_cut_reply_ends_at_a_word_and_without_a_stop() -> None:
    assert planted("cut", ENGLISH) == "The museum is open from 9"
    assert planted("cut", CHINESE) == CHINESE.reply[: len(CHINESE.reply) // 2]
    assert planted("cut", Spot("", "One two three. Four, five, six")) == "One two"
    assert planted("cut", Spot("", "One two six four, five or six more")) == "One two six"


def test_half_is_said_again_after_the_whole() -> None:
    assert planted("repeated", ENGLISH) == f"{ENGLISH.reply}\n\nThe museum is open from 9"


def test_words_are_the_same_in_another_order() -> None:
    text = planted("scrambled", ENGLISH)
    assert text != ENGLISH.reply
    assert sorted(text.split()) == sorted(ENGLISH.reply.split())
    assert sorted(planted("scrambled", CHINESE)) == sorted(CHINESE.reply)


@pytest.mark.parametrize(
    ("reply", "negated"),
    [
        ("It is open and you can't go.", "It is not open and you can go."),
        ("You cannot pay, it will not work.", "You can pay, it will work."),
        ("It doesn't ship.", "It does ship."),
        ("门票是30元，不可以退，没有座位。", "门票不是30元，可以退，有座位。"),
    ],
)
def test_statements_are_negated_both_ways(reply, negated) -> None:
    assert planted("negated", Spot("", reply)) == negated


def test_another_language_is_as_long_as_the_reply_or_all_there_is() -> None:
    short = planted("other_language", Spot("Hello", "Hi there."))
    long = planted("other_language", Spot("Hello", "Hi there. " * 100))
    assert long.startswith(short)
    assert short.count(".") == 1
    assert long.count(".") >= 4


@pytest.mark.parametrize(
    ("name", "spot"),
    [
        ("digits", Spot("How?", "Like this.")),
        ("cut", Spot("How?", "Like this.")),
        ("swapped", Spot("How?", "Like this.")),
        ("swapped", Spot("How?", "Like this.", elsewhere=lambda: ["", " Like this. "])),
        ("earlier", Spot("How?", "Like this.")),
        ("earlier", Spot("How?", "Like this.", "Like this.")),
        ("echo", Spot(" ", "Hello, who are you?")),
        ("scrambled", Spot("How?", "Fine.")),
        ("negated", Spot("How?", "Like this.")),
        ("empty", Spot("How?", " ")),
    ],
)
def test_where_a_fault_changes_nothing_there_is_none(name, spot) -> None:
    assert planted(name, spot) is None


def test_the_last_message_of_the_reply_is_replaced_and_tools_stay() -> None:
    call = Message("assistant", None, (ToolCall("1", "find", "{}"),))
    result = Message("tool", "found", tool_call_id="1")
    greeting, last = (
        Message("assistant", "Hello."),
        Message("assistant", "Wait."),
    )
    c = Conversation("c", (Message("user", "Hi"), greeting, call, result, last, Message("user", "Bye")))
    new = with_reply(c, c.turn(1), "Nothing.")
    assert [m.text for m in new.messages] == ["Hi", "", "found", "Nothing.", "Bye"]
    assert new.turn(1).tool_steps == c.turn(1).tool_steps
    assert with_reply(c, c.turn(1), "").turn(1).has_reply
