"""What stands before a session: instructions, greeting, and the turns of a given conversation."""

from __future__ import annotations

from collections import Counter

import pytest

from dialogauge.agents import Scenario, UserRole
from dialogauge.agents.beginnings import beginning, contexts_of
from dialogauge.core import Conversation, Message, UsageError

ROSA = Scenario("inn", "character", "Rosa", "Rosa keeps an inn.", UserRole("inn"), greeting="Come in.")
OTHER = Scenario("mill", "character", "Jon", "Jon grinds corn.", UserRole("mill"))


def talk(id, turns, scenario=None):
    messages = [Message("system", "old rules")]
    for n in range(1, turns + 1):
        messages += [Message("user", f"u{n}"), Message("assistant", f"a{n}")]
    return Conversation(id, tuple(messages), scenario=scenario)


def test_a_greeting_opens_and_is_no_part_of_what_is_judged() -> None:
    start = beginning(ROSA, "inn", "a")
    assert [m.role for m in start.messages] == ["system", "assistant"]
    assert start.prefix == 2
    assert (start.id, start.user_id, start.scenario, start.candidate) == ("inn", "inn", "inn", "a")
    assert [m.role for m in beginning(OTHER, "mill", "a").messages] == ["system"]


def test_contexts_are_cut_at_turns_and_are_the_same_for_every_candidate() -> None:
    contexts = contexts_of([talk("x", 3, "inn")], [ROSA, OTHER])
    lengths = Counter()
    for number in range(200):
        a, b = (beginning(ROSA, f"inn/{number}", name, contexts, seed=1) for name in "ab")
        assert a.messages == b.messages
        assert a.messages[0].text == ROSA.instructions  # and not the rules of the given conversation
        assert a.prefix == len(a.messages)
        lengths[len(a.messages)] += 1
    # No turn: the greeting opens; else whole turns and no greeting.
    assert set(lengths) == {2, 3, 5, 7}
    assert min(lengths.values()) > 25
    assert beginning(OTHER, "mill", "a", contexts).prefix == 1


def test_at_most_fifty_turns_are_taken() -> None:
    contexts = contexts_of([talk("inn", 80)], [ROSA])
    longest = max(beginning(ROSA, f"inn/{n}", "a", contexts).prefix for n in range(400))
    assert longest == 1 + 2 * 50


def test_another_seed_draws_another_context() -> None:
    contexts = contexts_of([talk("inn", 50)], [ROSA])
    assert len({beginning(ROSA, "inn", "a", contexts, seed=s).prefix for s in range(20)}) > 5


def test_conversations_of_no_scenario_serve_all() -> None:
    contexts = contexts_of([talk("x", 3)], [ROSA, OTHER])
    assert contexts.of("inn") == contexts.of("mill") != ()
    assert contexts_of([talk("x", 3), talk("mill", 2)], [ROSA, OTHER]).of("inn") == ()


def test_a_context_without_a_whole_turn_is_refused() -> None:
    with pytest.raises(UsageError, match="the context 'x' has no whole turn"):
        contexts_of([Conversation("x", (Message("user", "hello?"),))], [ROSA])
