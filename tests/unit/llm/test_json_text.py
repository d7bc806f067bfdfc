from __future__ import annotations

import contextlib
import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.llm import NoJsonObject, extract_object
from dialogauge.llm.json_text import LONGEST, Extracted, TruncatedJson, UnclearJson, extract_objects
from servers.long_texts import long_texts

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
        ("{“score”: 4, “note”: “a “b” c”}", {"score": 4, "note": "a “b” c"}),
        (
            "{'note': 'it\\'s what it's', 'weakest': None, 'ok': True}",
            {"note": "it's what it's", "weakest": None, "ok": True},
        ),
        (r'{"note": "\(x\) \"y\"", "score": 4}', {"note": r'\(x\) "y"', "score": 4}),
        (
            '{"list": [1, -2.5e1, "a "b" c", {"x": [],},], "score": 4}',
            {"list": [1, -25.0, 'a "b" c', {"x": []}], "score": 4},
        ),
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


NO_VALUES = [
    *(
        "3 or 4",
        "2 to 4",
        ">3",
        "4 5",
        "4 not 5",
        "3-4",
        "3–4",
        "3—4",
        "4½",
        "4 → 2",
        "~4",
        "4:5",
        "4 (good)",
    ),
    *(
        "4/5",
        "four",
        "４",
        "四",
        "4.",
        ".4",
        "+4",
        "-",
        "- 4",
        "04",
        "0x4",
        "4_0",
        "4%",
        "4*",
        "4,5",
        "4e",
        "1e400",
    ),
    *("NaN", "Infinity", "-Infinity", "undefined", "n/a", "4 // 5", "4 /* 5 */", "/* 5 */ 4", "4 # 5"),
    *(
        "4\n5",
        "4\u00a0",
        "4\u200b",
        "=4",
        "<4>",
        "(4)",
        "4;",
        '4 "5"',
        '"4" 5',
        "4 | 5",
    ),
    *(
        ", 4",
        "4,,",
        "[4 5]",
        "[4; 5]",
        "[,4]",
        "{4}",
        '{"score" 4}',
        '{"score"= 4}',
        "",
        "٤",
        "4d",
        "4L",
    ),
]


@pytest.mark.parametrize("written", NO_VALUES)
@pytest.mark.parametrize(
    "form", ['{{"score": {0}}}', '{{"a": 1, "score": {0}, "b": 2}}', "{{'scores': {{score:{0},}},}}"]
)
def test_repair_never_makes_a_value(form, written):
    with pytest.raises(NoJsonObject):
        extract_object(form.format(written))


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 4, "score": 5}',
        '{"score": 4, "score": 4}',
        '{"score": 4, "sc\\u006fre": 5}',
        '{"a": {"score": 4, "b": [], "score": 5}}',
        "{'score': 4, \"score\": 5,}",
        "{score: 4, 'scor\\u0065': 5}",
    ],
)
def test_a_key_that_appears_twice_is_unclear(text):
    with pytest.raises(UnclearJson, match="appears twice"):
        extract_object(text)


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "\\u005c", '\\"', "\\\\", ""]), st.booleans()), max_size=5)
)
def test_no_spelling_hides_a_key_that_appears_twice(members):
    """However its texts are escaped, an object is read if and only if its keys are all different."""
    one = ", ".join(f'"{key}"{" " * spaced}: ["x\\u005c", "\\u0022:", "{key}"]' for key, spaced in members)
    keys = [json.loads(f'"{key}"') for key, _ in members]
    if len(set(keys)) == len(keys):
        assert not extract_object(f'{{"all": {{{one}}}}}').repaired
    else:
        with pytest.raises(UnclearJson):
            extract_object(f'{{"all": {{{one}}}}}')


@pytest.mark.parametrize(
    "text",
    [
        '{"note": "he said "ok", "score": 5, "x": "y" there"}',
        '{"score": 4, "note": "x" y, "score": 5, "z": "w"}',
        '{score: 4, note: "x"y, score: 5, z: "w"}',
        """{"score": 4, "note": "x"y, 'score': 5, "z": "w"}""",
        '{"note": "5" tall", "score": 4, "x": "y"}',
    ],
)
def test_a_text_of_which_the_end_is_open_hides_and_adds_no_member(text):
    with pytest.raises(NoJsonObject):
        extract_object(text)


@pytest.mark.parametrize("written", ["'4' or '5'", '"4" "5"', '"4", "5"', '"4"or"5"'])
def test_several_texts_are_never_one_of_them(written):
    with contextlib.suppress(NoJsonObject):
        assert extract_object(f'{{"score": {written}}}').value["score"] not in (4, 5, "4", "5")


@pytest.mark.parametrize("text", ['{"score": 4}, "score": 5}', '{"a": {"score": 4}}}, \'score\': 5}'])
def test_an_object_that_ends_before_its_members_do_is_unclear(text):
    with pytest.raises(UnclearJson, match="a brace is amiss"):
        extract_object(text)


def test_half_a_surrogate_pair_is_no_text_and_costs_no_score():
    assert extract_object(r'{"note": "a\ud83d", "score": 4}') == Extracted(
        {"note": "a\ufffd", "score": 4}, True
    )
    assert extract_object(r'{"note": "\ud83d\ude00", "score": 4}') == Extracted({"note": "😀", "score": 4})


def test_the_fault_says_where_and_what():
    with pytest.raises(UnclearJson, match='line 2: "3 or 4}" is no JSON value'):
        extract_object('{"note": "x",\n"score": 3 or 4}')


def test_all_readable_objects_come_in_order():
    text = f'{{"a": 1}} {{nothing}} {{"b": 3 or 4}} {{}} {{"c": 2,}} {TEXT}'
    assert [one.value for one in extract_objects(text)] == [{"a": 1}, {"c": 2}, GOOD]


def seconds_by_kind(size: int) -> dict[str, float]:
    """Return what reading takes of the processor, by what the text is made of: the least of three times."""
    return {kind: min(seconds_of(text) for _ in range(3)) for kind, text in long_texts(size).items()}


def seconds_of(text: str) -> float:
    began = time.process_time()
    with contextlib.suppress(NoJsonObject):
        extract_objects(text)
    return time.process_time() - began


@pytest.mark.long
@pytest.mark.parametrize("size", [LONGEST - 1000, 1_000_000])
def test_a_text_of_any_kind_takes_time_by_its_length_alone(size: int) -> None:
    """Eight times the text takes about eight times as long, in the same run; what is quadratic 64 times."""
    some = size // 16 * 2  # both even, since an odd number of quotes is another text
    part, whole = seconds_by_kind(some), seconds_by_kind(8 * some)
    least = 0.005  # of the clock: a text that takes less says nothing
    assert {kind: s for kind, s in whole.items() if s > 24 * max(part[kind], least)} == {}


HIDDEN = """{'a': '"', b: """ + "[" * 50_000 + "]" * 50_000 + """, 'c': '"'}"""


def test_depth_and_length_do_no_harm():
    for text in (
        '{"a":' * 50_000,
        '{"a":' * 2_000 + "1" + "}" * 2_000,
        "{" * 100_000,
        '{"' * 100_000,
        HIDDEN,
    ):
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


@given(objects, st.text("ab \n.,:'`", max_size=20), st.text("ab \n.,:`", max_size=20))
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


NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
around_numbers = st.text("0123456789.-+eE_ /,:[]{}\n\t½４~>x'\"“", max_size=12) | st.text(max_size=12)


@given(
    around_numbers,
    st.sampled_from(['{{"a": "x", "score": {}, "b": "y"}}', "{{'score': {} ,}}", "{{score:{}}}"]),
)
def test_a_number_that_is_read_is_one_that_was_written(written, form):
    with contextlib.suppress(NoJsonObject):
        score = extract_object(form.format(written)).value.get("score")
        if isinstance(score, int | float) and not isinstance(score, bool):
            first = re.split("[,}]", written)[0].strip(" \t\r\n")
            assert NUMBER.fullmatch(first)
            assert float(first) == score


mends = {
    "trailing commas": lambda text: re.sub(r"([}\]])", r",\1", text),
    "single quotes": lambda text: text.replace('"', "'"),
    "curly quotes": lambda text: re.sub('"([^"]*)"', r"“\1”", text),
    "bare keys": lambda text: re.sub(r'"([a-z]+)":', r"\1:", text),
    "line breaks": lambda text: text.replace("_", "\n"),
    "quotes within": lambda text: text.replace("_", ' "so" '),
    "Python": lambda text: text.replace("null", "None").replace("true", "True"),
}


@given(
    st.dictionaries(
        st.text("abc", min_size=1),
        st.recursive(
            st.integers(-(2**63), 2**63)
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.none()
            | st.text("xy_ ")
            | st.just(True),
            lambda inner: (
                st.lists(inner, min_size=1) | st.dictionaries(st.text("abc", min_size=1), inner, min_size=1)
            ),
            max_leaves=5,
        ),
        min_size=1,
    ),
    st.sampled_from(list(mends)),
)
def test_what_is_mended_has_the_values_that_were_planted(value, mend):
    text = json.dumps(value)
    planted = {"line breaks": "\n", "quotes within": ' "so" '}.get(mend, "_")
    found = extract_object(mends[mend](text)).value
    assert found == json.loads(text.replace("_", json.dumps(planted)[1:-1]))
