import os
import re
from dataclasses import replace
from functools import lru_cache
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pytest

import browser
from dialogauge.core import Conversation, Message
from dialogauge.report import About, figure_line, render_report
from dialogauge.report.view import Figure
from dialogauge.studies.judging import summarise, view_of
from report_samples import CARD, Made, dimension, made_run, row

ABOUT = About(
    title="Guest service, week 46", judge="card", rubric="card 1", mode="hindsight", version="0.1.0",
    created="2026-11-20", model="judge-model", source="week46.jsonl", checked_languages=("en",),
    uncalibrated=("repair_handling",), notes=("Two records were cut.",),
    command="dialogauge judge week46.jsonl -o runs/week46", settings=(("seed", "0"),),
)  # fmt: skip
SECTIONS = (
    "counts",
    "scores",
    "turns",
    "weakest",
    "groups",
    "conversations",
    "transcripts",
    "cost",
    "settings",
)
VOID = {"meta", "br", "rect", "line", "circle", "path"}
OPTIONAL_END = {"tr", "td", "th"}

needs_chromium = pytest.mark.skipif(
    browser.binary() is None, reason="no Chromium found: install one or set DIALOGAUGE_CHROMIUM"
)


class Page(HTMLParser):
    """Text, ids and attributes of a page; complains of elements that do not close."""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.attributes, self.words, self.tags = [], [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [v for k, v in attrs if k == "id"]
        if tag not in VOID | OPTIONAL_END:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        if tag not in OPTIONAL_END | VOID:  # a circle may hold a title
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))


def page_of(made, about=ABOUT, **more):
    summary = summarise(made.rows, dimensions=more.pop("dimensions", CARD), **more)
    return summary, render_report(view_of(summary, lambda: made.rows, made.fetch, about=about))


@lru_cache(maxsize=1)
def usual():
    return page_of(made_run(60, failing=0.08), unreadable=("a.jsonl:3: not JSON",))


def test_page_has_every_section_once_and_loads_nothing():
    _, html = usual()
    page = Page(html)
    assert [i for i in page.ids if i in SECTIONS] == list(SECTIONS)
    assert len(page.ids) == len(set(page.ids))
    targets = {v[1:] for k, v in page.attributes if k == "href"}
    assert targets <= set(page.ids)
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(page.tags)
    assert not [k for k, _ in page.attributes if k.startswith("on") or k == "src"]
    assert "http:" not in html
    assert "https:" not in html
    assert "url(" not in html.replace("url(#hatch)", "")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html


def test_figures_on_the_page_are_those_of_the_summary():
    summary, html = usual()
    page = Page(html)
    for found in summary.dimensions:
        figure = Figure(
            found.mean.value,
            found.mean.interval,
            found.n,
            found.requested,
            found.n_na,
            found.n_failed,
            found.bounds,
        )
        assert figure_line(figure) in page.text
        head, *counts = figure_line(figure).split(" · ")
        assert head in page.text
        assert " · ".join(counts) in page.text
    for verdict, count in summary.verdicts.counts.items():
        assert re.search(
            rf"{verdict} {count} {count / summary.verdicts.requested:.1%}".replace("%", " %"), page.text
        )
    assert f"no verdict {summary.verdicts.missing} " in page.text
    assert f"Conversations unreadable: {summary.conversations.unreadable}" in page.text
    for kind, count in summary.failures.items():
        assert f"{kind.replace('_', ' ')} {count}" in page.text
    spent = summary.by_role["judge"]
    assert f"judge {spent.calls:,} {spent.cached:,} {spent.prompt_tokens:,}" in page.text


def test_page_says_what_it_is_not_and_what_is_unchecked():
    page = Page(usual()[1])
    assert "do not replace asking" in page.text
    assert "compared with people’s ratings in: English" in page.text
    assert "Never compared with people: repair handling." in page.text
    assert "Two records were cut." in page.text
    assert page.text.count("uncalibrated") == 1
    unchecked = About("t", "local", "card 1", "foresight", "0.1.0", "2026-11-20")
    page = Page(page_of(made_run(3), unchecked)[1])
    assert "not compared with people’s ratings in any language" in page.text


def test_page_names_the_first_records_that_could_not_be_read():
    assert "Why conversations are unreadable a.jsonl:3: not JSON" in Page(usual()[1]).text
    faults = [f"a.jsonl:{n}: <script>" for n in range(1, 8)]
    page = Page(page_of(made_run(3), unreadable=faults)[1])
    assert "a.jsonl:5: <script>" in page.text
    assert "a.jsonl:6" not in page.text
    assert "and 2 more" in page.text
    assert "script" not in page.tags
    assert "Why conversations" not in page_of(made_run(3), unreadable=["", ""])[1]


def test_page_says_what_was_compared_on_too_few_dialogues():
    about = replace(
        ABOUT,
        checked_languages=(),
        uncalibrated=("repair_handling", "coherence"),
        barely_compared=(("coherence", 24),),
        dialogues_needed=100,
    )
    text = Page(page_of(made_run(3), about)[1]).text
    assert "on too few dialogues of any one language" in text
    assert "on fewer than 100 dialogues, too few to say: coherence (24)." in text
    assert "Never compared with people: repair handling." in text
    assert "not compared with people’s ratings in any language" not in text


def test_every_chart_has_a_name_and_says_its_figures():
    html = usual()[1]
    charts = re.findall(r"<svg[^>]*>.*?</svg>", html, re.DOTALL)
    assert len(charts) == 1 + 6 + 3
    for chart in charts:
        assert 'role="img"' in chart
        assert re.search(
            r"<title id=\"[^\"]+\">[^<]+</title>\s*<desc id=\"[^\"]+\">[^<]*\d[^<]*</desc>", chart
        )
    assert "nan" not in "".join(charts).lower()


def test_weakest_turns_come_with_their_words_and_evidence():
    made = made_run(30, failing=0)
    _, html = page_of(made)
    section = html[html.index('id="weakest"') : html.index('id="groups"')]
    worst = Page(section[section.index("<div") : section.rindex("</section>")]).text
    assert "unable to help with that request" in worst or "Prices vary" in worst or "一座历史悠久" in worst
    assert "context use, turn" in worst


HOSTILE = "</p><script>alert(1)</script><img src=x onerror=alert(2)> \u202egnp.exe \x00 &amp; {{ 7*7 }} \"'`"


def test_hostile_text_stays_text_wherever_it_stands():
    conversation = Conversation(
        HOSTILE, (Message("user", HOSTILE), Message("assistant", HOSTILE)), scenario=HOSTILE, context=HOSTILE
    )
    turn = row(
        HOSTILE, turn=1, scores={"helpfulness": 1}, scenario=HOSTILE, candidate=HOSTILE, issues=[HOSTILE],
        evidence=[{"turn": 1, "quote": HOSTILE, "criterion": HOSTILE}], details={"language": HOSTILE},
    )  # fmt: skip
    broken = row("other", turn=1, failure={"kind": HOSTILE, "message": HOSTILE})
    whole = row(
        HOSTILE, "conversation", scores={}, candidate=HOSTILE, verdict="poor", verdict_basis="partial",
        weakest_turn=1, rationale=HOSTILE,
        usage={"calls": 1, "cost": None, "by_role": {HOSTILE: {"calls": 1, "cost": None}}},
    )  # fmt: skip
    about = About(*[HOSTILE] * 8, *[(HOSTILE,)] * 3, HOSTILE, ((HOSTILE, HOSTILE),), (), ((HOSTILE, 3),), 9)
    made = Made([conversation], [turn, whole, broken])
    specs = (dimension("helpfulness"), dimension("coherence", "conversation"))
    _, html = page_of(made, about, dimensions=specs)
    page = Page(html)
    assert not {"script", "img"} & set(page.tags)
    assert "\u202e" not in html
    assert "\x00" not in html
    assert "49" not in re.findall(r"&amp;amp; (\S+)", html)
    assert "⟨U+202E⟩gnp.exe" in page.text
    html.encode("utf-8")


def test_same_run_same_page_and_undefined_figures_are_no_numbers():
    made = made_run(20)
    assert page_of(made)[1] == page_of(made)[1]
    _, empty = page_of(Made([], []))
    page = Page(empty)
    assert "nan" not in empty.lower().replace("finance", "")
    assert "No score: the judge gave none for this dimension." in page.text
    assert "No language model was called" in page.text


def test_unsupported_dimension_and_missing_text_are_said():
    details = {
        "not_judged": {"safety": "not for this judge to say"},
        "uncalibrated": ["coherence"],
        "labels": {"reason": "too_long"},
    }
    rows = [
        row("a", turn=1, scores={"safety": "n/a"}, details=details),
        row("a", "conversation", scores={"coherence": 4}, details={"basis_cut": 1}),
    ]
    specs = (dimension("safety"), dimension("coherence", "conversation"))
    page = Page(page_of(Made([], rows), dimensions=specs)[1])
    assert (
        "no score · 0/1 scored · 1 n/a · 0 failed" in page.text
        or "0/1 scored · 1 n/a · 0 failed" in page.text
    )
    assert "The text of this conversation was not at hand" in page.text


def test_ten_thousand_conversations_stay_small():
    made = made_run(300)
    many = [
        {**r, "conversation_id": f"{r['conversation_id']}-{copy:02d}-of-a-rather-long-name"}
        for copy in range(34)
        for r in made.rows
    ]
    _, html = page_of(Made([], many[: 7 * 10_000]))
    assert len(html.encode()) < 3_000_000
    page = Page(html)
    assert "Shown turn by turn: 60 of 10,000 conversations" in page.text
    assert "The other 9,960" in page.text


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast_of_text_and_marks(theme):
    style = resources.files("dialogauge.report").joinpath("style.css").read_text("utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[theme]))
    for ground in ("paper", "card", "tint", "warn-tint"):
        for text in ("ink", "soft", "accent", "warn"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for mark in ("bar", "whisk", "v-excellent", "v-poor"):
        assert contrast(colours[mark], colours["card"]) >= 3, mark
    shades = [luminance(colours[f"v-{v}"]) for v in ("excellent", "good", "borderline", "poor")]
    assert abs(shades[0] - shades[1]) > 0.1  # neighbours of one hue differ in lightness too


@pytest.mark.chromium
@needs_chromium
@pytest.mark.parametrize("width", [360, 390, 1280])
def test_nothing_overflows_and_sections_have_a_size(tmp_path, width):
    script = (
        "return {wide: d.documentElement.scrollWidth, inner: w.innerWidth,"
        "heights: [...d.querySelectorAll('section')].map(s => s.getBoundingClientRect().height),"
        "over: [...d.querySelectorAll('main p, main article, main svg, nav a, h1')].filter(e =>"
        " e.getBoundingClientRect().right > w.innerWidth + 1 && !e.closest('.scroll')).length,"
        "bars: [...d.querySelectorAll('rect')].filter(r => r.getBoundingClientRect().height > 5).length,"
        "opened: (() => {const a = d.querySelector('.talk'); a.open = true;"
        " return a.getBoundingClientRect().height})(),"
        "after: d.documentElement.scrollWidth}"
    )
    found = browser.measure(usual()[1], tmp_path, script, width=width)
    assert found["inner"] == width
    assert found["wide"] <= width
    assert found["after"] <= width
    assert found["over"] == 0
    assert len(found["heights"]) == len(SECTIONS)
    assert min(found["heights"]) > 80
    assert found["bars"] > 15
    assert found["opened"] > 500


@pytest.mark.chromium
@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_is_neither_empty_nor_in_the_wrong_theme(tmp_path, width, scheme):
    path = browser.screenshot(usual()[1], tmp_path, width=width, height=1400, scheme=scheme)
    shot = browser.pixels(path)[:, :width]
    ground = shot[4, 4].astype(int)
    assert (ground.mean() > 200) == (scheme == "light")
    drawn = (np.abs(shot.astype(int) - ground).sum(axis=2) > 60).mean()
    assert 0.02 < drawn < 0.6
    for band in np.array_split(shot, 5):
        assert (np.abs(band.astype(int) - ground).sum(axis=2) > 60).mean() > 0.005


@pytest.mark.chromium
@needs_chromium
def test_a_hostile_page_runs_no_script(tmp_path):
    made = made_run(2)
    bad = Conversation("x", (Message("user", HOSTILE), Message("assistant", HOSTILE)))
    rows = [*made.rows, row("x", turn=1, scores={"helpfulness": 1}, issues=[HOSTILE])]
    _, html = page_of(Made([*made.conversations, bad], rows))
    found = browser.measure(html, tmp_path, "return d.querySelectorAll('script, img').length", width=390)
    assert found == 0


def test_the_environment_variable_names_the_browser(monkeypatch):
    monkeypatch.setitem(os.environ, "DIALOGAUGE_CHROMIUM", "/opt/browser")
    assert browser.binary() == "/opt/browser"
