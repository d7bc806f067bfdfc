import re
from functools import lru_cache

import numpy as np
import pytest

import browser
from dialogauge.core import Conversation, Message, Scale
from dialogauge.report import Figure
from dialogauge.report.words import figure_line
from dialogauge.stats.reading import table_of
from dialogauge.studies.judging import sampling, transcripts
from dialogauge.studies.judging.findings import findings_of
from dialogauge.studies.judging.opening import Known
from dialogauge.studies.trust.result import (
    Calibration,
    CalibrationDimension,
    Trust,
    TrustThresholds,
)
from parsed_pages import ParsedPage, judged_html, manifest_of, needs_chromium, run_of
from report_samples import Made, dimension, made_run, row

SECTIONS = (
    "glance",
    "weakest",
    "before",
    "counts",
    "scores",
    "turns",
    "groups",
    "conversations",
    "cost",
    "settings",
)


SATISFACTION = dimension("satisfaction", scale=Scale(0, 1, integer=False))


@lru_cache(maxsize=1)
def usual():
    return judged_html(made_run(60, failing=0.08), unreadable=("a.jsonl:3: not JSON",))


def test_page_has_every_section_once_and_loads_nothing():
    _, html = usual()
    page = ParsedPage(html)
    assert [i for i in page.ids if i in SECTIONS] == list(SECTIONS)
    assert len(page.ids) == len(set(page.ids))
    targets = {v[1:] for k, v in page.attributes if k == "href"}
    assert targets <= set(page.ids)
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(page.tags)
    assert not [k for k, _ in page.attributes if k.startswith("on") or k == "src"]
    assert "http:" not in html
    assert "https:" not in html
    assert "url(" not in html.replace("url(#g1-h)", "")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html


def test_figures_on_the_page_are_those_of_the_summary():
    summary, html = usual()
    page = ParsedPage(html)
    for found in summary.dimensions:
        figure = Figure(
            found.mean.value,
            found.n,
            found.requested,
            found.n_na,
            found.n_failed,
            found.mean.interval,
            found.bounds,
        )
        assert figure_line(figure) in page.text
        head, *counts = figure_line(figure).split(" · ")
        assert head in page.text
        assert " · ".join(counts) in page.text
    assert f"Intervals are by users ({summary.stands_on})." in page.text
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
    page = ParsedPage(usual()[1])
    assert "do not replace asking" in page.text
    assert "compared with people’s ratings in English" in page.text
    assert "Unchecked: repair handling." in page.text
    assert "Two records were cut." in page.text
    assert page.text.count("unchecked") == 4
    made = made_run(3)
    page = ParsedPage(judged_html(made, run_of(made, manifest_of(judge={"name": "local"})))[1])
    assert "not compared with people’s ratings in any language" in page.text


def test_page_names_the_first_records_that_could_not_be_read():
    assert "Why conversations are unreadable a.jsonl:3: not JSON" in ParsedPage(usual()[1]).text
    faults = [f"a.jsonl:{n}: <script>" for n in range(1, 8)]
    page = ParsedPage(judged_html(made_run(3), unreadable=faults)[1])
    assert "a.jsonl:5: <script>" in page.text
    assert "a.jsonl:6" not in page.text
    assert "and 2 more" in page.text
    assert "script" not in page.tags
    assert "Why conversations" not in judged_html(made_run(3), unreadable=["", ""])[1]


def test_page_says_what_was_compared_on_too_few_dialogues():
    kappa = CalibrationDimension("coherence", "cannot tell", "", 0.4, None, 30, 24, {}, {})
    calibration = Calibration("ratings.csv", 24, "Compared with people.", (kappa,))
    trust = Trust((), TrustThresholds(calibration_dialogues=100), calibration)
    made = made_run(3)
    judge = {"name": "card"}
    text = ParsedPage(judged_html(made, run_of(made, manifest_of(judge=judge)), trust=trust)[1]).text
    assert "on too few dialogues of any one language" in text
    assert "on fewer than 100 dialogues, too few to conclude: coherence (24)." in text
    assert "Unchecked: repair handling." in text
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
    _, html = judged_html(made)
    section = html[html.index('id="weakest"') : html.index('id="before"')]
    worst = ParsedPage(section[section.index("<div") : section.rindex("</section>")]).text
    assert "unable to help with that request" in worst or "Prices vary" in worst or "一座历史悠久" in worst
    assert "context use: " in worst


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
    settings = {"rubric": HOSTILE, "mode": HOSTILE, "inputs": [HOSTILE], HOSTILE: HOSTILE}
    judge = {"name": HOSTILE, "checked_languages": [HOSTILE], "notes": [HOSTILE]}
    manifest = manifest_of(
        settings={**settings, "role": {"model": HOSTILE}}, judge=judge, command=HOSTILE, written=HOSTILE,
        versions={"dialogauge": HOSTILE},
    )  # fmt: skip
    made = Made([conversation], [turn, whole, broken])
    specs = (dimension("helpfulness"), dimension("coherence", "conversation"))
    _, html = judged_html(made, run_of(made, manifest, HOSTILE), dimensions=specs)
    page = ParsedPage(html)
    assert not {"script", "img"} & set(page.tags)
    assert "\u202e" not in html
    assert "\x00" not in html
    assert "49" not in re.findall(r"&amp;amp; (\S+)", html)
    assert "⟨U+202E⟩gnp.exe" in page.text
    html.encode("utf-8")


def test_same_run_same_page_and_undefined_figures_are_no_numbers():
    made = made_run(20)
    assert judged_html(made)[1] == judged_html(made)[1]
    _, empty = judged_html(Made([], []))
    page = ParsedPage(empty)
    assert "nan" not in empty.lower().replace("finance", "")
    assert "No score: the judge gave none for this dimension." in page.text
    assert "No language model was called" in page.text


def test_unsupported_dimension_and_missing_text_are_said():
    details = {
        "not_judged": {"safety": "not for this judge to say"},
        "labels": {"reason": "too_long"},
    }
    rows = [
        row("a", turn=1, scores={"safety": "n/a"}, details=details),
        row("a", "conversation", scores={"coherence": 4}, details={"basis_cut": 1}),
    ]
    specs = (dimension("safety"), dimension("coherence", "conversation"))
    page = ParsedPage(judged_html(Made([], rows), dimensions=specs)[1])
    assert (
        "no score · 0/1 scored · 1 n/a · 0 failed" in page.text
        or "0/1 scored · 1 n/a · 0 failed" in page.text
    )
    assert "The text of this conversation was not at hand" in page.text


@pytest.mark.long
def test_ten_thousand_conversations_stay_small():
    made = made_run(300)
    many = [
        {**r, "conversation_id": f"{r['conversation_id']}-{copy:02d}-of-a-rather-long-name"}
        for copy in range(34)
        for r in made.rows
    ]
    _, html = judged_html(Made([], many[: 7 * 10_000]))
    assert len(html.encode()) < 2_000_000
    page = ParsedPage(html)
    assert "200 of 10,000 conversations, turn by turn: those to read first" in page.text
    assert "dialogauge show RUN ID opens the other 9,800, and prints any" in page.text
    assert "The other 1,960" in page.text


def finding(id, turn, kind):
    """A turn in which a judge that names kinds of findings saw one."""
    return row(
        id, turn=turn, scores={"satisfaction": 0.5}, issues=[f"shows {kind}"],
        evidence=[{"turn": turn, "quote": "Prices vary.", "signal": kind}],
        details={"language": "en", "signals": [{"name": kind, "strength": 1.0, "note": f"shows {kind}"}]},
    )  # fmt: skip


def texts(id, words, turns=6):
    said = [Message("assistant" if n % 2 else "user", words) for n in range(2 * turns)]
    return Conversation(id, tuple(said))


@pytest.mark.parametrize(
    ("number", "words", "least"),
    [
        (694, "Prices vary. " * 110, 200),
        pytest.param(300, "<&>" * 700, 200, marks=pytest.mark.long),
        pytest.param(210, "\u202e" * 300, 100, marks=pytest.mark.long),
        pytest.param(1, "x" * 5_000_000, 1, marks=pytest.mark.long),
    ],
    ids=["plain", "marks", "invisible", "huge"],
)
def test_a_page_has_at_most_200_conversations_and_3_megabytes(number, words, least):
    ids = [f"c{n}" for n in range(number)]
    rows = [finding(id, turn, f"kind_{n % 40}") for n, id in enumerate(ids) for turn in range(1, 7)]
    made = Made([texts(id, words) for id in ids], rows)
    findings = findings_of(table_of(made.rows), lambda _: made.rows)
    _, html = judged_html(made, known=Known(findings=findings), dimensions=(SATISFACTION,))
    assert len(html.encode()) <= 3_000_000
    page = ParsedPage(html)
    shown = html.count('class="talk"')
    assert least <= shown <= 200
    if number > 200:
        assert f"{shown} of {number} conversations, turn by turn" in page.text
        assert f"opens the other {number - shown}, and prints any conversation whole" in page.text
    targets = {value[1:] for name, value in page.attributes if name == "href"}
    assert targets <= set(page.ids)
    # What the headline and the turns to read first point to is on the page.
    assert {
        f"{transcripts.anchor_of((id, None))}-1"
        for id in list(dict.fromkeys(f.conversation_id for f in findings.first))[:12]
    } <= targets


def test_what_findings_are_quoted_from_is_on_the_page_of_a_run_too_large_to_list(monkeypatch):
    monkeypatch.setattr(sampling, "LISTED", 30)
    monkeypatch.setattr(transcripts, "LISTED", 30)
    monkeypatch.setattr(sampling, "SHOWN", 20)
    rows = [
        row(f"a{n:03}", turn=1, scores={"satisfaction": 0.1}, details={"language": "en"}) for n in range(200)
    ]
    rows += [{**finding("z1", 1, "doubt"), "scores": {"satisfaction": 0.9}}]
    made = Made([texts(r["conversation_id"], "Prices vary.", 1) for r in rows], rows)
    findings = findings_of(table_of(made.rows), lambda _: made.rows)
    _, html = judged_html(made, known=Known(findings=findings), dimensions=(SATISFACTION,))
    page = ParsedPage(html)
    assert html.count('class="talk"') == 20
    assert transcripts.anchor_of(("z1", None)) in page.ids
    assert {value[1:] for name, value in page.attributes if name == "href"} <= set(page.ids)


@pytest.mark.long
@pytest.mark.chromium
@needs_chromium
@pytest.mark.parametrize("width", [360, 390, 1280])
def test_nothing_overflows_and_sections_have_a_size(tmp_path, width):
    script = (
        "return {wide: d.documentElement.scrollWidth, inner: w.innerWidth,"
        "heights: [...d.querySelectorAll('main > section')].map(s => s.getBoundingClientRect().height),"
        "over: [...d.querySelectorAll('main p, main article, main svg, nav, h1')].filter(e =>"
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


@pytest.mark.long
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
    _, html = judged_html(Made([*made.conversations, bad], rows))
    found = browser.measure(html, tmp_path, "return d.querySelectorAll('script, img').length", width=390)
    assert found == 1  # ours


def test_messages_are_cut_further_until_every_conversation_has_room(monkeypatch):
    made = made_run(60, failing=0)
    full = judged_html(made)[1]
    assert "more characters)" not in full
    monkeypatch.setattr(transcripts, "_ROOM", 250_000)
    tight = judged_html(made)[1]
    assert len(tight) < len(full)
    assert "Every conversation, turn by turn" in tight
    assert tight.count('<span class="id">') == 60
    assert "more characters)" in tight
    monkeypatch.setattr(transcripts, "_ROOM", 20_000)
    least = judged_html(made)[1]
    assert "of 60 conversations, turn by turn: those to read first, the worst" in ParsedPage(least).text


def test_the_place_of_a_conversation_is_made_of_its_id_and_candidate():
    assert transcripts.anchor_of(("a", None)) == transcripts.anchor_of(("a", ""))
    places = {transcripts.anchor_of(key) for key in (("a", None), ("a", "m"), ("b", None), ("🙂\ud800", "x"))}
    assert len(places) == 4
    assert all(re.fullmatch("c-[0-9a-f]{12}", place) for place in places)


def test_people_s_ratings_stand_beside_the_judge_s_and_sort_the_list():
    made = made_run(6, failing=0)
    rated = [
        {**r, "rating": {"dimension": "satisfaction", "score": 2 + n % 3, "raters": 1}}
        if r["turn"] == 1
        else {**r, "rating": {"dimension": "help", "score": 1.5, "raters": 2, "others": {"tone": "warm"}}}
        if r["turn"] is None and n > 20
        else r
        for n, r in enumerate(made.rows)
    ]
    html = judged_html(Made(made.conversations, rated))[1]
    assert "people’s rating, lowest first" in html
    assert '<ul class="scores person"><li class="rater">a person:</li><li>satisfaction <b>' in html
    assert '<li class="rater">2 people:</li><li>help <b>1.50</b></li><li>tone <b>warm</b></li>' in html
    assert "lowest first" not in judged_html(made)[1]
