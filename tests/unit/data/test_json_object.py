"""The members of an object that is read part by part."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import FileFault
from dialogauge.data import json_values
from dialogauge.data.json_values import object_parts
from dialogauge.data.opening import InputSource
from dialogauge.data.sources import LARGEST, LineStream


def parts(tmp_path, text, *lists):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    return list(object_parts(LineStream(InputSource("a.json", "a.json", path)), lists))


def read(tmp_path, text, *lists):
    return [(p.key, json.loads(p.value), p.number) for p in parts(tmp_path, text, *lists)]


def test_members_and_the_elements_of_a_list(tmp_path):
    text = '{"a": 1, "s": [{"x": [1, 2]}, "t,]", []], "b": {"s": [3]}, "c": []}'
    assert read(tmp_path, text, "s", "c") == [
        ("a", 1, 0),
        ("s", {"x": [1, 2]}, 1),
        ("s", "t,]", 2),
        ("s", [], 3),
        ("b", {"s": [3]}, 0),
    ]


def test_a_list_of_the_name_that_is_none_is_a_member(tmp_path):
    assert read(tmp_path, '{"s": {"k": [1, 2]}, "t": "x"}', "s", "t") == [
        ("s", {"k": [1, 2]}, 0),
        ("t", "x", 0),
    ]


def test_lines_are_those_of_the_file(tmp_path):
    text = json.dumps({"a": 1, "s": [{"x": 1}, {"x": 2}]}, indent=1)
    assert [(p.key, p.line + p.value.count(b"\n", 0, 1)) for p in parts(tmp_path, text, "s")][1:] == [
        ("s", 4),
        ("s", 7),
    ]


def test_what_is_too_large_is_none_and_the_next_is_read(tmp_path):
    large = ["x" * (LARGEST // 9)] * 20
    text = json.dumps({"a": large, "s": [1, large, 2], "b": 3})
    read_parts = [(p.key, p.value, p.number) for p in parts(tmp_path, text, "s")]
    assert read_parts == [
        ("a", None, 0),
        ("s", b"1", 1),
        ("s", None, 2),
        ("s", b" 2", 3),
        ("b", b"3", 0),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1', "breaks off"),
        ('{"a": [1, 2', "breaks off"),
        ('{"a": "x', "breaks off"),
        ('{"a": 1} {"b": 2}', "more follows"),
    ],
)
def test_what_is_no_whole_object_is_a_fault(tmp_path, text, why):
    with pytest.raises(FileFault, match=why):
        parts(tmp_path, text, "a")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from('abs"\\'), inner, max_size=3),
    max_leaves=12,
)


@given(value=st.dictionaries(st.sampled_from('abs"\\é'), JSON, max_size=4), indent=st.none() | st.just(1))
def test_whatever_is_written_is_read(tmp_path_factory, value, indent):
    folder = tmp_path_factory.mktemp("o")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_values, "_BLOCK", 3)
        patch.setattr(json_values, "_LARGEST_BLOCK", 5)
        out = read(folder, json.dumps(value, indent=indent), "s")
    wanted = []
    for key, one in value.items():
        listed = key == "s" and isinstance(one, list)
        wanted += [(key, e, n) for n, e in enumerate(one, 1)] if listed else [(key, one, 0)]
    assert out == wanted
