"""What dialogues say of the agent that led them."""

from dialogauge.core import Conversation, Message, ToolCall
from dialogauge.studies.arena.agents import said_of, said_together

CALL = ToolCall("1", "find", "{}")


def talk(number, *replies, calls=0, **more):
    messages = [Message("user", "Hello there"), *(Message("assistant", None, (CALL,)) for _ in range(calls))]
    return Conversation(f"d{number}", (*messages, *(Message("assistant", one) for one in replies)), **more)


def test_words_and_calls_are_means_of_the_dialogues_that_were_led():
    """3 + 5 words and 2 + 0 calls in two dialogues; the third has no message."""
    led = [talk(1, "One two", "three.", calls=2), talk(2, "One, two, three, four, five.")]
    about = said_of("alpha", [*led, Conversation("d3", ())])
    assert about == {"dialogues": 2, "absent": 1, "words": 4, "tool calls": 1}


def test_a_model_of_another_name_and_costs_are_shown_where_all_dialogues_have_them():
    talks = [talk(1, "Yes.", candidate="m", metadata={"cost": 0.25}), talk(2, "No.", candidate="m")]
    assert said_of("alpha", talks)["model"] == "m"
    assert "cost" not in said_of("alpha", talks)
    assert "model" not in said_of("m", talks)
    assert said_of("alpha", [talks[0], talk(2, "No.", metadata={"cost": 0.75})])["cost"] == 0.5


def test_of_an_agent_that_led_nothing_only_the_counts_are_known():
    assert said_of("alpha", [Conversation("d1", ())]) == {"dialogues": 0, "absent": 1}


def test_what_two_arenas_say_of_an_agent_is_put_together():
    """2 dialogues of 4 words and 6 of 8 words: 7 in the mean."""
    one = {"dialogues": 2, "absent": 1, "words": 4, "cost": 1, "model": "m", "judged by": "card"}
    other = {"dialogues": 6, "words": 8, "model": "n", "judged by": "task"}
    assert said_together(one, other) == {"dialogues": 8, "absent": 1, "words": 7, "judged by": "card, task"}
    assert said_together({}, {"dialogues": 0, "absent": 2}) == {"dialogues": 0, "absent": 2}
