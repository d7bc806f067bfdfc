from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dialogauge.llm.budget import PrefixMeter


def prompt(system, user):
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def test_the_first_prompt_repeats_nothing():
    assert PrefixMeter().measure(prompt("abc", "de")) == (5, 0)


def test_what_is_common_with_the_previous_prompt_is_counted_up_to_the_first_difference():
    meter = PrefixMeter()
    meter.measure(prompt("judge this", "hello world"))
    assert meter.measure(prompt("judge this", "hello there")) == (21, 10 + 6)
    # "hello " again, and "there" against "th": 6 + 2
    assert meter.measure(prompt("judge this", "hello th")) == (18, 10 + 8)
    # The system message differs at its end: nothing behind it counts, equal or not.
    assert meter.measure(prompt("judge that", "hello th")) == (18, 8)


def test_a_shorter_system_message_ends_what_is_common():
    meter = PrefixMeter()
    meter.measure(prompt("judge", "ab"))
    assert meter.measure(prompt("judge it", "ab")) == (10, 5)


def test_another_role_ends_what_is_common():
    meter = PrefixMeter()
    meter.measure([{"role": "system", "content": "a"}])
    assert meter.measure([{"role": "user", "content": "a"}]) == (1, 0)


def test_a_re_ask_repeats_all_of_the_first_prompt():
    meter = PrefixMeter()
    first = prompt("judge", "talk")
    meter.measure(first)
    again = [*first, {"role": "assistant", "content": "{}"}, {"role": "user", "content": "again"}]
    assert meter.measure(again) == (9 + 2 + 5, 9)


def test_content_that_is_no_text_is_compared_as_it_is_written():
    meter = PrefixMeter()
    parts = [{"role": "user", "content": [{"type": "text", "text": "a"}]}, {"role": "assistant"}]
    total, _ = meter.measure(parts)
    assert meter.measure(parts) == (total, total)


@given(st.text("ab", max_size=30), st.text("ab", max_size=30))
def test_the_common_beginning_is_what_a_loop_over_characters_finds(old, new):
    meter = PrefixMeter()
    meter.measure([{"role": "user", "content": old}])
    expected = 0
    while expected < min(len(old), len(new)) and old[expected] == new[expected]:
        expected += 1
    assert meter.measure([{"role": "user", "content": new}]) == (len(new), expected)
