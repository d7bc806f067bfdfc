"""The checks on a page and on a terminal: hostile text, a phone's width, words for figures."""

import pytest

import browser
from dialogauge.report import Page, to_html, to_text
from dialogauge.studies.trust.page import trust_brief, trust_section
from dialogauge.studies.trust.result import (
    Calibration,
    CalibrationDimension,
    Trust,
    TrustCase,
    TrustCheck,
    TrustFigure,
    TrustThresholds,
)
from parsed_pages import needs_chromium

HOSTILE = "<script>alert(1)</script>\u202e<img src=x onerror=alert(1)>"
WHY = "Empathy: scores and ratings have no scale in common, so there is no kappa."


def dimension(name, status, kappa, controls, sentence=""):
    ends = None if kappa is None else (0.2, 0.4)
    return CalibrationDimension(name, status, sentence, kappa, ends, 200, 120, controls, {})


def trust(text="c1", others=()):
    figures = (TrustFigure("share", 0.25, 40, (0.1, 0.4), share=True), TrustFigure("Pearson", None, 0))
    cases = (TrustCase(text, 2, text),)
    check = TrustCheck(
        "averaging", "Averaging", "flagged", f"{text} only averages.", 40, 0.9, "aggregation_share", figures,
        cases, 4,
    )  # fmt: skip
    dimensions = (*others, dimension("help_ful", "not ready", 0.31, {"constant": 0.0}))
    calibration = Calibration("ratings.csv", 120, "Compared with people.", dimensions)
    return Trust((check,), TrustThresholds(), calibration)


def html(found):
    return to_html(Page("t", (trust_section(found),)))


def test_hostile_text_stays_text():
    page = html(trust(HOSTILE))
    assert "<script" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert "⟨U+202E⟩" in page


def test_a_command_in_a_sentence_is_set_as_code():
    page = html(trust("Try `dialogauge trust RUN`: it"))
    assert "Try <code>dialogauge trust RUN</code>: it only averages." in page


def test_section_shows_status_figures_and_what_is_undefined():
    page = html(trust())
    assert '<span class="tag warn">flagged</span>' in page
    assert "25.0 %" in page
    assert "[10.0 %, 40.0 %]" in page
    assert '<span class="tag warn">not ready</span>' in page
    assert "aggregation_share = 0.9" in page
    assert "Nothing was compared dimension by dimension" in html(Trust((), TrustThresholds()))


def test_the_terminal_says_the_same():
    lines = to_text(trust_brief(trust())).splitlines()
    assert lines[0] == "How far to trust these numbers"
    assert lines[1].split() == ["FLAGGED", "Averaging", "c1", "only", "averages."]
    assert "Compared with people." in lines
    assert any("help ful" in x and "0.31" in x and "[0.20, 0.40]" in x and "200" in x for x in lines)
    assert "not ready" in "\n".join(lines)


def test_a_dimension_without_a_kappa_says_why_and_takes_no_header_from_the_others():
    found = trust(others=(dimension("empathy", "cannot tell", None, {}, WHY),))
    page = html(found)
    table = page[page.rindex("<thead>") : page.rindex("</tbody>")]
    assert "constant</th>" in table
    rows = [r for r in table.replace("<tr class", "<tr> class").split("<tr>")[1:] if "colspan" not in r]
    assert [r.count("<td") + r.count("<th ") for r in rows] == [6, 6, 6]
    assert WHY in table
    assert WHY in to_text(trust_brief(found))


@pytest.mark.chromium
@needs_chromium
def test_the_page_does_not_overflow_a_phone(tmp_path):
    wide = "return d.documentElement.scrollWidth"
    opened = html(trust("a" * 90)).replace("<details", "<details open")
    assert browser.measure(opened, tmp_path, wide, width=360) <= 360
