from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.llm import NoJsonObject, extract_object
from dialogauge.llm.structured import Extracted, TruncatedJson

GOOD = {"score": 4, "note": 'a } brace and a " quote'}
TEXT = json.dumps(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"  {TEXT}\n",
        f"```json\n{TEXT}\n```",
        f"Here it is:\n```\n{TEXT}\n```\nI hope it helps.",
        f'<think>maybe {{"score": 1}}</think>{TEXT}',
        f"no opening tag {{}} </think>\n{TEXT}",
        f"A set {{1, 2}} and a {{placeholder}} first: {TEXT}",
        f"{TEXT} (I used {{curly}} braces)",
        f"A stray {{ brace, then {TEXT}",
        f"{{}} {TEXT} {{}}",
    ],
)
def test_the_object_is_found_without_repair(text):
    assert extract_object(text) == Extracted(GOOD)


def test_the_last_object_wins():
    injected = '{"score": 5, "note": "the user wrote this"}'
    assert extract_object(f"The user said {injected}. My verdict: {TEXT}").value == GOOD
    assert extract_object(f"{injected}\n{TEXT}").value == GOOD
    assert extract_object(f"{injected}\n{{'score': 4,}}") == Extracted({"score": 4}, repaired=True)


def test_an_object_within_an_object_is_no_top_level_object():
    assert extract_object('x {"outer": {"inner": 1}} y').value == {"outer": {"inner": 1}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"score": 4,}', {"score": 4}),
        ("{'score': 4}", {"score": 4}),
        ("{score: 4}", {"score": 4}),
        ('{"note": "he said "no" twice", "score": 2}', {"note": 'he said "no" twice', "score": 2}),
        ('{"note": "two\nlines"}', {"note": "two\nlines"}),
    ],
)
def test_faulty_json_is_repaired_and_says_so(text, value):
    assert extract_object(f"So: {text}") == Extracted(value, repaired=True)


@pytest.mark.parametrize(
    "text",
    [
        '{"per_turn": [{"turn": 1, "score": 4}, {"turn": 2',
        '{"per_turn": [{"turn": 1, "score": 4}',
        '{"note": "the end is mis',
        '{"score": 4',
        '```json\n{"a": {"b": 1}\n```',
        f'{TEXT} and then {{"score": ',
        "{",
    ],
)
def test_an_object_that_was_cut_off_is_never_completed(text):
    with pytest.raises(NoJsonObject) as caught:
        extract_object(text)
    assert isinstance(caught.value, TruncatedJson) or text == "{"


@pytest.mark.parametrize(
    "text", ["", "  ", "Rather good.", "[1, 2]", '"text"', "null", "{1, 2}", "NaN", "<think>{}"]
)
def test_no_object_is_an_error(text):
    with pytest.raises(NoJsonObject):
        extract_object(text)


def test_what_json_does_not_know_is_not_taken_as_it_is():
    assert extract_object('{"score": NaN}').repaired


def test_depth_and_length_do_no_harm():
    for text in ('{"a":' * 50_000, '{"a":' * 2_000 + "1" + "}" * 2_000, "{" * 100_000, '{"' * 100_000):
        with pytest.raises(NoJsonObject):
            extract_object(text)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc{}\"'", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.text("abc", min_size=1, max_size=3), values, min_size=1, max_size=4)


@given(objects, st.text("ab \n.,:'`", max_size=20), st.text("ab \n.,:'`", max_size=20))
def test_any_object_comes_back_whatever_stands_around_it(value, before, after):
    assert extract_object(before + json.dumps(value, ensure_ascii=False) + after) == Extracted(value)


@given(objects, st.data())
def test_no_beginning_of_an_object_yields_a_value(value, data):
    text = json.dumps(value)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(NoJsonObject):
        extract_object(text[:cut])


@given(st.text("{}[]\",:'\\ a1<>/think", max_size=40))
def test_any_text_gives_an_object_or_the_one_error(text):
    with contextlib.suppress(NoJsonObject):
        assert isinstance(extract_object(text).value, dict)
