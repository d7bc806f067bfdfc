from dialogauge.core import Conversation, Message
from dialogauge.signals.contradiction import StatedFacts, Statements
from dialogauge.signals.dialogue import TextView, TurnView, read_dialogue


def turns(*texts: str) -> tuple[TurnView, ...]:
    messages = [Message("assistant" if i % 2 else "user", text) for i, text in enumerate(texts)]
    return read_dialogue(Conversation("c", tuple(messages))).turns


def statements(*texts: str) -> Statements:
    earlier = Statements()
    for number, text in enumerate(texts, 1):
        earlier.add(number, "assistant", TextView(text))
    return earlier


def values_of(text: str, earlier: Statements, before: int) -> list[tuple[int, str]]:
    (fact,) = TextView(text).facts
    return [(turn, old.value) for turn, _, old in earlier.about(fact, before)]


def test_earlier_values_of_the_same_thing_and_no_others():
    earlier = statements("The museum visit takes 3 hours.", "The train ride costs 40 dollars.")
    assert values_of("The museum visit takes 5 hours.", earlier, 3) == [(1, "3")]
    assert values_of("The train ride takes 5 hours.", earlier, 3) == []
    assert values_of("The museum visit takes 5 weeks.", earlier, 3) == []


def test_what_is_of_the_same_turn_is_not_earlier():
    earlier = statements("The museum visit takes 3 hours.")
    assert not earlier.has_text_before(1)
    assert earlier.has_text_before(2)
    assert values_of("The museum visit takes 5 hours.", earlier, 1) == []
    assert values_of("The museum visit takes 5 hours.", earlier, 2) == [(1, "3")]


def test_what_comes_later_is_read_too_and_what_is_forgotten_is_gone():
    earlier = statements("Nothing to say.")
    assert values_of("The museum visit takes 5 hours.", earlier, 2) == []
    earlier.add(2, "user", TextView("The museum visit takes 4 hours."))
    assert values_of("The museum visit takes 5 hours.", earlier, 3) == [(2, "4")]
    earlier.clear()
    assert not earlier.has_text_before(9)
    assert values_of("The museum visit takes 5 hours.", earlier, 9) == []


def test_a_clause_with_two_values_of_a_unit_tells_neither():
    earlier = statements("The museum visit takes 3 hours or 4 hours.")
    assert values_of("The museum visit takes 5 hours.", earlier, 2) == []


def test_values_of_users_and_tools():
    stated = StatedFacts()
    (turn,) = turns("My name is Ada Byron. A table for 4 people.", "Done.")
    stated.add(turn)
    assert stated.user_values("people") == {"4"}
    assert stated.names() == {"Ada", "Byron"}
    assert stated.values("night") == stated.numbers() == set()
    call = Message("tool", "Booked for 12 people, 2 nights, ref 77.50")
    (turn,) = read_dialogue(
        Conversation("c", (Message("user", "我叫小明,住 3 晚"), call, Message("assistant", "好的")))
    ).turns
    stated.add(turn)
    assert stated.user_values("people") == {"4"}
    assert stated.values("people") == {"4", "12"}
    assert stated.values("night") == {"2", "3"}
    assert stated.numbers() == {"12", "2", "77.5"}
    assert stated.names() == {"Ada", "Byron", "小明"}
