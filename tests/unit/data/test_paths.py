"""Paths and conditions, as formats and field maps write them."""

import pytest

from dialogauge.data.paths import MISSING, condition_of, path_of

RECORD = {
    "a": {"b": 1, "c.d": 2, "empty": "", "nothing": None},
    "list": [{"kind": "x", "v": 1}, {"kind": "y", "v": 2}, {"kind": "x", "v": [3, 4]}, {"kind": 7}],
    "json": '{"in": [5, {"deep": "six"}]}',
    "html": "<p>Is it <b>open</b>?</p>",
    "flag": False,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", 1),
        ("a.c.d", 2),
        ("list.-1.kind", 7),
        ("list.*.v", [1, 2, 3, 4]),
        ("list[kind=x].*.v", [1, 3, 4]),
        ("list[kind=x,y].1.v", 2),
        ("list[kind=7].0.kind", 7),
        ("a[b=1].c.d", 2),
        ("a[b=2].c.d", MISSING),
        ("json!.in.1.deep", "six"),
        ("html!", MISSING),
        ("<html", "Is it open?"),
        ("<a.b", 1),
        ("'word'", "word"),
        ("{a.b}-{json!.in.0}", "1-5"),
        ("{a.b}-{a.z}", MISSING),
        ("[{html}]\n{a.b}", "[<p>Is it <b>open</b>?</p>]\n1"),
        ("a.empty | a.nothing | a.z | a.b", 1),
        ("a.z | a.empty", MISSING),
        ("a.empty", ""),
        ("a.b.c", MISSING),
        ("html.*", []),
        ("json~.*(deep)", "deep"),
        ("json~in", MISSING),
        ("a[b:number].c.d", 2),
        ("list[not v:list].*.v", [1, 2]),
        ("[flag=false].'no' | 'yes'", "no"),
        ("[flag=true].'no' | 'yes'", "yes"),
        (".", RECORD),
    ],
)
def test_a_path(path, value):
    assert path_of(path)(RECORD) == value


@pytest.mark.parametrize("path", ["a[b", "a]", "", "a[=x]", "a | "])
def test_what_is_no_path(path):
    with pytest.raises(ValueError, match="is no path"):
        path_of(path)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("a.nothing", True),
        ("a.z", False),
        ("not a.z", True),
        ("a.b=1,2", True),
        ("a.b=2", False),
        ("not a.b=2", True),
        ("flag=false", True),
        ("a.nothing=null", True),
        ("a.z=null", False),
        ("list[kind=x].0.v=1", True),
        ("list:list", True),
        ("a:object", True),
        ("html:text", True),
        ("flag:bool", True),
        ("flag:number", False),
        ("a.b:number", True),
        ("a.z | a.b", True),
        ("a.b={list.0.v}", True),
        ("a.b={list.1.v}", False),
        ("a.z={a.z}", False),
    ],
)
def test_a_condition(condition, holds):
    assert condition_of(condition)(RECORD) is holds
