"""What a reply is read without: sentences around it that would fit any request."""

from __future__ import annotations

import pytest

from dialogauge.judges.local_user.substance import substance_of, terms_of

ASKED = terms_of("Where can I eat pasta in Rome with my two children? 在罗马哪里可以吃意大利面？")
PLAIN = "In Rome eat pasta at Da Enzo, book two days ahead, and take the children early"
LISTED = "罗马可以吃意大利面的地方有：\n\n1. **Da Enzo**：提前预订。\n2. **Roscioli**：适合孩子"
OPENINGS = [
    "",
    "What a lovely thing to ask! I would be glad to help.",
    "Thanks for coming to me with this... It means a lot!\n\n",
    "这个想法真好！我非常乐意为您服务。😊\n\n",
    "谢谢你的信任～下面我来认真回答，",
]
CLOSINGS = [
    "",
    " I hope this is useful. Do ask again whenever you like!",
    "\n\nWishing you all the best, and take care! 🌟",
    "。希望能帮到您！如有疑问，随时找我哦~",
    "！祝您一切顺利，万事如意！\n",
]


@pytest.mark.parametrize("said", [PLAIN, LISTED])
@pytest.mark.parametrize("closing", CLOSINGS)
@pytest.mark.parametrize("opening", OPENINGS[:4])
def test_what_is_said_around_a_reply_is_left_out(said: str, opening: str, closing: str) -> None:
    joined = "" if closing[:1] in "。！\n" else "."
    assert substance_of(f"{opening} {said}{joined}{closing}", ASKED) == said


@pytest.mark.parametrize(
    "sentence",
    [
        "It costs about 20 euros.",
        "Take the bus: it is quick:",
        "- a table by the window",
        "# Evenings",
        "| a | b |",
        "See https://example.org for more.",
        "`pip install pasta`",
        "一、清晨出发",
        "The children of Rome love it.",
        "so " * 90,
    ],
)
def test_what_is_firm_or_takes_up_the_request_or_is_long_stays(sentence: str) -> None:
    assert substance_of(f"Great!\n{sentence}\nBye!", ASKED) == sentence.strip().rstrip(".")


def test_a_single_term_is_enough_where_nothing_else_is_said() -> None:
    assert substance_of("Great! Try the pasta. Bye!", ASKED) == "Try the pasta"
    assert substance_of("Great! I am glad. Bye!", ASKED) == ""
    assert substance_of("", ASKED) == substance_of(" \n", ASKED) == ""


def test_a_surrogate_and_very_many_sentences_are_read() -> None:
    assert substance_of("Well \ud800. In Rome eat pasta.", ASKED) == "In Rome eat pasta"
    assert substance_of("Ah! " * 100_000, ASKED).count("Ah") == 100_000 - 24


def test_a_courtesy_may_be_long_and_hold_one_term_by_chance() -> None:
    assert substance_of(f"I do love pasta! {PLAIN}. " + "I wish you well " * 14, ASKED) == PLAIN
    assert substance_of(f"I do love pasta in Rome! {PLAIN}", ASKED) == f"I do love pasta in Rome! {PLAIN}"
    for times, stays in ((38, False), (42, True)):  # 240 bytes are 80 Chinese characters
        thanks = "谢谢" * times
        assert (thanks in substance_of(f"{thanks}！{PLAIN}", ASKED)) is stays
    assert terms_of("pizza, 吃 pasta") == {"pizza", "pasta"}


def test_it_is_read_once_as_it_is_read_twice() -> None:
    for text in (PLAIN, LISTED, "Ah! So? Eat pasta in Rome. Good."):
        once = substance_of(text, ASKED)
        assert substance_of(once, ASKED) == once
