"""The page of blocks: what it says, in both themes, on a phone, with hostile text in every place."""

import hashlib
import json
import re
import tracemalloc
from base64 import b64encode
from functools import lru_cache
from html import unescape
from importlib import resources

import numpy as np
import pytest

import browser
from dialogauge.report.blocks import (
    Axis,
    Bars,
    Curve,
    DotPlot,
    DotRow,
    Leaderboard,
    Matrix,
    Page,
    Point,
    Section,
    StackedBar,
    Tiles,
    data_table,
    to_json,
)
from dialogauge.report.cells import Number, Part, Text
from dialogauge.report.elements import Html, element, joined, text
from dialogauge.report.html import html_bytes, to_html
from dialogauge.report.svg import mix, place, ticks
from dialogauge.report.terminal import to_text
from dialogauge.report.transcripts import (
    Scored,
    Transcript,
    TranscriptCall,
    TranscriptList,
    TranscriptMessage,
    TranscriptTurn,
)
from parsed_pages import OPTIONAL_END, VOID, ParsedPage, contrast, luminance, needs_chromium
from unit.report.block_samples import sample_page

HOSTILE = "</p></style><script>alert(1)</script><img src=x onerror=alert(2)> \u202egnp.exe \x00 &amp; \"'`"
CHARTS = ("stack", "bars", "curve", "square")


@lru_cache(maxsize=4)
def html(word="aubergine"):
    return to_html(sample_page(word))


@lru_cache(maxsize=4)
def parsed(word="aubergine"):
    return ParsedPage(html(word))


def test_elements_escape_whatever_is_no_element():
    inner = element("b", "<i>", class_="x")
    assert element("p", "a & b", inner, None, [" ", text("<")], title='"', hidden=True, id=None) == (
        '<p title="&quot;" hidden>a &amp; b<b class="x">&lt;i&gt;</b> &lt;</p>'
    )
    assert element("line", x1="0", aria_hidden="true") == '<line x1="0" aria-hidden="true"/>'
    assert isinstance(joined("<", Html("<br>")), Html)
    assert joined("<", Html("<br>")) == "&lt;<br>"


def test_the_page_is_whole_loads_nothing_and_its_links_lead_somewhere():
    page = parsed()
    assert len(page.ids) == len(set(page.ids))
    assert {v[1:] for k, v in page.attributes if k == "href"} <= set(page.ids)
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(page.tags)
    assert not [k for k, _ in page.attributes if k.startswith("on") or k == "src"]
    assert "http:" not in html()
    assert "https:" not in html()
    assert not re.search(r"url\((?!#)", html())
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html()
    assert html() == to_html(sample_page())


def test_the_only_script_is_ours_and_the_policy_names_it():
    script = resources.files("dialogauge.report").joinpath("page.js").read_text("utf-8")
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    for made in (html(), html(HOSTILE)):
        assert re.findall(r"<script.*?</script>", made, re.DOTALL) == [f"<script>{script}</script>"]
        assert f"script-src 'sha256-{digest}'\"" in made
    without = to_html(Page("t", (Section("Only words", (Transcript("c", ()),)),)))
    assert "script" not in without


def test_what_the_blocks_say_is_on_the_page():
    words = parsed().text
    for said in (
        "60 of 61",
        "12,421",
        "by chance 17.0 %",
        "and 7 more",
        "excellent 7 11.5 %",
        "no verdict 15 24.6 %",
        "4.31 [4.11, 4.56]",
        "326/329 scored",
        "3 failed",
        "bounds 3.71–4.71",
        "no score",
        "0.512 [0.410, 0.600]",
        "shown above",
        "the same figures as mean-shift",
        "预订与旅行规划",
        ">99.9 %",
        "5 / 3 / 2 of 10",
        "The other 55",
        "all 5",
        "No reply in this turn.",
        "not judged timeout: no reply",
        "Not shown here: 3 more turns.",
        "helpfulness failed",
        "safety n/a",
        "我周五想去杭州玩两天",
    ):
        assert said in words, said
    assert "nan" not in words.lower()
    assert not re.search(r"-0\.00\b|-0\.000\b", words)


def test_every_chart_says_its_figures():
    charts = re.findall(
        rf'<svg class="(?:{"|".join(CHARTS)})"[^>]*role="img"[^>]*>.*?</desc>', html(), re.DOTALL
    )
    assert len(charts) == 1 + 2 + 2 + 1 + 2 + 1
    for chart in charts:
        assert re.search(r"<title id=\"[^\"]+\">[^<]+</title><desc id=\"[^\"]+\">[^<]*\d[^<]*</desc>", chart)
    assert all(
        'aria-hidden="true"' in c for c in re.findall(r'<svg class="(?:track|stack mix|share)[^>]*>', html())
    )


def test_links_to_nowhere_are_text_and_sections_have_anchors_of_their_own():
    page = Page(
        "t",
        (
            Section(
                "Same",
                (data_table("t", ("a", "b"), [(Text("x", link="same-2"), Text("y", link="nowhere"))]),),
            ),
            Section("Same", (Section("Same", ()),), anchor="own"),
            Section("预订", ()),
            Section("???", ()),
        ),
    )
    made = to_html(page)
    assert re.findall(r'<section id="([^"]+)"><h2', made) == ["same", "own", "part", "part-2"]
    assert re.findall(r'<section id="([^"]+)" class="sub"><h3', made) == ["same-2"]
    assert '<a href="#same-2">x</a>' in made
    assert 'href="#nowhere"' not in made


def test_hostile_text_stays_text_wherever_it_stands():
    made = html(HOSTILE)
    page = parsed(HOSTILE)
    assert not {"script", "img"} & set(page.tags)
    assert not [k for k, _ in page.attributes if k.startswith("on")]
    assert "\u202e" not in made
    assert "\x00" not in made
    assert page.text.count("⟨U+202E⟩gnp.exe") > 15
    assert sorted(page.tags) == sorted(parsed("aubergine `").tags)
    made.encode("utf-8")


def test_blocks_of_nothing():
    empty = Page(
        "nothing",
        (
            Tiles(()),
            data_table("none", ("a", "b"), []),
            StackedBar("none", ()),
            Bars("none", (), ()),
            Bars("zeros", ("1", "2"), (0, 0), axis=Axis(1, 1)),
            Curve("none", (), Axis(0, 0), Axis(0, 0)),
            Curve("one", (Point(1, 1),), Axis(1, 1), Axis(1, 1)),
            DotPlot("none", ()),
            DotPlot("undefined", (DotRow("a", None),)),
            Matrix("none", (), (), (), ()),
            Leaderboard("none", (), "mean", Axis(0, 1)),
            Transcript("none", ()),
        ),
    )
    made = to_html(empty)
    ParsedPage(made)
    assert "nan" not in made.lower().replace("finance", "")


def test_a_long_table_is_small():
    rows = [
        (f"conversation-{i:05d}-of-a-rather-long-name", "poor", i % 6, *[Number(3.25)] * 6)
        for i in range(10_000)
    ]
    columns = ("conversation", "verdict", "weakest", *"abcdef")
    made = to_html(
        Page("long", (Section("Conversations", (data_table("Conversations", columns, rows, shown=40),)),))
    )
    assert len(made.encode()) < 2_000_000
    assert "The other 9,960" in ParsedPage(made).text


@pytest.mark.parametrize(
    ("axis", "most", "marks"),
    [
        (Axis(1, 5), 5, [1, 2, 3, 4, 5]),
        (Axis(-0.32, 0.86), 5, [0, 0.5]),
        (Axis(0.5, 5.5), 5, [2, 4]),
        (Axis(1, 3, whole=True), 9, [1, 2, 3]),
        (Axis(1, 120, whole=True), 9, [20, 40, 60, 80, 100, 120]),
        (Axis(2, 2), 5, [2]),
        (Axis(-1e-12, 1e-12), 5, [0]),
    ],
)
def test_marks_on_an_axis_are_round(axis, most, marks):
    found = ticks(axis, most)
    assert found == pytest.approx(marks, abs=1e-9) or (len(marks) == 1 and len(found) <= most)
    assert all(axis.low - 1e-9 <= t <= axis.high + 1e-9 for t in found)
    assert 0 <= place(axis.high + 9, axis) <= 1


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast_of_text_and_marks(theme):
    style = resources.files("dialogauge.report").joinpath("style.css").read_text("utf-8")
    colours = dict(
        re.findall(r"--([\w-]+): (#[0-9a-f]{6})", re.findall(r":root \{(.*?)\}", style, re.DOTALL)[theme])
    )
    for ground in ("paper", "card", "tint", "warn-tint", "ok-tint"):
        for words in ("ink", "soft", "accent", "warn", "ok"):
            assert contrast(colours[words], colours[ground]) >= 4.5, (words, ground)
    for mark in ("s0", "whisk", "t-best", "t-worst", "c1", "c2", "c3", "c4", "c5"):
        assert contrast(colours[mark], colours["card"]) >= 3, mark
    for tone in ("best", "worst"):
        assert contrast(colours["on-end"], colours[f"t-{tone}"]) >= 4.5, tone
    for tone in ("good", "middle", "low"):
        assert contrast(colours["on-mid"], colours[f"t-{tone}"]) >= 4.5, tone
    for one, other in (("best", "good"), ("middle", "low"), ("low", "worst")):  # of one hue
        shades = [luminance(colours[f"t-{t}"]) for t in (one, other)]
        assert abs(shades[0] - shades[1]) > 0.08, (one, other)


@pytest.mark.chromium
@needs_chromium
@pytest.mark.parametrize("width", [360, 390, 1280])
def test_nothing_overflows(tmp_path, width):
    script = (
        "[...d.querySelectorAll('details')].forEach(e => e.open = true);"
        "return {wide: d.documentElement.scrollWidth, inner: w.innerWidth,"
        "over: [...d.querySelectorAll('p, article, svg, table, nav, h1, h2, li, dd, .msg')].filter(e =>"
        " e.getBoundingClientRect().right > w.innerWidth + 1 && !e.closest('.scroll')).length,"
        "flat: [...d.querySelectorAll('svg')].filter(e => e.getBoundingClientRect().height < 5).length,"
        "narrow: [...d.querySelectorAll('.bars, .curve, .square > svg, .track')].filter(e =>"
        " e.getBoundingClientRect().width < 60).length,"
        "heights: [...d.querySelectorAll('section')].map(s => s.getBoundingClientRect().height)}"
    )
    found = browser.measure(html(), tmp_path, script, width=width)
    assert found["inner"] == width
    assert found["wide"] <= width
    assert found["over"] == 0
    assert found["flat"] == 0
    assert found["narrow"] == 0
    assert min(found["heights"]) > 60


@pytest.mark.long
@pytest.mark.chromium
@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_is_neither_empty_nor_in_the_wrong_theme(tmp_path, width, scheme):
    shot = browser.pixels(browser.screenshot(html(), tmp_path, width=width, height=2400, scheme=scheme))[
        :, :width
    ]
    ground = shot[4, 4].astype(int)
    assert (ground.mean() > 200) == (scheme == "light")
    for band in np.array_split(shot, 6):
        assert 0.005 < (np.abs(band.astype(int) - ground).sum(axis=2) > 60).mean() < 0.6


@pytest.mark.chromium
@needs_chromium
def test_a_hostile_page_runs_no_script(tmp_path):
    found = browser.measure(
        html(HOSTILE), tmp_path, "return d.querySelectorAll('script, img').length", width=390
    )
    assert found == 1  # ours


def listed(tmp_path, script):
    """Do something with the list of the sample page; return the titles that it shows then."""
    asked = (
        "const list = d.querySelector('.list'), [search, order, ...filters] ="
        " list.querySelectorAll('input, select');"
        "const change = (e, value) => { e.value = value; e.dispatchEvent(new w.Event('change')) };"
        f"{script};"
        "return {titles: [...list.querySelectorAll('.talk .id')].map(e => e.textContent),"
        " said: list.querySelector('[role=status]').textContent,"
        " more: !!list.querySelector('details.more'), hidden: list.querySelector('.finder').hidden}"
    )
    return browser.measure(html(), tmp_path, asked, width=1280)


@pytest.mark.long
@pytest.mark.chromium
@needs_chromium
def test_a_list_is_sorted_and_filtered_by_script_and_whole_without(tmp_path):
    found = listed(tmp_path, "")
    assert found["titles"] == ["en-00003", "en-00004", "en-00005"]
    assert not found["hidden"]
    assert not found["more"]
    assert found["said"] == "3 of 3 conversations"
    assert listed(tmp_path, "change(order, '0')")["titles"] == ["en-00004", "en-00003", "en-00005"]
    assert listed(tmp_path, "change(order, '1')")["titles"] == ["en-00004", "en-00003", "en-00005"]
    found = listed(tmp_path, "change(filters[1], '0')")
    assert found["titles"] == ["en-00004", "en-00005"]
    assert found["said"] == "2 of 3 conversations"
    assert listed(tmp_path, "change(filters[0], '0'); change(filters[1], '0')")["titles"] == ["en-00004"]
    page = ParsedPage(html())
    assert "The other 1" in page.text
    assert ("hidden", None) in page.attributes


@pytest.mark.chromium
@needs_chromium
def test_a_link_into_a_closed_conversation_opens_it(tmp_path):
    script = (
        "w.location.hash = '#c4-1'; w.dispatchEvent(new w.Event('hashchange'));"
        "return [...d.querySelectorAll('.talk[open] .id')].map(e => e.textContent)"
    )
    assert browser.measure(html(), tmp_path, script, width=1280) == ["en-00004"]


def test_a_clamped_message_opens_by_a_click_and_a_short_one_is_whole():
    long = "First, **read this**. " * 40
    messages = (
        TranscriptMessage("user", "short", clamped=True),
        TranscriptMessage("assistant", long, clamped=True),
    )
    made = to_html(Page("t", (Transcript("c", (TranscriptTurn(1, messages),), folded=False, reason="Why"),)))
    assert made.count('<details class="clamp">') == 1
    start = re.search(r'<span class="start" dir="auto">(.*?)… </span>', made)[1]
    assert start.startswith("First, read this. First")
    assert len(start) <= 220
    assert made.count("<b>read this</b>") == 40
    assert '<h3 dir="auto">Why</h3>' in made


def test_a_call_stands_above_its_own_result_and_a_long_result_folds_whole():
    long = json.dumps([{"id": n, "note": "a*b|c"} for n in range(40)])
    calls = (
        TranscriptCall("find", '{"area": "<b>"}', '{"count": 2}'),
        TranscriptCall("find", "{}", long),
        TranscriptCall("hold", "{}", None, "no result came back"),
        TranscriptCall("", "", "stray", "a result that no call asked for"),
        TranscriptCall("ping", "", ""),
    )
    made = to_html(Page("t", (Transcript("c", (TranscriptTurn(1, calls),), folded=False),)))
    code = [unescape(c) for c in re.findall(r"<code[^>]*>(.*?)</code>", made)]
    wanted = [
        'find({"area": "<b>"})',
        '{"count": 2}',
        "find({})",
        long,
        "hold({})",
        "stray",
        "ping()",
        "(empty)",
    ]
    assert code == wanted
    assert f"show all {len(long):,} characters" in made
    assert made.count('<details class="clamp">') == 1
    assert "a*b|c" in re.search(r'<span class="start" dir="auto">(.*?)… </span>', made)[1]
    shown = to_text(Page("t", (Transcript("c", (TranscriptTurn(1, calls),)),)), wrapped=False)
    lines = [line.strip() for line in shown.splitlines()]
    at = lines.index('call: find({"area": "<b>"})')
    assert lines[at + 1] == '-> {"count": 2}'
    assert f"-> {long}" in lines
    assert lines[lines.index("call: hold({})") + 1] == "! no result came back"
    assert lines[lines.index("-> stray") + 1] == "! a result that no call asked for"


def test_a_score_stands_beside_its_reason():
    scores = (Scored("cohesion", 5), Scored("backend", 2, reason="Nothing was <found>."), Scored("policy", 4))
    page = Page("t", (Transcript("c", (TranscriptTurn(3, (), scores, facts=("domain: hotel",)),)),))
    made = to_html(page)
    assert 'backend <b>2</b><span dir="auto">Nothing was &lt;found&gt;.</span>' in made
    assert made.count('<ul class="scores because">') == 1
    assert "Turn 3 · domain: hotel" in made
    assert "backend 2: Nothing was <found>." in to_text(page)
    assert to_json(page)["blocks"][0]["turns"][0]["scores"][1]["reason"] == "Nothing was <found>."


def test_a_list_takes_a_rank_for_each_order():
    with pytest.raises(ValueError, match="'c' has 0 ranks, 0 groups"):
        TranscriptList("list", (Transcript("c", ()),), orders=("turns",))


def talks(*names, words="x"):
    turns = (TranscriptTurn(1, (TranscriptMessage("user", words),)),)
    return tuple(Transcript(name, turns) for name in names)


def test_conversations_stand_in_their_lists_in_order_whatever_they_say():
    first = TranscriptList("one", talks("a1", "a2", "a3", words="\0\0"), shown=2)
    second = TranscriptList("two", talks("b1"), shown=2)
    made = to_html(Page("t", (first, Section("S", (second, Section("inner", (*talks("c1"), first)))))))
    names = re.findall(r'<span class="id">(.*?)</span>|<h2>(S)|<h3>(inner)', made)
    assert ["".join(one) for one in names] == [
        *("a1", "a2", "a3"),
        "S",
        "b1",
        "inner",
        "c1",
        "a1",
        "a2",
        "a3",
    ]
    assert "\0" not in made
    assert made.count("The other 1") == 2


def test_a_page_of_many_conversations_is_never_whole_in_memory():
    page = Page(
        "t", (Section("S", (TranscriptList("l", talks(*map(str, range(300)), words="y" * 20_000)),)),)
    )
    tracemalloc.start()
    size = sum(map(len, html_bytes(page)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 6_000_000
    assert most < 1_000_000


def test_long_results_of_tools_are_whole_on_the_page_and_never_all_in_memory():
    turns = (TranscriptTurn(1, (TranscriptCall("find", "{}", "z" * 20_000),)),)
    many = tuple(Transcript(str(n), turns) for n in range(300))
    page = Page("t", (Section("S", (TranscriptList("l", many),)),))
    tracemalloc.start()
    size = sum(map(len, html_bytes(page)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 6_000_000
    assert most < 1_000_000


def test_tags_that_need_no_end_are_known():
    assert {"tr", "td", "th"} == OPTIONAL_END
    assert "line" in VOID


def test_the_parts_of_a_bar_stand_side_by_side():
    """Of 8: one quarter, nothing, one eighth and five eighths, each beginning where the one before ends."""
    drawn = str(mix("m", tuple(Part(str(n), n) for n in (2, 0, 1, 5))))
    assert re.findall(r'<rect[^>]* x="([^"]+)" width="([^"]+)"', drawn) == [
        ("0%", "25%"),
        ("25%", "12.5%"),
        ("37.5%", "62.5%"),
    ]
