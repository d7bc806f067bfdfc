from __future__ import annotations

import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.signals import reply_markers, user_markers
from dialogauge.signals.markers import NEEDLES, Marker, MarkerSet, ReplyMarker, digest_of
from dialogauge.text import required, spread

SHIPPED = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in (user_markers, reply_markers)
    for name in vars(module)
    if name.isupper()
    if isinstance(value := getattr(module, name), Marker)
}


def plainly(marker: Marker, text: str) -> re.Match[str] | None:
    return re.search("|".join(marker._parts), text)


def same(marker: Marker, text: str) -> bool:
    mine, other = marker.search(text), plainly(marker, text)
    return (mine and (mine.span(), mine.group())) == (other and (other.span(), other.group()))


def test_the_leftmost_match_wins_and_at_one_place_the_first_wording():
    marker = Marker("told you so", "told", "i told")
    long = "x" * 40
    assert marker.search(f"{long} i told you so").group() == "i told"
    assert marker.search(f"{long} he told you so").group() == "told you so"
    assert Marker("told", "told you").search(f"{long} told you").group() == "told"
    assert marker.search(long) is None


def test_an_english_text_is_not_searched_for_chinese_and_neither_way_is_anything_missed():
    marker = Marker("no luck|没(?:有)?用", r"\?\?")
    for text in ("no luck", "没用", "it is 没有用 here", "怎么??", "why??", "一切都好", ""):
        assert same(marker, text)
        assert same(marker, text.ljust(50, "。"))
        assert same(marker, text.ljust(50))


WORDS = sorted(
    {
        word
        for m in SHIPPED.values()
        for part in m._parts
        for word in re.findall(r"[a-z']+|[\u4e00-\u9fff]+", part)
    }
)


@pytest.mark.parametrize("name", SHIPPED)
@given(
    st.lists(st.sampled_from([*WORDS, "?", "!", ",", ".", "3"]), min_size=1, max_size=14),
    st.sampled_from([" ", ""]),
)
def test_every_shipped_list_finds_what_one_alternation_would_find(name, words, between):
    assert same(SHIPPED[name], between.join(words))


@given(st.lists(st.sampled_from([*WORDS, "?", "!", ",", "3"]), max_size=14), st.sampled_from([" ", ""]))
def test_a_set_of_lists_names_those_that_match_by_themselves(words, between):
    text = between.join(words)
    markers = MarkerSet(SHIPPED.items())
    assert markers.matching(text) == {name for name, marker in SHIPPED.items() if marker.search(text)}


def test_several_lists_of_a_set_may_go_by_one_name():
    markers = MarkerSet([("told", Marker("i told you")), ("told", Marker("没说过")), ("why", Marker(r"\?$"))])
    assert markers.matching("i told you. why?") == {"told", "why"}
    assert markers.matching("我没说过") == {"told"}
    assert markers.matching("told") == markers.matching("") == frozenset()


def test_the_stored_needles_are_those_of_the_patterns():
    """After a pattern was changed: `python tools/needles.py`."""
    stored = orjson.loads(NEEDLES.read_bytes())
    assert {digest_of(marker.pattern) for marker in SHIPPED.values()} <= set(stored)
    shipped = {digest_of(m.pattern): m.pattern for kind in (Marker, ReplyMarker) for m in kind._all}
    assert set(stored) <= set(shipped)
    for digest, alternatives in stored.items():
        assert alternatives == [
            [part, [sorted(strings) for strings in required(part)]] for part in spread(shipped[digest])
        ]


def test_a_marker_that_is_made_later_is_looked_up_too():
    first = Marker("quite the first")
    assert first.may_match("this is quite the first one")
    later = Marker("quite the last")
    assert later.may_match("this is quite the last one")
    assert not later.may_match("this is quite the first one")
    assert first.may_match("this is quite the first one")
