from dialogauge.core import Conversation, Message
from dialogauge.signals.asking import Given, Statements
from dialogauge.signals.reading import TextView, TurnView, read_dialogue


def turns(*texts: str) -> tuple[TurnView, ...]:
    said = [Message("assistant" if i % 2 else "user", text) for i, text in enumerate(texts)]
    return read_dialogue(Conversation("c", tuple(said))).turns


def statements(*texts: str) -> Statements:
    found = Statements()
    for number, text in enumerate(texts, 1):
        found.add(number, "assistant", TextView(text))
    return found


def values_of(text: str, earlier: Statements, before: int) -> list[tuple[int, str]]:
    (fact,) = TextView(text).facts
    return [(turn, old.value) for turn, _, old in earlier.about(fact, before)]


def test_earlier_values_of_the_same_thing_are_found_and_no_others():
    earlier = statements("The museum visit takes 3 hours.", "The train ride costs 40 dollars.")
    assert values_of("The museum visit takes 5 hours.", earlier, 3) == [(1, "3")]
    assert values_of("The train ride takes 5 hours.", earlier, 3) == []
    assert values_of("The museum visit takes 5 weeks.", earlier, 3) == []


def test_what_is_of_the_same_turn_is_not_earlier():
    earlier = statements("The museum visit takes 3 hours.")
    assert not earlier.begin_before(1)
    assert earlier.begin_before(2)
    assert values_of("The museum visit takes 5 hours.", earlier, 1) == []
    assert values_of("The museum visit takes 5 hours.", earlier, 2) == [(1, "3")]


def test_what_comes_later_is_read_too_and_what_is_forgotten_is_gone():
    earlier = statements("Nothing to say.")
    assert values_of("The museum visit takes 5 hours.", earlier, 2) == []
    earlier.add(2, "user", TextView("The museum visit takes 4 hours."))
    assert values_of("The museum visit takes 5 hours.", earlier, 3) == [(2, "4")]
    earlier.forget()
    assert not earlier.begin_before(9)
    assert values_of("The museum visit takes 5 hours.", earlier, 9) == []


def test_a_clause_with_two_values_of_a_unit_tells_neither():
    earlier = statements("The museum visit takes 3 hours or 4 hours.")
    assert values_of("The museum visit takes 5 hours.", earlier, 2) == []


def test_what_users_and_tools_gave():
    given = Given()
    (turn,) = turns("My name is Ada Byron. A table for 4 people.", "Done.")
    given.add(turn)
    assert given.told("people") == {"4"}
    assert given.names() == {"Ada", "Byron"}
    assert given.values("night") == given.numbers() == set()
    call = Message("tool", "Booked for 12 people, 2 nights, ref 77.50")
    (turn,) = read_dialogue(
        Conversation("c", (Message("user", "我叫小明,住 3 晚"), call, Message("assistant", "好的")))
    ).turns
    given.add(turn)
    assert given.told("people") == {"4"}
    assert given.values("people") == {"4", "12"}
    assert given.values("night") == {"2", "3"}
    assert given.numbers() == {"12", "2", "77.5"}
    assert given.names() == {"Ada", "Byron", "小明"}
