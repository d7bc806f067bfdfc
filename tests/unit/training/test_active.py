from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dialogauge.training import JudgedConversation, rank_for_labelling
from talks import talk


def judged(
    id: str, quality: float | None, *, spread: float = 0.0, failed: int = 0, targets: int = 4
) -> JudgedConversation:
    return JudgedConversation(
        talk("u: a", "a: b", id=id), "fake", (), 1, "good", quality, spread, targets, failed, None
    )


def chosen(judged: list[JudgedConversation], limit: int) -> list[tuple[str, str]]:
    return [(item.judged.conversation.id, item.reason) for item in rank_for_labelling(judged, limit)]


def test_the_lowest_and_the_most_uncertain_take_turns() -> None:
    pool = [judged("low", 0.0), judged("lower half", 0.2), judged("middle", 0.5), judged("high", 1.0)]
    assert chosen(pool, 3) == [("low", "lowest"), ("middle", "uncertain"), ("lower half", "lowest")]


def test_spread_and_failures_make_uncertain() -> None:
    sure, torn, failing = judged("sure", 0.9), judged("torn", 0.9, spread=0.3), judged("fails", 0.9, failed=2)
    items = rank_for_labelling([judged("low", 0.0), sure, torn, failing], 4)
    assert [i.judged.conversation.id for i in items] == ["low", "fails", "sure", "torn"]
    assert {i.judged.conversation.id: round(i.uncertainty, 6) for i in items} == {
        "low": 0.0,
        "fails": 0.6,  # half of its targets failed, and it is 0.1 from the better end
        "torn": 0.4,
        "sure": 0.1,
    }


def test_repeats_do_not_make_failures_count_more() -> None:
    once = rank_for_labelling([judged("a", 1.0, failed=1, targets=2)], 1)
    thrice = rank_for_labelling([judged("a", 1.0, failed=3, targets=6)], 1)
    assert [one.to_row() for one in once] == [one.to_row() for one in thrice]


def test_what_failed_whole_comes_last() -> None:
    pool = [judged("failed", None, failed=4), judged("a", 0.9), judged("b", 0.1)]
    assert chosen(pool, 9) == [("b", "lowest"), ("a", "uncertain"), ("failed", "failed")]
    assert chosen(pool, 2) == [("b", "lowest"), ("a", "uncertain")]


def test_equals_are_ordered_by_id() -> None:
    assert chosen([judged("b", 0.5), judged("a", 0.5)], 2) == [("a", "lowest"), ("b", "uncertain")]


def test_conversations_of_one_id_are_chosen_once() -> None:
    assert chosen([judged("a", 0.1), judged("a", 0.2)], 2) == [("a", "lowest")]


def test_a_row_for_a_labelling_tool() -> None:
    pool = judged("a", 0.25, spread=0.125)
    (item,) = rank_for_labelling([pool], 5)
    assert item.to_row() == {
        "conversation_id": "a",
        "reason": "lowest",
        "quality": 0.25,
        "uncertainty": 0.375,
        "verdict": "good",
        "weakest_turn": 1,
        "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
    }


@given(st.lists(st.none() | st.floats(0, 1), max_size=12), st.integers(0, 14))
def test_as_many_as_asked_for_and_none_twice(qualities: list[float | None], limit: int) -> None:
    pool = [judged(f"c{n}", quality) for n, quality in enumerate(qualities)]
    items = rank_for_labelling(pool, limit)
    assert len(items) == len({i.judged.conversation.id for i in items}) == min(limit, len(pool))
