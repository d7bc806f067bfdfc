"""The memory that heeds feedback: what it makes an example, a rule, or nothing of."""

from __future__ import annotations

import asyncio
import time

import pytest

from dialogauge.agents.memory import Feedback, Room, build_memory
from dialogauge.core import Conversation, Message
from dialogauge.data.tasks import RoundFeedback

ASKED, WRONG, WORDS, RIGHT = (
    "How long does a parcel to Skye take?",
    "A parcel takes two days.",
    "Islands take nine days.",
    "Your parcel lands on 12 March.",
)
LATER = "And who signs for a parcel?"
QUESTION = "When does the parcel to the island land?"


def talk(*texts, id="a"):
    roles = ("user", "assistant")
    return Conversation(id, tuple(Message(roles[n % 2], text) for n, text in enumerate(texts)))


def said(*rounds):
    """Feedback on replies in their order: clicks and score of each; None for a reply without any."""
    known = [(number, one) for number, one in enumerate(rounds, 1) if one is not None]
    return Feedback(tuple(RoundFeedback(number, *one) for number, one in known))


def given(memory, question=QUESTION):
    items = asyncio.run(memory.retrieve(question, Room())).items
    return [(item.text, item.kind, item.why) for item in items]


def filled(feedback, *texts, name="feedback-aware"):
    memory = build_memory(name)
    asyncio.run(memory.add_dialogue(talk(*texts or (ASKED, WRONG, WORDS, RIGHT)), feedback))
    return memory


LIKED = (("like",), 9)
DISLIKED = (("dislike",), 3)
EXAMPLE = (RIGHT, "episodic", "an answer that was liked and scored 9")
RULE = (WORDS, "procedural", "a correction after an answer that was disliked and scored 3")


@pytest.mark.parametrize(
    ("feedback", "expected"),
    [
        (said(DISLIKED, LIKED), {EXAMPLE, RULE}),
        (
            said(((), 4), ((), 7)),  # scores alone
            {
                (RIGHT, "episodic", "an answer that was scored 7"),
                (WORDS, "procedural", "a correction after an answer that was scored 4"),
            },
        ),
        (
            said(None, (("copy",), None)),  # one click alone: the words before it led there
            {
                (WRONG, "episodic", None),
                (WORDS, "procedural", "a correction before an answer that was copied"),
                (RIGHT, "episodic", "an answer that was copied"),
            },
        ),
        (  # a click counts before the score
            said((("dislike",), 8), None),
            {
                (WORDS, "procedural", "a correction after an answer that was disliked and scored 8"),
                (RIGHT, "episodic", None),
            },
        ),
        (  # nobody knows what a five means
            said(((), 5), ((), 6)),
            {(WRONG, "episodic", None), (WORDS, "episodic", None), (RIGHT, "episodic", None)},
        ),
        (None, {(WRONG, "episodic", None), (WORDS, "episodic", None), (RIGHT, "episodic", None)}),
    ],
)
def test_praise_makes_examples_and_words_after_dislike_make_rules(feedback, expected) -> None:
    assert set(given(filled(feedback), f"{QUESTION} days")) == expected


def test_without_scores_it_gives_replies_and_words_alike() -> None:
    blind = given(filled(said(DISLIKED, LIKED), name="feedback-blind"), f"{QUESTION} days")
    assert {text for text, *_ in blind} == {WRONG, WORDS, RIGHT}
    assert {why for *_, why in blind} == {None}


def test_a_praised_answer_ends_a_request_and_a_correction_does_not() -> None:
    memory = filled(said(LIKED, LIKED), ASKED, RIGHT, LATER, "The lodger may sign.")
    items = asyncio.run(memory.retrieve("parcel", Room())).items
    assert {item.text: item.asked for item in items} == {RIGHT: ASKED, "The lodger may sign.": LATER}
    corrected = asyncio.run(filled(said(DISLIKED, LIKED)).retrieve(QUESTION, Room())).items
    assert {item.asked for item in corrected} == {ASKED}
    assert corrected[0].shown == f"({EXAMPLE[2]}) user: {ASKED} / assistant: {RIGHT}"


def test_what_was_praised_comes_before_what_fits_as_well() -> None:
    memory = filled(None, ASKED, RIGHT)
    asyncio.run(memory.add_dialogue(talk(ASKED, RIGHT, id="b"), said(LIKED)))
    items = asyncio.run(memory.retrieve(QUESTION, Room())).items
    assert [item.dialogue for item in items] == ["b", "a"]


def test_a_session_of_a_corpus_is_given_by_message() -> None:
    memory = build_memory("feedback-aware")
    asyncio.run(memory.add_corpus([talk(ASKED, WRONG)]))
    assert {text for text, *_ in given(memory)} == {ASKED, WRONG}


def test_it_forks_keeps_changes_and_forgets(tmp_path) -> None:
    memory = filled(said(DISLIKED, LIKED))
    fork = memory.fork()
    asyncio.run(fork.add_dialogue(talk(ASKED, RIGHT, id="b"), said(LIKED)))
    assert set(given(memory)) == {EXAMPLE, RULE}
    assert len(given(fork)) == 3
    fork.save(tmp_path)
    read, again = build_memory("feedback-aware"), build_memory("feedback-aware")
    asyncio.run(read.load(tmp_path))
    assert given(read) == given(fork)
    asyncio.run(fork.delete("a"))
    memory.save(tmp_path)
    asyncio.run(again.load(tmp_path))
    asyncio.run(read.delete("b"))
    assert given(read) == given(again) == given(memory)
    asyncio.run(read.update(talk(ASKED, "A parcel to Skye takes nine days.")))
    assert given(read) == [("A parcel to Skye takes nine days.", "episodic", None)]


@pytest.mark.long
def test_a_message_costs_the_same_after_a_hundred_thousand() -> None:
    memory, times, feedback = build_memory("feedback-aware"), [], said(DISLIKED, LIKED, None)
    words = [f"w{number * number % 7_919}" for number in range(10_000)]
    texts = [" ".join(words[at : at + 10]) for at in range(0, 10_000, 10)]

    async def fill() -> None:
        for number in range(16_700):
            own = [texts[(6 * number + n) % 997] for n in range(6)]
            dialogue = talk(*own, id=str(number))
            begun = time.process_time()
            await memory.add_dialogue(dialogue, feedback)
            times.append(time.process_time() - begun)

    asyncio.run(fill())
    # The least of 330 dialogues that are alike: what else runs on the machine only adds to the others.
    assert min(times[-330:]) <= 1.5 * min(times[167:497])
