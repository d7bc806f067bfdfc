from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.text.needles import alternatives, needles_of


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a|b", ["a", "b"]),
        ("a(?:b|c)|d", ["a(?:b|c)", "d"]),
        (r"a\|b|[|(]c|d", [r"a\|b", "[|(]c", "d"]),
        (r"[]|]a|[^]|]b", ["[]|]a", "[^]|]b"]),
        (r"(?<!x|y)a|(?=b|c)d|((e)|f)", ["(?<!x|y)a", "(?=b|c)d", "((e)|f)"]),
        ("", [""]),
    ],
)
def test_a_pattern_is_cut_at_its_outer_bars(pattern, parts):
    assert alternatives(pattern) == parts


@pytest.mark.parametrize(
    ("pattern", "needles"),
    [
        ("told you", {"told you"}),
        (r"\bi(?:'ve| have)? (?:just )?told you\b", {"told you"}),
        ("(?:foo|bar) ?baz", {"baz"}),
        ("(?:food|bards) ?b", {"food", "bards"}),
        ("(?:foo|bar)?bazz", {"bazz"}),
        ("(?:foo|bar){2,3}", {"foo", "bar"}),
        ("(?:foo|bar){0,3}", None),
        ("(?:foo|bar){,3}", None),
        ("abc?d", {"ab"}),
        ("abc+d", {"abc"}),
        ("ab{0}cd", {"cd"}),
        (r"e\.g", {"e.g"}),
        (r"\w+\d", None),
        ("a", None),
        ("没", {"没"}),
        ("没(?:有)?(?:能|找到)", {"没"}),
        ("(?:没|没有)(?:这|那)", {"没"}),
        ("(?<!不)是我(?!们)", {"是我"}),
        ("foo|[ab]", None),
        ("foo|foobar", {"foo"}),
        ("^no$", {"no"}),
        ("foo(?P<name>x)", {"foo"}),
        ("(?:foo|(?:bar|x?))", None),
    ],
)
def test_what_a_match_cannot_do_without(pattern, needles):
    assert needles_of(pattern) == (None if needles is None else frozenset(needles))


atoms = st.sampled_from(
    ["ab", "c", "\\.", "没", "是我", "[abc]", "[^ab|]", "\\w", "\\b", ".", "^", "$", "(?!ab)", "(?<=c)"]
)
repeats = st.sampled_from(["", "", "", "?", "*", "+", "{2}", "{0,2}", "{1,}?"])


def repeated(pattern, repeat):
    zero_width = pattern in ("\\b", "^", "$") or pattern.startswith(("(?!", "(?<="))
    return pattern if zero_width else f"(?:{pattern}){repeat}" if repeat.startswith("{") else pattern + repeat


patterns = st.recursive(
    st.builds(repeated, atoms, repeats),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map("".join)
        | st.lists(inner, min_size=1, max_size=3).map("|".join)
        | st.builds("(?:{}){}".format, inner, repeats)
        | st.builds("({})".format, inner)
    ),
    max_leaves=6,
)


@given(patterns, st.lists(st.sampled_from(["ab", "a", "c", ".", "没", "是我", " ", "x"]), max_size=10))
def test_every_match_holds_a_needle(pattern, pieces):
    text = "".join(pieces)
    needles = needles_of(pattern)
    for match in re.finditer(pattern, text):
        assert needles is None or any(needle in match.group() for needle in needles)


@given(patterns, st.text("abc.没是我 ", max_size=12))
def test_the_parts_match_where_the_whole_does(pattern, text):
    assert bool(re.search(pattern, text)) == any(re.search(part, text) for part in alternatives(pattern))
